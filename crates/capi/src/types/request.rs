//! Constants and structures of requests.

/// Type of the keys: a number from 1 to VKSORT_KEY_TYPES. 0 is none, so that it cannot be forgotten.
pub type VksortKeyType = u32;
/// 8-bit unsigned integers.
pub const VKSORT_KEY_U8: VksortKeyType = 1;
/// 8-bit signed integers.
pub const VKSORT_KEY_I8: VksortKeyType = 2;
/// 16-bit unsigned integers.
pub const VKSORT_KEY_U16: VksortKeyType = 3;
/// 16-bit signed integers.
pub const VKSORT_KEY_I16: VksortKeyType = 4;
/// 16-bit IEEE floats, in total order, as all floats: -NaN, -inf, ..., -0, +0, ..., +inf, +NaN.
pub const VKSORT_KEY_F16: VksortKeyType = 5;
/// The upper halves of 32-bit IEEE floats.
pub const VKSORT_KEY_BF16: VksortKeyType = 6;
/// 32-bit unsigned integers.
pub const VKSORT_KEY_U32: VksortKeyType = 7;
/// 32-bit signed integers.
pub const VKSORT_KEY_I32: VksortKeyType = 8;
/// 32-bit IEEE floats.
pub const VKSORT_KEY_F32: VksortKeyType = 9;
/// 64-bit unsigned integers.
pub const VKSORT_KEY_U64: VksortKeyType = 10;
/// 64-bit signed integers.
pub const VKSORT_KEY_I64: VksortKeyType = 11;
/// 64-bit IEEE floats.
pub const VKSORT_KEY_F64: VksortKeyType = 12;
/// 128-bit unsigned integers, as two of 64 bits with the lower first.
pub const VKSORT_KEY_U128: VksortKeyType = 13;
/// 128-bit signed integers.
pub const VKSORT_KEY_I128: VksortKeyType = 14;
/// Key types are numbered from 1 to this.
pub const VKSORT_KEY_TYPES: u32 = 14;

/// The kind of value that moves with each key.
pub type VksortValueType = u32;
/// Nothing: only the keys are sorted.
pub const VKSORT_VALUE_NONE: VksortValueType = 0;
/// A value of this many bytes: 1, 2, or a multiple of 4 up to 65536. Up to 16 bytes travel with the keys; larger values are
/// gathered once.
pub const VKSORT_VALUE_BYTES: VksortValueType = 1;
/// The key's own index in the input, 32 bits: the result is the sorting permutation, and nothing is read for it.
pub const VKSORT_VALUE_INDEX: VksortValueType = 2;

/// Direction. Equal keys keep their order in both, except with VKSORT_REQUEST_NOT_STABLE.
pub type VksortOrder = u32;
/// Smallest key first.
pub const VKSORT_ORDER_ASCENDING: VksortOrder = 0;
/// Largest key first.
pub const VKSORT_ORDER_DESCENDING: VksortOrder = 1;

/// Where the result goes.
pub type VksortPlacement = u32;
/// The result overwrites the input.
pub const VKSORT_PLACEMENT_IN_PLACE: VksortPlacement = 0;
/// The result goes to other buffers. The input is not written to.
pub const VKSORT_PLACEMENT_OUT_OF_PLACE: VksortPlacement = 1;

/// Whether the sorted keys are written.
pub type VksortKeyOutput = u32;
/// Sorted keys are written.
pub const VKSORT_KEY_OUTPUT_SORTED: VksortKeyOutput = 0;
/// The sorted keys are not written. In place, the content of the keys' buffer is then not specified.
pub const VKSORT_KEY_OUTPUT_DISCARDED: VksortKeyOutput = 1;

