//! The sorters that stay built for slices.

use std::sync::{Mutex, MutexGuard};

use super::sorter::Sorter;
use crate::error::Error;
use crate::request::SortRequest;

/// How many stay.
pub const MOST: usize = 64;

/// Sorters, the last used first.
#[derive(Default)]
pub struct Kept(Mutex<Vec<Sorter>>);

impl Kept {
    /// The kept ones.
    pub fn lock(&self) -> MutexGuard<'_, Vec<Sorter>> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// A kept sorter of the same request that has room for the elements, or a new one in its place.
    pub fn get(
        &self,
        request: &SortRequest,
        elements: u32,
        build: impl FnOnce() -> Result<Sorter, Error>,
    ) -> Result<Sorter, Error> {
        {
            let mut kept = self.lock();
            let serves = |sorter: &Sorter| sorter.request() == request && elements <= sorter.max_count();
            if let Some(place) = kept.iter().position(serves) {
                kept[..=place].rotate_right(1);
                return Ok(kept[0].clone());
            }
        }
        // Without the lock, so that other threads can sort in the meantime.
        let sorter = build()?;
        let mut kept = self.lock();
        kept.retain(|other| other.request() != request);
        kept.insert(0, sorter.clone());
        kept.truncate(MOST);
        Ok(sorter)
    }
}
