//! Where two logs differ.

use crate::calls::Call;
use crate::names::{Names, Place};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::BTreeSet;
use std::fmt;

/// The kind of difference between two answers to a call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum What {
    /// Only the kernel, or only the object, was called so.
    OnlyOn(Side),
    /// The result or error.
    Result(String, String),
    /// An attribute that one has written, and the other not, or not as many bytes of it.
    Length(u32, usize, usize),
    /// Bytes of an attribute, in a row.
    Bytes(u32, Bytes, Values),
    /// A name, of this kind: the two have stood for different things before.
    Name(u32, Bytes, Values, String),
}

/// Which bytes, from the first to the one after the last.
pub(crate) type Bytes = (usize, usize);

/// The bytes that the kernel has written, then the object's.
pub(crate) type Values = [Vec<u8>; 2];

/// The side that has answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

/// All of them, in order, of calls whose answers have names where `places` says.
pub(crate) fn of<'a>(kernel: &[Call], object: &[Call], places: impl Fn(&str) -> Vec<Place<'a>>) -> Vec<Difference> {
    let mut names = Names::default();
    let [names_k, names_o] = [kernel, object].map(|calls| calls.iter().map(|call| &call.name).collect::<Vec<_>>());
    let mut found = Vec::new();
    let only = |calls: &[Call], side| -> Vec<_> {
        calls.iter().map(|call| Difference { call: call.name.clone(), what: What::OnlyOn(side) }).collect()
    };
    for op in capture_diff_slices(Algorithm::Myers, &names_k, &names_o) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            let pairs = kernel[old_index..old_index + len].iter().zip(&object[new_index..new_index + len]);
            for (kernel, object) in pairs {
                let named = name(kernel, object, places(&kernel.name), &mut names);
                compare(kernel, object, &named, &mut found);
            }
        } else {
            found.extend(only(&kernel[op.old_range()], Side::Kernel));
            found.extend(only(&object[op.new_range()], Side::Object));
        }
    }
    found
}

/// The names in a pair of answers, and whether they can name one thing.
fn name<'a>(kernel: &Call, object: &Call, mut places: Vec<Place<'a>>, names: &mut Names<'a>) -> Vec<(Place<'a>, bool)> {
    // Things are made before they are named again.
    places.sort_by_key(|place| (place.attribute, place.bytes));
    let agree = |place: Place<'a>| {
        let [a, b] = [kernel, object].map(|call| call.written.get(&place.attribute)?.get(place.bytes.0..place.bytes.1));
        let agrees = names.agree(place.kind, place.is_new, a?, b?);
        Some((place, agrees))
    };
    places.into_iter().filter_map(agree).collect()
}

fn compare(kernel: &Call, object: &Call, named: &[(Place<'_>, bool)], found: &mut Vec<Difference>) {
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
        let values = |(start, end): Bytes| [a[start..end].to_vec(), b[start..end].to_vec()];
        let names = || named.iter().filter(|(place, _)| place.attribute == attribute);
        for (place, _) in names().filter(|(_, agrees)| !agrees) {
            add(What::Name(attribute, place.bytes, values(place.bytes), place.kind.to_owned()));
        }
        let differs = |i: usize| a[i] != b[i] && !names().any(|(place, _)| (place.bytes.0..place.bytes.1).contains(&i));
        let mut at = 0;
        while let Some(start) = (at..a.len()).find(|&i| differs(i)) {
            at = (start..a.len()).find(|&i| !differs(i)).unwrap_or(a.len());
            add(What::Bytes(attribute, (start, at), values((start, at))));
        }
    }
}

impl Difference {
    /// The difference without its values: equal for all differences of one kind.
    pub(crate) fn kind(&self) -> (String, What) {
        let what = match &self.what {
            What::OnlyOn(side) => What::OnlyOn(*side),
            What::Result(..) => What::Result(String::new(), String::new()),
            What::Length(attribute, ..) => What::Length(*attribute, 0, 0),
            What::Bytes(attribute, bytes, _) => What::Bytes(*attribute, *bytes, Values::default()),
            What::Name(attribute, bytes, _, kind) => What::Name(*attribute, *bytes, Values::default(), kind.clone()),
        };
        (self.call.clone(), what)
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.call)?;
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let said = |[kernel, object]: &Values| format!("the kernel {}, the object {}", hex(kernel), hex(object));
        match &self.what {
            What::OnlyOn(Side::Kernel) => write!(f, "called on the kernel only"),
            What::OnlyOn(Side::Object) => write!(f, "called under the object only"),
            What::Result(kernel, object) => write!(f, "the kernel says {kernel}, the object {object}"),
            What::Length(attribute, kernel, object) => {
                write!(f, "attribute {attribute}: the kernel writes {kernel} bytes, the object {object}")
            }
            What::Bytes(attribute, (start, end), values) => {
                write!(f, "attribute {attribute}, bytes {start}..{end}: {}", said(values))
            }
            What::Name(attribute, (start, end), values, kind) => {
                write!(f, "attribute {attribute}, bytes {start}..{end}, another {kind} than before: {}", said(values))
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
        let found = of(&kernel.expect("calls"), &object.expect("calls"), |_| vec![]);
        let what: Vec<_> = found.into_iter().map(|difference| difference.what).collect();
        assert_eq!(
            what,
            [
                What::Result("0".into(), "EACCES".into()),
                What::Bytes(3, (1, 2), [vec![2], vec![0xff]]),
                What::Bytes(3, (3, 4), [vec![4], vec![5]]),
                What::OnlyOn(Side::Kernel),
                What::Length(0, 2, 1),
                What::OnlyOn(Side::Object),
            ]
        );
    }

    #[test]
    fn equal_logs_do_not_differ() {
        let calls = parse("ioctl 1.2 [3:4*01020304] = 0\n").expect("calls");
        assert_eq!(of(&calls, &calls, |_| vec![]), []);
    }

    #[test]
    fn names_may_differ_if_they_name_the_same() {
        let kernel =
            parse("ioctl 3.0 [1:2*0709] = 0\nioctl 3.5 [2:1*07] = 0\nioctl 3.5 [2:1*08] = 0\n").expect("calls");
        let object =
            parse("ioctl 3.0 [1:2*0109] = 0\nioctl 3.5 [2:1*01] = 0\nioctl 3.5 [2:1*01] = 0\n").expect("calls");
        let places = |call: &str| {
            let place = |attribute, is_new| vec![Place { attribute, bytes: (0, 1), kind: "cq", is_new }];
            if call.starts_with("3.0") { place(1, true) } else { place(2, false) }
        };
        let found = of(&kernel, &object, places);
        let what: Vec<_> = found.into_iter().map(|difference| difference.what).collect();
        assert_eq!(what, [What::Name(2, (0, 1), [vec![8], vec![1]], "cq".into())]);
    }
}
