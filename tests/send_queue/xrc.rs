//! Requests of XRC as literal bytes, in memory filled with 0xa5.
//!
//! Laid out as rdma-core `providers/mlx5/wqe.h` has it (`struct mlx5_wqe_xrc_seg`), behind the control segment (`qp.c`,
//! `_mlx5_post_send`, `case IBV_QPT_XRC_SEND`); the differential tests have libmlx5 write it.
//!
//! Bytes of XRC belong here, its delivery in `tests/loopback/xrc.rs`.

use blueflame::transport::XrcInitiator as Xrc;
use blueflame::types::{Lkey, Rkey, Srqn, WrId};
use blueflame::wqe::{self, Remote, Sge};

use crate::golden::{check, every_way};
use crate::rig::{Rig, Setup};

const SRQN: Srqn = Srqn::truncate(0xff12_3456);
const XRC: [u8; 16] = [0, 0x12, 0x34, 0x56, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const REMOTE: Remote = Remote { addr: 0x0102_0304_0506_0708, rkey: Rkey(0x3132_3334) };
const RADDR: [u8; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 0x31, 0x32, 0x33, 0x34, 0, 0, 0, 0];
const LOCAL: Sge = Sge { addr: 0x2122_2324_2526_2728, length: 0x31, lkey: Lkey(0x4142_4344) };
const DATA: [u8; 16] = [0, 0, 0, 0x31, 0x41, 0x42, 0x43, 0x44, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28];

fn ctrl(opcode: u8, ds: u8, imm: u32) -> [u8; 16] {
    let mut bytes = [0, 0x12, 0x34, opcode, 0xc0, 0xff, 0xee, ds, 0, 0, 0, 8, 0, 0, 0, 0];
    bytes[12..].copy_from_slice(&imm.to_be_bytes());
    bytes
}

#[test]
fn the_number_follows_the_control_segment() {
    let tag = WrId(1);
    check::<Xrc, _, _>(wqe::send().to(SRQN).gather([LOCAL]).signaled(tag), &[ctrl(0x0a, 3, 0), XRC, DATA], false);
    let request = wqe::send().imm(7).gather([LOCAL]).to(SRQN).signaled(tag);
    check::<Xrc, _, _>(request, &[ctrl(0x0b, 3, 7), XRC, DATA], false);
    let request = wqe::send().to(SRQN).invalidate(Rkey(9)).gather([LOCAL]).signaled(tag);
    check::<Xrc, _, _>(request, &[ctrl(0x01, 3, 9), XRC, DATA], false);
    let request = wqe::write(REMOTE).to(SRQN).gather([LOCAL]).signaled(tag);
    check::<Xrc, _, _>(request, &[ctrl(0x08, 4, 0), XRC, RADDR, DATA], false);
    let request = wqe::write(REMOTE).to(SRQN).imm(7).gather([LOCAL]).signaled(tag);
    check::<Xrc, _, _>(request, &[ctrl(0x09, 4, 7), XRC, RADDR, DATA], false);
    let request = wqe::read(REMOTE).to(SRQN).scatter([LOCAL]).signaled(tag);
    check::<Xrc, _, _>(request, &[ctrl(0x10, 4, 0), XRC, RADDR, DATA], false);
}

/// With an atomic's operands, the result is in a second WQEBB.
#[test]
fn an_atomic_is_five_units() {
    let operands = [[0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 5], [0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0]];
    let result = [0, 0, 0, 8, 0x41, 0x42, 0x43, 0x44, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28];
    let swap = wqe::compare_swap(REMOTE, 5, 6).to(SRQN).result(LOCAL.addr, LOCAL.lkey).signaled(WrId(1));
    check::<Xrc, _, _>(swap, &[ctrl(0x11, 5, 0), XRC, RADDR, operands[0], result], false);
    let add = wqe::fetch_add(REMOTE, 6).to(SRQN).result(LOCAL.addr, LOCAL.lkey).signaled(WrId(1));
    check::<Xrc, _, _>(add, &[ctrl(0x12, 5, 0), XRC, RADDR, operands[1], result], false);
}

#[test]
fn every_way_writes_the_same() {
    let write = || wqe::write(REMOTE).to(SRQN).signaled(WrId(0));
    every_way!(Xrc, write(), 12, 0, |write| write.inline(&[9; 12]));
    every_way!(Xrc, write(), 13, 0, |write| write.inline(&[9; 13]));
    let read = || wqe::read(REMOTE).to(SRQN).signaled(WrId(0));
    every_way!(Xrc, read(), 0, 1, |read| read.scatter([LOCAL]));
}

/// Another place changes the memory that is named, and not the receiver of the request.
#[test]
fn prepared_requests_go_elsewhere_in_memory() {
    let elsewhere = REMOTE.at(0x1000);
    let rings = [true, false].map(|is_prepared| {
        let rig = Rig::new(Setup::default());
        let mut sq = rig.queue::<Xrc>();
        if is_prepared {
            let write = sq.prepare::<_, _, 12, 0>(&wqe::write(REMOTE).to(SRQN)).expect("within the limits");
            sq.post(&write.at(elsewhere).inline(&[3; 12])).expect("room");
        } else {
            sq.post(&wqe::write(elsewhere).to(SRQN).inline(&[3; 12])).expect("room");
        }
        rig.ring()
    });
    assert_eq!(rings[0], rings[1]);
    assert!(rings[0].windows(16).any(|bytes| bytes == XRC));
}
