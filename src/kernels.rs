//! The kernels: one row per kernel, with its variants, the size of its workgroups, and the memory that it reads and writes.
//!
//! `build.rs` includes this file for the list of modules, so nothing here may depend on the rest of the crate.

/// What a kernel finds at a binding. The plan says which memory it is in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binding {
    /// The keys that the step reads, or the permutation of a gather.
    KeysFrom,
    /// The keys that it writes.
    KeysTo,
    /// The values that it reads.
    ValuesFrom,
    /// The values that it writes.
    ValuesTo,
    /// Tickets, digit counts, routes, and the arguments of indirect dispatches; the report of a verifier.
    Counters,
    /// One word per tile and digit.
    Table,
    /// The caller's words that say where segments are.
    Segments,
}

/// How a kernel uses what is at a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usage {
    /// It is read.
    Read,
    /// It is written, and its content before is not needed.
    Write,
    /// It is read and written.
    ReadWrite,
}

/// Size of a kernel's workgroups, and the items of one invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// A single invocation.
    One,
    /// The workgroup of kernels that count digits, move, gather, verify or compose.
    Counting,
    /// The workgroup that scans the counts of tiles.
    Scanning,
    /// The workgroup that ranks and scatters a tile, block by block.
    Tile,
    /// The same size, for a workgroup that sorts all elements alone.
    Single,
    /// The workgroup that sorts a window of segments.
    Window,
    /// The workgroup that sorts short segments, each in a few lanes.
    Short,
    /// The workgroup that sorts a window of runs.
    Runs,
}

/// The sorts that a kernel takes part in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sorts {
    /// All.
    All,
    /// Those over tiles, by every algorithm.
    OfTiles,
    /// OneSweep.
    LookBack,
    /// Reduce-then-scan.
    ReduceThenScan,
    /// Those of a single workgroup.
    Single,
    /// Those whose values are gathered after the passes.
    Gathered,
    /// Those of segments.
    Segmented,
    /// Those of records by several fields.
    Records,
    /// Those that may end with a finish.
    Finished,
    /// None: it is recorded beside a sort.
    None,
}

/// The variants of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variants {
    /// By words of a key, if the kernel loads keys.
    pub keys: bool,
    /// With and without types of 8 and 16 bits, if it stores elements.
    pub stores: bool,
    /// Native and emulated subgroups, if it uses them.
    pub subgroups: bool,
    /// For devices with private counters a kernel of its own, if it ranks elements, or counts digits, or would take longer there.
    pub private: bool,
    /// Elements by descriptor and by address.
    pub addresses: bool,
}

const PLAIN: Variants = Variants { keys: false, stores: false, subgroups: false, private: false, addresses: false };
const GATHERS: Variants = Variants { private: true, addresses: true, ..PLAIN };
const READS: Variants = Variants { keys: true, addresses: true, ..PLAIN };
const COUNTS: Variants = Variants { private: true, ..READS };
const MOVES: Variants = Variants { stores: true, ..READS };
const SHUFFLES: Variants = Variants { subgroups: true, ..MOVES };
const RANKS: Variants = Variants { private: true, ..SHUFFLES };

/// A kernel's row.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The kernel.
    pub kernel: Kernel,
    /// Its name in steps, labels and modules.
    pub name: &'static str,
    /// Its file in `glsl/`. Kernels with the same file are one for compilers: they have the modules of the first of them, whose row
    /// says what all of them do.
    pub file: &'static str,
    /// Its variants.
    pub variants: Variants,
    /// Size of its workgroups.
    pub group: Group,
    /// The sorts that it takes part in, at most.
    #[allow(dead_code, reason = "for visitors that are compiled")]
    pub sorts: Sorts,
    /// What it reads and writes, in any of its variants.
    pub uses: &'static [(Binding, Usage)],
}

macro_rules! kernels {
    ($($kernel:ident $name:literal $file:literal $variants:ident $group:ident $sorts:ident [$($binding:ident $access:ident),*];)*) => {
        /// A compute kernel.
        #[allow(missing_docs)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Kernel { $($kernel),* }

        /// Every kernel, in the order of [`Kernel`].
        pub const KERNELS: &[Row] = &[$(Row {
            kernel: Kernel::$kernel,
            name: $name,
            file: $file,
            variants: $variants,
            group: Group::$group,
            sorts: Sorts::$sorts,
            uses: &[$((Binding::$binding, Usage::$access)),*],
        }),*];
    };
}

