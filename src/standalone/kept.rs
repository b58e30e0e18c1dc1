//! The sorters that stay built for slices.

use std::sync::{Arc, Mutex, MutexGuard};

/// How many of a kind stay.
pub const MOST: usize = 64;

/// Sorters of one kind, the last used first.
pub struct Kept<S>(Mutex<Vec<Arc<S>>>);

impl<S> Default for Kept<S> {
    fn default() -> Self {
        Kept(Mutex::default())
    }
}

impl<S> Kept<S> {
    /// The kept ones.
    pub fn lock(&self) -> MutexGuard<'_, Vec<Arc<S>>> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// A kept sorter of the same request that has room for the elements, or a new one in its place.
    pub fn get<E>(
        &self,
        is_same: impl Fn(&S) -> bool,
        has_room: impl Fn(&S) -> bool,
        build: impl FnOnce() -> Result<Arc<S>, E>,
    ) -> Result<Arc<S>, E> {
        {
            let mut kept = self.lock();
            if let Some(place) = kept.iter().position(|sorter| is_same(sorter) && has_room(sorter)) {
                kept[..=place].rotate_right(1);
                return Ok(Arc::clone(&kept[0]));
            }
        }
        // Without the lock, so that other threads can sort in the meantime.
        let sorter = build()?;
        let mut kept = self.lock();
        kept.retain(|other| !is_same(other));
        kept.insert(0, Arc::clone(&sorter));
        kept.truncate(MOST);
        Ok(sorter)
    }
}
