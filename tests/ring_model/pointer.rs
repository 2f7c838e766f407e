//! Pointers in place of those of `core` and `volatile`. An access goes to the memory that the device shares, if its
//! address is there.

use std::fmt;
use std::num::NonZeroUsize;

use crate::access;
use crate::faults::Caller;
use crate::memory;

/// A pointer to a word of the shared memory.
pub(crate) fn at<T>(word: usize) -> NonNull<T> {
    NonNull::new(memory::address(word).cast()).expect("not null")
}

/// `core::ptr::NonNull`, as far as the checked files use it.
#[repr(transparent)]
pub(crate) struct NonNull<T: ?Sized>(std::ptr::NonNull<T>);

impl<T: ?Sized> Clone for NonNull<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for NonNull<T> {}

impl<T: ?Sized> PartialEq for NonNull<T> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0.as_ptr(), other.0.as_ptr())
    }
}

impl<T: ?Sized> Eq for NonNull<T> {}

impl<T: ?Sized> fmt::Debug for NonNull<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: ?Sized> From<&mut T> for NonNull<T> {
    fn from(place: &mut T) -> Self {
        Self(place.into())
    }
}

#[allow(clippy::missing_safety_doc, reason = "those of core's methods")]
impl<T> NonNull<T> {
    pub(crate) const fn new(place: *mut T) -> Option<Self> {
        match std::ptr::NonNull::new(place) {
            Some(place) => Some(Self(place)),
            None => None,
        }
    }

    pub(crate) const unsafe fn new_unchecked(place: *mut T) -> Self {
        // SAFETY: the caller promises that `place` is not null.
        Self(unsafe { std::ptr::NonNull::new_unchecked(place) })
    }

    pub(crate) const fn as_ptr(self) -> *mut T {
        self.0.as_ptr()
    }

    pub(crate) const fn cast<U>(self) -> NonNull<U> {
        NonNull(self.0.cast())
    }

    pub(crate) fn addr(self) -> NonZeroUsize {
        self.0.addr()
    }

    pub(crate) const unsafe fn add(self, count: usize) -> Self {
        // SAFETY: the caller promises that the place is in the same object.
        Self(unsafe { self.0.add(count) })
    }

    pub(crate) const unsafe fn sub(self, count: usize) -> Self {
        // SAFETY: the caller promises that the place is in the same object.
        Self(unsafe { self.0.sub(count) })
    }

    pub(crate) const unsafe fn byte_add(self, bytes: usize) -> Self {
        // SAFETY: the caller promises that the place is in the same object.
        Self(unsafe { self.0.byte_add(bytes) })
    }

    #[track_caller]
    pub(crate) unsafe fn read(self) -> T {
        // SAFETY: the caller promises a place to read a value from.
        unsafe { access::read(self.as_ptr(), Caller::here()) }
    }

    #[track_caller]
    pub(crate) unsafe fn read_volatile(self) -> T {
        // SAFETY: the caller promises a place to read a value from.
        unsafe { access::read(self.as_ptr(), Caller::here()) }
    }

    #[track_caller]
    pub(crate) unsafe fn write(self, value: T) {
        // SAFETY: the caller promises a place to write a value to; the shared memory gets words, which have no padding.
        unsafe { access::write(self.as_ptr(), value, Caller::here()) }
    }

    #[track_caller]
    pub(crate) unsafe fn write_volatile(self, value: T) {
        // SAFETY: the caller promises a place to write a value to; the shared memory gets words, which have no padding.
        unsafe { access::write(self.as_ptr(), value, Caller::here()) }
    }
}

/// `volatile::VolatilePtr`, as far as the checked files use it.
pub(crate) struct VolatilePtr<T>(NonNull<T>);

impl<T> VolatilePtr<T> {
    pub(crate) const unsafe fn new(place: NonNull<T>) -> Self {
        Self(place)
    }

    #[allow(dead_code, reason = "for feature `verbs`")]
    #[track_caller]
    pub(crate) fn read(&self) -> T {
        // SAFETY: the promise of `new`.
        unsafe { self.0.read() }
    }

    #[track_caller]
    pub(crate) fn write(&self, value: T) {
        // SAFETY: the promise of `new`.
        unsafe { self.0.write(value) }
    }
}
