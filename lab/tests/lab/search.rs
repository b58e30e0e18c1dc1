//! The search for a tuning: over made-up costs, on a clock that runs only while something is measured, and what it measures
//! and compares on a device.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use anyhow::Result;
use vksort::ash::vk;
use vksort::{DeviceProfile, Error, KeyOutput, KeyType, RankMethod, Tuning, ValueType};
use vksort_lab::tune::search::device::{Input, compare, failure, inputs_of, recorded};
use vksort_lab::tune::search::dimensions::{self, Dimension};
use vksort_lab::tune::search::{Failure, Found, Measure, Outcome, Progress, Trial, ratio, search};
use vksort_profiles::{Quartiles, SortKind};

/// A device that is a formula.
struct Fake {
    clock: Duration,
    /// What building and checking a tuning takes, and one run.
    takes: (Duration, Duration),
    /// How many times as long building takes.
    slower: fn(&Tuning) -> u32,
    /// Nanoseconds of a kind of sort.
    cost: fn(&Tuning, usize) -> f64,
    /// Relative height of noise.
    noise: f64,
    random: fastrand::Rng,
    /// Why a tuning fails when it is built.
    fails: fn(&Tuning) -> Option<Failure>,
    /// Tunings that do not fit.
    fits: fn(&Tuning) -> bool,
    /// Whether it is late, when costs are others.
    late: Rc<Cell<bool>>,
    late_cost: fn(&Tuning) -> f64,
    admitted: Vec<(Tuning, usize)>,
    timed: Vec<Tuning>,
}

impl Fake {
    fn new(cost: fn(&Tuning, usize) -> f64) -> Fake {
        Fake {
            clock: Duration::ZERO,
            takes: (Duration::from_millis(50), Duration::from_millis(1)),
            slower: |_| 1,
            cost,
            noise: 0.0,
            random: fastrand::Rng::with_seed(1),
            fails: |_| None,
            fits: |_| true,
            late: Rc::default(),
            late_cost: |_| 1e6,
            admitted: Vec::new(),
            timed: Vec::new(),
        }
    }

    fn search(&mut self, seconds: u64) -> Result<Found> {
        search(self, &device(), &built_in(), Duration::from_secs(seconds), &mut |_| {})
    }
}

/// What a kind of sort depends on: everything but the items of the other.
fn seen_by(kind: usize, tuning: &Tuning) -> Tuning {
    match kind {
        0 => Tuning { items_pairs: 0, ..tuning.clone() },
        _ => Tuning { items_keys: 0, ..tuning.clone() },
    }
}

impl Measure for Fake {
    type Recorded = Tuning;

    fn recorded(&self, tuning: &Tuning) -> Option<Vec<Tuning>> {
        (self.fits)(tuning).then(|| vec![seen_by(0, tuning), seen_by(1, tuning)])
    }

    fn admit(&mut self, tuning: &Tuning, kind: usize) -> Result<(), Failure> {
        // What is built already is only checked.
        let known =
            self.admitted.iter().any(|(other, of)| *of == kind && seen_by(kind, other) == seen_by(kind, tuning));
        self.clock += if known { self.takes.1 } else { self.takes.0 * (self.slower)(tuning) };
        if let Some(failure) = (self.fails)(tuning) {
            return Err(failure);
        }
        self.admitted.push((tuning.clone(), kind));
        Ok(())
    }

    fn time(&mut self, tuning: &Tuning, kind: usize) -> Result<f64, Failure> {
        let recorded = self.recorded(tuning).expect("only what fits is run");
        let known = |(admitted, of): &(Tuning, usize)| {
            *of == kind && self.recorded(admitted).is_some_and(|admitted| admitted[kind] == recorded[kind])
        };
        assert!(self.admitted.iter().any(known), "{tuning:?} was timed before it was checked, kind {kind}");
        self.clock += self.takes.1;
        self.timed.push(tuning.clone());
        let cost = if self.late.get() { (self.late_cost)(tuning) } else { (self.cost)(tuning, kind) };
        Ok(cost * (1.0 + self.noise * (self.random.f64() - 0.5)))
    }

