//! Structures that begin with their size, read and written as far as both sides know them.

use std::ffi::c_void;
use std::mem::MaybeUninit;

use ash::vk;

use super::fault::Fault;
use super::outcome::Failure;
use super::types::*;

/// A structure whose first field is a `u32` with its size.
///
/// # Safety
///
/// * It is `repr(C)`, and its first field is the size.
/// * All zeros are a valid value.
pub(super) unsafe trait Sized32: Copy {
    /// The type in C.
    const NAME: &str;
    /// The size that it had in its first version. Later ones are longer.
    const FIRST: usize;
}

macro_rules! sized {
    ($($name:ident $first:literal),* $(,)?) => {$(
        // SAFETY: it is made of integers, handles and pointers that may be zero, and begins with `struct_size`.
        unsafe impl Sized32 for $name {
            const NAME: &str = stringify!($name);
            const FIRST: usize = $first;
        }
        const _: () = assert!(std::mem::offset_of!($name, struct_size) == 0);
        // In its first version it is exactly as long; shorter where pointers are.
        #[cfg(target_pointer_width = "64")]
        const _: () = assert!(size_of::<$name>() == $first);
    )*};
}

sized! {
    VksortCapabilities 32,
    VksortKeyTypeProperties 24,
    VksortInstanceRequirements 24,
    VksortRequirementsInfo 48,
    VksortDeviceRequirements 24,
    VksortSortRequest 44,
    VksortRecordRequest 32,
    VksortSorterInfo 64,
    VksortSorterProperties 16,
    VksortBufferRequirements 152,
    VksortBuffers 200,
    VksortVrdxInfo 72,
    VksortVrdxSort 88,
    VksortVisitorInfo 32,
    VksortVisitorResources 24,
    VksortDepthInfo 40,
    VksortSegmentsInfo 24,
    VksortSegmentProperties 16,
    VksortSegmentBuffers 40,
}

/// Refuses a pointer that is null or misaligned.
pub(super) fn check_pointer<T>(pointer: *const T, what: &str) -> Result<(), Failure> {
    let given = match (pointer.is_null(), pointer.is_aligned()) {
        (true, _) => "null",
        (_, false) => "not aligned",
        _ => return Ok(()),
    };
    Err(Fault::Pointer { what: what.into(), given }.into())
}

/// Refuses a null handle of Vulkan.
pub(super) fn check_handle(handle: impl vk::Handle, name: &str, of_type: &str) -> Result<(), Failure> {
    match handle.is_null() {
        true => Err(Fault::Null { what: name.into(), needed: format!("a {of_type}") }.into()),
        false => Ok(()),
    }
}

/// Most bytes that a structure of a later version may have. What is longer was never set.
const MOST_BYTES: usize = 4096;

/// The size of the caller's structure, as far as this version knows it. An earlier version's is shorter. A later version's is longer,
/// and accepted if all that this version does not know is zero: then nothing is asked for that it has not.
///
/// # Safety
///
/// The pointer is null, or leads to a structure of as many bytes as it says, if these are at most `MOST_BYTES`.
unsafe fn size_of_given<T: Sized32>(pointer: *const T) -> Result<usize, Failure> {
    check_pointer(pointer, T::NAME)?;
    // SAFETY: the structure begins with its size.
    let size = unsafe { pointer.cast::<u32>().read() } as usize;
    let known = size_of::<T>();
    let accepted = match size {
        _ if size > MOST_BYTES => false,
        // SAFETY: there are as many bytes by this function's contract.
        _ if size > known => (known..size).all(|at| unsafe { pointer.cast::<u8>().add(at).read() } == 0),
        _ => size >= T::FIRST.min(known),
    };
    match accepted {
        true => Ok(size.min(known)),
        false => Err(Fault::StructSize { name: T::NAME, given: size, allowed: known }.into()),
    }
}

/// A structure of the caller's. Fields that an earlier version lacks are zero.
///
/// # Safety
///
/// The pointer is null, or points to a structure whose size is in its first field.
pub(super) unsafe fn read<T: Sized32>(pointer: *const T) -> Result<T, Failure> {
    // SAFETY: by this function's contract, here and below.
    let size = unsafe { size_of_given(pointer)? };
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: both have so many bytes; the rest is zero, which is valid.
    unsafe {
        value.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(pointer.cast(), size);
        Ok(value.assume_init())
    }
}

/// Writes a structure as far as the caller's goes. Its size stays.
///
/// # Safety
///
/// The pointer is null, or points to a writable structure whose size is in its first field.
pub(super) unsafe fn write<T: Sized32>(pointer: *mut T, value: &T) -> Result<(), Failure> {
    // SAFETY: by this function's contract, here and below.
    let size = unsafe { size_of_given(pointer)? };
    let skipped = size_of::<u32>();
    // SAFETY: within both structures.
    unsafe {
        let (to, from) = (pointer.cast::<u8>(), std::ptr::from_ref(value).cast::<u8>());
        to.add(skipped).copy_from_nonoverlapping(from.add(skipped), size - skipped);
    }
    Ok(())
}

/// Memory of the caller's; null has no bytes.
///
/// # Safety
///
/// The pointer is null, or leads to `size` bytes, which nobody writes to while the result is in use.
pub(super) unsafe fn bytes<'a>(pointer: *const c_void, size: usize, what: &str) -> Result<&'a [u8], Failure> {
    if size == 0 {
        return Ok(&[]);
    }
    check_pointer(pointer.cast::<u8>(), what)?;
    if isize::try_from(size).is_err() {
        return Err(Failure::value(&format!("the size of {what}"), format!("{size} bytes"), "the size of an object"));
    }
    // SAFETY: there are as many bytes by this function's contract, and no object has more than was checked.
    Ok(unsafe { std::slice::from_raw_parts(pointer.cast(), size) })
}

/// Writes a handle or a number.
///
/// # Safety
///
/// The pointer is null, or writable.
pub(super) unsafe fn put<T>(pointer: *mut T, value: T) -> Result<(), Failure> {
    check_pointer(pointer, "the pointer to the result")?;
    // SAFETY: it is aligned, and writable by this function's contract.
    unsafe { pointer.write(value) };
    Ok(())
}
