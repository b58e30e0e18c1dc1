#![cfg_attr(docsrs, feature(doc_cfg))]
//! Radix sort for data that already lives in Vulkan buffers.
//!
//! A renderer records a sort into its own command buffer, between its own passes. [`Requirements`] names the extensions and features
//! to enable, [`Sorter`] holds the pipelines, and [`BoundSort`] binds them to buffers. [`BoundSort::record`] allocates nothing, submits
//! nothing and waits for nothing:
//!
//! ```
//! use vksort::ash::{Device, vk::CommandBuffer};
//! use vksort::{BoundSort, Error, KeyType, Order, Requirements, SortBuffers, SortRequest, Sorter, ValueType};
//!
//! /// Once: builds the pipelines, and binds the sort to its buffers.
//! unsafe fn prepare(device: &Device, needed: &Requirements, buffers: &SortBuffers) -> Result<BoundSort, Error> {
//!     let request = SortRequest::new(KeyType::F32).value(ValueType::U32).order(Order::Descending);
//!     unsafe { Sorter::new(device, needed, &request, &Default::default())?.bind(buffers) }
//! }
//!
//! /// Every frame, between a barrier from the writes of keys and values to [`BoundSort::INPUT_SCOPE`], and one from
//! /// [`BoundSort::OUTPUT_SCOPE`] to their reads.
//! unsafe fn record(sort: &BoundSort, commands: CommandBuffer, count: u32) -> Result<(), Error> {
//!     unsafe { sort.record(commands, count) }
//! }
//! ```
//!
//! [`Sorter`] has a whole program. The guide, `docs/guide/src/index.md` of the package, leads from a first sort to one in a frame.
//!
//! With the feature `standalone`, `standalone::Gpu` owns a device and sorts slices:
//!
//! ```
//! # fn main() -> Result<(), vksort::Error> {
//! # #[cfg(feature = "standalone")] {
//! use vksort::{Order, standalone::Gpu};
//!
//! let back_to_front = Gpu::best()?.argsort(&[4.0f32, 1.5, 9.25], Order::Descending)?;
//! assert_eq!(back_to_front, [2, 0, 1]);
//! # }
//! # Ok(()) }
//! ```
//!
//! A [`SortRequest`] says what is sorted: keys of 8 to 128 bits, each of which may carry a value, or structures by their fields.
//! It also says how they are divided: one array, or segments that are sorted each by itself, of which all elements or the first
//! ones are wanted. The number of elements, or of segments, comes from the host or from a buffer on the device ([`Count`]).
//!
//! The sort is stable. Its result is the same bit for bit in every run, on every device and with every [`Algorithm`], unless
//! [`SortRequest::stable`] is set to false. Floats are in the total order of
//! [`f32::total_cmp`]: -NaN, -inf, negative numbers, -0, +0, positive numbers, +inf, +NaN.
//!
//! The main algorithm is OneSweep (Adinets and Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for
//! GPUs", 2022). A workgroup that waits too long for its predecessor recomputes the predecessor's counts, so every wait is
//! bounded. Devices of unknown forward progress use reduce-then-scan. Kernels are specialized for one subgroup size, from
//! 4 to 128 lanes. Subgroups are emulated on devices that do not promise full ones. `docs/RELIABILITY.md` of the package names a test
//! for each of these promises.
//!
//! # What can be sorted
//!
#![doc = include_str!("../docs/table.md")]
//!
//! Passes are those over all bits with digits of 8 bits. [`SortRequest`] explains each option.
//!
//! It is for Vulkan alone: browsers and the other backends of wgpu have no recording of theirs. Keys are numbers and fields of
//! structures; there are no comparison functions and no strings. A sort has fewer than 2^32 elements, in the memory of one device.
//!
//! # Visitors
//!
//! A [`Visitor`] is GLSL of yours that computes the keys and values that a sort would read, or receives the result that it would
//! write. So keys need not be stored before they are sorted. [`SorterOptions::visitor`] gives it to a sorter, and [`DepthKeys`] has
//! visitors for depths of positions.
//!
//! # Tuning
//!
//! A [`Tuning`] holds the launch configuration and the methods of the kernels. [`Tuning::for_device`] has a row for every class of
//! devices. [`SorterOptions::tuning`] replaces the row for one sorter, and `standalone::Gpu::with_tuning` for all sorts of a device
//! that vksort owns. The program `tune` of the repository searches for a better row on a device.
//!
//! The fields of [`Tuning`] may change with any version of the crate.
//!
//! # Features
//!
//! * `standalone`: the module `standalone`. It adds gpu-allocator and loads the Vulkan library at run time.
//! * `keys-64` (default): keys of 64 bits. Without it the program does not contain their kernels, and
//!   [`Error::MissingFeature`] refuses requests for these keys.
//! * `keys-128`: keys of 128 bits too.
//! * `addresses`: access to elements by address, for sorts beyond the device's `maxStorageBufferRange`: [`Access::Addresses`]. The
//!   feature `standalone` has it.
//! * `software-drivers`: kernels for drivers that run on the CPU, such as lavapipe and SwiftShader. Without them these run the kernels of
//!   GPUs, which take several times as long there; a warning says so once for a device.
//! * `__testing`: internals and fault injection for vksort's own tests. It is no part of the API.
//! * `half`: slices of `half::f16` and `half::bf16` can be sorted.
//! * `compile-kernels`: compiles the kernels in `glsl/` when the crate is built, instead of embedding the modules in `spirv/`. It
//!   is for changes to vksort's own kernels; visitors do not need it. It adds shaderc to the build script.
//!
//! The crate `vksort-visitors` compiles visitors, `vksort-wgpu` sorts buffers of wgpu, `vksort-capi` is the library for programs in C
//! and C++, and `vksort-profiles` keeps tunings in files.
//!
//! Without `compile-kernels`, building needs no C++ compiler: the crate contains the SPIR-V of its kernels.
//!
//! The crate logs a line (`log`) for each device that it opens, and for each sorter with its request, its tuning row, and its
//! algorithm with the reason.