    fn keep(&mut self, tunings: &[&Tuning]) {
        self.admitted
            .retain(|(admitted, kind)| tunings.iter().any(|tuning| seen_by(*kind, tuning) == seen_by(*kind, admitted)));
    }

    fn elapsed(&self) -> Duration {
        self.clock
    }
}

fn device() -> DeviceProfile {
    DeviceProfile { subgroup_range: (8, 32), ..DeviceProfile::default() }
}

fn built_in() -> Tuning {
    Tuning::for_device(&device())
}

/// Least at 256 invocations of 24 keys or 12 pairs, ranked by match masks in subgroups of 16, without look-back.
fn bowl(tuning: &Tuning, kind: usize) -> f64 {
    let off = |value: u32, best: f64| 8.0 * (f64::from(value).log2() - best.log2()).powi(2);
    let items = if kind == 0 { off(tuning.items_keys, 24.0) } else { off(tuning.items_pairs, 12.0) };
    let wrong = f64::from(u8::from(tuning.rank != RankMethod::Match))
        + f64::from(u8::from(tuning.subgroup_size != Some(16)))
        + f64::from(u8::from(tuning.look_back));
    1e6 * (1.0 + off(tuning.workgroup_size, 256.0) + items + 0.5 * wrong)
}

#[test]
fn the_lowest_point_of_a_bowl_is_found() {
    for noise in [0.0, 0.01] {
        let mut fake = Fake { noise, ..Fake::new(bowl) };
        let found = fake.search(600).unwrap();
        let best = &found.tuning;
        assert_eq!((best.workgroup_size, best.items_keys, best.items_pairs), (256, 24, 12), "{best:?}");
        assert_eq!((best.rank, best.subgroup_size, best.look_back), (RankMethod::Match, Some(16), false));
        // What costs nothing stays as it was.
        assert_eq!((best.polls, best.digit_bits), (built_in().polls, built_in().digit_bits));
        assert!(found.refused.is_none());
        let expected = bowl(&built_in(), 0) / bowl(best, 0);
        let (built_in, tuned) = &found.times[0];
        assert!((ratio(built_in, tuned).median / expected - 1.0).abs() < 0.02, "{:?}", found.times);
        // What was measured along the way is what is measured at the end.
        let last = found.trials.last().unwrap().best;
        let both: f64 = found.times.iter().map(|(above, below)| ratio(above, below).median).product();
        assert!((last / both.sqrt() - 1.0).abs() < 0.02, "{last} and {both}");
    }
}

#[test]
fn a_row_that_is_the_best_is_kept() {
    let mut fake = Fake::new(|tuning, _| if *tuning == built_in() { 1e6 } else { 1.5e6 });
    let found = fake.search(600).unwrap();
    assert_eq!(found.tuning, built_in());
    assert!(found.trials.len() > 50 && found.trials.iter().all(|trial| trial.outcome == Outcome::Lost));
    assert!(found.times.iter().all(|(built_in, tuned)| built_in == tuned && built_in.len() == 21));
    assert!(
        fake.clock < Duration::from_secs(60),
        "all was tried, so the search ends before its time: {:?}",
        fake.clock
    );
}

#[test]
fn noise_does_not_win() {
    for seed in 0..20 {
        let random = fastrand::Rng::with_seed(seed);
        let mut fake = Fake { noise: 0.2, random, ..Fake::new(|_, _| 1e6) };
        let found = fake.search(60).unwrap();
        assert_eq!(found.tuning, built_in(), "seed {seed}");
        assert!(found.trials.len() > 50);
    }
}

#[test]
fn one_percent_is_not_enough() {
    let mut fake = Fake::new(|tuning, _| if *tuning == built_in() { 1.01e6 } else { 1e6 });
    assert_eq!(fake.search(60).unwrap().tuning, built_in());
}

