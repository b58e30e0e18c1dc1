//! What an inspector should report, and sorts to be inspected, whose words may be anything.

use fastrand::Rng;
use vksort::{Capacity, Inspector, Segments, SortRequest};

/// A sort with all that an inspector looks at.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The request.
    pub request: SortRequest,
    /// What the sort is bound for.
    pub capacity: Capacity,
    /// The words of segments, as many as the capacity has.
    pub words: Vec<u32>,
    /// The count of the recording.
    pub count: u32,
    /// Whether it comes from the device, where it may be above the capacity.
    pub on_device: bool,
}

impl Asked {
    /// Draws capacity, words and count for a request.
    pub fn draw(request: SortRequest, random: &mut Rng) -> Asked {
        let layout = request.segments.map(|of| of.layout);
        let segments = if layout.is_some() { random.u32(1..1_500) } else { 0 };
        let elements = match layout {
            Some(Segments::Rows { stride } | Segments::RowsOf { stride }) => segments * stride + random.u32(0..3),
            _ => random.u32(1..6_000),
        };
        let whole = matches!(layout, None | Some(Segments::Whole));
        let capacity = Capacity::new(elements).segments(if whole { 0 } else { segments });
        let most = if whole { elements } else { segments };
        let on_device = random.bool();
        let count = match random.u32(0..6) {
            0 => 0,
            1 => most,
            2 if on_device => u32::MAX - random.u32(0..3),
            3 | 4 if on_device => most.saturating_add(random.u32(0..2 * most)),
            _ => random.u32(0..=most),
        };
        let length = layout.map_or(0, |layout| layout.words(segments)) as usize;
        let words = words_of(length, elements, random);
        Asked { request, capacity, words, count, on_device }
    }

    /// The words of the report.
    pub fn report(&self) -> [u32; Inspector::WORDS] {
        let of = self.request.segments;
        let (count, elements) = (u64::from(self.count), u64::from(self.capacity.elements));
        let Some(of) = of.filter(|of| of.layout != Segments::Whole) else {
            let promised = of.and_then(|of| of.up_to).map_or(u64::MAX, u64::from);
            let over = count.saturating_sub(elements);
            return [count, count, 0, over, u64::from(count > promised), 0].map(|word| word as u32);
        };
        let segments = count.min(self.capacity.segments.into());
        let word = |at: u64| u64::from(self.words[at as usize]);
        let ranges = (0..segments).map(|at| match of.layout {
            Segments::Offsets => (word(at), word(at + 1)),
            Segments::Ranges => (word(2 * at), word(2 * at + 1)),
            Segments::Rows { stride } => (at * u64::from(stride), (at + 1) * u64::from(stride)),
            Segments::RowsOf { stride } => (at * u64::from(stride), at * u64::from(stride) + word(at)),
            other => panic!("{other:?} is not tested"),
        });
        let ranges: Vec<(u64, u64)> = ranges.collect();
        let promised = match (of.up_to, of.layout) {
            (None, Segments::Rows { stride } | Segments::RowsOf { stride }) => stride.into(),
            (Some(most), Segments::RowsOf { stride }) => most.min(stride).into(),
            (most, _) => most.map_or(u64::MAX, u64::from),
        };
        let mut found = [count, 0, count - segments, 0, 0, 0];
        for (begin, end) in &ranges {
            let length = end.saturating_sub(*begin);
            found[1] = found[1].max(length);
            // Rows lie within the capacity, and what is more than a stride is cut off.
            let rows = matches!(of.layout, Segments::RowsOf { .. });
            let over = if length > 0 && !rows { end.saturating_sub(elements) } else { 0 };
            found[3] = found[3].max(over);
            found[4] += u64::from(length > promised);
        }
        let mut begins: Vec<u64> = ranges.iter().map(|(begin, _)| *begin).collect();
        if of.layout == Segments::Offsets && segments > 0 {
            begins.push(word(segments));
        }
        found[5] = begins.windows(2).filter(|pair| pair[1] < pair[0]).count() as u64;
        found.map(|word| word as u32)
    }
}

/// Words that ascend up to about the number of elements or beyond, some of which are then anything.
fn words_of(count: usize, elements: u32, random: &mut Rng) -> Vec<u32> {
    let most = random.u32(0..elements.saturating_mul(2).max(1));
    let mut words: Vec<u32> = (0..count).map(|_| random.u32(0..=most)).collect();
    words.sort_unstable();
    let hostile = [0, 0, 1, 5, count][random.usize(0..5)];
    for _ in 0..hostile.min(count) {
        let at = random.usize(0..count);
        words[at] = [0, random.u32(..), random.u32(0..=elements), u32::MAX][random.usize(0..4)];
    }
    words
}

/// Requests of every layout, with and without promises.
pub fn requests(key: vksort::KeyType, random: &mut Rng) -> Vec<SortRequest> {
    let plain = SortRequest::new(key);
    let out = plain.placement(vksort::Placement::OutOfPlace);
    let stride = random.u32(1..40);
    let layouts = [Segments::Offsets, Segments::Ranges, Segments::Rows { stride }, Segments::RowsOf { stride }];
    let mut requests = vec![plain, out.segments(Segments::Whole).top(random.u32(1..30))];
    for layout in layouts {
        let least = if let Segments::Rows { stride } = layout { stride } else { 1 };
        requests.push(plain.segments(layout));
        requests.push(plain.segments(layout).up_to(least.max(random.u32(1..60))));
        requests.push(out.segments(layout).top(random.u32(1..8)));
    }
    requests
}
