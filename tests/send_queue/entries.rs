//! Each way to give entries makes the same bytes, or the same error. Entries are given by value or by reference, alone
//! or behind inline data. The request has a type or was chosen at run time, and is posted alone or in a batch.
//!
//! Numbers of entries, and entries without bytes, belong here. Other requests belong in `golden.rs`.
use blueflame::Sge;
use blueflame::queue::{PostError, SendQueue};
use blueflame::transport::Rc;
use blueflame::types::Lkey;
use blueflame::wqe::{self, EncodeError};
use blueflame_testkit::request::Data;

use proptest::prelude::*;

use crate::oracle::payload;
use crate::requests::{RADDR, REMOTE, inline};
use crate::rig::{Rig, Setup};

const MOST_BYTES: u32 = i32::MAX as u32;

/// The ring behind the control segment after `post`, and the DS that the control segment says; or the error.
fn posted(post: impl FnOnce(&mut SendQueue<Rc>) -> Result<(), PostError>) -> Result<(Vec<u8>, usize), PostError> {
    let rig = Rig::new(Setup::default());
    let mut sq = rig.queue();
    post(&mut sq)?;
    let ring = rig.ring();
    let ds = usize::from(ring[7] & 0x3f);
    Ok((ring[16..16 * ds].to_vec(), ds))
}

/// Compares all ways of posting `$list` behind the segments `$expected`, of which `$request` is the request without
/// them.
macro_rules! same {
    ($request:expr, $gather:ident, $gather_slice:ident, $list:expr, $expected:expr) => {
        let (list, mut expected): (_, Vec<u8>) = ($list, $expected);
        let wanted = match list.iter().find(|sge| sge.length > MOST_BYTES) {
            Some(sge) => Err(PostError::Encode(EncodeError::SgeTooLong { bytes: sge.length, limit: MOST_BYTES })),
            None => {
                expected.extend(payload(&Data::Sges(list.to_vec())));
                let ds = 1 + expected.len() / 16;
                Ok((expected, ds))
            }
        };
        // SAFETY: here and below, nobody looks at the memory that the entries name: there is no device.
        let by_value = posted(|sq| unsafe { sq.post_unchecked(&$request.$gather(list)) });
        prop_assert_eq!(&by_value, &wanted, "by value");
        // SAFETY: as above: no device looks at the memory.
        let chosen = posted(|sq| unsafe { sq.post_erased_unchecked(&$request.$gather(list).erased()) });
        prop_assert_eq!(&chosen, &wanted, "chosen at run time");
        // SAFETY: as above: no device looks at the memory.
        let by_reference = posted(|sq| unsafe { sq.post_unchecked(&$request.$gather_slice(&list)) });
        prop_assert_eq!(&by_reference, &wanted, "by reference");
        let in_batch = posted(|sq| {
            let mut batch = sq.batch();
            // SAFETY: as above: no device looks at the memory.
            unsafe { batch.push_unchecked(&$request.$gather(list)) }?;
            batch.ring_doorbell();
            Ok(())
        });
        prop_assert_eq!(&in_batch, &wanted, "in a batch");
    };
}

fn entries<const N: usize>(lengths: &[u32; 15]) -> [Sge; N] {
    std::array::from_fn(|n| Sge { addr: 0xa0_0000 + n as u64, length: lengths[n], lkey: Lkey(0x0b00 + n as u32) })
}

/// Bytes of an entry: some, none, or too many.
fn length() -> impl Strategy<Value = u32> {
    prop_oneof![8 => 1..=MOST_BYTES, 2 => Just(0), 1 => Just(MOST_BYTES + 1)]
}

macro_rules! numbers {
    ($($name:ident: $n:literal)*) => { proptest! {$(
        #[test]
        fn $name(lengths in prop::array::uniform15(length())) {
            same!(wqe::send(), gather, gather_slice, entries::<$n>(&lengths), Vec::new());
            same!(wqe::write(REMOTE), gather, gather_slice, entries::<{ if $n > 14 { 14 } else { $n } }>(&lengths), RADDR.to_vec());
            same!(wqe::read(REMOTE), scatter, scatter_slice, entries::<{ if $n > 14 { 14 } else { $n } }>(&lengths), RADDR.to_vec());
            let list = || entries::<{ if $n > 14 { 14 } else { $n } }>(&lengths);
            let behind = |bytes: &[u8]| [RADDR.to_vec(), inline(bytes).concat()].concat();
            same!(wqe::write(REMOTE).inline(&[7; 8]), then_gather, then_gather_slice, list(), behind(&[7; 8]));
            same!(wqe::write(REMOTE).inline(&[7; 200]), then_gather, then_gather_slice, list(), behind(&[7; 200]));
        }
    )*} };
}

numbers! {
    none: 0 one: 1 two: 2 three: 3 four: 4 five: 5 six: 6 seven: 7 eight: 8 nine: 9 ten: 10 eleven: 11 twelve: 12
    thirteen: 13 fourteen: 14 fifteen: 15
}
