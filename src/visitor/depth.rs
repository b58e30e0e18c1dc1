//! The visitors that come with the library: depths of positions as keys.

use crate::key::{KeyType, Order};
use crate::request::{KeyOutput, Placement, SortRequest, ValueType};

/// Depths of positions as keys, by a visitor that comes with vksort.
///
/// Positions are in a storage buffer at binding 0 of the visitor's set. Each is three neighbouring `f32`, and [`DepthPush`] has
/// the distance from one position to the next. The depth is the product of a position and a row of the view matrix.
/// `VisitorSource::depth` of the crate `vksort-visitors` is the visitor.
///
/// ```
/// use vksort::{DepthKeys, DepthPush};
///
/// // Farthest first, in two passes instead of four: depths from 0.1 to 100 in steps of 16 bits.
/// let (keys, row) = (DepthKeys::Bits16, [0.0, 0.0, 1.0, 0.0]);
/// assert_eq!(keys.request().bits.len(), 16);
/// let push = DepthPush::quantized(row, 0.1..100.0, 3, 0).to_bytes();
/// # assert_eq!(push.len(), DepthPush::BYTES as usize);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DepthKeys {
    /// The depth as `f32`: four passes of 8 bits.
    F32,
    /// The depth between near and far in 2^16 - 1 steps, as `u16`: two passes.
    Bits16,
    /// The depth between near and far in 2^24 - 1 steps, as 24 bits of `u32`: three passes.
    Bits24,
}

impl DepthKeys {
    /// A request for the indices of positions, farthest first, without keys. All fields may be changed except key and bits.
    pub fn request(self) -> SortRequest {
        let (key, bits) = match self {
            DepthKeys::F32 => (KeyType::F32, 32),
            DepthKeys::Bits16 => (KeyType::U16, 16),
            DepthKeys::Bits24 => (KeyType::U32, 24),
        };
        SortRequest::new(key)
            .value(ValueType::Index)
            .order(Order::Descending)
            .bits(0..bits)
            .placement(Placement::OutOfPlace)
            .key_output(KeyOutput::Discarded)
    }
}

/// Push constants of the visitors of [`DepthKeys`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct DepthPush {
    /// The row, which maps the near end of a range to 0 and the far end to 1 where keys are steps.
    pub row: [f32; 4],
    /// Floats from one position to the next.
    pub stride: u32,
    /// Floats before the first position.
    pub first: u32,
}

impl DepthPush {
    /// Their size in bytes.
    pub const BYTES: u32 = 24;

    /// For [`DepthKeys::F32`]: the depth is `x * row[0] + y * row[1] + z * row[2] + row[3]`.
    ///
    /// `stride` is the number of floats from one position to the next: 3 for packed positions, 4 for `vec4`. `first` is the
    /// number of floats before the first position.
    pub fn new(row: [f32; 4], stride: u32, first: u32) -> DepthPush {
        DepthPush { row, stride, first }
    }

    /// For [`DepthKeys::Bits16`] and [`DepthKeys::Bits24`]: the same depth, clamped to a range from near to far.
    ///
    /// The length of the range must be finite. It is clamped to 1e-30 at least, and to more where depths are so large that the row
    /// would not be finite.
    pub fn quantized(row: [f32; 4], range: std::ops::Range<f32>, stride: u32, first: u32) -> DepthPush {
        let [x, y, z, w] = row;
        // The row stays finite, so that no depth is infinity less infinity.
        let largest = [x, y, z, w - range.start].map(f32::abs).into_iter().fold(1.0, f32::max);
        let most = 1e30_f32.min(1e37 / largest);
        let scale = (1.0 / (range.end - range.start)).clamp(-most, most);
        DepthPush { row: [x * scale, y * scale, z * scale, (w - range.start) * scale], stride, first }
    }

    /// The bytes for [`VisitorResources::push`](crate::VisitorResources::push).
    pub fn to_bytes(self) -> [u8; Self::BYTES as usize] {
        let [x, y, z, w] = self.row.map(f32::to_bits);
        bytemuck::cast([x, y, z, w, self.stride, self.first].map(u32::to_le_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_short_ranges_stay_finite() {
        for (row, near) in [([0.0, 0.0, 1.0, 0.0], 1e9), ([1e8, -1e20, 1.0, 1e30], -5.0), ([0.0, 0.0, 1.0, 0.0], 0.0)] {
            let push = DepthPush::quantized(row, near..near, 3, 0);
            assert!(push.row.iter().all(|number| number.is_finite()), "{push:?}");
            assert!(push.row[2] > 0.0, "{push:?}");
        }
    }
}
