//! Each call of Vulkan fails once, or that call and all later ones: nothing crashes, hangs, leaks or is destroyed too early, no wrong
//! result is taken for right, and what is done next is right or an error.
//!
//! Needs the layer that `lab/fault-layer/build.sh FOLDER` builds, in the folder that `VKSORT_FAULT_LAYER` names; without it the suite
//! is empty. Each injection is a process of its own, so that a crash is seen and the next one starts anew. At the level `reduced` the
//! seed draws which calls fail; at `full` each of them does, in all ways.

mod child;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use child::SCENARIOS;
use vksort::ash::vk;
use vksort_testing::process::run_within;
use vksort_testing::{Failed, Level, Trial, level, seed};

/// The variable that makes this process one that meets failures.
const SCENARIO: &str = "VKSORT_FAULT_SCENARIO";
/// Longest time of one process; it takes a fifth of a second when the driver has its kernels.
const PATIENCE: Duration = Duration::from_secs(120);
/// Injections of a scenario at the level `reduced`.
const DRAWN: usize = 32;

/// The results that calls return, by Vulkan's names.
const CODES: [(&str, vk::Result); 3] = [
    ("out of device memory", vk::Result::ERROR_OUT_OF_DEVICE_MEMORY),
    ("out of host memory", vk::Result::ERROR_OUT_OF_HOST_MEMORY),
    ("device lost", vk::Result::ERROR_DEVICE_LOST),
];

/// Calls whose failure no operation has to report: vksort only logs that a pipeline cache is not kept, and the allocator takes
/// another type of memory.
const MADE_UP_FOR: [&str; 2] = ["vkGetPipelineCacheData", "vkAllocateMemory"];
/// Calls that no layer but an implicit one sees, because there is no instance yet, and the messenger's, which needs validation.
const UNSEEN: [&str; 4] = [
    "vkEnumerateInstanceExtensionProperties",
    "vkEnumerateInstanceVersion",
    "vkEnumerateInstanceLayerProperties",
    "vkCreateDebugUtilsMessengerEXT",
];

/// Runs the scenario that the environment names, if it names one.
pub fn child() -> Option<ExitCode> {
    let name = std::env::var(SCENARIO).ok()?;
    let scenario = SCENARIOS.iter().find(|scenario| scenario.0 == name);
    scenario.unwrap_or_else(|| panic!("{SCENARIO} is {name:?}, which is none")).1();
    Some(ExitCode::SUCCESS)
}

pub fn trials() -> Vec<Trial> {
    let Some(layer) = std::env::var_os("VKSORT_FAULT_LAYER").map(PathBuf::from) else { return Vec::new() };
    let mut trials: Vec<Trial> = SCENARIOS
        .iter()
        .map(|(scenario, _)| {
            let layer = layer.clone();
            Trial::test(*scenario, move || failures_are_survived(scenario, &layer))
        })
        .collect();
    trials.push(Trial::test("every call is among them", move || every_call_is_among_them(&layer)));
    trials
}

/// A call that fails: its number, its name, the result, and whether all later ones fail too.
#[derive(Clone)]
struct Injection {
    call: usize,
    name: String,
    code: (&'static str, vk::Result),
    onward: bool,
}

/// What a process has said.
struct Said {
    right: usize,
    refused: Vec<String>,
    /// The lines of the layer.
    layer: Vec<String>,
}

/// Runs a scenario, and finds what no process may say or come to.
fn run(scenario: &str, layer: &Path, injection: Option<&Injection>) -> Result<Said, String> {
    let cache = std::env::temp_dir().join(format!("vksort-faults-{}-{scenario}", std::process::id()));
    let mut command = Command::new(std::env::current_exe().map_err(|error| error.to_string())?);
    command
        .env(SCENARIO, scenario)
        .env("VKSORT_SEED", seed().to_string())
        .env("VKSORT_FAULT_CACHE", &cache)
        .env("VK_LAYER_PATH", layer)
        // Layers that drivers bring along make calls of their own, and may pass over failures.
        .env("VK_LOADER_LAYERS_DISABLE", "~implicit~")
        .env("VK_INSTANCE_LAYERS", "VK_LAYER_VKSORT_faults");
    match injection {
        Some(Injection { call, code, onward, .. }) => command
            .env("VKSORT_FAULT_AT", call.to_string())
            .env("VKSORT_FAULT_CODE", code.1.as_raw().to_string())
            .env("VKSORT_FAULT_ONWARD", u8::from(*onward).to_string()),
        None => command.env("VKSORT_FAULT_LIST", "1"),
    };
    let output = run_within(PATIENCE, &mut command);
    // A run without a failure leaves one.
    let _ = std::fs::remove_file(&cache);
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let report = || format!("{}\n{stdout}{stderr}", output.status);
    let of = |word: &str| -> Vec<String> {
        stdout.lines().filter_map(|line| line.strip_prefix(word)).map(String::from).collect()
    };
    let layer: Vec<String> =
        stderr.lines().filter_map(|line| line.strip_prefix("faults: ")).map(String::from).collect();
    let (right, refused) = (of("right ").len(), of("refused "));
    if !output.status.success() || !of("wrong ").is_empty() || layer.iter().any(|line| line.starts_with("misuse")) {
        return Err(report());
    }
    if right + refused.len() != stdout.lines().count() {
        return Err(format!("an error of several lines, or something else was printed: {}", report()));
    }
    let given_up = injection.is_some() && layer.iter().any(|line| line.ends_with(" vkWaitForFences"));
    if !given_up && layer.iter().any(|line| line.starts_with("leaked")) {
        return Err(report());
    }
    Ok(Said { right, refused, layer })
}

/// The names of a scenario's calls, in their order.
fn calls_of(scenario: &str, layer: &Path) -> Result<Vec<String>, Failed> {
    let said = run(scenario, layer, None)?;
    if !said.refused.is_empty() || said.right == 0 {
        return Err(format!("without a failure: {:?}", said.refused).into());
    }
    let names = said.layer.iter().filter_map(|line| line.strip_prefix("call ")?.split_once(' '));
    Ok(names.map(|(_, name)| name.to_string()).collect())
}

/// What a failure came to, or why that is a fault.
fn judge(injection: &Injection, said: &Said) -> Result<&'static str, String> {
    let Injection { call, name, onward, .. } = injection;
    let fault =
        |what: &str| Err(format!("{what}; {} operations were right, refused were {:?}", said.right, said.refused));
    if !said.layer.contains(&format!("failed {call} {name}")) {
        return fault("the call did not come");
    }
    let Some(first) = said.refused.first() else {
        return if MADE_UP_FOR.contains(&name.as_str()) { Ok("made up for") } else { fault("no error came of it") };
    };
    // Errors of memory say what it was for. The loader asks for extensions itself when a device is created.
    let instead = match name.as_str() {
        "vkAllocateMemory" | "vkMapMemory" | "vkCreateBuffer" => "allocating",
        "vkEnumerateDeviceExtensionProperties" | "vkEnumeratePhysicalDevices" => "vkCreateDevice",
        name => name,
    };
    if !first.contains(name.as_str()) && !first.contains(instead) && !MADE_UP_FOR.contains(&name.as_str()) {
        return fault("the first error does not name the call");
    }
    match (name.as_str(), onward) {
        ("vkWaitForFences", _) => Ok("the device was given up"),
        (_, true) => Ok("errors from then on"),
        // What failed once was tried again, with everything after it.
        (_, false) if said.refused.len() == 1 => Ok("one error, then right"),
        _ => fault("one failure, several errors"),
    }
}

