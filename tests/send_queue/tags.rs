//! Tag matching as literal bytes, in memory filled with 0xa5: rdma-core `providers/mlx5/mlx5dv.h`,
//! `struct mlx5_wqe_tm_seg`; `providers/mlx5/qp.c`, `mlx5_post_srq_ops`; UCX `src/uct/ib/mlx5/rc/rc_mlx5.inl`,
//! `uct_rc_mlx5_set_tm_seg`.
//!
//! Bytes of requests belong here, the list's state in `tag_matching.rs`.

use blueflame::queue::PostError;
use blueflame::transport::Rc;
use blueflame::types::{TagIndex, WrId};
use blueflame::wqe::{self, EncodeError, Sge};

use crate::golden::{check, every_way};
use crate::requests::{DATA, LOCAL, ctrl};
use crate::rig::{Rig, Setup};

const NO_DATA: [u8; 16] = [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const TAG: [u8; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88];

const fn segment(opcode: u8, flags: u8, index: [u8; 2], count: [u8; 2]) -> [u8; 16] {
    [opcode, flags, index[0], index[1], 0, 0, count[0], count[1], 0, 0, 0, 0, 0, 0, 0, 0]
}

fn append(buffer: Sge) -> wqe::Request<'static, wqe::operations::TagAppend, wqe::data::Given<0, 1>> {
    wqe::tag_append(0x0102_0304_0506_0708, 0x8182_8384_8586_8788, TagIndex(0xabcd), buffer)
}

#[test]
fn on_a_command_queue() {
    let index = [0xab, 0xcd];
    check::<Rc, _, _>(append(LOCAL), &[ctrl(0, 0x28, 4, 0), segment(0x10, 0, index, [0; 2]), TAG, DATA], false);
    let told = append(LOCAL).reported().unexpected(0x5152).wr_id(WrId(1));
    check::<Rc, _, _>(told, &[ctrl(0, 0x28, 4, 0), segment(0x10, 0xc0, index, [0x51, 0x52]), TAG, DATA], false);
    // A message of no bytes.
    let none = append(Sge { length: 0, ..LOCAL }).reported();
    check::<Rc, _, _>(none, &[ctrl(0, 0x28, 4, 0), segment(0x10, 0x80, index, [0; 2]), TAG, NO_DATA], false);
    let remove = wqe::tag_remove(TagIndex(0xabcd)).reported();
    check::<Rc, _, _>(remove, &[ctrl(0, 0x28, 3, 0), segment(0x20, 0x80, index, [0; 2]), [0; 16]], false);
    let sync = wqe::tag_sync().unexpected(0x5152);
    check::<Rc, _, _>(sync, &[ctrl(0, 0x28, 3, 0), segment(0, 0x40, [0; 2], [0x51, 0x52]), [0; 16]], false);
    // Of the command queue itself, which is not of the list.
    let signaled = wqe::tag_sync().signaled(WrId(1));
    check::<Rc, _, _>(signaled, &[ctrl(0, 0x28, 3, 8), segment(0, 0, [0; 2], [0; 2]), [0; 16]], false);
}

#[test]
fn every_way_has_the_segment() {
    let remove = wqe::tag_remove(TagIndex(7)).reported().unexpected(3);
    every_way!(Rc, remove, 0, 0, |remove| remove);
}

#[test]
fn what_is_too_long_is_refused() {
    let rig = Rig::new(Setup { pi: 0x1234, ..Setup::default() });
    let (before, mut sq) = (rig.ring(), rig.queue::<Rc>());
    let limit = wqe::limits::MAX_SGE_BYTES;
    for length in [limit + 1, u32::MAX] {
        // SAFETY: it is refused.
        let refused = unsafe { sq.post_unchecked(&append(Sge { length, ..LOCAL })) };
        assert_eq!(refused, Err(PostError::Encode(EncodeError::SgeTooLong { bytes: length, limit })));
    }
    assert_eq!((rig.ring(), sq.pi().0), (before, 0x1234));
    // SAFETY: no device looks.
    unsafe { sq.post_unchecked(&append(Sge { length: limit, ..LOCAL })) }.expect("posted");
}
