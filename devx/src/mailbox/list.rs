//! A structure with a list behind it: page addresses, entries of an indirect key, receive queues of a table.

use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

use super::structure::{Structure, part, part_mut};

/// A structure `H` and the list of structures `E` that follows it. Derefs to the structure.
#[derive(Clone, PartialEq, Eq)]
pub struct List<H, E> {
    /// Words, as the structure must be aligned to 4 bytes. They hold bytes as the device sees them.
    words: Vec<u32>,
    types: PhantomData<(H, E)>,
}

impl<H: Structure, E: Structure> List<H, E> {
    /// The structure with an empty list.
    #[must_use]
    pub fn new(head: &H) -> Self {
        let mut list = Self::zeroed(0);
        list.as_bytes_mut().copy_from_slice(head.as_bytes());
        list
    }

    /// The structure and `len` elements, all zero: the space for the device's answer.
    ///
    /// # Panics
    /// If the size in bytes overflows, or exceeds the available memory.
    #[must_use]
    #[track_caller]
    pub fn zeroed(len: usize) -> Self {
        const { assert!(H::BYTES % 4 == 0 && E::BYTES % 4 == 0 && E::BYTES != 0) };
        let bytes = len.checked_mul(E::BYTES).and_then(|bytes| bytes.checked_add(H::BYTES));
        let Some(bytes) = bytes else { panic!("{len} elements of {} bytes do not fit into memory", E::BYTES) };
        Self { words: vec![0; bytes / 4], types: PhantomData }
    }

    /// Adds an element.
    pub fn push(&mut self, element: &E) {
        let at = self.words.len() * 4;
        self.words.resize(self.words.len() + E::BYTES / 4, 0);
        self.as_bytes_mut()[at..].copy_from_slice(element.as_bytes());
    }

    /// How many elements the list has.
    #[must_use]
    pub fn len(&self) -> usize {
        (self.words.len() * 4 - H::BYTES) / E::BYTES
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements.
    pub fn iter(&self) -> impl Iterator<Item = E> + '_ {
        self.as_bytes()[H::BYTES..].chunks_exact(E::BYTES).map(E::copied)
    }

    /// All bytes, structure and list.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: words, each of which is 4 bytes of any value.
        unsafe { core::slice::from_raw_parts(self.words.as_ptr().cast(), self.words.len() * 4) }
    }

    /// All bytes, mutable.
    pub fn as_bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: words, each of which is 4 bytes of any value.
        unsafe { core::slice::from_raw_parts_mut(self.words.as_mut_ptr().cast(), self.words.len() * 4) }
    }
}

impl<H: Structure, E: Structure> Extend<E> for List<H, E> {
    fn extend<I: IntoIterator<Item = E>>(&mut self, elements: I) {
        for element in elements {
            self.push(&element);
        }
    }
}

impl<H: Structure, E: Structure> Deref for List<H, E> {
    type Target = H;

    fn deref(&self) -> &H {
        // SAFETY: there are `H::BYTES` at least: `zeroed` makes no fewer, its sum has not wrapped, and `push` only adds
        // to them. The words are aligned to 4 bytes, as the structure is at most, and any bytes are one.
        unsafe { part(self.as_bytes(), 0) }
    }
}

impl<H: Structure, E: Structure> DerefMut for List<H, E> {
    fn deref_mut(&mut self) -> &mut H {
        // SAFETY: as in `deref`: `H::BYTES` are there, aligned to 4 bytes, and any bytes are an `H`.
        unsafe { part_mut(self.as_bytes_mut(), 0) }
    }
}

impl<H: Structure + fmt::Debug, E: Structure + fmt::Debug> fmt::Debug for List<H, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)?;
        f.write_str(" + ")?;
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::{CreateMkeyIn, Klm};

    type Keys = List<CreateMkeyIn, Klm>;
    const HEAD: usize = <CreateMkeyIn as Structure>::BYTES;

    #[test]
    fn a_list_has_its_structure_and_elements() {
        for len in [0, 1, 1000] {
            let list = Keys::zeroed(len);
            assert_eq!((list.len(), list.as_bytes().len()), (len, HEAD + 16 * len));
            assert_eq!(list.memory_key_mkey_entry().as_bytes(), [0; 64]);
            assert_eq!(list.is_empty(), len == 0);
        }
        let mut list = Keys::new(&CreateMkeyIn::new());
        list.extend([1, 2].map(|key| {
            let mut klm = Klm::zeroed();
            klm.set_mkey(key);
            klm
        }));
        assert!(list.iter().map(|klm| klm.mkey()).eq([1, 2]));
    }

    /// Lengths for which wrapping arithmetic would make the sum of all bytes 0, or the product alone.
    #[test]
    fn a_list_that_no_memory_holds_is_not_made() {
        for len in [usize::MAX / 16 - HEAD / 16 + 1, usize::MAX / 16 + 1, usize::MAX] {
            let panic = std::panic::catch_unwind(|| Keys::zeroed(len).len()).expect_err("no memory holds it");
            let text = panic.downcast_ref::<String>().expect("a message of this crate");
            assert_eq!(*text, format!("{len} elements of 16 bytes do not fit into memory"));
        }
    }
}
