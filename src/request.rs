//! The request of a sort: what is sorted, and how it is divided.

use std::fmt;

pub use crate::elements::{Algorithm, BitRange, BufferSizes, Capacity, Count, KeyOutput, Placement, ValueType};
use crate::error::Error;
use crate::key::{KeyType, Order};
use crate::records::{self, Fields, KeyField, RecordKeys, Records};
use crate::segments::{IndexFrom, SegmentOptions, Segments};

/// One kind of sort: everything except the numbers of elements and segments, and the buffers.
///
/// A request says two things that are independent of each other: *what is sorted*, which is keys ([`new`](Self::new)), alone or with
/// [values](Self::value), or records by their fields ([`records`](Self::records)); and *how it is divided*, which is one array, or
/// [segments](Self::segments) of which all elements or the [first ones](Self::top) are wanted. Keys and values that a
/// [`Visitor`](crate::Visitor) computes are given to the sorter, with [`SorterOptions::visitor`](crate::SorterOptions::visitor).
///
/// ```
/// use vksort::{IndexFrom, KeyField, KeyType, Order, Placement, Segments, SortRequest, ValueType};
///
/// // Splats from the farthest to the nearest: depths with the splat's index.
/// let depths = SortRequest::new(KeyType::F32).value(ValueType::U32).order(Order::Descending);
/// assert!(depths.algorithm.is_none(), "chosen by device and element count");
///
/// // The same for the splats of each screen tile, of which none has more than 200.
/// let lists = depths.segments(Segments::Offsets).up_to(200);
///
/// // The columns of the 40 largest logits of each row.
/// let largest = SortRequest::new(KeyType::F32).value(ValueType::Index).order(Order::Descending);
/// let rows = Segments::Rows { stride: 128_256 };
/// let best = largest.placement(Placement::OutOfPlace).segments(rows).indices_from(IndexFrom::Segment).top(40);
///
/// // Draws of 32 bytes by their material, and the nearest first.
/// let draws = SortRequest::records(32, &[KeyField::new(0, KeyType::U16), KeyField::new(4, KeyType::F32)]);
/// # for request in [depths, lists, best] { request.check()?; }
/// # if cfg!(feature = "keys-64") { draws.check()?; }
/// # Ok::<(), vksort::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SortRequest {
    /// Type of the keys; of records, that of the keys that are composed of their fields.
    pub key: KeyType,
    /// The value of each key.
    pub value: ValueType,
    /// Direction. Fields of records have directions of their own.
    pub order: Order,
    /// The bits to sort by. Keys that differ only in other bits are equal.
    pub bits: BitRange,
    /// Whether the result overwrites the input.
    pub placement: Placement,
    /// Whether sorted keys are written.
    pub key_output: KeyOutput,
    /// Whether equal keys keep their order.
    pub stable: bool,
    /// The algorithm; `None` to choose by device and element count.
    pub algorithm: Option<Algorithm>,
    /// How the elements are divided; `None` for one array.
    pub segments: Option<SegmentOptions>,
    /// The records whose fields are sorted by.
    pub(crate) records: Option<Records>,
}

/// Each setter returns the same request with another value for one thing.
impl SortRequest {
    /// Keys only, by all their bits, ascending, stable and in place, as one array, with the algorithm chosen automatically.
    pub fn new(key: KeyType) -> Self {
        SortRequest {
            key,
            value: ValueType::None,
            order: Order::Ascending,
            bits: BitRange { low: 0, high: key.bits() },
            placement: Placement::InPlace,
            key_output: KeyOutput::Sorted,
            stable: true,
            algorithm: None,
            segments: None,
            records: None,
        }
    }

    /// The value of each key. Of records, [`ValueType::Index`] asks for the sorting permutation, in `values_out`: the records are only
    /// read.
    pub fn value(self, value: ValueType) -> Self {
        SortRequest { value, ..self }
    }

    /// The direction.
    pub fn order(self, order: Order) -> Self {
        SortRequest { order, ..self }
    }

