//! Where two logs differ.

use crate::calls::Call;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

/// What differs about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Only the kernel, or only the object, was called so.
    OnlyOn(Side),
    /// The result or error.
    Result(String, String),
    /// An attribute that one has written, and the other not, or not as many bytes of it.
    Length(u32, usize, usize),
    /// Bytes of an attribute, in a row.
    Bytes(u32, Range<usize>, Vec<u8>, Vec<u8>),
}

/// Who has answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Linux.
    Kernel,
    /// The preloaded object.
    Object,
}

/// A difference: the call, and what of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    /// [`Call::name`].
    pub(crate) call: String,
    /// What.
    pub(crate) what: What,
}

/// All of them, in order.
pub(crate) fn of(kernel: &[Call], object: &[Call]) -> Vec<Difference> {
    let [names_k, names_o] = [kernel, object].map(|calls| calls.iter().map(|call| &call.name).collect::<Vec<_>>());
    let mut found = Vec::new();
    let only = |calls: &[Call], side| -> Vec<_> {
        calls.iter().map(|call| Difference { call: call.name.clone(), what: What::OnlyOn(side) }).collect()
    };
    for op in capture_diff_slices(Algorithm::Myers, &names_k, &names_o) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            let pairs = kernel[old_index..old_index + len].iter().zip(&object[new_index..new_index + len]);
            pairs.for_each(|(kernel, object)| compare(kernel, object, &mut found));
        } else {
            found.extend(only(&kernel[op.old_range()], Side::Kernel));
            found.extend(only(&object[op.new_range()], Side::Object));
        }
    }
    found
}

fn compare(kernel: &Call, object: &Call, found: &mut Vec<Difference>) {
    let mut add = |what| found.push(Difference { call: kernel.name.clone(), what });
    if kernel.result != object.result {
        add(What::Result(kernel.result.clone(), object.result.clone()));
    }
    let attributes: BTreeSet<u32> = kernel.written.keys().chain(object.written.keys()).copied().collect();
    for attribute in attributes {
        let [a, b] = [kernel, object].map(|call| call.written.get(&attribute).map_or(&[][..], Vec::as_slice));
        if a.len() != b.len() {
            add(What::Length(attribute, a.len(), b.len()));
            continue;
        }
        let mut at = 0;
        while let Some(start) = (at..a.len()).find(|&i| a[i] != b[i]) {
            at = (start..a.len()).find(|&i| a[i] == b[i]).unwrap_or(a.len());
            add(What::Bytes(attribute, start..at, a[start..at].to_vec(), b[start..at].to_vec()));
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.call)?;
        match &self.what {
            What::OnlyOn(Side::Kernel) => write!(f, "called on the kernel only"),
            What::OnlyOn(Side::Object) => write!(f, "called under the object only"),
            What::Result(kernel, object) => write!(f, "the kernel says {kernel}, the object {object}"),
            What::Length(attribute, kernel, object) => {
                write!(f, "attribute {attribute}: the kernel writes {kernel} bytes, the object {object}")
            }
            What::Bytes(attribute, range, kernel, object) => {
                write!(f, "attribute {attribute}, bytes {}..{}: the kernel ", range.start, range.end)?;
                kernel.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                write!(f, ", the object ")?;
                object.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::parse;

    #[test]
    fn each_kind_of_difference_is_found() {
        let kernel = parse("open uverbs = 0\nioctl 1.2 [3:4*01020304] = 0\nmmap 0 4096 3 = 0\nread 8 = 2 0102\n");
        let object = parse("open uverbs = EACCES\nioctl 1.2 [3:4*01ff0305] = 0\nread 8 = 2 01\nclose device = 0\n");
        let found = of(&kernel.expect("calls"), &object.expect("calls"));
        let what: Vec<_> = found.into_iter().map(|difference| difference.what).collect();
        assert_eq!(
            what,
            [
                What::Result("0".into(), "EACCES".into()),
                What::Bytes(3, 1..2, vec![2], vec![0xff]),
                What::Bytes(3, 3..4, vec![4], vec![5]),
                What::OnlyOn(Side::Kernel),
                What::Length(0, 2, 1),
                What::OnlyOn(Side::Object),
            ]
        );
    }

    #[test]
    fn equal_logs_do_not_differ() {
        let calls = parse("ioctl 1.2 [3:4*01020304] = 0\n").expect("calls");
        assert_eq!(of(&calls, &calls), []);
    }
}