#[test]
fn a_gain_for_keys_that_pairs_pay_for_is_none() {
    let cost = |tuning: &Tuning, kind: usize| match (tuning.workgroup_size > 128, kind) {
        (true, 0) => 0.5e6,
        (true, _) => 1.1e6,
        _ => 1e6,
    };
    let found = Fake::new(cost).search(60).unwrap();
    assert_eq!(found.tuning, built_in());
    let tried = |trial: &&Trial| trial.dimension == "workgroup_size" && trial.change == "128 -> 192";
    let trial = found.trials.iter().find(tried).unwrap();
    assert!(trial.ratio.unwrap().median > 1.3, "it was faster on the whole: {trial:?}");
}

#[test]
fn time_is_kept_to() {
    type Slower = fn(&Tuning) -> u32;
    let alike: Slower = |_| 1;
    // Some kernels take a compiler many times as long as others.
    let unlike: Slower = |tuning| if tuning.rank == built_in().rank { 1 } else { 40 };
    for (seconds, candidate, slower) in [(1, 50, alike), (5, 300, alike), (20, 4_000, alike), (20, 300, unlike)] {
        let takes = (Duration::from_millis(candidate), Duration::from_millis(5));
        let mut fake = Fake { takes, slower, ..Fake::new(bowl) };
        let found = fake.search(seconds).unwrap();
        let most = Duration::from_secs(seconds) * 6 / 5;
        assert!(fake.clock <= most, "{seconds} s: {:?}", fake.clock);
        assert!(found.times.iter().all(|times| times.0.len() >= 5), "the end has its rounds");
    }
}

/// A result of no trials would be no result.
#[test]
fn a_search_that_tries_nothing_fails() {
    // The time is over before the second kind of sort is compiled, then before a candidate is, and there is no candidate.
    type Fits = fn(&Tuning) -> bool;
    let cases: [(u64, Fits, &str); 3] = [
        (
            10_000,
            |_| true,
            "1 s are too short to try anything: compiling and checking the built-in row for 1 of 2 sorts took 10.0 s",
        ),
        (450, |_| true, "compiling and checking the built-in row for 2 of 2 sorts took 0.9 s"),
        (10, |tuning| *tuning == built_in(), "no other tuning would run other kernels"),
    ];
    for (milliseconds, fits, expected) in cases {
        let takes = (Duration::from_millis(milliseconds), Duration::from_millis(1));
        let mut fake = Fake { takes, fits, ..Fake::new(bowl) };
        let error = fake.search(1).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert!(fake.clock <= takes.0.max(Duration::from_secs(1)), "{:?}", fake.clock);
    }
}

#[test]
fn what_fails_is_dropped_and_never_chosen() {
    let mut fake = Fake {
        fails: |tuning| (tuning.workgroup_size == 256).then(|| Failure::Tuning("key 7 is wrong".into())),
        ..Fake::new(bowl)
    };
    let found = fake.search(600).unwrap();
    assert_ne!(found.tuning.workgroup_size, 256);
    assert_eq!(found.tuning.items_keys, 24, "the search goes on");
    assert!(found.trials.iter().any(|trial| trial.outcome == Outcome::Dropped("key 7 is wrong".into())));
    assert!(fake.timed.iter().all(|tuning| tuning.workgroup_size != 256), "what sorts wrongly is not timed");
}

#[test]
fn what_does_not_fit_is_stepped_over() {
    let mut fake = Fake { fits: |tuning| tuning.workgroup_size != 192, ..Fake::new(bowl) };
    let found = fake.search(600).unwrap();
    assert_eq!(found.tuning.workgroup_size, 256);
    let sizes = found.trials.iter().filter(|trial| trial.dimension == "workgroup_size");
    assert!(sizes.clone().count() > 0 && sizes.into_iter().all(|trial| !trial.change.contains("192")));
}

