//! The request of a sort of records: arrays of structures that are sorted by some of their fields.

use std::fmt;

use crate::abi;
use crate::error::Error;
use crate::key::{Key, KeyType, Order};
use crate::request::{Algorithm, BitRange, BufferSizes, KeyOutput, Placement, SortRequest, ValueType};

/// A field of a record that records are sorted by. [`key_field`](crate::key_field) makes it of a structure's field.
///
/// ```
/// use vksort::{KeyField, KeyType, Order};
/// let field = KeyField::new(8, KeyType::F32).descending();
/// assert_eq!(field, KeyField { offset: 8, key: KeyType::F32, order: Order::Descending });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyField {
    /// Where the field begins in the record, in bytes. It may be any byte.
    pub offset: u32,
    /// The field's type. Floats are in total order.
    pub key: KeyType,
    /// The direction of this field.
    pub order: Order,
}

impl KeyField {
    /// A field in ascending order.
    pub const fn new(offset: u32, key: KeyType) -> Self {
        KeyField { offset, key, order: Order::Ascending }
    }

    /// The same field in descending order.
    pub const fn descending(self) -> Self {
        KeyField { order: Order::Descending, ..self }
    }

    /// What [`key_field`](crate::key_field) makes. The function gives the field's type.
    #[doc(hidden)]
    pub const fn of<T, K: Key>(offset: usize, _field: fn(&T) -> K) -> Self {
        // Records of more than 64 KiB are refused, so no offset is cut.
        KeyField::new(offset as u32, K::TYPE)
    }

    /// One more than the last byte of the field.
    fn end(self) -> u64 {
        u64::from(self.offset) + self.key.size_bytes()
    }

    /// The specialization constant of a field within a record.
    fn constant(self) -> u32 {
        let bit = |set: bool, bit: u32| if set { bit } else { 0 };
        self.offset
            | (self.key.size_bytes() as u32) << abi::FIELD_BYTES
            | bit(self.key.is_signed(), abi::FIELD_SIGNED)
            | bit(self.key.is_float(), abi::FIELD_FLOAT)
            | bit(self.order == Order::Descending, abi::FIELD_DESCENDING)
    }
}

/// The [`KeyField`] of a structure's field, with the offset and the type that the compiler knows.
///
/// The field may be in a structure within the structure, and the structure may be packed, but its layout has to be fixed: `#[repr(C)]`.
/// A field whose type is no [`Key`](crate::Key) does not compile.
///
/// ```
/// use vksort::{KeyField, KeyType, key_field};
///
/// #[repr(C)]
/// struct Place { x: f32, y: f32 }
/// #[repr(C, packed)]
/// struct Particle { kind: u8, age: u16, at: Place }
///
/// const OLDEST_FIRST: [KeyField; 2] = [key_field!(Particle, age).descending(), key_field!(Particle, at.y)];
/// assert_eq!(OLDEST_FIRST, [KeyField::new(1, KeyType::U16).descending(), KeyField::new(7, KeyType::F32)]);
/// ```
///
/// ```compile_fail
/// struct Particle { name: [u8; 4] }
/// vksort::key_field!(Particle, name);
/// ```
#[macro_export]
macro_rules! key_field {
    ($record:ty, $($field:tt)+) => {
        $crate::KeyField::of(::core::mem::offset_of!($record, $($field)+), |record: &$record| record.$($field)+)
    };
}

/// For example `f32 at byte 8, descending`.
impl fmt::Display for KeyField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.key, self.offset)?;
        f.write_str(if self.order == Order::Descending { ", descending" } else { "" })
    }
}

/// What a sort of records writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RecordOutput {
    /// The sorted records, over those that were given.
    #[default]
    InPlace,
    /// The sorted records, to the buffer `keys_out`.
    OutOfPlace,
    /// The index of each sorted record among those that were given, a `u32`, to the buffer `values_out`. The records are only read.
    Permutation,
}