    /// The bits to sort by.
    pub fn bits(self, bits: impl Into<BitRange>) -> Self {
        SortRequest { bits: bits.into(), ..self }
    }

    /// Whether the result overwrites the input.
    pub fn placement(self, placement: Placement) -> Self {
        SortRequest { placement, ..self }
    }

    /// Whether sorted keys are written.
    pub fn key_output(self, key_output: KeyOutput) -> Self {
        SortRequest { key_output, ..self }
    }

    /// Whether equal keys keep their order. Set it to false to let equal keys and their values come in any order, which may
    /// differ between runs and is faster on some devices. It has no effect on keys alone that are sorted by all bits.
    pub fn stable(self, stable: bool) -> Self {
        SortRequest { stable, ..self }
    }

    /// The algorithm; `None` to choose by device and element count.
    pub fn algorithm(self, algorithm: impl Into<Option<Algorithm>>) -> Self {
        SortRequest { algorithm: algorithm.into(), ..self }
    }

    /// Divides the elements into segments, each of which is sorted by itself. The capacity then has a number of segments, and the count
    /// of a recording is of segments.
    pub fn segments(self, layout: Segments) -> Self {
        let of = self.segments.unwrap_or(SegmentOptions::new(layout));
        SortRequest { segments: Some(SegmentOptions { layout, ..of }), ..self }
    }

    /// Promises that no segment has more elements. If that is at most a block of the device
    /// ([`SegmentLimits::block`](crate::SegmentLimits::block)), the sort takes one dispatch and no scratch.
    pub fn up_to(self, elements: impl Into<Option<u32>>) -> Self {
        self.of_segments(|of| SegmentOptions { up_to: elements.into(), ..of })
    }

    /// What the indices of [`ValueType::Index`] count from.
    pub fn indices_from(self, indices_from: IndexFrom) -> Self {
        self.of_segments(|of| SegmentOptions { indices_from, ..of })
    }

    /// Asks for the first `count` elements of each segment in its order, or without segments, of the whole array: those that a stable
    /// sort begins with, so that of equal keys those with the lowest indices come first.
    ///
    /// The request is out of place. The elements of segment `s` begin at element `s * count` of the result. Of a segment that has
    /// fewer elements, the rest of its result keeps its content.
    ///
    /// At most [`SegmentLimits::max_top`](crate::SegmentLimits::max_top) elements are possible, a block of the device; more take a
    /// sort of whole segments. Segments may have any length, with scratch if they may be longer than a block. Of the whole array, the
    /// count of a recording is of elements.
    ///
    /// ```
    /// use vksort::{KeyType, Placement, SortRequest, ValueType};
    /// // The 100 nearest of all points, with their distances.
    /// let nearest = SortRequest::new(KeyType::F32).value(ValueType::Index).placement(Placement::OutOfPlace).top(100);
    /// // Of a million points, 100 keys and 100 indices are written.
    /// assert_eq!(nearest.buffer_sizes(1_000_000).keys_out, Some(400));
    /// ```
    pub fn top(self, count: impl Into<Option<u32>>) -> Self {
        self.of_segments(|of| SegmentOptions { top: count.into(), ..of })
    }

    fn of_segments(self, change: impl FnOnce(SegmentOptions) -> SegmentOptions) -> Self {
        // The whole array without first elements is no array of segments.
        let whole = SegmentOptions::new(Segments::Whole);
        let of = change(self.segments.unwrap_or(whole));
        SortRequest { segments: (of != whole).then_some(of), ..self }
    }

