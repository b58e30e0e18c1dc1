//! The device's own subgroups where full ones are not required, but are known to be full.

use vksort::standalone::{Gpu, GpuOptions};
use vksort::{FixedSubgroups, KeyType, Order, SortRequest, SorterOptions, SubgroupChoice, ValueType};
use vksort_testing::{Failed, Trial, assert_valid, logs, validating};

/// A device without optional features sorts with its own subgroups where something promises full ones. Else it says once why not.
fn plain_devices_sort_with_their_own_subgroups() -> Result<(), Failed> {
    for unknown_driver in [false, true] {
        let options = GpuOptions::default().validation(validating()).least(true).unknown_driver(unknown_driver);
        let gpu = Gpu::new(&options)?;
        let fixed = gpu.profile().fixed_subgroups;
        // Of GPUs, some need the features.
        let emulates = fixed == FixedSubgroups::No;
        assert!(if unknown_driver || gpu.profile().is_cpu { emulates == unknown_driver } else { true }, "{fixed:?}");
        let request = SortRequest::new(KeyType::U32).value(ValueType::U32);
        let (sorters, lines) = logs::of(|| [(); 2].map(|()| gpu.sorter(&request, &SorterOptions::default())));
        let warned = lines.iter().filter(|line| line.contains("subgroups are emulated")).count();
        // A device with the handle of an earlier one does not say the same again.
        assert!(warned <= usize::from(emulates), "{lines:?}");
        for sorter in sorters {
            assert_eq!(sorter?.shape().ranking.subgroup.emulated, emulates);
        }
        let (_, lines) = logs::of(|| {
            let emulated = SorterOptions::default().subgroup(SubgroupChoice::Emulated(8));
            gpu.sorter(&request, &emulated).map(drop)
        });
        assert!(!lines.iter().any(|line| line.contains("subgroups are emulated")), "what was asked for is no surprise");
        let mut keys: Vec<u32> = (0..20_000).map(|_| fastrand::u32(..)).collect();
        let mut expected = keys.clone();
        expected.sort_unstable();
        gpu.sort(&mut keys, Order::Ascending)?;
        assert!(keys == expected);
        assert_valid(&gpu);
    }
    Ok(())
}

pub fn trials() -> Vec<Trial> {
    vec![Trial::test("plain_devices_sort_with_their_own_subgroups", plain_devices_sort_with_their_own_subgroups)]
}