/// One kind of sort of records: everything except their number and the buffers.
///
/// Records are compared by the first field, equal ones by the second, and so on. Records that are equal in all fields keep their
/// order. [`Sorter::of_records`](crate::Sorter::of_records) sorts an array of them, and
/// [`SegmentedRequest::of_records`](crate::SegmentedRequest::of_records) each segment of one. The records take the place of the keys:
/// they are bound as [`SortBuffers::keys`](crate::SortBuffers::keys).
///
/// ```
/// use vksort::{RecordOutput, RecordRequest, key_field};
///
/// #[repr(C)]
/// struct Particle {
///     position: [f32; 3],
///     age: f32,
///     cell: u32,
/// }
/// // By cell; in a cell the oldest first.
/// let fields = [key_field!(Particle, cell), key_field!(Particle, age).descending()];
/// let request = RecordRequest::new(size_of::<Particle>() as u32, fields).with_output(RecordOutput::OutOfPlace);
/// assert_eq!(request.to_string(), "records of 20 bytes by u32 at byte 16; f32 at byte 12, descending; out of place");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct RecordRequest {
    /// Bytes from a record to the next, a multiple of 4 up to [`ValueType::MAX_BYTES`].
    pub stride: u32,
    /// The fields, one to [`MAX_FIELDS`](Self::MAX_FIELDS) of up to [`MAX_BITS`](Self::MAX_BITS) together. The first decides first.
    pub fields: Vec<KeyField>,
    /// What is written.
    pub output: RecordOutput,
    /// Whether equal records keep their order, as [`SortRequest::stable`].
    pub stable: bool,
    /// The algorithm; `None` to choose by device and number of records.
    pub algorithm: Option<Algorithm>,
}

/// The fields of records that keys are composed of, in scratch, before these keys are sorted with the records as their values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fields {
    /// Bytes from a record to the next.
    pub stride: u32,
    /// Each field, as the `FIELD_*` constants say; 0 for none.
    pub constants: [u32; RecordRequest::MAX_FIELDS],
}

impl Fields {
    /// The buffers of up to `capacity` records that are sorted by these fields.
    pub(crate) fn buffers(self, sort: &SortRequest, capacity: u32) -> BufferSizes {
        let keys = u64::from(capacity) * u64::from(self.stride);
        let keys_out = (!sort.in_place() && sort.value.is_read()).then_some(keys);
        let values_out = sort.buffers(capacity).values_out.filter(|_| keys_out.is_none());
        BufferSizes { keys, values: None, keys_out, values_out }
    }
}

impl RecordRequest {
    /// The most fields.
    pub const MAX_FIELDS: usize = 4;
    /// The most bits of all fields together. More than 64 need the feature `keys-128`, more than 32 the feature `wide-keys`.
    pub const MAX_BITS: u32 = 128;

    /// Records of `stride` bytes, sorted in place by these fields.
    pub fn new(stride: u32, fields: impl Into<Vec<KeyField>>) -> Self {
        let (fields, output) = (fields.into(), RecordOutput::InPlace);
        RecordRequest { stride, fields, output, stable: true, algorithm: None }
    }

    /// The same with another output.
    pub fn with_output(self, output: RecordOutput) -> Self {
        RecordRequest { output, ..self }
    }

    /// Checks the request for every device. [`Sorter::of_records`](crate::Sorter::of_records) does so too.
    ///
    /// # Errors
    ///
    /// * [`Error::Unsupported`]: no field or too many, a field beyond the record, more than [`MAX_BITS`](Self::MAX_BITS), or a stride
    ///   that is not allowed.
    /// * [`Error::MissingFeature`]: fields of more bits than this build has kernels for.
    pub fn check(&self) -> Result<(), Error> {
        self.as_sort().map(drop)
    }

