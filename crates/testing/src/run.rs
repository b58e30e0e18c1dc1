//! The runner of a binary of several suites, whose trials are made on the device at hand.
//!
//! A trial's name begins with that of its suite. `VKSORT_TEST_SUITES` names the suites that run; a binary passes over names that
//! are not its own, and `?` makes it print its suites instead. The rest is as in every test: filters, `--skip`, `--list`.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed};

use crate::device::{close, gpu, leave_suite, level, seed, validating};
use crate::logs;

/// A test with its name.
pub struct Trial {
    name: String,
    body: Box<dyn FnOnce() -> Result<(), Failed> + Send>,
}

impl Trial {
    /// A trial that passes if the function succeeds and does not panic.
    pub fn test(name: impl Into<String>, body: impl FnOnce() -> Result<(), Failed> + Send + 'static) -> Trial {
        Trial { name: name.into(), body: Box::new(body) }
    }
}

/// The trials of functions, named as they are, that fail by a panic.
#[macro_export]
macro_rules! trials {
    ($($name:ident),* $(,)?) => {
        vec![$($crate::Trial::test(stringify!($name), || { $name(); Ok(()) })),*]
    };
}

/// A suite: its name, and what makes its trials.
#[derive(Clone, Copy, Debug)]
pub struct Suite {
    /// What the names of its trials begin with.
    pub name: &'static str,
    /// Makes the trials, on the device that the environment names if they depend on it.
    pub trials: fn() -> Vec<Trial>,
    /// Whether the trials are those of a design, of which `VKSORT_TEST_PART` may take a part. Only names with a slash are.
    pub parts: bool,
}

/// Whether this run has the trial of a design. `VKSORT_TEST_PART=1/4` runs one of four parts of the trials with a slash in their
/// name, and `2/8,4/16` runs both of these parts; the seed chooses. Parts 1/4, 2/8, 4/16 and 16/16 have no trial in common.
fn in_part(name: &str) -> bool {
    let Ok(text) = std::env::var("VKSORT_TEST_PART") else { return true };
    // With fixed keys it is the same in every process.
    let mut hasher = DefaultHasher::new();
    (seed(), name).hash(&mut hasher);
    let number = |text: &str| text.parse::<u64>().ok();
    let mut has = text.split(',').map(|part| {
        let part = part.split_once('/').and_then(|(part, parts)| number(part).zip(number(parts)));
        let Some((part, parts)) = part.filter(|(part, parts)| (1..=*parts).contains(part)) else {
            panic!("VKSORT_TEST_PART is {text:?}, allowed are parts and their number, as 1/4 or 2/8,4/16");
        };
        hasher.finish() % parts == part - 1
    });
    has.any(|has| has) || !name.contains('/')
}

/// The suites that `VKSORT_TEST_SUITES` names, or all.
fn chosen(suites: &[Suite]) -> Vec<Suite> {
    let Ok(names) = std::env::var("VKSORT_TEST_SUITES") else { return suites.to_vec() };
    suites.iter().filter(|suite| names.split_whitespace().any(|name| name == suite.name)).copied().collect()
}

/// Runs the trials of suites, and says on which device and seed.
pub fn run(suites: &[Suite]) -> ExitCode {
    if std::env::var("VKSORT_TEST_SUITES").is_ok_and(|names| names == "?") {
        suites.iter().for_each(|suite| println!("suite {}", suite.name));
        return ExitCode::SUCCESS;
    }
    logs::install();
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for suite in chosen(suites) {
        let made = (suite.trials)().into_iter().filter(|trial| !suite.parts || in_part(&trial.name));
        trials.extend(made.map(|Trial { name, body }| {
            libtest_mimic::Trial::test(format!("{}/{name}", suite.name), move || {
                leave_suite(suite.name);
                body()
            })
        }));
    }
    if !arguments.list && !trials.is_empty() {
        let gpu = gpu();
        let profile = gpu.profile();
        println!(
            "device {} ({}), subgroup {}, level {:?}, validation {}, VKSORT_SEED={}",
            profile.name,
            profile.driver,
            profile.subgroup_size,
            level(),
            validating(),
            seed()
        );
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    close();
    conclusion.exit_code()
}
