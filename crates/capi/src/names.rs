//! Numbers of enumerations, and what this build can do.

use std::ffi::{CStr, c_char};

use vksort::{
    Algorithm, InstanceRequirements, KeyOutput, KeyType, MAX_COUNT, Order, Placement, SortRequest, ValueType,
};

use super::outcome::{Failure, run_unit};
use super::structs::write;
use super::types::*;

/// The names of the key types, by number from 1 on.
const KEY_NAMES: [&CStr; VKSORT_KEY_TYPES as usize] =
    [c"u8", c"i8", c"u16", c"i16", c"f16", c"bf16", c"u32", c"i32", c"f32", c"u64", c"i64", c"f64", c"u128", c"i128"];

/// The algorithms with their numbers and names.
const ALGORITHMS: [(VksortAlgorithm, Algorithm, &CStr); 3] = [
    (VKSORT_ALGORITHM_ONESWEEP, Algorithm::OneSweep, c"onesweep"),
    (VKSORT_ALGORITHM_REDUCE_THEN_SCAN, Algorithm::ReduceThenScan, c"reduce-then-scan"),
    (VKSORT_ALGORITHM_SINGLE_WORKGROUP, Algorithm::SingleWorkgroup, c"single-workgroup"),
];

/// The version of the crate, whose parts cargo gives as text.
const VERSION: u32 = ash::vk::make_api_version(
    0,
    number(env!("CARGO_PKG_VERSION_MAJOR")),
    number(env!("CARGO_PKG_VERSION_MINOR")),
    number(env!("CARGO_PKG_VERSION_PATCH")),
);

const fn number(text: &str) -> u32 {
    match u32::from_str_radix(text, 10) {
        Ok(number) => number,
        Err(_) => panic!("cargo gives numbers"),
    }
}

/// The item of an enumeration in the order of its numbers, which begin with `first`.
pub(super) fn one_of<T: Copy>(what: &str, prefix: &str, first: u32, all: &[T], number: u32) -> Result<T, Failure> {
    let item = number.checked_sub(first).and_then(|index| all.get(index as usize));
    let last = first + all.len() as u32 - 1;
    item.copied().ok_or_else(|| Failure::value(what, number, &format!("a {prefix} of {first} to {last}")))
}

/// The key type of a number.
pub(super) fn key(what: &str, number: VksortKeyType) -> Result<KeyType, Failure> {
    one_of(what, "VKSORT_KEY_", 1, KeyType::ALL, number)
}

/// The direction of a number.
pub(super) fn order(what: &str, number: VksortOrder) -> Result<Order, Failure> {
    one_of(what, "VKSORT_ORDER_", 0, &[Order::Ascending, Order::Descending], number)
}

/// The number of an algorithm.
pub(super) fn number_of(algorithm: Algorithm) -> VksortAlgorithm {
    ALGORITHMS.iter().find(|(_, known, _)| *known == algorithm).map_or(VKSORT_ALGORITHM_AUTO, |row| row.0)
}

/// The algorithm of a number, if it names one.
pub(super) fn algorithm(number: VksortAlgorithm) -> Result<Option<Algorithm>, Failure> {
    match ALGORITHMS.iter().find(|(known, ..)| *known == number) {
        Some((_, algorithm, _)) => Ok(Some(*algorithm)),
        None if number == VKSORT_ALGORITHM_AUTO => Ok(None),
        None => Err(Failure::value("algorithm", number, "a VKSORT_ALGORITHM_ of 0 to 3")),
    }
}

/// Flags of which `known` are allowed.
pub(super) fn check_flags(what: &str, given: u32, known: u32) -> Result<(), Failure> {
    match given & !known {
        0 => Ok(()),
        _ if known == 0 => Err(Failure::value(what, format!("{given:#x}"), "0")),
        _ => Err(Failure::value(what, format!("{given:#x}"), &format!("a union of {known:#x}"))),
    }
}

