//! The contract between host and shaders.
//!
//! [`glsl`] makes the text of `abi.glsl`, which every kernel includes. `build.rs` includes this file too. The host uses
//! the same constants. Nothing here may depend on the rest of the crate.

#[path = "abi/push.rs"]
mod push;

#[allow(unused_imports, reason = "a build script needs their text only")]
pub use push::{Own, Push, VisitorPush};

/// The number of this contract. Compiled visitors hold whole kernels, so they are taken by this number, not by the text of the
/// kernels, which changes with every comment.
///
/// It is raised by hand when kernels that were compiled for the earlier number would not work beside this host and the other
/// kernels: when bindings, push constants, specialization constants, or the meaning of a word in scratch change. A test asks for it
/// when the text of `abi.glsl` changes.
#[allow(dead_code, reason = "the build script does not need it")]
pub const KERNELS: u32 = 1;

/// A value that the host and the shaders share under one name.
pub type Named = (&'static str, u32);

macro_rules! shared_constants {
    ($(#[$table_doc:meta])* $table:ident; $($(#[$doc:meta])* $name:ident = $value:expr;)*) => {
        $($(#[$doc])* #[allow(dead_code, reason = "some are for shaders alone")] pub const $name: u32 = $value;)*
        $(#[$table_doc])* pub const $table: &[Named] = &[$((stringify!($name), $value)),*];
    };
}

shared_constants! {
    /// Plain constants, emitted as GLSL constants of the same name.
    CONSTANTS;

    /// Descriptor binding of the keys that a step reads.
    BINDING_KEYS_FROM = 0;
    /// Descriptor binding of the keys that a step writes.
    BINDING_KEYS_TO = 1;
    /// Descriptor binding of the values that a step reads.
    BINDING_VALUES_FROM = 2;
    /// Descriptor binding of the values that a step writes.
    BINDING_VALUES_TO = 3;
    /// Descriptor binding of the counters.
    BINDING_COUNTERS = 4;
    /// Descriptor binding of the table with one word per tile and digit.
    BINDING_TABLE = 5;
    /// Descriptor binding of the caller's element count.
    BINDING_COUNT = 6;

    /// Lowest bit of the digit of a pass, six bits.
    ROUTE_DIGIT = 0;
    /// Bit of one of the `MOVES_*` constants.
    ROUTE_MOVES = 12;
    /// Set if the pass runs.
    ROUTE_RUNS = 1 << 14;
    /// Set if the pass only copies.
    ROUTE_COPIES = 1 << 15;
    /// Set if a move takes keys.
    ROUTE_TAKES_KEYS = 1 << 16;
    /// Set if a move takes values.
    ROUTE_TAKES_VALUES = 1 << 17;
    /// Set in the route of the pass that gives the elements to a visitor. Kernels without a visitor do not read it.
    ROUTE_VISITS = 1 << 18;

    /// The histogram counts, and its last workgroup decides.
    STAGE_ALL = 0;
    /// The histogram counts.
    STAGE_COUNTS = 1;
    /// The histogram decides, from counts of an earlier dispatch.
    STAGE_DECIDES = 2;
    /// Elements of long rows that may be among the first ones are kept.
    STAGE_KEEPS = 3;

    /// The pass moves keys and values.
    MOVES_ALL = 0;
    /// The pass moves values alone, because the keys are discarded.
    MOVES_VALUES = 1;

    /// Most passes of a sort. The counters start with a tile ticket for each.
    MAX_PASSES = 64;
    /// Word of the counters that counts the finished workgroups of the histogram.
    COUNTERS_FINISHED = 64;
    /// First of the routes in the counters, one word per pass and one for the final move.
    COUNTERS_ROUTES = 65;
    /// First word of the arguments of indirect dispatches in the counters.
    COUNTERS_ARGUMENTS = 132;
    /// Words from one dispatch's arguments to the next's.
    ARGUMENT_WORDS = 4;
    /// Arguments of the histogram.
    ARGUMENTS_HISTOGRAM = 0;
    /// Arguments of steps that cover all tiles.
    ARGUMENTS_TILES = 1;
    /// Arguments of a gather.
    ARGUMENTS_GATHER = 2;
    /// First word of the digit counts in the counters, which become the digits' starts.
    COUNTERS_HISTOGRAM = 144;

    /// Words of a slot of the look-back ring for each digit.
    SLOT_WORDS = 2;
    /// Bits of a count in the first word of a slot: enough for the elements of a tile.
    LOW_BITS = 17;

    /// Upper bound of the shared words of a kernel beside its arrays.
    SHARED_LOOSE_WORDS = 8;

    /// Ranking method: a ballot per bit, then one counter update for each group of equal digits. Modules with a ranking
    /// method of their own use that instead of ballots.
    RANK_BALLOT = 0;
    /// Ranking method: match masks by shared `atomicOr` instead of ballots.
    RANK_MATCH = 1;
    /// Ranking method: a lane compares its digit with the digit of each lane.
    RANK_COMPARE = 2;
    /// A bit of a digit is extracted for its ballot by its position in the digit.
    BALLOT_BY_PLACE = 0;
    /// It is extracted by a mask that is unknown to compilers.
    BALLOT_BY_MASK = 1;
    /// Counters of the histogram that one invocation adds up.
    HISTOGRAM_CHUNK = 16;
    /// Keys that a recount of a large block counts in one iteration of its loop.
    RECOUNTED_AT_ONCE = 8;
    /// The value of `INDEX_VALUES` for indices that count from the begin of their segment.
    INDEX_OF_SEGMENT = 2;

    /// Keys that an invocation of the sample looks at, and words that one of another workgroup clears.
    SAMPLED = 16;
    /// Word of the counters that says how a sort with a finish is sorted; 0 as usual. Its lowest bits are the first unit.
    COUNTERS_FINISH = 131;
    /// The lowest of the leading bits, five bits.
    FINISH_LOW = 23;
    /// The longest run that fits a window, in eighths of it, as a power of two; two bits.
    FINISH_REACH = 28;
    /// Set if a key is outside of the leading bits.
    FINISH_OUTSIDE = 1 << 30;
    /// Of so many keys one may have the same lower leading digit, and so be of the same run.
    FINISH_SHARE = 64;
}

shared_constants! {
    /// The same for the kernel of a verifier alone, so that the modules of the others do not depend on it.
    VERIFIER_CONSTANTS;

    /// A verifier adds up the elements before the sort.
    VERIFY_BEFORE = 0;
    /// It adds up the elements after the sort, and looks at their order.
    VERIFY_AFTER = 1;
    /// It compares the sums, and writes the answer.
    VERIFY_ANSWER = 2;
    /// A check of a verifier: there are keys.
    CHECKS_KEYS = 1;
    /// The keys after the sort are those before it, at the sorted indices.
    CHECKS_BY_INDEX = 2;
    /// The indices of equal keys ascend.
    CHECKS_STABILITY = 4;
    /// A bit of the answer: the elements are not those before the sort.
    WRONG_ELEMENTS = 1;
    /// A bit of the answer: two neighbours are not in order.
    WRONG_ORDER = 2;
    /// A bit of the answer: the indices of two equal neighbours do not ascend.
    WRONG_STABILITY = 4;
    /// The answer until there is one.
    WRONG_UNFINISHED = 1 << 31;
    /// Words of a workgroup's sums in the report.
    REPORT_WORDS = 3;
}

shared_constants! {
    /// The same for the kernel of an inspector alone: the words of its report.
    INSPECTOR_CONSTANTS;

    /// The count that the recording asks for.
    INSPECTION_COUNT = 0;
    /// Elements of the longest segment.
    INSPECTION_LONGEST = 1;
    /// Segments that the count asks for beyond the capacity.
    INSPECTION_SEGMENTS_BEYOND = 2;
    /// Elements from the capacity to the last one of a segment.
    INSPECTION_ELEMENTS_BEYOND = 3;
    /// Segments that are longer than was promised. This word and the next are counts, the others are maxima.
    INSPECTION_TOO_LONG = 4;
    /// Segments that begin before the one in front of them.
    INSPECTION_DESCENDING = 5;
    /// Words of the report.
    INSPECTION_WORDS = 6;
}

shared_constants! {
    /// The same for the kernels of segments alone.
    SEGMENT_CONSTANTS;

    /// Descriptor binding of the words that say where segments are.
    BINDING_SEGMENTS = 7;
    /// Segments are between neighbouring offsets.
    LAYOUT_OFFSETS = 0;
    /// Segments have a begin and an end each.
    LAYOUT_RANGES = 1;
    /// Segments are rows of equal length.
    LAYOUT_ROWS = 2;
    /// Segments are the beginnings of such rows, each of a length of its own.
    LAYOUT_ROWS_OF = 3;
    /// All elements are one segment.
    LAYOUT_WHOLE = 4;
    /// Segments are what is left of long rows, which the last step of their first elements sorts.
    LAYOUT_SURVIVORS = 5;
    /// Segments are the children of a segment that is longer than a block.
    LAYOUT_CHILDREN = 6;

    /// Bits of a digit by which long rows are narrowed to their first elements.
    TOP_DIGIT_BITS = 11;
    /// Bins of a row: one for each value of a digit.
    TOP_BINS = 1 << TOP_DIGIT_BITS;
    /// Most levels of narrowing: 12 digits of the longest key, and 3 of an index. The counters have arguments for each.
    TOP_LEVELS = 15;
    /// Word of the counters with the number of tiles of the rows that windows have listed.
    TOP_TILES = 0;
    /// First word of the rows in the counters. A row has its state, and then a bin for each value of a digit.
    TOP_ROWS = 196;
    /// Words of a row's state: twice what a level finds, for even and for odd levels, and a word for each of the last three.
    TOP_STATE_WORDS = 17;
    /// Words of what a level finds: four of the prefix of a key, and the following three.
    TOP_FOUND_WORDS = 7;
    /// Word of it with the prefix of an index.
    TOP_INDEX = 4;
    /// Word of it with the number of elements before the prefix, which are among the first.
    TOP_BEFORE = 5;
    /// Word of it with the level, or an earlier one if none is needed.
    TOP_NEXT = 6;
    /// Word of the state with the level that comes after the last one of the row.
    TOP_LEVEL = 14;
    /// Word that counts finished workgroups.
    TOP_FINISHED = 15;
    /// Word that counts survivors.
    TOP_KEPT = 16;
    /// Words of a listed row in the table, before its survivors.
    TOP_RECORD_WORDS = 4;

    /// Slots that an invocation holds of a segment that is sorted in a few lanes.
    HELD_SLOTS = 4;
    /// The most slots in lanes for each slot of a window. The others are empty.
    SPARSEST = 8;

    /// Bits of the digit by which a round divides segments that are longer than a block, its parents.
    SPLIT_BITS = 8;
    /// Children of a parent: one for each value of a digit.
    SPLIT_CHILDREN = 256;
    /// Most tiles of a parent. Each is at least so many blocks:
    SPLIT_TILES = 1024;
    /// Fewest blocks of a tile, unless the parent has fewer.
    SPLIT_TILE_BLOCKS = 4;
    /// Words of a parent in the list of its round.
    PARENT_WORDS = 7;
    /// Words of the counters of a round: its parents, their tiles, the rows of counts of those with several tiles, and the windows of
    /// their children. The counters start with those of each round.
    ROUND_WORDS = 4;
    /// Dispatches of a round with arguments, which follow each other.
    ROUND_ARGUMENTS = 3;
    /// The first of them, over the tiles of its parents.
    ARGUMENTS_SPLIT_TILES = 0;
    /// Over parents with rows.
    ARGUMENTS_SPLIT_ROWS = 1;
    /// Over the windows of their children.
    ARGUMENTS_SPLIT_WINDOWS = 2;
    /// Digits whose rows a workgroup adds up, unless it has fewer invocations.
    SPLIT_SCANNED = 32;
    /// Stage of a split: it counts the digits of a tile.
    SPLIT_COUNTS = 0;
    /// It adds up the rows of a parent.
    SPLIT_SCANS = 1;
    /// It moves the elements of a tile to their children.
    SPLIT_SCATTERS = 2;
    /// After the last round, it moves those to the target that ended elsewhere.
    SPLIT_MOVES = 3;
}

shared_constants! {
    /// The same for the kernel that composes the keys of records.
    FIELD_CONSTANTS;

    /// Where a field's constant has the bytes of the field, above its offset in the record.
    FIELD_BYTES = 16;
    /// Bit of a field's constant: the sign bit is flipped, because negative numbers come first.
    FIELD_SIGNED = 1 << 21;
    /// Bit of a field's constant: the magnitude of negative numbers is flipped.
    FIELD_FLOAT = 1 << 22;
    /// Bit of a field's constant: every bit is flipped once more.
    FIELD_DESCENDING = 1 << 23;
}

macro_rules! specialization {
    ($($(#[$doc:meta])* $name:ident = $default:expr;)*) => {
        /// Specialization constants by id: the index of an entry is its id, the number its value where the host sets none.
        pub const SPECIALIZATION: [Named; spec::LEN] = [$((stringify!($name), $default)),*];

        /// Indices into [`SPECIALIZATION`].
        pub mod spec {
            #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "constants have these names")]
            enum Id { $($name,)* Len }
            $($(#[$doc])* pub const $name: usize = Id::$name as usize;)*
            /// Number of specialization constants.
            pub const LEN: usize = Id::Len as usize;
        }
    };
}

specialization! {
    /// Invocations per workgroup; also the workgroup's `local_size_x`.
    WORKGROUP_SIZE = 128;
    /// Invocations per subgroup, real or emulated.
    SUBGROUP_SIZE = 32;
    /// Elements that one invocation holds at a time.
    ITEMS = 8;
    /// Words of the shared pool: ranking counters, then staged elements.
    POOL_WORDS = 1024;
    /// One of the `RANK_*` constants.
    RANK_METHOD = RANK_BALLOT;
    /// Whether digits are computed again and two places share a word, to save registers.
    FEW_REGISTERS = 0;
    /// One of the `BALLOT_*` constants.
    BALLOT = BALLOT_BY_PLACE;
    /// Whether the first pass need not keep the order of equal digits.
    UNORDERED = 0;
    /// Whether equal digits in a row are added up before they are counted.
    MERGE_RUNS = 1;
    /// Bits of the widest digit.
    RADIX_BITS = 8;
    /// Digits of the window.
    PASSES = 4;
    /// Bits of the window, shared out among the passes.
    WINDOW_BITS = 32;
    /// Bits of a key.
    KEY_BITS = 32;
    /// Lowest bit of the window, for keys of several words: it selects the words of a digit.
    WINDOW_LOW = 0;
    /// Bits to flip in the top word of keys whose sign bit is set, beside the flips of every key.
    KEY_FLIP_NEGATIVE = 0;
    /// The same for the lower words.
    LOW_FLIP_NEGATIVE = 0;
    /// Bits of a value; 0 for none.
    VALUE_BITS = 0;
    /// Whether values are the index of their key, so that no values are read; `INDEX_OF_SEGMENT` for the index in its segment.
    INDEX_VALUES = 0;
    /// Whether the target is the source.
    IN_PLACE = 1;
    /// Whether the sorted keys are discarded.
    DISCARD_KEYS = 0;
    /// Workgroups that share a tile's elements in a gather.
    GATHER_SPLITS = 1;
    /// Reads of one look-back word before the blocking tile is recounted.
    POLLS = 16;
    /// Bits of the number of slots in the look-back ring.
    RING_BITS = 10;
    /// Most workgroups of a dispatch in one dimension.
    MAX_WORKGROUPS = 65535;
    /// Fault injection: tiles whose index is a multiple of this never publish; 0 for none.
    WITHHOLD = 0;
    /// Whether subgroups without elements rest in a single workgroup. They pass fewer subgroup barriers than the others.
    SUBGROUPS_REST = 0;
    /// How segments are given, one of the `LAYOUT_*` constants.
    SEGMENT_LAYOUT = LAYOUT_OFFSETS;
    /// The most slots of a segment that is sorted in a few lanes, as a power of two; 0 for none. Of short segments all have as many.
    NETWORK_BITS = 5;
    /// How many of the first elements of each segment are written; 0 for all.
    TOP = 0;
    /// The first field that records are sorted by, as the `FIELD_*` constants say; 0 for none.
    FIELD_0 = 0;
    /// The second.
    FIELD_1 = 0;
    /// The third.
    FIELD_2 = 0;
    /// The fourth.
    FIELD_3 = 0;
    /// Whether segments that are longer than a block are listed, to be divided in rounds or narrowed to their first elements.
    SPLITS = 0;
    /// One of the `SPLIT_*` stages.
    SPLIT_STAGE = SPLIT_COUNTS;
    /// Whether look-back goes on while keys are ranked.
    LOOKS_AHEAD = 0;
    /// Whether rows are sorted by passes, each row by itself.
    OF_ROWS = 0;
    /// Whether a sort may end with a finish.
    FINISHES = 0;
}

/// The text of `abi.glsl`, perhaps with the members of a visitor.
#[allow(dead_code, reason = "for what compiles the kernels")]
pub fn glsl(visitor: Option<VisitorPush<'_>>) -> String {
    let mut text = String::from("// Made from src/abi.rs.\n");
    let constants = |table: &[Named]| -> String {
        table.iter().map(|(name, value)| format!("const uint {name} = {value}u;\n")).collect()
    };
    text += &constants(CONSTANTS);
    text += &format!("#ifdef VERIFIES\n{}#endif\n", constants(VERIFIER_CONSTANTS));
    text += &format!("#ifdef INSPECTS\n{}#endif\n", constants(INSPECTOR_CONSTANTS));
    text += &format!("#ifdef SEGMENTS\n{}#endif\n", constants(SEGMENT_CONSTANTS));
    text += &format!("#ifdef COMPOSES\n{}#endif\n", constants(FIELD_CONSTANTS));
    for (id, (name, default)) in SPECIALIZATION.iter().enumerate() {
        let line = format!("layout(constant_id = {id}) const uint {name} = {default}u;\n");
        text += &match id {
            spec::FIELD_0..=spec::FIELD_3 => format!("#ifdef COMPOSES\n{line}#endif\n"),
            spec::LOOKS_AHEAD => format!("#ifdef LOOKS_BACK\n{line}#endif\n"),
            spec::OF_ROWS => line,
            spec::FINISHES => format!("#ifdef MAY_FINISH\n{line}#else\nconst uint {name} = {default}u;\n#endif\n"),
            spec::SEGMENT_LAYOUT.. => format!("#ifdef SEGMENTS\n{line}#endif\n"),
            _ => line,
        };
    }
    let (id, default) = (spec::WORKGROUP_SIZE, SPECIALIZATION[spec::WORKGROUP_SIZE].1);
    text += &format!("layout(local_size_x = {default}, local_size_x_id = {id}) in;\n");
    text + &push::glsl(visitor)
}
