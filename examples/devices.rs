//! Lists the system's Vulkan devices and what vksort would do on each.

mod common;

use std::process::ExitCode;

use anyhow::ensure;
use clap::Parser;
use comfy_table::{ContentArrangement, Table, presets};
use vksort::standalone::{DeviceInfo, Gpu};
use vksort::{DeviceProfile, RankMethod, Tuning};

/// Lists the system's Vulkan devices and what vksort would do on each.
///
/// The other examples take a device by its index or a part of its name: --device, or the variable VKSORT_DEVICE.
#[derive(Parser)]
struct Args {}

fn main() -> ExitCode {
    common::run(list)
}

fn list() -> anyhow::Result<()> {
    let Args {} = common::parse()?;
    let devices = Gpu::devices()?;
    ensure!(!devices.is_empty(), "no Vulkan device was found; is a driver installed?");
    let blocks: Vec<String> = devices.iter().map(describe).collect();
    common::say(blocks.join("\n\n"));
    Ok(())
}

/// One device: a line to choose it by, and a table of what it can do.
fn describe(device: &DeviceInfo) -> String {
    let mut rows = vec![("kind", device.kind.to_string())];
    match &device.profile {
        Ok(profile) => rows.extend(capabilities(profile)),
        Err(error) => rows.push(("unsuitable", error.to_string())),
    }
    if let Some((tuning, algorithm)) = &device.plan {
        rows.push(("sorts with", format!("{algorithm}, {}", shape(tuning))));
        rows.push(("because", tuning.evidence.to_string()));
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(120);
    for (name, text) in rows {
        table.add_row([format!("  {name}"), text]);
    }
    format!("{}: {}\n{}", device.index, device.name, table.trim_fmt())
}

fn capabilities(profile: &DeviceProfile) -> Vec<(&'static str, String)> {
    let (major, minor, patch) = profile.api_version;
    let subgroups = match profile.subgroup_range {
        (least, most) if least < most => format!("{}, {least} to {most} on request", profile.subgroup_size),
        _ => profile.subgroup_size.to_string(),
    };
    let operations = if profile.subgroup_operations { "with" } else { "without" };
    let bytes = profile.max_storage_range_bytes;
    let elements = (bytes / 4).min(vksort::MAX_COUNT.into());
    let timestamps = match profile.timestamp_period_ns {
        0.0 => "none".into(),
        period => format!("one tick is {period} ns"),
    };
    vec![
        ("driver", profile.driver.clone()),
        ("Vulkan", format!("{major}.{minor}.{patch}")),
        ("subgroup size", format!("{subgroups}, {operations} ballots and shuffles")),
        (
            "workgroup",
            format!(
                "at most {} invocations with {} KiB of shared memory",
                profile.max_workgroup_invocations,
                profile.max_shared_bytes >> 10
            ),
        ),
        ("most elements", format!("{elements} (maxStorageBufferRange is {} MiB)", bytes >> 20)),
        ("timestamps", timestamps),
    ]
}

fn shape(tuning: &Tuning) -> String {
    let rank = match tuning.rank {
        RankMethod::Ballot => "ballots",
        RankMethod::Match => "match masks",
    };
    let Tuning { name, workgroup_size, items_keys, items_pairs, .. } = tuning;
    format!(
        "tuning {name}: {workgroup_size} invocations x {items_keys} keys or {items_pairs} pairs, ranked with {rank}"
    )
}
