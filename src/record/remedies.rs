//! What callers are told to do where sorts are slow.

/// What callers do against emulated subgroups, beside what Vulkan calls it.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remedies {
    /// How vksort is told of features that are enabled.
    pub features: &'static str,
    /// How it is told of the version of the instance.
    pub version: &'static str,
}

impl Default for Remedies {
    /// Those of programs in Rust.
    fn default() -> Self {
        Remedies { features: "and leave them in Requirements", version: "tell it by Requirements::for_api_version" }
    }
}
