//! What one workgroup of OneSweep recounts at worst with the built-in rows: the tiles from an anchor to the next, if its predecessors
//! have ended and the ring has lost their words. docs/ALGORITHMS.md has the table, and `tests/simulated/recount.rs` shows that
//! kernels keep the bound.

use std::path::Path;

use vksort::__private::ShapeDesc;
use vksort::__private::abi::Own;
use vksort::__private::steps::{self, HostStep};
use vksort::__private::{driver, vendor};
use vksort::{Algorithm, BitRange, Count, DeviceProfile, KeyType, SortRequest, Tuning};

const COUNTS: [u32; 4] = [1 << 20, 1 << 24, 1 << 28, u32::MAX];

/// Classes of devices with the names that the table has for them; their rows look back unless a request names another algorithm.
fn devices() -> Vec<(&'static str, DeviceProfile)> {
    let gpu = |vendor_id, lanes: (u32, u32), kibibytes: u32| DeviceProfile {
        vendor_id,
        subgroup_size: lanes.1,
        subgroup_range: lanes,
        max_shared_bytes: kibibytes << 10,
        ..DeviceProfile::default()
    };
    let cpu = |driver_id, lanes| DeviceProfile { driver_id, is_cpu: true, ..gpu(0, (lanes, lanes), 32) };
    vec![
        ("nvidia", gpu(vendor::NVIDIA, (32, 32), 48)),
        ("nvk", DeviceProfile { driver_id: driver::NVK, ..gpu(vendor::NVIDIA, (32, 32), 48) }),
        ("amd", gpu(vendor::AMD, (32, 64), 64)),
        ("intel", gpu(vendor::INTEL, (8, 32), 64)),
        ("intel-xe2", gpu(vendor::INTEL, (16, 32), 64)),
        ("llvmpipe, 8 lanes", cpu(driver::LLVMPIPE, 8)),
        ("llvmpipe, 4 lanes", cpu(driver::LLVMPIPE, 4)),
        ("swiftshader", cpu(driver::SWIFTSHADER, 4)),
    ]
}

/// Keys of a tile, and for each count the tiles that are recounted: 0 where the ring has a slot for every tile.
fn worst(profile: &DeviceProfile, bits: u32) -> (u32, [u32; 4]) {
    let tuning = Tuning::for_device(profile);
    assert!(tuning.look_back, "{}", tuning.name);
    let request = SortRequest::new(KeyType::U32).bits(BitRange { low: 0, high: bits });
    let desc = ShapeDesc::new(profile, &tuning, &request, Algorithm::OneSweep);
    let sort = |count: u32| steps::of(&desc, count, Count::Host(count)).unwrap();
    let recounted = COUNTS.map(|count| {
        let sort = sort(count);
        let tiles = count.div_ceil(sort.tile);
        let shift = sort.steps.iter().find_map(|step| match step {
            HostStep::Dispatch(dispatch) => match dispatch.push.own {
                Own::Pass { anchor_shift, .. } => Some(anchor_shift),
                _ => None,
            },
            HostStep::Clear { .. } => None,
        });
        let shift = shift.expect("OneSweep has passes");
        if tiles <= 1 << sort.shape.ring_bits {
            return 0;
        }
        // The anchors have slots of their own, and no more than half of these stay empty.
        let anchors = 1 << sort.shape.anchor_bits();
        assert!(tiles >> shift < anchors && tiles >> shift >= anchors / 2, "{tiles} tiles, shift {shift}");
        1 << shift
    });
    // Loops of software drivers have iterations for so many (src/shape/loop_budget.rs).
    assert!(!profile.is_cpu || recounted.iter().all(|tiles| *tiles <= 32), "{}: {recounted:?}", tuning.name);
    (sort(u32::MAX).tile, recounted)
}

/// The table, a line for all classes with the same numbers.
fn table() -> String {
    let mut lines: Vec<(String, String)> = Vec::new();
    for (what, gpu_bits, cpu_bits) in [("digits of 8 bits", 32, 32), ("the widest digits", 27, 30)] {
        for (name, profile) in devices() {
            let (tile, recounted) = worst(&profile, if profile.is_cpu { cpu_bits } else { gpu_bits });
            let cells = recounted.map(|tiles| match 4 * u64::from(tiles) * u64::from(tile) {
                0 => "none".into(),
                bytes if bytes < 1 << 20 => format!("{tiles} tiles, {} KiB", bytes >> 10),
                bytes => format!("{tiles} tiles, {:.1} MiB", bytes as f64 / f64::from(1 << 20)),
            });
            let numbers = format!("| {what} | {tile} | {} |", cells.join(" | "));
            match lines.iter_mut().find(|(_, known)| *known == numbers) {
                Some((names, _)) => *names += &format!("; {name}"),
                None => lines.push((name.into(), numbers)),
            }
        }
    }
    let head =
        "| row | u32 keys by | keys of a tile | 2^20 | 2^24 | 2^28 | 2^32 - 1 |\n|---|---|---|---|---|---|---|\n";
    let lines = lines.iter().map(|(names, numbers)| format!("| {names} {numbers}\n"));
    head.to_string() + &lines.collect::<String>()
}

#[test]
fn the_worst_recount_of_each_row_is_the_documented_one() {
    let table = table();
    println!("{table}");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/ALGORITHMS.md");
    if !file.is_file() {
        println!("skipped: {} is not here", file.display());
        return;
    }
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains(&table), "{} has another table than\n{table}", file.display());
}