/// The request that a structure describes. A sorter refuses what contradicts itself.
pub(super) fn request(given: &VksortSortRequest) -> Result<SortRequest, Failure> {
    let key = key("key", given.key)?;
    check_flags("flags of VksortSortRequest", given.flags, VKSORT_REQUEST_NOT_STABLE)?;
    let value = match (given.value, given.value_bytes) {
        (VKSORT_VALUE_NONE, 0) => ValueType::None,
        (VKSORT_VALUE_INDEX, 0) => ValueType::Index,
        (VKSORT_VALUE_BYTES, bytes) => ValueType::Bytes(bytes),
        (VKSORT_VALUE_NONE | VKSORT_VALUE_INDEX, bytes) => {
            return Err(Failure::value("valueBytes", bytes, "0 without VKSORT_VALUE_BYTES"));
        }
        (other, _) => return Err(Failure::value("value", other, "a VKSORT_VALUE_ of 0 to 2")),
    };
    let placements = [Placement::InPlace, Placement::OutOfPlace];
    let key_outputs = [KeyOutput::Sorted, KeyOutput::Discarded];
    let high = if given.high_bit == 0 { key.bits() } else { given.high_bit };
    Ok(SortRequest::new(key)
        .value(value)
        .order(order("order", given.order)?)
        .bits(given.low_bit..high)
        .placement(one_of("placement", "VKSORT_PLACEMENT_", 0, &placements, given.placement)?)
        .key_output(one_of("keyOutput", "VKSORT_KEY_OUTPUT_", 0, &key_outputs, given.key_output)?)
        .stable(given.flags & VKSORT_REQUEST_NOT_STABLE == 0)
        .algorithm(algorithm(given.algorithm)?))
}

/// The structure that describes a request; its size is 0.
pub(super) fn described(request: &SortRequest) -> VksortSortRequest {
    let (value, value_bytes) = match request.value {
        ValueType::Bytes(bytes) => (VKSORT_VALUE_BYTES, bytes),
        ValueType::Index => (VKSORT_VALUE_INDEX, 0),
        // C has no other kinds.
        _ => (VKSORT_VALUE_NONE, 0),
    };
    let in_place = request.placement == Placement::InPlace;
    let discards = request.key_output == KeyOutput::Discarded;
    VksortSortRequest {
        struct_size: 0,
        flags: if request.stable { 0 } else { VKSORT_REQUEST_NOT_STABLE },
        key: 1 + request.key as VksortKeyType,
        value,
        value_bytes,
        order: if request.order == Order::Ascending { VKSORT_ORDER_ASCENDING } else { VKSORT_ORDER_DESCENDING },
        low_bit: request.bits.low,
        high_bit: request.bits.high,
        placement: if in_place { VKSORT_PLACEMENT_IN_PLACE } else { VKSORT_PLACEMENT_OUT_OF_PLACE },
        key_output: if discards { VKSORT_KEY_OUTPUT_DISCARDED } else { VKSORT_KEY_OUTPUT_SORTED },
        algorithm: request.algorithm.map_or(VKSORT_ALGORITHM_AUTO, number_of),
    }
}

/// Returns the capabilities of this build of vksort.
///
/// - capabilities: written; structSize must be set.
/// - Any thread may call it at any time.
///
/// # Safety
///
/// The pointer is null, or points to a writable structure whose size is in its first field.
#[unsafe(export_name = "vksortGetCapabilities")]
pub unsafe extern "C" fn get_capabilities(capabilities: *mut VksortCapabilities) -> VksortResult {
    run_unit("vksortGetCapabilities", || {
        let value = VksortCapabilities {
            struct_size: 0,
            version: VERSION,
            vulkan_version: InstanceRequirements::API_VERSION,
            key_types: VKSORT_KEY_TYPES,
            algorithms: VKSORT_ALGORITHMS,
            max_count: MAX_COUNT,
            max_inline_value_bytes: ValueType::INLINE_BYTES,
            max_value_bytes: ValueType::MAX_BYTES,
        };
        // SAFETY: by this function's contract.
        unsafe { write(capabilities, &value) }
    })
}