#[doc(hidden)]
pub mod __private;
mod abi;
mod checksum;
#[cfg(feature = "__compile")]
#[path = "../build/compile.rs"]
#[allow(clippy::missing_errors_doc, missing_debug_implementations, reason = "no part of the API")]
mod compile;
mod elements;
mod error;
mod files;
#[cfg(feature = "__testing")]
mod internals;
mod kernels;
mod key;
mod modules;
mod plan;
mod profile;
mod record;
mod records;
mod request;
mod segments;
mod shape;
mod specialize;
mod spirv;
#[cfg(feature = "standalone")]
pub mod standalone;
mod tuning;
mod visitor;

pub use ash;
pub use bytemuck;
pub use error::Error;
pub use key::{Key, KeyType, Order};
pub use plan::{MAX_COUNT, StepName};
pub use profile::{DeviceProfile, FixedSubgroups};
pub use record::{
    Access, AccessScope, BoundSort, BufferRange, DeviceFeatures, Inspection, Inspector, InstanceRequirements,
    PipelineSet, QueryRange, Requirements, SegmentLimits, SortBuffers, Sorter, SorterOptions, StepTime, Verifier,
    VisitorResources, device_from_raw, instance_from_raw,
};
pub use records::KeyField;
pub use request::{Algorithm, BitRange, BufferSizes, Capacity, Count, KeyOutput, Placement, SortRequest, ValueType};
pub use segments::{IndexFrom, SegmentOptions, Segments};
pub use shape::{Specialization, SubgroupChoice};
pub use tuning::{Ballot, Knob, RankMethod, Scale, Tuning};
pub use visitor::{DepthKeys, DepthPush, Visitor, Visits};

/// The version of this library, such as `0.1.0`.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