    /// The buffers that a sort with this capacity needs, and their sizes in bytes, rounded up to whole words of 4 bytes.
    ///
    /// ```
    /// use vksort::{KeyType, Placement, SortRequest, ValueType};
    /// let pairs = SortRequest::new(KeyType::U16).value(ValueType::Bytes(12));
    /// let sizes = pairs.buffer_sizes(1001);
    /// assert_eq!((sizes.keys, sizes.values, sizes.values_out), (Some(2004), Some(12_012), None));
    /// let sizes = pairs.placement(Placement::OutOfPlace).buffer_sizes(1001);
    /// assert_eq!((sizes.keys_out, sizes.values_out), (Some(2004), Some(12_012)));
    /// ```
    pub fn buffer_sizes(&self, capacity: impl Into<Capacity>) -> BufferSizes {
        // What a request would be that is refused has sizes too.
        let (sort, fields) = self.resolve().unwrap_or((*self, None));
        sort.resolved_sizes(fields, capacity.into())
    }

    /// The same of a resolved request, whose keys may be composed of fields.
    pub(crate) fn resolved_sizes(&self, fields: Option<Fields>, capacity: Capacity) -> BufferSizes {
        let mut sizes = self.element_sizes(capacity.elements, self.results(capacity));
        if let Some(fields) = fields {
            sizes = fields.buffer_sizes(sizes, self.in_place(), !self.value.is_read(), capacity.elements);
        }
        BufferSizes { segments: self.segment_bytes(capacity.segments), ..sizes }
    }

    /// Bytes of the words of so many segments, if the request has segments with words.
    pub(crate) fn segment_bytes(&self, segments: u32) -> Option<u64> {
        let layout = self.segments.map(|of| of.layout).filter(|layout| layout.words(1) > 0)?;
        Some(4 * layout.words(segments))
    }

    /// Elements of the result of a sort out of place with this capacity.
    pub(crate) fn results(&self, capacity: Capacity) -> u64 {
        match self.segments {
            Some(of @ SegmentOptions { top: Some(top), .. }) => {
                u64::from(top) * u64::from(if of.counts_elements() { 1 } else { capacity.segments })
            }
            _ => capacity.elements.into(),
        }
    }

    /// The buffers of up to `capacity` elements, where out of place `results` elements are written.
    pub(crate) fn element_sizes(&self, capacity: u32, results: u64) -> BufferSizes {
        let (key, value) = (self.key.size_bytes(), self.value.size_bytes());
        let bytes = |elements: u64, element: u64| elements.saturating_mul(element).div_ceil(4).saturating_mul(4);
        let (out, has_values) = (!self.in_place(), self.value != ValueType::None);
        BufferSizes {
            keys: Some(bytes(capacity.into(), key)),
            values: (self.value.is_read() || has_values && !out).then(|| bytes(capacity.into(), value)),
            keys_out: (out && !self.discards_keys()).then(|| bytes(results, key)),
            values_out: (out && has_values).then(|| bytes(results, value)),
            segments: None,
        }
    }

    pub(crate) fn discards_keys(&self) -> bool {
        self.key_output == KeyOutput::Discarded
    }

    /// Whether the result shows the order of equal keys, and that order matters.
    pub(crate) fn shows_ties(&self) -> bool {
        self.stable && (self.value != ValueType::None || self.bits.len() < self.key.bits())
    }

    pub(crate) fn in_place(&self) -> bool {
        self.placement == Placement::InPlace
    }

    /// The request of keys that sorts the elements, and what these keys are composed of, if they are: of a request that is allowed.
    ///
    /// # Errors
    ///
    /// As for [`check`](Self::check).
    pub(crate) fn resolve(&self) -> Result<(SortRequest, Option<Fields>), Error> {
        let (mut sort, mut composed) = (*self, None);
        if let Some(records) = &self.records {
            self.check_records(records)?;
            let permutes = self.value == ValueType::Index;
            let RecordKeys { key, order, bits, value, key_output, fields } = records.as_keys(permutes)?;
            let placement = if permutes { Placement::OutOfPlace } else { self.placement };
            sort = SortRequest { key, value, order, bits, placement, key_output, records: None, ..*self };
            composed = fields;
        }
        sort.check_keys()?;
        if let Some(of) = self.segments {
            if let Some(algorithm) = self.algorithm {
                return Err(Error::unsupported("the algorithm of a sort of segments", algorithm, "none"));
            }
            of.check(self.value, self.in_place())?;
        }
        Ok((sort, composed))
    }

