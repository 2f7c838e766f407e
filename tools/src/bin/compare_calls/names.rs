//! Names: numbers, keys, descriptors and addresses that the answering side is free to choose. The choice is not
//! compared. But one thing on the kernel is one thing under the object, so the names of the two logs correspond one to
//! one.

use std::collections::BTreeMap;

/// Where an answer has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place<'a> {
    /// Its attribute.
    pub(crate) attribute: u32,
    /// Its first byte, and the one after its last.
    pub(crate) bytes: (usize, usize),
    /// The kind of thing that it names.
    pub(crate) kind: &'a str,
    /// The call makes the thing.
    pub(crate) is_new: bool,
}

/// Pairs each name of the object with the kernel's, by the kind of thing that they name.
#[derive(Debug, Default)]
pub(crate) struct Names<'a> {
    to_object: BTreeMap<(&'a str, Vec<u8>), Vec<u8>>,
    to_kernel: BTreeMap<(&'a str, Vec<u8>), Vec<u8>>,
}

impl<'a> Names<'a> {
    /// Whether `kernel` and `object` can name one thing of this kind. Zeros name nothing, everywhere. From now on they
    /// do; what either has named before is gone, if the thing is new.
    pub(crate) fn agree(&mut self, kind: &'a str, is_new: bool, kernel: &[u8], object: &[u8]) -> bool {
        let nothing = [kernel, object].map(|name| name.iter().all(|&byte| byte == 0));
        if nothing[0] || nothing[1] {
            return nothing[0] == nothing[1];
        }
        let [by_kernel, by_object] = [kernel, object].map(|name| (kind, name.to_vec()));
        if is_new {
            if let Some(before) = self.to_object.remove(&by_kernel) {
                self.to_kernel.remove(&(kind, before));
            }
            if let Some(before) = self.to_kernel.remove(&by_object) {
                self.to_object.remove(&(kind, before));
            }
        }
        let there = self.to_object.entry(by_kernel).or_insert_with(|| object.to_vec()).as_slice() == object;
        let back = self.to_kernel.entry(by_object).or_insert_with(|| kernel.to_vec()).as_slice() == kernel;
        there && back
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_correspond_one_to_one() {
        let mut names = Names::default();
        assert!(names.agree("cq", false, &[7], &[1]));
        assert!(names.agree("cq", false, &[7], &[1]), "again");
        assert!(names.agree("qp", false, &[7], &[2]), "of another kind");
        assert!(!names.agree("cq", false, &[7], &[3]), "one thing of the kernel, two of the object");
        assert!(!names.agree("cq", false, &[8], &[1]), "and the other way round");
        assert!(!names.agree("cq", false, &[0], &[9]) && !names.agree("cq", false, &[9], &[0]));
        assert!(names.agree("cq", false, &[0], &[0]));
    }

    #[test]
    fn what_is_new_takes_a_name_over() {
        let mut names = Names::default();
        assert!(names.agree("key", true, &[1], &[1]) && names.agree("key", true, &[2], &[2]));
        assert!(names.agree("key", true, &[1], &[2]));
        assert!(names.agree("key", false, &[1], &[2]));
        assert!(names.agree("key", false, &[3], &[1]), "nobody has that name any more");
    }
}
