//! What the validation layer says: wgpu logs it as errors, on the thread whose call it is about.

use std::cell::RefCell;

use libtest_mimic::Failed;
use vksort_wgpu::wgpu::BufferUsages;
use vksort_wgpu::wgpu::hal::api::Vulkan;

use crate::{Bench, bench};
use vksort_testing::validating;

thread_local! {
    static HEARD: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

struct Ear;

impl log::Log for Ear {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() == log::Level::Error && metadata.target().starts_with("wgpu_hal::vulkan")
    }

    fn log(&self, record: &log::Record<'_>) {
        let text = record.args().to_string();
        // wgpu's own modules name WGSL as their source, which layers of 2022 do not know yet. Objects follow each message.
        let known = text.contains("Invalid source language operand: 10") || text.starts_with('\t');
        if self.enabled(record.metadata()) && !known {
            HEARD.with_borrow_mut(|heard| heard.push(text));
        }
    }

    fn flush(&self) {}
}

/// Begins to listen. wgpu asks the layer for errors alone at this level.
pub fn listen() {
    log::set_logger(&Ear).expect("there is no other logger");
    log::set_max_level(log::LevelFilter::Error);
}

fn take() -> Vec<String> {
    HEARD.with_borrow_mut(std::mem::take)
}

/// Runs a trial in which the layer must have nothing to say.
pub fn none_in(work: impl FnOnce() -> Result<(), Failed>) -> Result<(), Failed> {
    take();
    work()?;
    let heard = take();
    assert!(heard.is_empty(), "{} validation errors, the first: {}", heard.len(), heard[0]);
    Ok(())
}

/// Two fills of a buffer without a barrier between them.
fn hazard(bench: &Bench) {
    let buffer = bench.buffer(1024, BufferUsages::COPY_DST);
    let mut encoder = bench.device.create_command_encoder(&Default::default());
    // SAFETY: the command buffer is recording, and is never submitted; the buffer lives and has the usage.
    unsafe {
        let (device, raw) = (bench.device.as_hal::<Vulkan>(), buffer.as_hal::<Vulkan>().map(|raw| raw.raw_handle()));
        let (device, raw) = (device.expect("Vulkan").raw_device().clone(), raw.expect("Vulkan"));
        encoder.as_hal_mut::<Vulkan, _, _>(|encoder| {
            let commands = encoder.expect("Vulkan").raw_handle();
            device.cmd_fill_buffer(commands, raw, 0, 1024, 1);
            device.cmd_fill_buffer(commands, raw, 0, 1024, 2);
        });
    }
    drop(encoder.finish());
}

/// With the layer, a hazard is heard; silence means something then.
pub fn layer_is_heard() -> Result<(), Failed> {
    take();
    hazard(&bench());
    let heard = take();
    match (validating(), heard.iter().any(|text| text.contains("SYNC-HAZARD-WRITE"))) {
        (true, false) => Err(format!("the layer did not report a hazard: {heard:?}").into()),
        (false, true) => Err("there is a layer that was not asked for".into()),
        _ => Ok(()),
    }
}
