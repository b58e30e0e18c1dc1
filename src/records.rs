//! Records: arrays of structures that are sorted by some of their fields.

use std::fmt;

use crate::abi;
use crate::elements::{BitRange, BufferSizes, KeyOutput, ValueType};
use crate::error::Error;
use crate::key::{Key, KeyType, Order};
use crate::modules;

/// A field of a record that records are sorted by. [`key_field`](crate::key_field) makes it of a structure's field.
///
/// ```
/// use vksort::{KeyField, KeyType, Order};
/// let field = KeyField::new(8, KeyType::F32).descending();
/// assert_eq!((field.offset, field.key, field.order), (8, KeyType::F32, Order::Descending));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
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

/// The most fields of records.
pub(crate) const MAX_FIELDS: usize = 4;
/// The most bits of all fields together.
pub(crate) const MAX_FIELD_BITS: u32 = 128;

/// The records of a request: their size, and the fields that they are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Records {
    /// Bytes from a record to the next.
    pub stride: u32,
    /// The first fields, as far as there are any.
    fields: [KeyField; MAX_FIELDS],
    /// How many fields were given, which may be more.
    given: usize,
}

/// The fields of records that keys are composed of, in scratch, before these keys are sorted with the records as their values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fields {
    /// Bytes from a record to the next.
    pub stride: u32,
    /// Each field, as the `FIELD_*` constants say; 0 for none.
    pub constants: [u32; MAX_FIELDS],
}

impl Fields {
    /// The buffers of up to `capacity` records that are sorted by these fields.
    /// `of_keys` are those of the sort of their keys.
    pub(crate) fn buffer_sizes(
        self,
        of_keys: BufferSizes,
        in_place: bool,
        permutes: bool,
        capacity: u32,
    ) -> BufferSizes {
        let keys = Some(u64::from(capacity) * u64::from(self.stride));
        let keys_out = keys.filter(|_| !in_place && !permutes);
        let values_out = of_keys.values_out.filter(|_| permutes);
        BufferSizes { keys, values: None, keys_out, values_out, segments: None }
    }
}

/// The keys by which records are sorted, with what moves with them.
pub(crate) struct RecordKeys {
    pub key: KeyType,
    pub order: Order,
    pub bits: BitRange,
    pub value: ValueType,
    pub key_output: KeyOutput,
    /// What the keys are composed of, if they are.
    pub fields: Option<Fields>,
}

impl Records {
    /// Records of `stride` bytes.
    pub fn new(stride: u32, given: &[KeyField]) -> Records {
        let none = KeyField::new(0, KeyType::U8);
        let at = |index: usize| given.get(index).copied().unwrap_or(none);
        Records { stride, fields: std::array::from_fn(at), given: given.len() }
    }

    pub fn fields(&self) -> &[KeyField] {
        &self.fields[..self.given.min(self.fields.len())]
    }

    /// Bits of all fields together.
    fn width(&self) -> u32 {
        self.fields().iter().map(|field| field.key.bits()).sum()
    }

    /// The type of keys that have room for all fields.
    pub fn composed(&self) -> Option<KeyType> {
        [KeyType::U32, KeyType::U64, KeyType::U128].into_iter().find(|key| key.bits() >= self.width())
    }

    /// Refuses records that no device sorts.
    fn check(&self) -> Result<(), Error> {
        let Records { stride, given, .. } = *self;
        if !stride.is_multiple_of(4) || !(4..=ValueType::MAX_BYTES).contains(&stride) {
            let allowed = format!("a multiple of 4 from 4 to {} bytes", ValueType::MAX_BYTES);
            return Err(Error::unsupported("the stride of records", format!("{stride} bytes"), allowed));
        }
        if !(1..=MAX_FIELDS).contains(&given) {
            return Err(Error::unsupported("the number of fields", given, format!("1 to {MAX_FIELDS}")));
        }
        let mut fields = self.fields().iter().enumerate();
        if let Some((index, field)) = fields.find(|(_, field)| field.end() > u64::from(stride)) {
            let given = format!("{} at bytes {}..{}", field.key, field.offset, field.end());
            let allowed = format!("within the record's bytes 0..{stride}");
            return Err(Error::unsupported(format!("field {index}"), given, allowed));
        }
        Ok(())
    }

    /// The keys that sort the records, or their permutation: keys that are composed of fields, or if these are none, the records
    /// themselves.
    ///
    /// # Errors
    ///
    /// For records that no device sorts.
    pub fn as_keys(&self, permutes: bool) -> Result<RecordKeys, Error> {
        self.check()?;
        let (stride, width) = (self.stride, self.width());
        let Some(composed) = self.composed() else {
            let (given, allowed) = (format!("{width} bits together"), format!("at most {MAX_FIELD_BITS} bits"));
            return Err(Error::unsupported("the width of the fields", given, allowed));
        };
        // A permutation needs no more of a record than its fields.
        let as_key = self.as_key().filter(|(key, ..)| key.is_built() && (!permutes || key.bits() <= composed.bits()));
        if as_key.is_none() {
            modules::check(composed, width)?;
        }
        let (value, key_output) = match (permutes, as_key) {
            (true, _) => (ValueType::Index, KeyOutput::Discarded),
            (false, Some(_)) => (ValueType::None, KeyOutput::Sorted),
            (false, None) => (ValueType::Bytes(stride), KeyOutput::Discarded),
        };
        let (key, order, bits) = as_key.unwrap_or((composed, Order::Ascending, (0..width).into()));
        let constant = |index: usize| self.fields().get(index).map_or(0, |field| field.constant());
        let composed_of = || Fields { stride, constants: std::array::from_fn(constant) };
        Ok(RecordKeys { key, order, bits, value, key_output, fields: as_key.is_none().then(composed_of) })
    }

    /// The records as keys, with direction and window, if their fields are neighbouring bits of a key with one direction.
    fn as_key(&self) -> Option<(KeyType, Order, BitRange)> {
        let fields = self.fields();
        let (first, last) = (fields.first()?, fields.last()?);
        let joined = |pair: &[KeyField]| {
            let (upper, lower) = (pair[0], pair[1]);
            u64::from(upper.offset) == lower.end() && upper.order == lower.order && !lower.key.is_signed()
        };
        // A sign is the top bit of a key. The bits below it of a negative float are in descending order.
        let on_top = first.end() == u64::from(self.stride);
        let fits = (on_top || !first.key.is_signed()) && (!first.key.is_float() || fields.len() == 1);
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
        (fits && fields.windows(2).all(joined)).then_some((key, first.order, bits))
    }

    /// For example `records of 32 bytes by u8 at byte 4; f32 at byte 0, descending`.
    pub fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields: Vec<String> = self.fields().iter().map(KeyField::to_string).collect();
        write!(f, "records of {} bytes by {}", self.stride, fields.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use crate::{KeyField, KeyType, SortRequest};

    /// Nobody who has fields of 96 bits has keys of 128.
    #[test]
    fn fields_whose_kernels_are_not_built_are_named_by_their_bits() {
        let fields = [KeyField::new(0, KeyType::U32), KeyField::new(4, KeyType::U32), KeyField::new(8, KeyType::F32)];
        let checked = SortRequest::records(12, fields).check().map_err(|error| error.to_string());
        let Err(text) = checked else { return assert!(KeyType::U128.is_built()) };
        assert!(text.contains("fields of 96 bits together") && text.contains("keys-128"), "{text}");
        assert!(!KeyType::U128.is_built());
    }
}
