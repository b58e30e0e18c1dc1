//! What is measured: the part of a sort that a visitor replaces, and the elements.

use clap::ValueEnum;
use vksort::DepthKeys;

/// The part of a sort that the visitor replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Replaced {
    /// A dispatch that writes a buffer of keys before the sort.
    Keys,
    /// A dispatch that writes keys and indices before a sort of both in place, as most renderers do.
    Pairs,
    /// A dispatch that reads the sorted indices behind the sort. Keys are visited either way.
    Output,
}

/// The keys of depths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Keys {
    #[value(name = "32")]
    F32,
    #[value(name = "24")]
    Bits24,
    #[value(name = "16")]
    Bits16,
}

impl Keys {
    pub fn depth(self) -> DepthKeys {
        match self {
            Keys::F32 => DepthKeys::F32,
            Keys::Bits24 => DepthKeys::Bits24,
            Keys::Bits16 => DepthKeys::Bits16,
        }
    }

    /// The key of a depth from 0 to 1.
    pub fn of(self, depth: f32) -> u32 {
        let level = |levels: f32| if depth > 0.0 { (depth.min(1.0) * levels) as u32 } else { 0 };
        match self {
            Keys::F32 => depth.to_bits(),
            Keys::Bits24 => level(16_777_215.0),
            Keys::Bits16 => level(65_535.0),
        }
    }
}

/// The source of a depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Input {
    Vec4,
    Packed,
    Float,
}

impl Input {
    /// Floats from one element to the next.
    pub fn stride(self) -> usize {
        match self {
            Input::Vec4 => 4,
            Input::Packed => 3,
            Input::Float => 1,
        }
    }
}

/// The element that is stored for each sorted index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Store {
    Index,
    Splat,
}

impl Store {
    /// Words of an element.
    pub fn words(self) -> usize {
        match self {
            Store::Index => 1,
            Store::Splat => 4,
        }
    }
}

/// The sort that is measured.
#[derive(Clone, Copy)]
pub struct Case {
    pub replaces: Replaced,
    pub keys: Keys,
    pub input: Input,
    pub keys_only: bool,
    pub store: Store,
    pub count: u32,
}

/// The row of the view matrix by which positions give depths from 0 to 1.
pub const ROW: [f32; 4] = [0.5, 0.25, 0.25, 0.0];
