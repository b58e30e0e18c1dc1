//! The draws: requests with their options, and what their sorts read.

use fastrand::Rng;
use vksort::standalone::{Gpu, Sorter};
use vksort::{
    Access, Algorithm, DeviceProfile, IndexFrom, KeyOutput, Placement, Segments, SortRequest, SorterOptions,
    SubgroupChoice, Tuning, ValueType,
};
use vksort_testing::batch::{Data, Sort};
use vksort_testing::records::Bytes;
use vksort_testing::segmented::Case;
use vksort_testing::{drawn, patterns, records, suite};

/// What is sorted, as the ledger counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One array of keys, alone or with values.
    Array,
    /// Segments of keys.
    Segments,
    /// The first elements of an array or of segments.
    First,
    /// Records, as an array or in segments.
    Records,
}

/// The kinds of successive requests, so that few requests have all of them.
const TURNS: [Kind; 8] =
    [Kind::Array, Kind::Segments, Kind::Records, Kind::First, Kind::Array, Kind::Segments, Kind::Array, Kind::Records];

/// A request with the options of its sorter.
pub struct Drawn {
    pub kind: Kind,
    pub request: SortRequest,
    pub options: SorterOptions,
}

/// Numbers that follow from a seed, a request and what of it is drawn.
fn random(seed: u64, request: u64, part: u64) -> Rng {
    let mut of_request = Rng::with_seed(seed ^ request.rotate_left(40));
    Rng::with_seed(of_request.u64(..) ^ part.rotate_left(20))
}

/// One of these.
fn one<T: Copy>(of: &[T], random: &mut Rng) -> T {
    of[random.usize(0..of.len())]
}

impl Drawn {
    /// The request of this number.
    pub fn new(gpu: &Gpu, seed: u64, number: u64) -> Drawn {
        let mut random = random(seed, number, u64::MAX);
        let kind = TURNS[number as usize % TURNS.len()];
        let elements = drawn::elements(&mut random);
        let algorithms = [None, Some(Algorithm::OneSweep), Some(Algorithm::ReduceThenScan), None];
        let stride = one(&[random.u32(1..20), random.u32(20..200), random.u32(200..1_500)], &mut random);
        let rows = [Segments::Rows { stride }, Segments::RowsOf { stride }];
        let layouts = [Segments::Offsets, Segments::Ranges, rows[0], rows[1]];
        let request = match kind {
            Kind::Array if random.u32(0..6) == 0 => elements.algorithm(Algorithm::SingleWorkgroup),
            // Their passes take CPUs longest.
            Kind::Array if elements.bits.len() > 32 && random.u32(0..4) > 0 => elements,
            Kind::Array => elements.algorithm(one(&algorithms, &mut random)),
            Kind::Segments => {
                let layout = one(&layouts, &mut random);
                // Rows say so by themselves.
                let promises = layout != rows[0] && random.u32(0..3) == 0;
                elements.segments(layout).up_to(promises.then(|| random.u32(1..300)))
            }
            Kind::First => {
                // Those of offsets and ranges take drivers longest to compile.
                let layout = match random.u32(0..8) {
                    0 => one(&layouts, &mut random),
                    1..3 => Segments::Whole,
                    _ => one(&rows, &mut random),
                };
                let top = one(&[1, random.u32(2..20), random.u32(20..400), 1_000], &mut random);
                elements.placement(Placement::OutOfPlace).segments(layout).top(top)
            }
            Kind::Records => {
                let request = records::drawn(&mut random);
                match random.bool() {
                    true => request.segments(one(&layouts, &mut random)),
                    false => request.algorithm(one(&algorithms, &mut random)),
                }
            }
        };
        let from =
            if request.segments.is_some() { drawn::indices(request.value, &mut random) } else { IndexFrom::Array };
        let request = if from == IndexFrom::Segment { request.indices_from(from) } else { request };
        Drawn { kind, request, options: options(gpu, &mut random) }
    }

    /// Its sorter. Of first elements there are fewer where a block of the device has no room for them.
    pub fn sorter(&mut self, gpu: &Gpu) -> Result<Sorter, vksort::Error> {
        loop {
            let built = gpu.sorter(&self.request, &self.options);
            match self.request.segments.and_then(|of| of.top) {
                Some(top) if top > 1 && matches!(built, Err(vksort::Error::Unsupported { .. })) => {
                    self.request = self.request.top(top.div_ceil(4));
                }
                _ => return built,
            }
        }
    }

    /// The sort of this number.
    pub fn sort(&self, sorter: &Sorter, (seed, request, number): (u64, u64, u64)) -> Sort {
        let mut random = random(seed, request, number);
        let data = if self.kind == Kind::Records {
            self.records(sorter, &mut random)
        } else {
            self.elements(sorter, &mut random)
        };
        let SortRequest { value, placement, key_output, .. } = self.request;
        // Only then is a sort the same if it is repeated.
        let repeats = placement == Placement::OutOfPlace
            || value != ValueType::Index && key_output == KeyOutput::Sorted
            || self.kind == Kind::Records;
        let times = if repeats { random.u32(1..=2) } else { 1 };
        let scratch = if random.bool() { Ok(random.u64(..)) } else { Err(one(&[0, 0xFF, 0xA7, 1], &mut random)) };
        Sort { data, times, scratch, spoiled: false }
    }

    /// Keys with their values.
    fn elements(&self, sorter: &Sorter, random: &mut Rng) -> Data {
        let pattern = one(patterns::ALL, random);
        let (mut case, elements) = self.case(sorter, random);
        case.keys = patterns::generate(pattern, self.request.key, elements as usize, random.u64(..));
        Data::Elements(case)
    }

