//! How long segments are.

use vksort::Segments;

/// A kind of lengths. Each draws segments until all elements are in one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lengths {
    /// One segment, the whole array.
    Whole,
    /// One segment, as offsets say.
    One,
    /// Rows of so many elements, and at most so many rows.
    Rows { stride: u32, most: u32 },
    /// So many each, as offsets say.
    Equal(u32),
    /// From 0 to so many, all as likely.
    UpTo(u32),
    /// The same, where the program does not know how long they may be.
    Tiles(u32),
    /// Half of them empty, the others as above.
    HalfEmpty(u32),
    /// A Pareto distribution with the exponent 1.5 from so many on, so 3 times as many in the mean.
    PowerLaw(u32),
    /// From 4 to 128, and of one in a hundred 10 times as many.
    Peaks,
    /// From 0 to 8, but for one in the middle that has 15 of 16 elements.
    OneAmongTiny,
}

impl Lengths {
    /// How many of up to `n` elements there are: whole rows, and no more than there may be.
    pub fn count(self, n: u32) -> u32 {
        match self {
            Lengths::Rows { stride, most } => {
                let stride = stride.min(n);
                stride * (n / stride.max(1)).min(most)
            }
            _ => n,
        }
    }

    /// The lengths of segments that hold `n` elements together.
    pub fn draw(self, n: u32, random: &mut fastrand::Rng) -> Vec<u32> {
        let mut draw = |n: u32| {
            let (mut lengths, mut left) = (Vec::new(), n);
            while left > 0 {
                let length = self.one(n, random).min(left);
                lengths.push(length);
                left -= length;
            }
            lengths
        };
        match self {
            Lengths::OneAmongTiny => {
                let tiny = n.div_ceil(16);
                [draw(tiny / 2), vec![n - tiny], draw(tiny - tiny / 2)].concat()
            }
            _ => draw(n),
        }
    }

    fn one(self, n: u32, random: &mut fastrand::Rng) -> u32 {
        match self {
            Lengths::Whole | Lengths::One => n,
            Lengths::Rows { stride, .. } => stride.min(n),
            Lengths::Equal(length) => length,
            Lengths::UpTo(most) | Lengths::Tiles(most) => random.u32(0..=most),
            Lengths::HalfEmpty(most) => random.u32(0..=most) * u32::from(random.bool()),
            Lengths::PowerLaw(least) => (f64::from(least) * (1.0 - random.f64()).powf(-1.0 / 1.5)) as u32,
            Lengths::Peaks => random.u32(4..=128) * if random.u32(0..100) == 0 { 10 } else { 1 },
            Lengths::OneAmongTiny => random.u32(0..=8),
        }
    }

    /// How the device finds them.
    pub fn segments(self, n: u32) -> Segments {
        match self {
            Lengths::Whole => Segments::Whole,
            Lengths::Rows { stride, .. } => Segments::Rows { stride: stride.min(n) },
            _ => Segments::Offsets,
        }
    }

    /// The longest that there can be, where a program would know it and say so.
    pub fn promised(self) -> Option<u32> {
        match self {
            Lengths::Equal(most) | Lengths::UpTo(most) | Lengths::HalfEmpty(most) => Some(most),
            _ => None,
        }
    }
}
