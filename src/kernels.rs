//! The kernels: a row for each one says in which variants it is built, how large its workgroups are, and which memory
//! it reads and writes.
//!
//! `build.rs` includes this file to know which modules there are, so nothing here may depend on the rest of the crate.

/// Memory that hazards are tracked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Region {
    /// The caller's input.
    Source,
    /// The caller's output; the same memory as the input when sorting in place.
    Target,
    /// The elements in scratch: alternate, permutation and values that are gathered aside.
    Alternate,
    /// Tickets, digit counts, routes, and the arguments of indirect dispatches.
    Counters,
    /// One word per tile and digit.
    Table,
}

/// How a kernel uses a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// It is read.
    Read,
    /// It is written, and what it held before is not needed.
    Write,
    /// It is read and written.
    ReadWrite,
    /// It is read as the arguments of an indirect dispatch.
    Arguments,
}

/// Size of a kernel's workgroups, and what one invocation of them has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// A single invocation.
    One,
    /// The workgroup that counts digits, moves and gathers.
    Counting,
    /// The same, where each invocation looks through neighbouring elements for ties.
    Ties,
    /// The workgroup that scans the counts of tiles.
    Scanning,
    /// The workgroup that ranks and scatters a tile, block by block.
    Tile,
    /// The same, for a workgroup that sorts all elements by itself.
    Single,
}

/// In which variants a kernel is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variants {
    /// Whether it loads keys: one variant for each number of words of a key.
    pub keys: bool,
    /// Whether it stores elements: one with, one without types of 8 and 16 bits.
    pub stores: bool,
    /// Whether it ranks elements: native and emulated subgroups, and ranking methods with modules of their own.
    pub ranks: bool,
    /// Whether it counts digits: by shared counters, or by an invocation's own.
    pub counts: bool,
    /// Whether elements are reached by descriptor or by address.
    pub addresses: bool,
}

const PLAIN: Variants = Variants { keys: false, stores: false, ranks: false, counts: false, addresses: false };
const GATHERS: Variants = Variants { addresses: true, ..PLAIN };
const READS: Variants = Variants { keys: true, addresses: true, ..PLAIN };
const COUNTS: Variants = Variants { counts: true, ..READS };
const MOVES: Variants = Variants { stores: true, ..READS };
const RANKS: Variants = Variants { ranks: true, ..MOVES };

/// What there is to know of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The kernel.
    pub kernel: Kernel,
    /// Its file under `glsl/` without the ending; also its name in steps and labels.
    pub file: &'static str,
    /// In which variants it is built.
    pub variants: Variants,
    /// Size of its workgroups.
    pub group: Group,
    /// What it reads and writes. Where a pass finds its elements is decided while the sort runs, so it may use every place.
    pub uses: &'static [(Region, Usage)],
}

macro_rules! kernels {
    ($($kernel:ident $file:literal $variants:ident $group:ident [$($region:ident $access:ident),*];)*) => {
        /// A compute kernel.
        #[allow(missing_docs)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Kernel { $($kernel),* }

        /// Every kernel, in the order of [`Kernel`].
        pub const KERNELS: &[Row] = &[$(Row {
            kernel: Kernel::$kernel,
            file: $file,
            variants: $variants,
            group: Group::$group,
            uses: &[$((Region::$region, Usage::$access)),*],
        }),*];
    };
}

kernels! {
    Arguments       "arguments"        PLAIN   One      [Counters Write];
    Histogram       "histogram"        COUNTS  Counting [Source Read, Counters ReadWrite];
    OneSweep        "onesweep"         RANKS   Tile     [Source Read, Target ReadWrite, Alternate ReadWrite, Counters ReadWrite, Table ReadWrite];
    Ties            "ties"             READS   Ties     [Target Read, Alternate Write, Counters ReadWrite];
    Mend            "mend"             MOVES   Counting [Target ReadWrite, Alternate Read, Counters Read];
    Count           "count"            COUNTS  Counting [Source Read, Target Read, Alternate Read, Counters Read, Table Write];
    Scan            "scan"             PLAIN   Scanning [Counters Read, Table ReadWrite];
    Scatter         "scatter"          RANKS   Tile     [Source Read, Target ReadWrite, Alternate ReadWrite, Counters Read, Table Read];
    SingleWorkgroup "single_workgroup" RANKS   Single   [Source Read, Target Write, Alternate Write];
    Move            "move"             MOVES   Counting [Source Read, Target ReadWrite, Alternate ReadWrite, Counters Read];
    Gather          "gather"           GATHERS Counting [Source Read, Target ReadWrite, Alternate ReadWrite];
}