#[test]
fn what_is_slow_runs_once() {
    let mut fake = Fake::new(|tuning, _| if *tuning == built_in() { 1e6 } else { 3.5e6 });
    let found = fake.search(60).unwrap();
    assert!(found.trials.iter().all(|trial| trial.outcome == Outcome::Slow));
    let challengers = fake.timed.iter().filter(|tuning| **tuning != built_in()).count();
    assert!((found.trials.len()..=2 * found.trials.len()).contains(&challengers), "once for each kind");
}

#[test]
fn a_gain_that_is_gone_at_the_end_is_refused() {
    let mut fake = Fake::new(|tuning, _| if *tuning == built_in() { 1e6 } else { 0.8e6 });
    let late = Rc::clone(&fake.late);
    let mut watch = |progress: &Progress| late.set(progress.trying == "the best beside the built-in row");
    let found = search(&mut fake, &device(), &built_in(), Duration::from_secs(60), &mut watch).unwrap();
    assert!(found.trials.iter().any(|trial| trial.outcome == Outcome::Won));
    assert_eq!(found.tuning, built_in());
    assert_eq!(found.refused, Some(Quartiles { q25: 1.0, median: 1.0, q75: 1.0 }));
}

#[test]
fn victories_that_lead_below_the_built_in_row_begin_anew() {
    // Once one has won, all that differs from the row takes twice as long, as on a machine that is suddenly busy, and is
    // quicker the more items it has.
    let mut fake = Fake::new(|tuning, _| if tuning.items_keys == 18 { 0.9e6 } else { 1e6 });
    fake.late_cost = |tuning| if tuning.items_keys == 16 { 1e6 } else { 1e6 + 18e6 / f64::from(tuning.items_keys) };
    let late = Rc::clone(&fake.late);
    let mut watch = |progress: &Progress| late.set(late.get() || progress.ratio > 1.0);
    let found = search(&mut fake, &device(), &built_in(), Duration::from_secs(60), &mut watch).unwrap();
    let won: Vec<&Trial> = found.trials.iter().filter(|trial| trial.outcome == Outcome::Won).collect();
    assert_eq!((won.len(), won[0].change.as_str()), (1, "16 -> 18"), "{won:?}");
    let next = found.trials.iter().find(|trial| trial.change == "18 -> 20").unwrap();
    assert!(next.ratio.unwrap().median > 1.02 && next.outcome == Outcome::Lost, "{next:?}");
    assert!(next.incumbent > 1.0 && next.best == 1.0, "{next:?}");
    assert_eq!(found.tuning, built_in());
}

#[test]
fn a_device_that_fails_ends_the_search() {
    fn error_of(fake: &mut Fake) -> Error {
        fake.search(60).unwrap_err().downcast().unwrap()
    }
    fn lost() -> Failure {
        Failure::Device(Error::Timeout { what: "the sort", allowed: Duration::from_secs(1) })
    }
    let mut fake = Fake { fails: |tuning| (tuning.workgroup_size > 128).then(lost), ..Fake::new(bowl) };
    assert!(matches!(error_of(&mut fake), Error::Timeout { .. }));
    // So does a built-in row that sorts wrongly.
    let mut fake = Fake { fails: |_| Some(Failure::Tuning("key 7 is wrong".into())), ..Fake::new(bowl) };
    let message = fake.search(60).err().unwrap().to_string();
    assert!(message.contains("unknown") && message.contains("example") && message.contains("key 7"), "{message}");
    // A row that the library refuses does not sort wrongly.
    fn refused() -> Failure {
        Failure::Refused(Error::TooManyElements { given: 2, allowed: 1, limit: "a limit".into() })
    }
    let mut fake = Fake { fails: |_| Some(refused()), ..Fake::new(bowl) };
    assert!(matches!(error_of(&mut fake), Error::TooManyElements { .. }));
}

fn dimension(name: &str) -> Dimension {
    dimensions::all().find(|dimension| dimension.name == name).unwrap()
}