    /// The sort of elements that sorts the records: by keys that are composed of fields, or if there are none, of the records
    /// themselves as keys.
    pub(crate) fn as_sort(&self) -> Result<(SortRequest, Option<Fields>), Error> {
        let RecordRequest { stride, ref fields, output, stable, algorithm } = *self;
        if !stride.is_multiple_of(4) || !(4..=ValueType::MAX_BYTES).contains(&stride) {
            let allowed = format!("a multiple of 4 from 4 to {} bytes", ValueType::MAX_BYTES);
            return Err(Error::unsupported("the stride of records", format!("{stride} bytes"), allowed));
        }
        if !(1..=Self::MAX_FIELDS).contains(&fields.len()) {
            let allowed = format!("1 to {}", Self::MAX_FIELDS);
            return Err(Error::unsupported("the number of fields", fields.len(), allowed));
        }
        if let Some((index, field)) = fields.iter().enumerate().find(|(_, field)| field.end() > u64::from(stride)) {
            let (what, given) =
                (format!("field {index}"), format!("{} at bytes {}..{}", field.key, field.offset, field.end()));
            return Err(Error::unsupported(what, given, format!("within the record's bytes 0..{stride}")));
        }
        let width = fields.iter().map(|field| field.key.bits()).sum();
        let Some(composed) = [KeyType::U32, KeyType::U64, KeyType::U128].into_iter().find(|key| key.bits() >= width)
        else {
            let (given, allowed) = (format!("{width} bits together"), format!("at most {} bits", Self::MAX_BITS));
            return Err(Error::unsupported("the width of the fields", given, allowed));
        };
        // A permutation needs no more of a record than its fields.
        let permutes = output == RecordOutput::Permutation;
        let as_key = self.as_key().filter(|(key, ..)| key.is_built() && (!permutes || key.bits() <= composed.bits()));
        let (value, key_output) = match (permutes, as_key) {
            (true, _) => (ValueType::Index, KeyOutput::Discarded),
            (false, Some(_)) => (ValueType::None, KeyOutput::Sorted),
            (false, None) => (ValueType::Bytes(stride), KeyOutput::Discarded),
        };
        let placement = if output == RecordOutput::InPlace { Placement::InPlace } else { Placement::OutOfPlace };
        let (key, order, bits) = as_key.unwrap_or((composed, Order::Ascending, (0..width).into()));
        let sort = SortRequest { key, value, order, bits, placement, key_output, stable, algorithm };
        sort.check()?;
        let constant = |index: usize| fields.get(index).map_or(0, |field| field.constant());
        let composed_of = || Fields { stride, constants: std::array::from_fn(constant) };
        Ok((sort, as_key.is_none().then(composed_of)))
    }

    /// The records as keys, with direction and window, if their fields are neighbouring bits of a key with one direction.
    fn as_key(&self) -> Option<(KeyType, Order, BitRange)> {
        let (first, last) = (self.fields.first()?, self.fields.last()?);
        let joined = |pair: &[KeyField]| {
            let (upper, lower) = (pair[0], pair[1]);
            u64::from(upper.offset) == lower.end() && upper.order == lower.order && !lower.key.is_signed()
        };
        // A sign is the top bit of a key. The bits below it of a negative float are in descending order.
        let on_top = first.end() == u64::from(self.stride);
        let fits = (on_top || !first.key.is_signed()) && (!first.key.is_float() || self.fields.len() == 1);
        let key = match (self.stride, first.key.is_float(), first.key.is_signed()) {
            (4, true, _) => KeyType::F32,
            (4, _, true) => KeyType::I32,
            (4, ..) => KeyType::U32,
            (8, true, _) => KeyType::F64,
            (8, _, true) => KeyType::I64,
            (8, ..) => KeyType::U64,
            (16, false, true) => KeyType::I128,
            (16, false, _) => KeyType::U128,
            _ => return None,
        };
        let bits = BitRange { low: 8 * last.offset, high: 8 * first.end() as u32 };
        (fits && self.fields.windows(2).all(joined)).then_some((key, first.order, bits))
    }
}

/// For example `records of 32 bytes by u8 at byte 4; f32 at byte 0, descending`. Defaults are not named.
impl fmt::Display for RecordRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields: Vec<String> = self.fields.iter().map(KeyField::to_string).collect();
        write!(f, "records of {} bytes by {}", self.stride, fields.join("; "))?;
        f.write_str(match self.output {
            RecordOutput::InPlace => "",
            RecordOutput::OutOfPlace => "; out of place",
            RecordOutput::Permutation => "; as a permutation",
        })?;
        f.write_str(if self.stable { "" } else { "; not stable" })
    }
}
