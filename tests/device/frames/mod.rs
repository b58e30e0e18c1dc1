//! Sorts as renderers record them: frames in flight, two queues, secondary command buffers, commands that are submitted
//! again, and other buffers after a change of scene. Every test has an instance and a device of its own. Software drivers have
//! one queue; the layer of `lab/two-queues` gives them a second one, of another family.
#![allow(unsafe_code, reason = "the recording API is for programs that call Vulkan")]

#[macro_use]
mod vulkan;
mod barriers;
mod commands;
mod flight;
mod frame;
mod handed;
mod pushed;
mod queues;
mod rebind;

use std::time::Instant;

use vksort_testing::{Failed, Trial};

use vulkan::Vulkan;

/// A test with its device. The validation layer must be silent from the instance's creation to the device's end.
fn trial(name: &'static str, body: fn(&Vulkan) -> Result<String, Failed>) -> Trial {
    Trial::test(name, move || {
        let vulkan = Vulkan::open()?;
        let started = Instant::now();
        let result = body(&vulkan);
        let seconds = started.elapsed().as_secs_f64();
        let messages = vulkan.close();
        let told = result.map_err(|failed| {
            let reason = failed.message().unwrap_or_default();
            Failed::from(format!("{reason}, VKSORT_SEED={}; messages: {messages:?}", vksort_testing::seed()))
        })?;
        if let Some(first) = messages.first() {
            return Err(format!("{} validation messages, the first: {first}", messages.len()).into());
        }
        println!("{name}: {told}, {seconds:.1} s");
        Ok(())
    })
}

/// In every message about a hazard.
const HAZARD: &str = " hazard detected";

/// The control of the layer's silence: a test that provokes messages with a text expects them, and no others.
fn reported(vulkan: &Vulkan, text: &str) -> Result<String, Failed> {
    let messages = vulkan.take_messages();
    match messages.iter().all(|message| message.contains(text)) && !messages.is_empty() {
        true => Ok(format!("{} messages", messages.len())),
        false => Err(format!("not messages with {text:?} alone were reported: {messages:?}").into()),
    }
}

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        // The longest is first.
        trial("many-frames", flight::many),
        trial("in-flight", flight::own_scratch),
        trial("in-flight-one-scratch", flight::one_scratch),
        trial("two-queues", queues::two),
        Trial::test("two-queues-of-devices", queues::roles_of_devices),
        trial("secondary", commands::secondary),
        trial("secondary-simultaneous", commands::secondary_simultaneous),
        trial("submitted-again", commands::submitted_again),
        trial("submitted-again-while-pending", commands::submitted_while_pending),
        trial("other-buffers", rebind::other_buffers),
        trial("pushed", pushed::pushed),
        trial("handed-over", handed::handed_over),
    ];
    // The layer must see hazards between submissions, or its silence means nothing.
    if vksort_testing::validating() && std::env::var("VKSORT_EXPECT_HAZARDS").is_ok_and(|value| value == "1") {
        trials.push(trial("without-barrier", flight::missing_barrier));
        trials.push(trial("barriers-left-out", barriers::left_out));
        trials.push(trial("two-queues-without-semaphore", queues::missing_semaphore));
    }
    if vksort_testing::validating() && queues::expected_families().is_some_and(|families| families == "2") {
        trials.push(trial("two-queues-without-release", queues::missing_release));
    }
    trials
}