/// Returns the properties of a key type. Calls with the numbers from 1 to VKSORT_KEY_TYPES make a table of all key types. Every
/// key type can be sorted with every value, order, window of bits and placement.
///
/// - key: one of VKSORT_KEY_...
/// - properties: written; structSize must be set.
/// - Any thread may call it at any time.
///
/// # Safety
///
/// The pointer is null, or points to a writable structure whose size is in its first field.
#[unsafe(export_name = "vksortGetKeyTypeProperties")]
pub unsafe extern "C" fn get_key_type_properties(
    key: VksortKeyType,
    properties: *mut VksortKeyTypeProperties,
) -> VksortResult {
    run_unit("vksortGetKeyTypeProperties", || {
        let key = self::key("key", key)?;
        let flags = [
            (VKSORT_KEY_IS_FLOAT, key.is_float()),
            (VKSORT_KEY_IS_SIGNED, key.is_signed()),
            (VKSORT_KEY_IS_BUILT, key.is_built()),
        ];
        let value = VksortKeyTypeProperties {
            struct_size: 0,
            bits: key.bits(),
            flags: flags.into_iter().filter(|(_, has)| *has).map(|(flag, _)| flag).sum(),
            algorithms: ALGORITHMS.iter().map(|(number, ..)| 1 << number).sum(),
            name: KEY_NAMES[key as usize].as_ptr(),
        };
        // SAFETY: by this function's contract.
        unsafe { write(properties, &value) }
    })
}

/// The name of an algorithm as in "onesweep"; null for a number that is not an algorithm. The text is static.
/// Any thread may call it.
#[unsafe(export_name = "vksortGetAlgorithmName")]
pub extern "C" fn get_algorithm_name(algorithm: VksortAlgorithm) -> *const c_char {
    let row = ALGORITHMS.iter().find(|(number, ..)| *number == algorithm);
    row.map_or(std::ptr::null(), |(.., name)| name.as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_structure_describes_the_request_that_it_is_made_from() {
        let other = SortRequest::new(KeyType::I64)
            .value(ValueType::Bytes(12))
            .order(Order::Descending)
            .bits(3..40)
            .placement(Placement::OutOfPlace)
            .key_output(KeyOutput::Discarded)
            .stable(false)
            .algorithm(Algorithm::ReduceThenScan);
        for given in [SortRequest::new(KeyType::U8), other, other.value(ValueType::Index)] {
            assert_eq!(request(&described(&given)).ok(), Some(given));
        }
    }

    #[test]
    fn every_key_type_and_algorithm_has_a_number_and_its_name() {
        let keys = [
            (VKSORT_KEY_U8, KeyType::U8),
            (VKSORT_KEY_I8, KeyType::I8),
            (VKSORT_KEY_U16, KeyType::U16),
            (VKSORT_KEY_I16, KeyType::I16),
            (VKSORT_KEY_F16, KeyType::F16),
            (VKSORT_KEY_BF16, KeyType::Bf16),
            (VKSORT_KEY_U32, KeyType::U32),
            (VKSORT_KEY_I32, KeyType::I32),
            (VKSORT_KEY_F32, KeyType::F32),
            (VKSORT_KEY_U64, KeyType::U64),
            (VKSORT_KEY_I64, KeyType::I64),
            (VKSORT_KEY_F64, KeyType::F64),
            (VKSORT_KEY_U128, KeyType::U128),
            (VKSORT_KEY_I128, KeyType::I128),
        ];
        assert!(keys.iter().map(|(_, key)| key).eq(KeyType::ALL));
        for (index, (number, known)) in keys.into_iter().enumerate() {
            assert_eq!((number as usize, key("key", number).ok()), (index + 1, Some(known)));
            assert_eq!(described(&SortRequest::new(known)).key, number);
            assert_eq!(KEY_NAMES[index].to_str(), Ok(known.name()));
        }
        assert!(ALGORITHMS.iter().map(|(_, algorithm, _)| algorithm).eq(Algorithm::ALL));
        for (number, known, name) in ALGORITHMS {
            let given = SortRequest::new(KeyType::U64).algorithm(known);
            assert_eq!((number_of(known), described(&given).algorithm), (number, number));
            assert_eq!(request(&described(&given)).ok(), Some(given));
            assert_eq!(name.to_str().unwrap(), known.to_string());
        }
    }
}