    /// Refuses what has no meaning for records.
    fn check_records(&self, records: &Records) -> Result<(), Error> {
        if let Some(composed) = records.composed().filter(|composed| *composed != self.key) {
            return Err(Error::unsupported("the key type of records", self.key, composed));
        }
        if self.bits != SortRequest::new(self.key).bits {
            return Err(Error::unsupported("the bit window of records", self.bits, "all bits of their fields"));
        }
        if self.order != Order::Ascending {
            return Err(Error::unsupported("the order of records", self.order, "a direction of each field"));
        }
        if self.value.is_read() {
            let given = format!("{} bytes beside each", self.value.size_bytes());
            return Err(Error::unsupported("the values of records", given, "none, or their indices"));
        }
        if self.discards_keys() && self.value == ValueType::None {
            let allowed = "sorted, or discarded with their indices as values";
            return Err(Error::unsupported("the output of records", "discarded", allowed));
        }
        if self.segments.is_some_and(|of| of.top.is_some()) {
            let allowed =
                "all of each segment; for the first ones take the top of an array of the field, with indices as values";
            return Err(Error::unsupported("the top of each segment", "the first records", allowed));
        }
        Ok(())
    }

    /// Checks the request for every device. [`Sorter::new`](crate::Sorter::new) does so too.
    ///
    /// # Errors
    ///
    /// * [`Error::Unsupported`]: a window beyond the key, a value of another size than 1, 2 or a multiple of 4 up to
    ///   [`ValueType::MAX_BYTES`] bytes, or discarded keys without values.
    /// * [`Error::Unsupported`] for records: no field or too many, a field beyond the record, fields of more bits than
    ///   [`MAX_FIELD_BITS`](Self::MAX_FIELD_BITS), a stride that is not allowed; a window of bits, a direction, values other than
    ///   [`ValueType::Index`], discarded keys, or the first ones.
    /// * [`Error::Unsupported`] for segments: an algorithm, rows of no elements, a longest segment of none or of fewer elements than each
    ///   of the [`Rows`](Segments::Rows), indices from the begin of segments without [`ValueType::Index`], the first 0 elements, the
    ///   first elements in place, or the whole array without a number of its first elements.
    /// * [`Error::MissingFeature`]: keys, or fields together, of more than 32 bits without the feature `keys-64`, of more than 64
    ///   without `keys-128`.
    pub fn check(&self) -> Result<(), Error> {
        self.resolve().map(drop)
    }

    /// Checks what is said of keys.
    fn check_keys(&self) -> Result<(), Error> {
        crate::modules::check(self.key, 0)?;
        if let ValueType::Bytes(bytes) = self.value
            && !([1, 2].contains(&bytes) || bytes.is_multiple_of(4) && (1..=ValueType::MAX_BYTES).contains(&bytes))
        {
            let allowed = format!("1, 2, or a multiple of 4 up to {} bytes", ValueType::MAX_BYTES);
            return Err(Error::unsupported("value size", format!("{bytes} bytes"), allowed));
        }
        let width = self.key.bits();
        if self.bits.low > self.bits.high || self.bits.high > width {
            let allowed = format!("low <= high <= {width}, the width of {}", self.key);
            return Err(Error::unsupported("bit window", self.bits, allowed));
        }
        if self.discards_keys() && self.value == ValueType::None {
            let allowed = "sorted, or discarded with values";
            return Err(Error::unsupported("key output", "discarded without values", allowed));
        }
        Ok(())
    }
}

impl SortRequest {
    /// The most fields of records.
    pub const MAX_FIELDS: usize = records::MAX_FIELDS;
    /// The most bits of all fields of records together. More than 64 need the feature `keys-128`, more than 32 `keys-64`.
    pub const MAX_FIELD_BITS: u32 = records::MAX_FIELD_BITS;

