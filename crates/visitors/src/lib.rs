//! Compiles visitors of vksort: GLSL of yours that computes the keys and values that a sort would read, or receives the result that
//! it would write.
//!
//! A [`VisitorSource`] is compiled where its program runs, or in the program's build script:
//!
//! * **In the program**, [`SorterOptions::visitor`](vksort::SorterOptions::visitor) takes the source, and
//!   [`Sorter::new`](vksort::Sorter::new) compiles it for its request and device.
//! * **In the build script**, [`VisitorSource::compile`] makes bytes for every device. The program has them by `include_bytes!` and
//!   [`Visitor::from_bytes`](vksort::Visitor::from_bytes), and neither this crate nor a compiler.
//!
//! The compiler is shaderc, which takes a C++ tool chain. `docs/VISITORS.md` of the repository lists the functions that the code
//! defines, and its duties.
//!
//! The crate works with exactly its own version of vksort.
//!
//! # Features
//!
//! * `keys-64` (default), `keys-128`: visitors for keys of 64 and of 128 bits.

mod compiling;
mod source;

pub use source::VisitorSource;

/// The snippets of the page about visitors and of the guide's chapter, as documentation tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../docs/VISITORS.md")]
    struct Page;
    #[doc = include_str!("../../../docs/guide/src/visitors.md")]
    struct Chapter;
    #[doc = include_str!("../README.md")]
    struct Readme;
}