#[test]
fn every_dimension_holds_the_tuning_and_differs_from_it_in_itself() {
    for subgroup_range in [(8, 8), (8, 32)] {
        let device = DeviceProfile { subgroup_range, ..DeviceProfile::default() };
        for vendor_id in [0x10DE, 0x1002, 0] {
            let tuning = Tuning::for_device(&DeviceProfile { vendor_id, ..device.clone() });
            // A number that no ladder has.
            let odd = Tuning { workgroup_size: 40, polls: 77, subgroup_size: Some(16), ..tuning.clone() };
            for tuning in [tuning, odd] {
                for dimension in dimensions::all() {
                    let rungs = dimension.rungs(&tuning, &device);
                    assert_eq!(rungs.iter().filter(|rung| **rung == tuning).count(), 1, "{}", dimension.name);
                    let mut shown: Vec<String> = rungs.iter().map(|rung| dimension.show(rung)).collect();
                    shown.sort();
                    shown.dedup();
                    assert_eq!(shown.len(), rungs.len(), "{}: values are shown alike", dimension.name);
                    assert!(rungs.iter().all(|rung| rung.check().is_ok()), "{}", dimension.name);
                }
            }
        }
    }
}

/// The search starts from a built-in row, and can reach every candidate that `scripts/gpu-compilers.sh --sweep` compares with it.
#[test]
fn every_candidate_of_the_sweep_is_within_reach() {
    let sizes = |name: &str| -> &[&str] {
        match name {
            "workgroup_size" => &["128", "256", "384", "512"],
            "items_keys" | "items_pairs" => &["8", "12", "15", "16", "20", "24"],
            "rank" => &["ballot", "match", "compare"],
            "ballot" => &["by-place", "by-mask"],
            "few_registers" => &["false", "true"],
            "subgroup_size" => &["16", "32", "64"],
            other => panic!("the sweep does not vary {other}"),
        }
    };
    let varied = ["workgroup_size", "items_keys", "items_pairs", "rank", "ballot", "few_registers", "subgroup_size"];
    for vendor_id in [0x10DE, 0x1002, 0x8086, 0x5143] {
        let device = DeviceProfile {
            vendor_id,
            subgroup_range: (16, 128),
            max_workgroup_invocations: 1024,
            ..DeviceProfile::default()
        };
        let row = Tuning::for_device(&device);
        for name in varied {
            let dimension = dimension(name);
            let shown: Vec<String> = dimension.rungs(&row, &device).iter().map(|rung| dimension.show(rung)).collect();
            // Fifteen items are AMD's own.
            let wanted = sizes(name).iter().filter(|size| **size != "15" || row.items_keys == 15);
            for value in wanted {
                assert!(
                    shown.iter().any(|shown| shown == value),
                    "{}: {name} {value} is not among {shown:?}",
                    row.name
                );
            }
        }
    }
}

#[test]
fn subgroup_sizes_are_those_that_can_be_asked_for() {
    let rungs = |subgroup_range| {
        let device = DeviceProfile { subgroup_range, ..DeviceProfile::default() };
        let rungs = dimension("subgroup_size").rungs(&Tuning::for_device(&device), &device);
        rungs.iter().map(|rung| rung.subgroup_size).collect::<Vec<_>>()
    };
    assert_eq!(rungs((32, 32)), [None]);
    assert_eq!(rungs((32, 64)), [None, Some(32), Some(64)]);
    assert_eq!(rungs((1, 16)), [None, Some(4), Some(8), Some(16)]);
}

#[test]
fn blocks_keep_their_size_where_invocations_are_traded_for_items() {
    let tuning =
        Tuning { workgroup_size: 256, items_keys: 16, items_pairs: 8, ..Tuning::for_device(&Default::default()) };
    let rungs = dimension("workgroup_size x items").rungs(&tuning, &device());
    assert_eq!(rungs.len(), 7);
    assert!(rungs.iter().all(|rung| rung.workgroup_size * rung.items_keys == 4096), "{rungs:?}");
    assert!(rungs.iter().all(|rung| rung.workgroup_size * rung.items_pairs == 2048), "{rungs:?}");
}