/// The algorithm of a sort. All algorithms give the same result, except for the order of equal keys with
/// VKSORT_REQUEST_NOT_STABLE.
pub type VksortAlgorithm = u32;
/// Chosen by device and number of elements.
pub const VKSORT_ALGORITHM_AUTO: VksortAlgorithm = 0;
/// One histogram of all digits, then one pass with decoupled look-back per digit.
pub const VKSORT_ALGORITHM_ONESWEEP: VksortAlgorithm = 1;
/// Count, scan and scatter per digit; no workgroup waits for another.
pub const VKSORT_ALGORITHM_REDUCE_THEN_SCAN: VksortAlgorithm = 2;
/// All digits in the shared memory of one workgroup, for up to one block of elements.
pub const VKSORT_ALGORITHM_SINGLE_WORKGROUP: VksortAlgorithm = 3;
/// Algorithms are numbered from 1 to this.
pub const VKSORT_ALGORITHMS: u32 = 3;

/// Flag of a request: equal keys may come in any order, which may differ between runs and is faster on some devices.
pub const VKSORT_REQUEST_NOT_STABLE: u32 = 1;

/// One kind of sort. All zero but structSize and key is: keys alone, by all bits, ascending, in place, stable.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VksortSortRequest {
    /// sizeof(VksortSortRequest).
    pub struct_size: u32,
    /// VKSORT_REQUEST_NOT_STABLE or 0.
    pub flags: u32,
    /// Type of the keys.
    pub key: VksortKeyType,
    /// The kind of value that moves with each key.
    pub value: VksortValueType,
    /// Size of a value in bytes with VKSORT_VALUE_BYTES, else 0.
    pub value_bytes: u32,
    /// Direction.
    pub order: VksortOrder,
    /// The lowest bit to sort by.
    pub low_bit: u32,
    /// The highest bit to sort by, plus 1; 0 for all bits from lowBit on.
    pub high_bit: u32,
    /// Where the result goes.
    pub placement: VksortPlacement,
    /// Whether the sorted keys are written.
    pub key_output: VksortKeyOutput,
    /// The algorithm.
    pub algorithm: VksortAlgorithm,
}

/// A field of a record that records are sorted by.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VksortKeyField {
    /// Where the field begins in the record, in bytes. It may be any byte.
    pub offset: u32,
    /// Type of the field.
    pub key: VksortKeyType,
    /// Direction of this field.
    pub order: VksortOrder,
    /// 0; a later version may have some.
    pub flags: u32,
}

/// What a sort of records writes.
pub type VksortRecordOutput = u32;
/// The sorted records overwrite those that were given.
pub const VKSORT_RECORD_OUTPUT_IN_PLACE: VksortRecordOutput = 0;
/// The sorted records go to `keysOut`. Those that were given are not written to.
pub const VKSORT_RECORD_OUTPUT_OUT_OF_PLACE: VksortRecordOutput = 1;
/// The index of each sorted record among those that were given, 32 bits, goes to `valuesOut`. The records are not written to.
pub const VKSORT_RECORD_OUTPUT_PERMUTATION: VksortRecordOutput = 2;

/// One kind of sort of records: arrays of structures that are sorted by some of their fields. All zero but structSize, stride,
/// fieldCount and fields is: in place, stable.
///
/// Records are compared by the first field, equal ones by the second, and so on. They take the place of keys: they are bound as the
/// `keys` of VksortBuffers, capacities and counts are numbers of records, and there are no `values`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VksortRecordRequest {
    /// sizeof(VksortRecordRequest).
    pub struct_size: u32,
    /// VKSORT_REQUEST_NOT_STABLE or 0.
    pub flags: u32,
    /// Bytes from a record to the next: a multiple of 4 up to 65536.
    pub stride: u32,
    /// Number of fields, 1 to 4.
    pub field_count: u32,
    /// The fields, of up to 128 bits together.
    pub fields: *const VksortKeyField,
    /// What is written.
    pub output: VksortRecordOutput,
    /// The algorithm.
    pub algorithm: VksortAlgorithm,
}

const _: () = {
    use vksort::{SortRequest, ValueType};
    // As the documentation says.
    assert!(SortRequest::MAX_FIELDS == 4 && SortRequest::MAX_FIELD_BITS == 128 && ValueType::MAX_BYTES == 65536);
};
