//! Verifiers through the functions of the header.

use std::ptr::{null, null_mut};

use ash::vk;
use vksort::{AccessScope, BoundSort};
use vksort_capi::{record::*, sorter::*, types::*, verify::*};

use crate::*;

/// Records a sort between the halves of a verifier, and perhaps a fill of the first key before the sort, where the first half
/// has read it. Returns the answer.
fn answer(verifier: VksortVerifier, sort: VksortSort, count: u64, fills: Option<vk::Buffer>, report: *mut u8) -> u32 {
    let vulkan = vulkan();
    // Memory is a host's, which sees what the device has written when a fence is signalled.
    let barrier = |commands, from: AccessScope, to: AccessScope| {
        // SAFETY: the command buffer is recording.
        unsafe { from.record_barrier(to, &vulkan.device, commands) };
    };
    vulkan.run(|commands| {
        done(c!(cmd_verify_before(commands, verifier, count)));
        if let Some(keys) = fills {
            barrier(commands, AccessScope::COMPUTE_READ, AccessScope::TRANSFER_WRITE);
            // SAFETY: the buffer has room for a key, and lives.
            unsafe { vulkan.device.cmd_fill_buffer(commands, keys, 0, 4, 77) };
            barrier(commands, AccessScope::TRANSFER_WRITE, BoundSort::INPUT_SCOPE);
        }
        done(c!(cmd_sort(commands, sort, count, null())));
        barrier(commands, BoundSort::OUTPUT_SCOPE, AccessScope::COMPUTE_READ);
        done(c!(cmd_verify_after(commands, verifier, count)));
        barrier(commands, BoundSort::OUTPUT_SCOPE, AccessScope::HOST_READ);
    });
    // SAFETY: the report is mapped, and begins with the answer.
    unsafe { report.cast::<u32>().read() }
}

#[test]
fn a_verifier_tells_a_right_sort_from_a_wrong_one() {
    let vulkan = vulkan();
    let request = u32_keys();
    let mut sorter = null_mut();
    done(c!(create_sorter(&vulkan.sorter_info(&request), &mut sorter)));
    let capacity = 20_000;
    let (buffers, mapped) = buffers_of(sorter, capacity);
    let sort = bound(sorter, &buffers);
    let mut size = 0;
    done(c!(get_report_size(sort, &mut size)));
    let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::TRANSFER_DST;
    let (report, words) = vulkan.buffer(size, usage.as_raw());
    let mut verifier = null_mut();
    let short = VksortBufferRange { size: size - 4, ..report };
    refused(c!(create_verifier(sort, &short, &mut verifier)), VKSORT_ERROR_BUFFER, &["report", &size.to_string()]);
    refused(c!(create_verifier(sort, null(), &mut verifier)), VKSORT_ERROR_POINTER, &["report is null"]);
    refused(
        c!(create_verifier(sort, &buffers.keys, &mut verifier)),
        VKSORT_ERROR_BUFFER,
        &["report", "keys", "overlap"],
    );
    let nothing = VksortBufferRange { buffer: vk::Buffer::null(), ..report };
    refused(c!(create_verifier(sort, &nothing, &mut verifier)), VKSORT_ERROR_BUFFER, &["report is absent"]);
    assert!(verifier.is_null());
    done(c!(create_verifier(sort, &report, &mut verifier)));
    let write = |count: u32| {
        // SAFETY: keys and count are mapped, and the device is idle.
        unsafe {
            let keys = std::slice::from_raw_parts_mut(mapped[0].cast::<u32>(), capacity as usize);
            keys.iter_mut().zip(0u32..).for_each(|(key, index)| *key = index.wrapping_mul(0x9E37_79B9) >> 7);
            mapped[5].cast::<u32>().write(count);
        }
    };
    for (count, recorded) in [(capacity, u64::from(capacity)), (300, VKSORT_COUNT_ON_DEVICE), (0, 0)] {
        write(count);
        assert_eq!(answer(verifier, sort, recorded, None, words), 0, "{count} keys");
    }
    write(capacity);
    assert_eq!(answer(verifier, sort, 20_000, Some(buffers.keys.buffer), words), VKSORT_WRONG_ELEMENTS);
    vulkan.run(|commands| done(c!(cmd_verify_before(commands, verifier, 20_000))));
    // SAFETY: as above.
    assert_eq!(unsafe { words.cast::<u32>().read() }, VKSORT_WRONG_UNFINISHED);

    let commands = vulkan.commands();
    refused(c!(cmd_verify_before(commands, verifier, 20_001)), VKSORT_ERROR_TOO_MANY_ELEMENTS, &["20001", "20000"]);
    refused(
        c!(cmd_verify_after(vk::CommandBuffer::null(), verifier, 1)),
        VKSORT_ERROR_POINTER,
        &["commandBuffer is null"],
    );
    // It outlives the handle of the sort.
    done(destroy_sort(sort));
    refused(c!(create_verifier(sort, &report, &mut null_mut())), VKSORT_ERROR_HANDLE, &["destroyed"]);
    done(destroy_verifier(verifier));
    refused(c!(cmd_verify_after(commands, verifier, 1)), VKSORT_ERROR_HANDLE, &["VksortVerifier"]);
    done(destroy_verifier(null_mut()));
    done(destroy_sorter(sorter));
}