fn failures_are_survived(scenario: &str, layer: &Path) -> Result<(), Failed> {
    let calls = calls_of(scenario, layer)?;
    let mut injections = Vec::new();
    for (name, call) in calls.iter().zip(1..) {
        for code in CODES {
            for onward in [false, true] {
                injections.push(Injection { call, name: name.clone(), code, onward });
            }
        }
    }
    let all = injections.len();
    if level() == Level::Reduced {
        fastrand::Rng::with_seed(seed()).shuffle(&mut injections);
        // One of each name comes first.
        let mut names = BTreeSet::new();
        let (mut drawn, others): (Vec<_>, Vec<_>) =
            injections.into_iter().partition(|injection| names.insert(injection.name.clone()));
        drawn.extend(others);
        drawn.truncate(DRAWN.max(names.len()));
        injections = drawn;
    }
    let mut came_to: BTreeMap<(&str, &str, bool), usize> = BTreeMap::new();
    let mut faults = Vec::new();
    for (done, injection) in injections.iter().enumerate() {
        let Injection { call, name, code, onward } = injection;
        if done > 0 && done.is_multiple_of(100) {
            println!("{scenario}: {done} of {} failures, {} faults", injections.len(), faults.len());
        }
        match run(scenario, layer, Some(injection)).and_then(|said| judge(injection, &said)) {
            Ok(end) => *came_to.entry((end, code.0, *onward)).or_default() += 1,
            Err(fault) => {
                let from = if *onward { " from then on" } else { "" };
                faults.push(format!("call {call} of {}, {name}, {}{from}: {fault}", calls.len(), code.0));
            }
        }
    }
    // In one piece, because other scenarios print at the same time.
    let mut table = format!("{scenario}: {} of {all} failures of {} calls\n", injections.len(), calls.len());
    for ((end, code, onward), count) in came_to {
        let times = if onward { "that call and all later ones" } else { "once" };
        table += &format!("  {count:4} {code}, {times}: {end}\n");
    }
    print!("{table}");
    match faults.is_empty() {
        true => Ok(()),
        false => Err(format!("{} faults:\n{}", faults.len(), faults.join("\n")).into()),
    }
}

/// Scenarios that leave a call out would pass unseen, so the names are compared with those that errors have in the source.
fn every_call_is_among_them(layer: &Path) -> Result<(), Failed> {
    let mut made = BTreeSet::from(UNSEEN.map(String::from));
    for (scenario, _) in SCENARIOS {
        made.extend(calls_of(scenario, layer)?);
    }
    let mut named = BTreeSet::new();
    for folder in ["record", "standalone"] {
        for file in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder))? {
            let path = file?.path();
            if path.is_file() {
                let text = std::fs::read_to_string(path)?;
                for before in ["context(\"", "call: \""] {
                    let names = text.split(before).skip(1).filter_map(|after| after.split('"').next());
                    named.extend(names.filter(|name| name.starts_with("vk")).map(String::from));
                }
            }
        }
    }
    let missing: Vec<&String> = named.difference(&made).collect();
    assert!(named.len() > 20 && missing.is_empty(), "{missing:?} of {} calls never fail", named.len());
    Ok(())
}
