//! Sorts of slices of records by their fields, whole and in segments.

use bytemuck::Pod;

use super::gpu::Gpu;
use super::segments::SegmentsOf;
use crate::error::Error;
use crate::records::KeyField;
use crate::request::{Placement, SortRequest, ValueType};
use crate::segments::IndexFrom;

impl Gpu {
    /// Sorts records by some of their fields: by the first, equal ones by the second, and so on. Records that are equal in all fields
    /// keep their order.
    ///
    /// [`key_field`](crate::key_field) describes a field. Records have any plain type of a multiple of 4 bytes.
    ///
    /// # Errors
    ///
    /// As for [`sort`](Self::sort), and for what [`SortRequest::check`] refuses. After an error the slice is unchanged.
    ///
    /// ```
    /// # fn main() -> Result<(), vksort::Error> {
    /// use bytemuck::{Pod, Zeroable}; // with the feature `derive`
    /// use vksort::{key_field, standalone::Gpu};
    ///
    /// #[repr(C)]
    /// #[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
    /// struct Particle { place: [f32; 2], cell: u16, age: u16 }
    ///
    /// let mut particles = [(7, 30), (2, 20), (7, 40)].map(|(cell, age)| Particle { place: [0.0; 2], cell, age });
    /// // By cell, and in a cell the oldest first.
    /// let fields = [key_field!(Particle, cell), key_field!(Particle, age).descending()];
    /// Gpu::best()?.sort_by_fields(&mut particles, fields)?;
    /// assert_eq!(particles.map(|particle| particle.age), [20, 40, 30]);
    /// # Ok(()) }
    /// ```
    pub fn sort_by_fields<T: Pod>(&self, records: &mut [T], fields: impl AsRef<[KeyField]>) -> Result<(), Error> {
        // Records out of place are moved once.
        let sort = self.run(request::<T>(fields).placement(Placement::OutOfPlace), records, &[0u8; 0])?;
        let mut sorted = bytemuck::zeroed_vec(records.len());
        sort.read_keys(&mut sorted)?;
        records.copy_from_slice(&sorted);
        Ok(())
    }

    /// The permutation that sorts records by some of their fields, as [`argsort`](Self::argsort) gives that of keys. Nothing but the
    /// fields is sorted, so this is the way for large records.
    ///
    /// # Errors
    ///
    /// As for [`sort_by_fields`](Self::sort_by_fields).
    ///
    /// ```
    /// # fn main() -> Result<(), vksort::Error> {
    /// use vksort::{KeyField, KeyType, standalone::Gpu};
    ///
    /// // By the last number of each, in an array that is no structure.
    /// let places = [[0u32, 1, 9], [4, 2, 8], [1, 5, 9]];
    /// let last = KeyField::new(8, KeyType::U32);
    /// assert_eq!(Gpu::best()?.argsort_by_fields(&places, [last])?, [1, 0, 2]);
    /// # Ok(()) }
    /// ```
    pub fn argsort_by_fields<T: Pod>(&self, records: &[T], fields: impl AsRef<[KeyField]>) -> Result<Vec<u32>, Error> {
        let sort = self.run(request::<T>(fields).value(ValueType::Index), records, &[0u8; 0])?;
        let mut indices = vec![0u32; records.len()];
        sort.read_values(&mut indices)?;
        Ok(indices)
    }

    /// Sorts the records of each segment by themselves, as [`sort_by_fields`](Self::sort_by_fields) sorts all of them.
    ///
    /// # Errors
    ///
    /// As for [`sort_by_fields`](Self::sort_by_fields) and [`sort_segments`](Self::sort_segments).
    ///
    /// ```
    /// # fn main() -> Result<(), vksort::Error> {
    /// use vksort::{KeyField, KeyType, standalone::{Gpu, SegmentsOf}};
    ///
    /// // The candidates of each of two queries by their distance.
    /// let mut candidates = [[7u32, 30], [8, 10], [5, 20], [4, 10], [9, 15]];
    /// let (queries, distance) = (SegmentsOf::Offsets(&[0, 2, 5]), KeyField::new(4, KeyType::U32));
    /// Gpu::best()?.sort_segments_by_fields(&mut candidates, queries, [distance])?;
    /// assert_eq!(candidates, [[8, 10], [7, 30], [4, 10], [9, 15], [5, 20]]);
    /// # Ok(()) }
    /// ```
    pub fn sort_segments_by_fields<T: Pod>(
        &self,
        records: &mut [T],
        segments: SegmentsOf<'_>,
        fields: impl AsRef<[KeyField]>,
    ) -> Result<(), Error> {
        let sort = self.run_segments(request::<T>(fields), segments, records, &[0u8; 0])?;
        let mut sorted = bytemuck::zeroed_vec(records.len());
        sort.read_keys(&mut sorted)?;
        records.copy_from_slice(&sorted);
        Ok(())
    }

    /// The permutation that sorts the records of each segment, with indices as those of [`argsort_segments`](Self::argsort_segments).
    ///
    /// # Errors
    ///
    /// As for [`sort_segments_by_fields`](Self::sort_segments_by_fields).
    ///
    /// ```
    /// # fn main() -> Result<(), vksort::Error> {
    /// use vksort::{IndexFrom, KeyField, KeyType, standalone::{Gpu, SegmentsOf}};
    ///
    /// let (points, x) = ([[9i32, 0], [7, 0], [-8, 0], [-9, 0]], KeyField::new(0, KeyType::I32));
    /// let columns = Gpu::best()?.argsort_segments_by_fields(&points, SegmentsOf::Rows(2), IndexFrom::Segment, [x])?;
    /// assert_eq!(columns, [1, 0, 1, 0]);
    /// # Ok(()) }
    /// ```
    pub fn argsort_segments_by_fields<T: Pod>(
        &self,
        records: &[T],
        segments: SegmentsOf<'_>,
        from: IndexFrom,
        fields: impl AsRef<[KeyField]>,
    ) -> Result<Vec<u32>, Error> {
        self.permutation(request::<T>(fields).value(ValueType::Index), segments, from, records)
    }
}

/// The request for records of a type.
fn request<T>(fields: impl AsRef<[KeyField]>) -> SortRequest {
    // The request refuses records of another size.
    SortRequest::records(u32::try_from(size_of::<T>()).unwrap_or(u32::MAX), fields)
}
