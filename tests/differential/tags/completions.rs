//! Completions of a list, as libmlx5 and this crate read them.
//!
//! Completions belong here, operations in `operations.rs`.

use blueflame_sys as sys;
use proptest::collection::vec;
use proptest::prelude::*;

use super::theirs::{DATA_VALID, SYNC, TAGS, Theirs, Told};
use crate::in_turn;
use crate::verbs::Fabric;

/// A completion: its first 32 bytes, the number of bytes, the operation, the entry, and whether it has immediate data.
type AnyCqe = ([u8; 32], u32, u8, u16, bool);

/// The reports of libmlx5 and of this crate about a completion of [`SYNC`], overwritten with that.
fn overwritten(theirs: &mut Theirs, cqe: &AnyCqe) -> Result<[Told; 2], String> {
    let (bytes, byte_cnt, app_op, index, imm) = cqe;
    let opcode = match app_op {
        1 | 5..=7 => 6_u8,
        _ if *imm => 3,
        _ => 2,
    };
    let (told, _) = theirs.poll(|cq| {
        let owner = cq.at(0).bytes[63] & 1;
        cq.patch(0, 0, bytes);
        cq.patch(0, 41, &[*app_op]);
        cq.patch(0, 42, &index.to_be_bytes());
        cq.patch(0, 44, &byte_cnt.to_be_bytes());
        cq.patch(0, 60, &[0, 0]);
        cq.patch(0, 63, &[opcode << 4 | owner]);
    })?;
    Ok(told)
}

/// Completions of operations that do nothing, overwritten with any bytes, so that they tell of anything.
#[test]
fn any_completions() {
    const CASES: u32 = 150;
    const MOST: usize = 16;
    let fabric = Fabric::new();
    let app_op = prop_oneof![1..=7_u8, 9..=12_u8];
    let one = (any::<[u8; 32]>(), any::<u32>(), app_op, 0..TAGS, any::<bool>());
    in_turn::any(CASES, "completions", vec(one, 1..=MOST), |list| {
        // A list of its own: libmlx5 counts operations that it was told of.
        let Some(mut theirs) = Theirs::new(&fabric) else { return Ok(()) };
        let mut tags = [sys::ibv_ops_wr { opcode: sys::IBV_WR_TAG_ADD, flags: 0, ..SYNC }; TAGS as usize];
        assert_eq!(theirs.post(&mut tags), 0);
        let mut listed = [true; TAGS as usize];
        for cqe in list {
            assert_eq!(theirs.post(&mut [SYNC]), 0);
            let [ours, told] = overwritten(&mut theirs, cqe)?;
            let (.., app_op, index, _) = *cqe;
            let is_match = matches!(app_op, 1 | 2 | 9..=12);
            let tag = &mut listed[usize::from(index)];
            // Of no tag on its list, libmlx5 says so; this crate's list does, too, and not the view.
            let status = if is_match && !*tag { sys::IBV_WC_GENERAL_ERR } else { ours.status };
            *tag &= !(is_match && ours.flags & DATA_VALID != 0);
            if (Told { status, ..ours }) != told {
                return Err(format!("{app_op:#x}: this crate {ours:?}, libmlx5 {told:?}"));
            }
        }
        Ok(())
    });
}
