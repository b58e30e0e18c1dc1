//! Options of a sorter.

use vksort::Tuning;

/// Options of a [`Sorter`](crate::Sorter) in addition to its request. The defaults suit most callers.
///
/// ```
/// use vksort_wgpu::SorterOptions;
/// let options = SorterOptions::default().label("splats by depth");
/// assert!(options.tuning.is_none(), "the built-in row of the device");
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SorterOptions {
    /// What the objects of its sorts are called in wgpu's messages and in captures; `None` for `vksort`.
    pub label: Option<String>,
    /// Launch configuration and methods, with numbers in range ([`Tuning::check`]); `None` for the built-in row of the device.
    pub tuning: Option<Tuning>,
    /// The largest number of elements that the sorter will sort, by which tiles are sized; `None` if it is not known. It is not a limit,
    /// but more elements may take longer.
    pub capacity: Option<u32>,
}

/// Each setter returns the same options with another value for one thing.
impl SorterOptions {
    /// What the objects of its sorts are called in wgpu's messages and in captures.
    pub fn label(self, label: impl Into<String>) -> Self {
        SorterOptions { label: Some(label.into()), ..self }
    }

    /// Launch configuration and methods, with numbers in range ([`Tuning::check`]).
    pub fn tuning(self, tuning: impl Into<Option<Tuning>>) -> Self {
        SorterOptions { tuning: tuning.into(), ..self }
    }

    /// The largest number of elements that the sorter will sort, by which tiles are sized.
    pub fn capacity(self, capacity: impl Into<Option<u32>>) -> Self {
        SorterOptions { capacity: capacity.into(), ..self }
    }
}
