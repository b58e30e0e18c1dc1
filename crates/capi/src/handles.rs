//! Handles as C sees them: numbers that are looked up and never dereferenced.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::fault::Fault;
use super::outcome::Failure;

/// The objects of one kind of handle.
pub(super) struct Register<T> {
    /// The type in C.
    name: &'static str,
    live: RwLock<BTreeMap<usize, Arc<T>>>,
}

/// Counts the handles of all kinds, so that no two objects ever have the same handle.
static MADE: AtomicUsize = AtomicUsize::new(1);

impl<T> Register<T> {
    pub const fn new(name: &'static str) -> Self {
        Register { name, live: RwLock::new(BTreeMap::new()) }
    }

    /// Keeps an object until its handle is destroyed. Several handles may share one.
    pub fn add<H>(&self, thing: impl Into<Arc<T>>) -> *mut H {
        // Odd numbers: no pointer to anything aligned is one.
        let handle = MADE.fetch_add(1, Ordering::Relaxed).wrapping_mul(2).wrapping_add(1);
        self.live.write().unwrap_or_else(PoisonError::into_inner).insert(handle, thing.into());
        std::ptr::without_provenance_mut(handle)
    }

    /// The object of a handle, which `what` names as the caller does; it stays while the result is held, even if another thread destroys
    /// the handle.
    pub fn get<H>(&self, what: &'static str, handle: *mut H) -> Result<Arc<T>, Failure> {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        live.get(&handle.addr()).cloned().ok_or_else(|| self.unknown(what, handle))
    }

    /// An object that a living handle has, if one is as wanted.
    pub fn find(&self, wanted: impl Fn(&T) -> bool) -> Option<Arc<T>> {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        live.values().find(|thing| wanted(thing)).cloned()
    }

    /// Destroys a handle. Null is a no-op.
    pub fn remove<H>(&self, what: &'static str, handle: *mut H) -> Result<(), Failure> {
        if handle.is_null() {
            return Ok(());
        }
        let removed = self.live.write().unwrap_or_else(PoisonError::into_inner).remove(&handle.addr());
        removed.map(drop).ok_or_else(|| self.unknown(what, handle))
    }

    fn unknown<H>(&self, what: &'static str, handle: *mut H) -> Failure {
        let given = match handle.is_null() {
            true => "null".to_string(),
            false => format!("{:#x}, which is destroyed, of another kind or was never one", handle.addr()),
        };
        Fault::Handle { what, given, kind: self.name }.into()
    }
}