impl Kernel {
    /// The kernel's row.
    pub fn row(self) -> &'static Row {
        &KERNELS[self as usize]
    }

    /// Name of the kernel and of its file.
    pub fn name(self) -> &'static str {
        self.row().file
    }
}

/// A ranking method that has modules of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ranking {
    /// None: the specialization constant `RANK_METHOD` says which.
    Chosen,
    /// `subgroupPartitionNV`, for keys of up to 32 bits.
    Partitioned,
    /// Counters of an invocation's own.
    Private,
}

/// One SPIR-V module: a kernel with the macros that select its variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Module {
    /// The kernel.
    pub kernel: Kernel,
    /// 32-bit words of a key: 1, 2 or 4. Narrower keys share the first.
    pub key_words: u32,
    /// Whether elements of 8 and 16 bits are loaded and stored as such.
    pub small: bool,
    /// Whether subgroup operations are emulated through shared memory.
    pub emulated: bool,
    /// How equal digits are found, where that is not for a specialization constant to say.
    pub ranking: Ranking,
    /// Whether keys and values are reached by address instead of by descriptor.
    pub addressed: bool,
}

impl Module {
    /// Name of the module and of its `.spv` file.
    pub fn name(&self) -> String {
        let flag = |set: bool, name: &'static str| if set { name } else { "" };
        let (small, emulated) = (flag(self.small, "_small"), flag(self.emulated, "_emulated"));
        let ranking = match self.ranking {
            Ranking::Chosen => "",
            Ranking::Partitioned => "_partitioned",
            Ranking::Private => "_private",
        };
        let addressed = flag(self.addressed, "_addressed");
        format!("{}_{}{small}{emulated}{ranking}{addressed}", self.kernel.name(), 32 * self.key_words)
    }

    /// The macros that select the variant.
    pub fn macros(&self) -> [(&'static str, u32); 6] {
        let flag = u32::from;
        [
            ("KEY_WORDS", self.key_words),
            ("SMALL", flag(self.small)),
            ("EMULATED", flag(self.emulated)),
            ("PARTITIONED", flag(self.ranking == Ranking::Partitioned)),
            ("PRIVATE", flag(self.ranking == Ranking::Private)),
            ("ADDRESSED", flag(self.addressed)),
        ]
    }

    /// The module of the same kernel without the options that make no difference to it, or are not built together.
    pub fn closest(self) -> Module {
        let variants = self.kernel.row().variants;
        let key_words = if variants.keys { self.key_words } else { 1 };
        let small = self.small && variants.stores && key_words == 1 && !self.emulated;
        let addressed = self.addressed && variants.addresses;
        let ranking = match self.ranking {
            _ if self.emulated || addressed => Ranking::Chosen,
            Ranking::Partitioned if variants.ranks && !small && key_words == 1 => Ranking::Partitioned,
            Ranking::Private if variants.ranks || variants.counts => Ranking::Private,
            _ => Ranking::Chosen,
        };
        Module { kernel: self.kernel, key_words, small, emulated: self.emulated && variants.ranks, ranking, addressed }
    }
}

/// Every module that is built, in the order in which they are embedded.
pub fn modules() -> Vec<Module> {
    let mut modules = Vec::new();
    for row in KERNELS {
        for key_words in [1, 2, 4] {
            for (small, emulated, ranking, addressed) in [
                (false, false, Ranking::Chosen, false),
                (true, false, Ranking::Chosen, false),
                (false, true, Ranking::Chosen, false),
                (false, false, Ranking::Partitioned, false),
                (false, false, Ranking::Private, false),
                (true, false, Ranking::Private, false),
                (false, false, Ranking::Chosen, true),
                (true, false, Ranking::Chosen, true),
            ] {
                let module = Module { kernel: row.kernel, key_words, small, emulated, ranking, addressed };
                if module.closest() == module {
                    modules.push(module);
                }
            }
        }
    }
    modules
}
