//! Kernels that the device's own tuning does not choose: on the emulated subgroup layer at every virtual size, with every
//! ranking method, and shaped as on GPUs.
//!
//! A pairwise design chooses the algorithm and elements of each trial. At the reduced level, which is for validation, every
//! kernel is there once: sizes and methods are constants to it.

use vksort::__private::Faults;
use vksort::{
    Algorithm, Ballot, DeviceProfile, KeyType, RankMethod, SortRequest, SorterOptions, SubgroupChoice, Tuning,
    ValueType,
};
use vksort_testing::Trial;
use vksort_testing::suite::{self, Sizes};
use vksort_testing::{Level, design, level, seed};

/// A key type for each module of a kernel: packed elements, and keys of one, two and four words.
const KEYS: [KeyType; 4] = [KeyType::F16, KeyType::F32, KeyType::I64, KeyType::U128];
const VALUES: [ValueType; 2] = [ValueType::None, ValueType::U32];

/// A name, and options under which requests take other kernels than usual.
type Setting = (String, SorterOptions);

fn setting(name: String, tuning: &Tuning, subgroup: SubgroupChoice) -> Setting {
    (name, SorterOptions::default().tuning(tuning.clone()).subgroup(subgroup))
}

/// Kernels as GPUs have them, in small.
fn staged() -> Tuning {
    Tuning { rank: RankMethod::Ballot, merge_runs: true, ..suite::small_blocks() }
}

/// The emulated layer, and ranking by counters in shared memory: between them every module of the ranking kernels that this
/// device does not choose by itself.
fn modules() -> Vec<Setting> {
    let ballot = Tuning { workgroup_size: 256, ..staged() };
    vec![
        setting("virtual-32".into(), &suite::small_blocks(), SubgroupChoice::Emulated(32)),
        setting("staged-ballot".into(), &ballot, SubgroupChoice::Auto),
    ]
}

/// Other virtual sizes, of which the small ones exist on software drivers natively, and other methods.
fn methods() -> Vec<Setting> {
    let row = suite::small_blocks();
    let mut methods = Vec::new();
    for size in [4, 8, 16, 64, 128] {
        methods.push(setting(format!("virtual-{size}"), &row, SubgroupChoice::Emulated(size)));
    }
    for &rank in RankMethod::ALL {
        let name = format!("{rank:?}").to_lowercase();
        methods.push(setting(name.clone(), &Tuning { rank, ..row.clone() }, SubgroupChoice::Auto));
        // So many subgroups that their counters take most of the memory.
        let many = Tuning { rank, workgroup_size: 256, ..staged() };
        methods.push(setting(format!("staged-{name}"), &many, SubgroupChoice::Auto));
    }
    // The options of ranking, and of its registers; emulated subgroups take no ballots.
    for few_registers in [false, true] {
        let registers = if few_registers { "-few-registers" } else { "" };
        for &ballot in Ballot::ALL {
            let name = format!("staged{registers}-{ballot:?}").to_lowercase();
            // All digits have to have as many bits for one of the ways.
            let tuning = Tuning { few_registers, ballot, digit_bits: 8, ..staged() };
            methods.push(setting(name, &tuning, SubgroupChoice::Auto));
        }
    }
    for (size, few_registers) in [(4, true), (8, false), (16, true), (32, false), (64, true), (128, false)] {
        let tuning = Tuning { few_registers, ..staged() };
        methods.push(setting(format!("staged-virtual-{size}"), &tuning, SubgroupChoice::Emulated(size)));
    }
    let ordered = Tuning { unordered: false, merge_runs: false, ..staged() };
    let (name, options) = setting("ordered-unrolled".into(), &ordered, SubgroupChoice::Auto);
    methods.push((name, options.faults(Faults { unroll: true, ..Faults::default() })));
    let known = modules();
    methods.retain(|(name, _)| known.iter().all(|(other, _)| other != name));
    methods
}

/// The built-in rows of GPUs, at the subgroup sizes that these have, as far as this device's limits allow.
fn rows() -> Vec<Setting> {
    let vendors = [(0x10DE, 32), (0x1002, 64), (0x8086, 16), (0x106B, 32), (0x5143, 64), (0, 32)];
    let row = |(vendor_id, size)| {
        let tuning = Tuning::for_device(&DeviceProfile { vendor_id, ..DeviceProfile::default() });
        let name = format!("row-{}", tuning.name);
        setting(name, &tuning, SubgroupChoice::Emulated(size))
    };
    vendors.into_iter().map(row).collect()
}

/// Settings with a request each: every module with every algorithm and key type, and any two of the rest together.
fn designed(full: bool) -> Vec<(Setting, SortRequest)> {
    let mut settings = modules();
    let kernels = settings.len();
    settings.extend(if full { methods() } else { Vec::new() });
    let levels = [settings.len(), Algorithm::ALL.len(), KEYS.len(), VALUES.len()];
    let cells = (0..kernels).flat_map(|setting| {
        let cell = move |algorithm: usize| (0..KEYS.len()).map(move |key| vec![(0, setting), (1, algorithm), (2, key)]);
        (0..Algorithm::ALL.len()).flat_map(cell)
    });
    let targets: Vec<design::Target> = design::pairs(&levels).into_iter().chain(cells).collect();
    let (mut rows, mut rng) = (Vec::new(), fastrand::Rng::with_seed(seed()));
    // The reduced level's rows are the first of the full one's, so what they compile is kept for each other.
    let reduced = |row: &[Option<usize>]| row[0].is_none_or(|setting| setting < kernels);
    design::cover(&levels, targets.clone(), reduced, &mut rows, &mut rng);
    design::cover(&levels, targets, |_| true, &mut rows, &mut rng);
    let trial = |row: design::Row| {
        let request = suite::usual(Algorithm::ALL[row[1]], KEYS[row[2]], VALUES[row[3]]);
        (settings[row[0]].clone(), request)
    };
    rows.into_iter().map(trial).collect()
}

pub fn trials() -> Vec<Trial> {
    let full = level() == Level::Full;
    let sizes = Sizes { most: 30_000, patterns: if full { 5 } else { 1 }, patterns_beyond: 1, large: None };
    let mut chosen = designed(full);
    if full {
        for row in rows() {
            let keys = SortRequest::new(KeyType::U32);
            let pairs = keys.value(ValueType::U32);
            chosen.extend([keys, pairs].map(|request| (row.clone(), request)));
        }
    }
    let trial = |((name, options), request): (Setting, SortRequest)| -> Trial {
        Trial::test(format!("{name}/{}", suite::name(&request)), move || suite::run_request(&request, &options, &sizes))
    };
    chosen.into_iter().map(trial).collect()
}
