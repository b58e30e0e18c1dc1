//! The contract between host and shaders: everything both sides must agree on.
//!
//! `build.rs` includes this file and writes [`glsl`]'s text to `abi.glsl`, which every kernel includes; the host uses
//! the same constants directly. Nothing here may depend on the rest of the crate.

/// A value that the host and the shaders share under one name.
pub type Named = (&'static str, u32);

macro_rules! shared_constants {
    ($(#[$table_doc:meta])* $table:ident; $($(#[$doc:meta])* $name:ident = $value:expr;)*) => {
        $($(#[$doc])* pub const $name: u32 = $value;)*
        $(#[$table_doc])* pub const $table: &[Named] = &[$((stringify!($name), $value)),*];
    };
}

shared_constants! {
    /// Plain constants, emitted as GLSL constants of the same name.
    CONSTANTS;

    /// Descriptor binding of the keys that a step reads.
    BINDING_KEYS_IN = 0;
    /// Descriptor binding of the keys that a step writes.
    BINDING_KEYS_OUT = 1;
    /// Descriptor binding of the values that a step reads.
    BINDING_VALUES_IN = 2;
    /// Descriptor binding of the values that a step writes.
    BINDING_VALUES_OUT = 3;
    /// Descriptor binding of the tile tickets and the digit counts of the whole input.
    BINDING_COUNTERS = 4;
    /// Descriptor binding of the table with one word per tile and digit.
    BINDING_TABLE = 5;

    /// First word of the digit counts in the counters buffer; the words before it are one tile ticket per pass.
    COUNTERS_HISTOGRAM = 64;

    /// Bits of a look-back word that hold the count; the two bits above them hold its state.
    STATUS_COUNT_BITS = 30;

    /// Arrays of one word per digit that a block-sorting kernel keeps in shared memory beside its pool.
    SHARED_DIGIT_ARRAYS = 5;
    /// Single shared words that a kernel keeps beside its arrays, rounded up.
    SHARED_LOOSE_WORDS = 4;

    /// Ranking method: eight ballots, then one counter update by the leader of each group of equal digits.
    RANK_BALLOT = 0;
    /// Ranking method: match masks by shared `atomicOr`, mask and count packed into one word; subgroups of up to 16.
    RANK_MATCH = 1;
}

/// Specialization constants by id: the index of an entry is its id, the number its value where the host sets none.
pub const SPECIALIZATION: [Named; spec::LEN] = [
    ("WORKGROUP_SIZE", 128),
    ("SUBGROUP_SIZE", 32),
    ("ITEMS", 8),
    ("RADIX_BITS", 8),
    ("PASSES", 4),
    ("POOL_WORDS", 1024),
    ("KEY_FLIP", 0),
    ("KEY_FLIP_NEGATIVE", 0),
    ("RANK_METHOD", RANK_BALLOT),
    ("POLLS", 16),
    ("WITHHOLD", 0),
];

/// Indices into [`SPECIALIZATION`].
pub mod spec {
    /// Invocations per workgroup; also the workgroup's `local_size_x`.
    pub const WORKGROUP_SIZE: usize = 0;
    /// Invocations per subgroup, real or emulated.
    pub const SUBGROUP_SIZE: usize = 1;
    /// Elements that one invocation holds at a time.
    pub const ITEMS: usize = 2;
    /// Bits of a digit.
    pub const RADIX_BITS: usize = 3;
    /// Digits of a key.
    pub const PASSES: usize = 4;
    /// Words of the shared pool: ranking counters, then staged keys, then staged values.
    pub const POOL_WORDS: usize = 5;
    /// Bits to flip in every key so that unsigned order is the wanted order.
    pub const KEY_FLIP: usize = 6;
    /// Bits to flip on top of that in keys whose sign bit is set.
    pub const KEY_FLIP_NEGATIVE: usize = 7;
    /// One of the `RANK_*` constants.
    pub const RANK_METHOD: usize = 8;
    /// Reads of one look-back word before the blocking tile is recounted.
    pub const POLLS: usize = 9;
    /// Fault injection: tiles whose index is a multiple of this never publish; 0 for none.
    pub const WITHHOLD: usize = 10;
    /// Number of specialization constants.
    pub const LEN: usize = 11;
}

/// Push constants, the same block for every kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Push {
    /// Elements to sort.
    pub count: u32,
    /// Tiles (or, for the histogram, chunks) that the step covers.
    pub tiles: u32,
    /// Index of the digit, counted from the least significant one.
    pub pass: u32,
    /// Lowest bit of the digit.
    pub shift: u32,
    /// Blocks of `WORKGROUP_SIZE * ITEMS` elements in one tile or chunk.
    pub blocks: u32,
}

/// Reads one member of the push constants.
pub type PushGetter = fn(&Push) -> u32;

impl Push {
    /// The block's members in order, each with its name in the shaders.
    pub const FIELDS: [(&'static str, PushGetter); 5] = [
        ("count", |push| push.count),
        ("tiles", |push| push.tiles),
        ("pass", |push| push.pass),
        ("shift", |push| push.shift),
        ("blocks", |push| push.blocks),
    ];

    /// Size of the block in bytes.
    pub const SIZE_BYTES: u32 = 4 * Self::FIELDS.len() as u32;

    /// The block as the words that the shaders see.
    pub fn words(&self) -> [u32; Self::FIELDS.len()] {
        Self::FIELDS.map(|(_, get)| get(self))
    }
}

/// One SPIR-V module: a kernel source with the macros that select its variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Module {
    /// Name of the module and of its `.spv` file.
    pub name: &'static str,
    /// File under `glsl/`.
    pub source: &'static str,
    /// 32-bit words of value that travel with each key.
    pub value_words: u32,
    /// Whether subgroup operations are emulated through shared memory.
    pub emulated: bool,
}

const fn module(name: &'static str, source: &'static str, value_words: u32, emulated: bool) -> Module {
    Module { name, source, value_words, emulated }
}

/// Every module that is built. Kernels without subgroup operations or values have one variant.
pub const MODULES: &[Module] = &[
    module("histogram", "histogram.comp", 0, false),
    module("count", "count.comp", 0, false),
    module("scan", "scan.comp", 0, false),
    module("onesweep_keys", "onesweep.comp", 0, false),
    module("onesweep_pairs", "onesweep.comp", 1, false),
    module("onesweep_keys_emulated", "onesweep.comp", 0, true),
    module("onesweep_pairs_emulated", "onesweep.comp", 1, true),
    module("scatter_keys", "scatter.comp", 0, false),
    module("scatter_pairs", "scatter.comp", 1, false),
    module("scatter_keys_emulated", "scatter.comp", 0, true),
    module("scatter_pairs_emulated", "scatter.comp", 1, true),
    module("single_keys", "single_workgroup.comp", 0, false),
    module("single_pairs", "single_workgroup.comp", 1, false),
    module("single_keys_emulated", "single_workgroup.comp", 0, true),
    module("single_pairs_emulated", "single_workgroup.comp", 1, true),
];

/// The text of `abi.glsl`.
pub fn glsl() -> String {
    let mut text = String::from("// Written by build.rs from src/abi.rs.\n");
    for (name, value) in CONSTANTS {
        text += &format!("const uint {name} = {value}u;\n");
    }
    for (id, (name, default)) in SPECIALIZATION.iter().enumerate() {
        text += &format!("layout(constant_id = {id}) const uint {name} = {default}u;\n");
    }
    let (id, default) = (spec::WORKGROUP_SIZE, SPECIALIZATION[spec::WORKGROUP_SIZE].1);
    text += &format!("layout(local_size_x = {default}, local_size_x_id = {id}) in;\n");
    text += "layout(push_constant) uniform Push {\n";
    for (name, _) in Push::FIELDS {
        text += &format!("    uint {name};\n");
    }
    text += "} push;\n";
    text
}