kernels! {
    Arguments       "arguments"        "arguments.comp"                PLAIN   One      OfTiles        [Counters Write];
    Histogram       "histogram"        "histogram/main.comp"           COUNTS  Counting OfTiles        [KeysFrom Read, Counters ReadWrite];
    OneSweep        "onesweep"         "onesweep/main.comp"            RANKS   Tile     LookBack       [KeysFrom Read, KeysTo ReadWrite, ValuesFrom Read, ValuesTo ReadWrite, Counters ReadWrite, Table ReadWrite];
    Count           "count"            "reduce_then_scan/count.comp"   COUNTS  Counting ReduceThenScan [KeysFrom Read, Counters Read, Table Write];
    Scan            "scan"             "reduce_then_scan/scan.comp"    PLAIN   Scanning ReduceThenScan [Counters Read, Table ReadWrite];
    Scatter         "scatter"          "reduce_then_scan/scatter.comp" RANKS   Tile     ReduceThenScan [KeysFrom Read, KeysTo ReadWrite, ValuesFrom Read, ValuesTo ReadWrite, Counters Read, Table Read];
    SingleWorkgroup "single_workgroup" "single_workgroup/main.comp"    RANKS   Single   Single         [KeysFrom Read, KeysTo ReadWrite, ValuesFrom Read, ValuesTo ReadWrite];
    Move            "move"             "move.comp"                     MOVES   Counting All            [KeysFrom Read, KeysTo ReadWrite, ValuesFrom Read, ValuesTo ReadWrite, Counters Read];
    Gather          "gather"           "gather.comp"                   GATHERS Counting Gathered       [KeysFrom Read, ValuesFrom Read, ValuesTo ReadWrite];
    Verify          "verify"           "verify.comp"                   READS   Counting None           [KeysFrom Read, ValuesFrom Read, Counters ReadWrite];
    Inspect         "inspect"          "inspect.comp"                  PLAIN   Counting None           [Segments Read, Counters ReadWrite];
    Segments        "segments"         "segments/main.comp"            RANKS   Window   Segmented      [KeysFrom Read, KeysTo ReadWrite, ValuesFrom Read, ValuesTo ReadWrite, Segments Read, Counters ReadWrite, Table ReadWrite];
    Short           "short"            "segments/short.comp"           SHUFFLES Short   Segmented      [KeysFrom Read, KeysTo ReadWrite, ValuesFrom Read, ValuesTo ReadWrite, Segments Read];
    Children        "children"         "segments/main.comp"            RANKS   Window   Segmented      [KeysFrom Read, KeysTo ReadWrite, ValuesFrom Read, ValuesTo ReadWrite, Counters ReadWrite, Table ReadWrite];
    Finish          "finish"           "segments/main.comp"            RANKS   Window   Segmented      [KeysFrom Read, KeysTo ReadWrite, ValuesFrom Read, ValuesTo ReadWrite, Counters ReadWrite, Table ReadWrite];
    Split           "split"            "split/main.comp"               RANKS   Window   Segmented      [KeysFrom ReadWrite, KeysTo ReadWrite, ValuesFrom ReadWrite, ValuesTo ReadWrite, Counters Read, Table ReadWrite];
    SplitCount      "split_count"      "split/main.comp"               RANKS   Window   Segmented      [KeysFrom Read, KeysTo Read, Counters Read, Table ReadWrite];
    SplitScan       "split_scan"       "split/main.comp"               RANKS   Window   Segmented      [Counters Read, Table ReadWrite];
    SplitMove       "split_move"       "split/main.comp"               RANKS   Window   Segmented      [KeysFrom Read, KeysTo ReadWrite, ValuesFrom Read, ValuesTo ReadWrite, Counters Read, Table Read];
    Narrow          "narrow"           "top/main.comp"                 COUNTS  Counting Segmented      [KeysFrom Read, Counters ReadWrite, Table ReadWrite, Segments Read];
    Sample          "sample"           "finish/sample.comp"            READS   Single   Finished       [KeysFrom Read, Counters Write, Table Write];
    Runs            "runs"             "finish/runs.comp"              READS   Runs     Finished       [KeysFrom ReadWrite, KeysTo ReadWrite, ValuesFrom ReadWrite, ValuesTo ReadWrite, Counters Read];
    Compose         "compose"          "compose.comp"                  READS   Counting Records        [KeysTo Write, ValuesFrom Read];
}