#[test]
fn words_are_as_good_as_random() {
    let [uniform, _] = inputs_of(KeyType::U32, 1 << 16, 1);
    let ones: u32 = uniform.keys.iter().map(|key| key.count_ones()).sum();
    assert!((ones as f64 / (32.0 * 65_536.0) - 0.5).abs() < 0.01);
    assert!(uniform.sorted_keys.is_sorted() && uniform.keys != uniform.sorted_keys);
}

#[test]
fn wide_keys_are_two_words_sorted_as_one_number() {
    for input in inputs_of(KeyType::U64, 3_000, 2_001) {
        assert_eq!((input.keys.len(), input.sorted_keys.len()), (2 * input.values.len(), 2 * input.values.len()));
        let numbers = input.sorted_keys.chunks_exact(2).map(|key| u64::from(key[1]) << 32 | u64::from(key[0]));
        assert!(numbers.is_sorted());
    }
}

/// A dimension of which the kernels know nothing would be passed over as if it had been tried.
#[test]
fn every_dimension_leads_to_other_kernels() {
    let device = DeviceProfile {
        vendor_id: 0x10DE,
        max_shared_bytes: 49152,
        subgroup_range: (16, 64),
        ..DeviceProfile::default()
    };
    let row = Tuning::for_device(&device);
    // Sorts that scan know nothing of look-back, and the others nothing of scans.
    let scans = Tuning { look_back: false, ..row.clone() };
    // Wider digits are for windows that they suit.
    let keys = SortKind::Keys.request();
    let window = keys.bits(0..27);
    let indices = keys.value(ValueType::Index).key_output(KeyOutput::Discarded);
    let requests = [keys, SortKind::Pairs.request(), SortKind::WideKeys.request(), window, indices];
    for dimension in dimensions::all() {
        let differs = |from: &Tuning| {
            dimension.rungs(from, &device).iter().filter(|rung| *rung != from).any(|rung| {
                let kernels = |tuning: &Tuning, request, count| recorded(tuning, &device, request, count);
                let others = |count, request| kernels(rung, request, count) != kernels(from, request, count);
                requests.iter().any(|request| others(1 << 24, request) || others(1 << 13, request))
            })
        };
        assert!(differs(&row) || differs(&scans), "{}", dimension.name);
    }
    for name in dimensions::OF_OTHERS {
        assert!(Tuning::KNOBS.iter().any(|knob| knob.name == name), "{name} is no knob");
    }
}

#[test]
fn equal_keys_keep_their_order_in_what_is_needed() {
    let input = Input::new(vec![2, 1, 2, 1], 1);
    assert_eq!(input.sorted_keys, [1, 1, 2, 2]);
    assert_eq!(input.sorted_values, [!1, !3, !0, !2]);
    assert!(compare("key", &input.sorted_keys, &[1, 1, 2, 2]).is_ok());
    let wrong = compare("value", &[!1, !3, !2, !0], &input.sorted_values);
    assert!(matches!(wrong, Err(Failure::Tuning(what)) if what.starts_with("value 2 is 0xfffffffd")));
}

#[test]
fn only_a_device_that_is_lost_ends_the_search() {
    let vulkan = |result| Error::Vulkan { call: "vkQueueSubmit", result };
    assert!(matches!(failure(vulkan(vk::Result::ERROR_DEVICE_LOST)), Failure::Device(_)));
    assert!(matches!(
        failure(Error::Timeout { what: "the sort", allowed: Duration::from_secs(1) }),
        Failure::Device(_)
    ));
    assert!(matches!(failure(vulkan(vk::Result::ERROR_INITIALIZATION_FAILED)), Failure::Refused(_)));
}