    fn records(&self, sorter: &Sorter, random: &mut Rng) -> Data {
        let kind = one(&[Bytes::Few, Bytes::Few, Bytes::Uniform, Bytes::Constant], random);
        let (mut case, elements) = self.case(sorter, random);
        let bytes = records::bytes(kind, elements as usize * records::stride(&self.request), random);
        let array = records::Case { counted: case.counted, ..records::Case::new(&self.request, bytes, case.segments) };
        // Of the keys in the case of the segments, only their number counts.
        case.keys = vec![0; elements as usize * self.request.key.size_bytes() as usize];
        Data::Records(self.request.segments.map(|_| case), array)
    }

    /// A case without keys, and how many elements there are.
    fn case(&self, sorter: &Sorter, random: &mut Rng) -> (Case, u32) {
        let elements = self.size(sorter, random).min(sorter.max_count());
        let Some(of) = self.request.segments.filter(|of| of.layout != Segments::Whole) else {
            let case = Case::new(self.request, u32::MAX, Vec::new(), count(elements, random), Vec::new());
            return (Case { counted: counted(elements, random), ..case }, elements);
        };
        let longest = sorter.segments().map_or(u32::MAX, |limits| limits.longest());
        let promised = of.up_to.unwrap_or(u32::MAX);
        let mut lengths = Vec::new();
        let most = one(&[elements, 1, 9, 100, elements / 3 + 1], random).min(promised).min(elements);
        let stride = match of.layout {
            Segments::Rows { stride } | Segments::RowsOf { stride } => Some(stride),
            _ => None,
        };
        match stride {
            Some(stride) => {
                let rows = (elements / stride).max(random.u32(0..3));
                lengths.extend((0..rows).map(|_| random.u32(0..=stride)));
            }
            None => {
                let (mut left, empty) = (elements, random.u32(0..4));
                while left > 0 && most > 0 && lengths.len() < 300 {
                    let length = if random.u32(0..4) < empty { 0 } else { random.u32(0..=most.min(left)) };
                    left -= length;
                    lengths.push(length);
                }
            }
        }
        let (mut words, elements) = drawn::words(of.layout, &lengths, random);
        if matches!(of.layout, Segments::RowsOf { .. }) {
            words.iter_mut().for_each(|word| *word = (*word).min(promised));
        }
        let all = lengths.len() as u32;
        let case = Case::new(self.request, longest, words, all, Vec::new());
        (Case { segments: count(all, random), counted: counted(all, random), ..case }, elements)
    }

    /// How many elements there are: mostly few, also none, some at the edges of what a workgroup takes, and seldom many.
    fn size(&self, sorter: &Sorter, random: &mut Rng) -> u32 {
        match random.u32(0..1_000) {
            0..60 => random.u32(0..3),
            60..540 => random.u32(0..80),
            540..920 => random.u32(0..600),
            920..960 => random.u32(0..3_000),
            960 => random.u32(0..40_000),
            _ => {
                let (blocks, most) = (random.u32(1..4), one(&[1 << 10, 1 << 11, 1 << 12, 1 << 14], random));
                let shape = sorter.shape();
                let window = shape.windows.map_or(0, |windows| windows.block.elements());
                let sizes = [shape.tile.elements(), shape.single.elements(), window.max(1)];
                let fits = |size: &u32| blocks * size < most;
                let size = sizes.into_iter().filter(fits).nth(random.usize(0..sizes.len())).unwrap_or(256);
                blocks * size + random.u32(0..3) - 1
            }
        }
    }
}

/// The count of the host, of so many elements or segments.
fn count(most: u32, random: &mut Rng) -> u32 {
    if random.u32(0..3) == 0 { random.u32(0..=most) } else { most }
}

/// That of the device, which may be above the capacity; `None` if the host counts.
fn counted(most: u32, random: &mut Rng) -> Option<u32> {
    let counts = [random.u32(0..=most), most, most.saturating_add(random.u32(1..100)), u32::MAX, 0];
    // Without room there is no count on the device.
    (most > 0 && random.bool()).then(|| one(&counts, random))
}

/// Tunings, subgroups and access of all kinds.
fn options(gpu: &Gpu, random: &mut Rng) -> SorterOptions {
    let profile = gpu.profile();
    let small = suite::small_blocks_of(profile);
    let of_vendor = |random: &mut Rng| {
        let vendor_id = one(&[0x10DE, 0x1002, 0x8086, 0x106B, 0x5143, 0x13B5, 0], random);
        Tuning::for_device(&DeviceProfile { vendor_id, ..DeviceProfile::default() })
    };
    let tuning = match random.u32(0..8) {
        0 | 1 => gpu.tuning().clone(),
        2 => small,
        // As GPUs take blocks, with fewer items, which compile sooner.
        3 => Tuning {
            workgroup_size: 64,
            items_keys: 5,
            items_pairs: 4,
            single_items: 5,
            single_workgroup_size: None,
            ..of_vendor(random)
        },
        4 => of_vendor(random),
        _ => drawn::tuning(small, random.u64(..)),
    };
    let subgroup = match random.u32(0..6) {
        0 => SubgroupChoice::Emulated(one(&[4, 8, 16, 32, 64], random)),
        _ => SubgroupChoice::Auto,
    };
    let addresses = profile.buffer_addresses && profile.has_full_subgroups() && random.u32(0..4) == 0;
    let access = if addresses { Access::Addresses } else { Access::Auto };
    SorterOptions::default().tuning(tuning).subgroup(subgroup).access(access)
}