    /// Records of `stride` bytes, sorted in place by some of their fields: by the first, equal ones by the second, and so on. Records
    /// that are equal in all fields keep their order.
    ///
    /// * `stride`: bytes from a record to the next, a multiple of 4 up to [`ValueType::MAX_BYTES`].
    /// * `fields`: one to [`MAX_FIELDS`](Self::MAX_FIELDS) fields of up to [`MAX_FIELD_BITS`](Self::MAX_FIELD_BITS) together.
    ///
    /// The records take the place of the keys: they are bound as [`SortBuffers::keys`](crate::SortBuffers::keys), and out of place their
    /// result as `keys_out`. With [`ValueType::Index`] the result is the index of each sorted record among those that were given, a
    /// `u32` in `values_out`, whatever the placement: the records are only read.
    ///
    /// A kernel composes one key of each record's fields, the keys are sorted with the index of their record, and the records are moved
    /// once at the end. Records that are a key themselves, such as a word of 8 bytes whose upper half is the field, are sorted as such
    /// keys. In segments, keys are composed of all records up to the capacity, so those outside of the segments are read too.
    ///
    /// ```
    /// use vksort::{Placement, SortRequest, key_field};
    ///
    /// #[repr(C)]
    /// struct Particle {
    ///     position: [f32; 3],
    ///     age: f32,
    ///     cell: u32,
    /// }
    /// // By cell; in a cell the oldest first.
    /// let fields = [key_field!(Particle, cell), key_field!(Particle, age).descending()];
    /// let request = SortRequest::records(size_of::<Particle>() as u32, fields).placement(Placement::OutOfPlace);
    /// assert_eq!(request.to_string(), "records of 20 bytes by u32 at byte 16; f32 at byte 12, descending; out of place");
    /// ```
    pub fn records(stride: u32, fields: impl AsRef<[KeyField]>) -> Self {
        let records = Records::new(stride, fields.as_ref());
        SortRequest { records: Some(records), ..SortRequest::new(records.composed().unwrap_or(KeyType::U128)) }
    }

    /// The fields that records are sorted by; none of a request of keys.
    pub fn fields(&self) -> &[KeyField] {
        self.records.as_ref().map_or(&[], Records::fields)
    }

    /// Bytes from a record to the next; `None` for a request of keys.
    pub fn stride(&self) -> Option<u32> {
        self.records.map(|records| records.stride)
    }
}

/// For example `f32 keys with values of 4 bytes, descending, by bits 8..32`, or `the first 10 of ranges: f32 keys with their indices,
/// ascending`. Defaults are not named.
impl fmt::Display for SortRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(of) = &self.segments {
            write!(f, "{of}: ")?;
        }
        match &self.records {
            Some(records) => {
                records.describe(f)?;
                f.write_str(match (self.value, self.placement) {
                    (ValueType::Index, _) => "; as a permutation",
                    (_, Placement::InPlace) => "",
                    (_, Placement::OutOfPlace) => "; out of place",
                })?;
                f.write_str(if self.stable { "" } else { "; not stable" })?;
            }
            None => self.describe_keys(f)?,
        }
        let from_segment = self.segments.is_some_and(|of| of.indices_from == IndexFrom::Segment);
        f.write_str(if from_segment { ", counted from segments" } else { "" })
    }
}

impl SortRequest {
    fn describe_keys(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} keys", self.key)?;
        match self.value {
            ValueType::None => {}
            ValueType::Bytes(1) => f.write_str(" with values of 1 byte")?,
            ValueType::Bytes(bytes) => write!(f, " with values of {bytes} bytes")?,
            ValueType::Index => f.write_str(" with their indices")?,
        }
        write!(f, ", {}", self.order)?;
        if self.bits.len() < self.key.bits() {
            write!(f, ", by bits {}", self.bits)?;
        }
        if !self.in_place() {
            f.write_str(", out of place")?;
        }
        if self.discards_keys() {
            f.write_str(", keys discarded")?;
        }
        f.write_str(if self.stable { "" } else { ", not stable" })
    }
}