impl Kernel {
    /// The kernel's row.
    pub fn row(self) -> &'static Row {
        &KERNELS[self as usize]
    }

    /// Name of the kernel.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The kernel whose modules this one has, with constants of its own: the first with the same file.
    pub fn of_modules(self) -> Kernel {
        let file = self.row().file;
        KERNELS.iter().find(|row| row.file == file).map_or(self, |row| row.kernel)
    }
}

/// A ranking method that has modules of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ranking {
    /// None: the specialization constant `RANK_METHOD` selects the method.
    Chosen,
    /// Private counters of each invocation.
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
    /// The ranking method, if it has modules of its own.
    pub ranking: Ranking,
    /// Whether keys and values are accessed by address instead of by descriptor.
    pub addressed: bool,
}

impl Module {
    /// Name of the module and of its `.spv` file.
    pub fn name(&self) -> String {
        let flag = |set: bool, name: &'static str| if set { name } else { "" };
        let (small, emulated) = (flag(self.small, "_small"), flag(self.emulated, "_emulated"));
        let ranking = match self.ranking {
            Ranking::Chosen => "",
            Ranking::Private => "_private",
        };
        let addressed = flag(self.addressed, "_addressed");
        format!("{}_{}{small}{emulated}{ranking}{addressed}", self.kernel.name(), 32 * self.key_words)
    }

    /// Its file in `glsl/`. Private counters have kernels of their own.
    #[allow(dead_code, reason = "for what compiles kernels")]
    pub fn file(&self) -> String {
        match self.ranking {
            Ranking::Private => format!("software/{}.comp", self.kernel.name()),
            Ranking::Chosen => self.kernel.row().file.into(),
        }
    }

    /// The macros that select the variant, without a visitor.
    #[allow(dead_code, reason = "for what compiles kernels")]
    pub fn macros(&self) -> [(&'static str, u32); 7] {
        let flag = u32::from;
        [
            ("KEY_WORDS", self.key_words),
            ("SMALL", flag(self.small)),
            ("EMULATED", flag(self.emulated)),
            ("PRIVATE", flag(self.ranking == Ranking::Private)),
            ("ADDRESSED", flag(self.addressed)),
            ("VISITED_KEYS", 0),
            ("VISITED_OUTPUT", 0),
        ]
    }

    /// The cargo feature that embeds it, if that is off.
    pub fn missing_feature(&self) -> Option<&'static str> {
        if self.key_words > MOST_KEY_WORDS {
            Some(feature_of_keys(self.key_words))
        } else if self.addressed && !ADDRESSES {
            Some("addresses")
        } else if self.ranking == Ranking::Private && !SOFTWARE_DRIVERS {
            Some("software-drivers")
        } else {
            None
        }
    }

    /// The module of the same kernel without options that have no effect on it or are not built together.
    pub fn closest(self) -> Module {
        let variants = self.kernel.row().variants;
        let key_words = if variants.keys { self.key_words } else { 1 };
        let small = self.small && variants.stores && key_words == 1 && !self.emulated;
        let addressed = self.addressed && variants.addresses;
        let ranking = match self.ranking {
            _ if self.emulated || addressed => Ranking::Chosen,
            Ranking::Private if variants.private => Ranking::Private,
            _ => Ranking::Chosen,
        };
        let kernel = self.kernel.of_modules();
        Module { kernel, key_words, small, emulated: self.emulated && variants.subgroups, ranking, addressed }
    }
}

/// 32-bit words of the widest keys whose kernels are embedded.
pub const MOST_KEY_WORDS: u32 = match (cfg!(feature = "keys-128"), cfg!(feature = "keys-64")) {
    (true, _) => 4,
    (false, true) => 2,
    (false, false) => 1,
};
/// Whether the kernels are embedded that access elements by address.
pub const ADDRESSES: bool = cfg!(feature = "addresses");
/// Whether those with private counters are.
pub const SOFTWARE_DRIVERS: bool = cfg!(feature = "software-drivers");

/// The cargo feature for keys of this many words.
pub fn feature_of_keys(key_words: u32) -> &'static str {
    if key_words > 2 { "keys-128" } else { "keys-64" }
}

/// Every module that is built, in the order in which they are embedded.
pub fn modules() -> Vec<Module> {
    let mut modules = Vec::new();
    for row in KERNELS.iter().filter(|row| row.kernel.of_modules() == row.kernel) {
        for key_words in [1, 2, 4] {
            for (small, emulated, ranking, addressed) in [
                (false, false, Ranking::Chosen, false),
                (true, false, Ranking::Chosen, false),
                (false, true, Ranking::Chosen, false),
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
