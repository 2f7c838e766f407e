//! Requests of initiators as literal bytes, in memory filled with 0xa5: the address vector, then the segments of the
//! operation on a reliable connection.
//!
//! The key is all of the first 8 bytes (rdma-core `providers/mlx5/mlx5dv.h`, `struct mlx5_wqe_av`; `qp.c`,
//! `mlx5_send_wr_set_dc_addr`); the differential tests have libmlx5 write it, in vectors of 48 bytes. Those of 16 are
//! UCX's (`src/uct/ib/mlx5/dc/dc_mlx5_ep.c`, `uct_dc_mlx5_iface_bcopy_post` with `uct_dc_mlx5_set_dgram_seg`).
//!
//! Addresses of DC belong here, those of UD in `datagrams.rs`.

use blueflame::transport::{Dci, DciStreams};
use blueflame::types::{DcKey, DciStream, Lkey, Qpn, Rkey, WrId};
use blueflame::wqe::address::{AddressVector, CompactAv, FullAv, GlobalRoute};
use blueflame::wqe::{self, DcAddress, Remote, Sge};

use crate::golden::{by_ucx, check, every_way};

const LOCAL: Sge = Sge { addr: 0x2122_2324_2526_2728, length: 0x31, lkey: Lkey(0x4142_4344) };
const DATA: [u8; 16] = [0, 0, 0, 0x31, 0x41, 0x42, 0x43, 0x44, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28];
const REMOTE: Remote = Remote { addr: 0x0102_0304_0506_0708, rkey: Rkey(0x1112_1314) };
const RADDR: [u8; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 0x11, 0x12, 0x13, 0x14, 0, 0, 0, 0];
const GID: [u8; 16] = [0xfe, 0x80, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14];
const GRH: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x6a, 0x3f, 0x47, 0xba, 0xbc, 0xde];

/// Key, number with `mark` before it, SL, LID.
const fn base(mark: u8) -> [u8; 16] {
    [0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, mark, 0xab, 0xcd, 0xef, 3, 0, 0x12, 0x34]
}

const fn near() -> CompactAv {
    CompactAv::new(0x1234).service_level(3)
}

fn far() -> FullAv {
    let route = GlobalRoute { dgid: GID, sgid_index: 0x7b, flow_label: 0xa_bcde, hop_limit: 0x3f, traffic_class: 0x6a };
    near().with_grh(&route)
}

fn aim<const MORE: usize>(vector: AddressVector<MORE>) -> DcAddress<AddressVector<MORE>> {
    DcAddress::new(vector, Qpn::truncate(0x00ab_cdef), DcKey(0x5152_5354_5556_5758))
}

const fn ctrl(opcode: u8, ds: u8, fm_ce_se: u8, imm: [u8; 4]) -> [u8; 16] {
    [0, 0x12, 0x34, opcode, 0xc0, 0xff, 0xee, ds, 0, 0, 0, fm_ce_se, imm[0], imm[1], imm[2], imm[3]]
}

#[test]
fn messages_are_those_of_datagrams_with_a_key_of_64_bits() {
    let wqe = [ctrl(0x0a, 3, 0x0a, [0; 4]), base(0), DATA];
    check::<Dci, _, _>(wqe::send().to(aim(near())).gather([LOCAL]).signaled(WrId(1)).solicited(), &wqe, false);
    let wqe = [ctrl(0x0b, 5, 0, [0xca, 0xfe, 0xba, 0xbe]), base(0x80), GRH, GID, DATA];
    check::<Dci, _, _>(wqe::send().to(aim(far())).imm(0xcafe_babe).gather([LOCAL]), &wqe, false);
    let wqe = [ctrl(0x01, 4, 0, [0, 0, 0, 9]), base(0x80), GRH, GID];
    check::<Dci, _, _>(wqe::send().invalidate(Rkey(9)).to(aim(far())), &wqe, false);
}

#[test]
fn rdma_has_its_segment_behind_the_address() {
    let wqe = [ctrl(0x08, 4, 0, [0; 4]), base(0), RADDR, DATA];
    check::<Dci, _, _>(wqe::write(REMOTE).to(aim(near())).gather([LOCAL]), &wqe, false);
    let bytes = [0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x6b, 0x6c];
    let inline = [0x80, 0, 0, 12, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x6b, 0x6c];
    let wqe = [ctrl(0x08, 4, 0, [0; 4]), base(0), RADDR, inline];
    check::<Dci, _, _>(wqe::write(REMOTE).to(aim(near())).inline(&bytes), &wqe, true);
    let wqe = [ctrl(0x09, 6, 0, [0, 0, 0, 5]), base(0x80), GRH, GID, RADDR, DATA];
    check::<Dci, _, _>(wqe::write(REMOTE).to(aim(far())).imm(5).gather([LOCAL]), &wqe, false);
    let wqe = [ctrl(0x10, 6, 8, [0; 4]), base(0x80), GRH, GID, RADDR, DATA];
    check::<Dci, _, _>(wqe::read(REMOTE).to(aim(far())).scatter([LOCAL]).signaled(WrId(1)), &wqe, false);
}

#[test]
fn atomics_have_three_segments() {
    let operands = [0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 6];
    let result = [0, 0, 0, 8, 0x41, 0x42, 0x43, 0x44, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28];
    let wqe = [ctrl(0x11, 7, 0, [0; 4]), base(0x80), GRH, GID, RADDR, operands, result];
    let request = wqe::compare_swap(REMOTE, 6, 7).to(aim(far())).result(LOCAL.addr, LOCAL.lkey);
    check::<Dci, _, _>(request, &wqe, false);
    let operands = [0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0];
    let wqe = [ctrl(0x12, 5, 0, [0; 4]), base(0), RADDR, operands, result];
    let request = wqe::fetch_add(REMOTE, 7).to(aim(near())).result(LOCAL.addr, LOCAL.lkey);
    check::<Dci, _, _>(request, &wqe, false);
}

#[test]
fn every_operation_follows_a_compact_address() {
    let to = aim(near());
    let wqe = |opcode, imm, segments: &[[u8; 16]]| {
        [&[ctrl(opcode, 2 + segments.len() as u8, 0, imm), base(0)], segments].concat()
    };
    check::<Dci, _, _>(wqe::send().to(to).gather([LOCAL]), &wqe(0x0a, [0; 4], &[DATA]), false);
    check::<Dci, _, _>(wqe::send().imm(7).to(to).gather([LOCAL]), &wqe(0x0b, [0, 0, 0, 7], &[DATA]), false);
    check::<Dci, _, _>(wqe::send().invalidate(Rkey(8)).to(to), &wqe(0x01, [0, 0, 0, 8], &[]), false);
    check::<Dci, _, _>(wqe::write(REMOTE).to(to), &wqe(0x08, [0; 4], &[RADDR]), false);
    check::<Dci, _, _>(wqe::write(REMOTE).imm(9).to(to), &wqe(0x09, [0, 0, 0, 9], &[RADDR]), false);
    check::<Dci, _, _>(wqe::read(REMOTE).to(to).scatter([LOCAL]), &wqe(0x10, [0; 4], &[RADDR, DATA]), false);
    let operands = |compare| [0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, compare];
    let result = [0, 0, 0, 8, 0x41, 0x42, 0x43, 0x44, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28];
    let swap = wqe::compare_swap(REMOTE, 6, 7).to(to).result(LOCAL.addr, LOCAL.lkey);
    check::<Dci, _, _>(swap, &wqe(0x11, [0; 4], &[RADDR, operands(6), result]), false);
    let add = wqe::fetch_add(REMOTE, 7).to(to).result(LOCAL.addr, LOCAL.lkey);
    check::<Dci, _, _>(add, &wqe(0x12, [0; 4], &[RADDR, operands(0), result]), false);
}

/// UCX 1.13.1's WQEs of `dc_mlx5` (`ucx_perftest -x dc_mlx5`: am_lat, put_lat, get, fadd, cswap), as the software
/// device has fetched it (`softhca-run --log softhca::wqe=trace`).
#[test]
fn ucx_writes_the_same_after_a_compact_address() {
    const KEY: DcKey = DcKey(0x1ee7_a330);
    let to = |number| DcAddress::new(CompactAv::new(1), Qpn::truncate(number), KEY);
    let remote = |addr, rkey| Remote { addr, rkey: Rkey(rkey) };
    let local = |addr, length, lkey| Sge { addr, length, lkey: Lkey(lkey) };
    let id = WrId(1);
    let wqe =
        by_ucx("0000000a000042030000000a00000000 000000001ee7a3300000404100000001 8000000c000500000000000000000000");
    let message = [0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    check::<Dci, _, _>(wqe::send().to(to(0x4041)).inline(&message).signaled(id).solicited(), &wqe, true);
    let wqe = by_ucx(
        "0000000800004c040000000800000000 000000001ee7a3300000404b00000001 00007fad9866d3a80000270000000000
         8000000c000000000000000000000000",
    );
    let write = wqe::write(remote(0x7fad_9866_d3a8, 0x2700)).to(to(0x404b));
    check::<Dci, _, _>(write.inline(&[0; 12]).signaled(id), &wqe, true);
    let wqe = by_ucx(
        "00000010000056040000000800000000 000000001ee7a3300000405500000001 00007fad9866b00000002d1600000000
         0000200000002b1400007f3019a67000",
    );
    let read = wqe::read(remote(0x7fad_9866_b000, 0x2d16)).to(to(0x4055));
    check::<Dci, _, _>(read.scatter([local(0x7f30_19a6_7000, 8192, 0x2b14)]).signaled(id), &wqe, false);
    let wqe = by_ucx(
        "00000012000060050000000800000000 000000001ee7a3300000405f00000001 00007fad9876f3a80000370000000000
         00000000000000000000000000000000 000000080000382100007f301914ef78",
    );
    let add = wqe::fetch_add(remote(0x7fad_9876_f3a8, 0x3700), 0).to(to(0x405f));
    check::<Dci, _, _>(add.result(0x7f30_1914_ef78, Lkey(0x3821)).signaled(id), &wqe, false);
    let wqe = by_ucx(
        "0000001100006a050000000800000000 000000001ee7a3300000406900000001 00007fad9876f3a800003f0000000000
         00000000000000000000000000000000 000000080000422b00007f301914ef78",
    );
    let swap = wqe::compare_swap(remote(0x7fad_9876_f3a8, 0x3f00), 0, 0).to(to(0x4069));
    check::<Dci, _, _>(swap.result(0x7f30_1914_ef78, Lkey(0x422b)).signaled(id), &wqe, false);
    let wqe =
        by_ucx("0000000a000074030000000a00000000 000000001ee7a3300000407300000001 000007d200004c3500007f3018dfd600");
    let message = [local(0x7f30_18df_d600, 0x7d2, 0x4c35)];
    check::<Dci, _, _>(wqe::send().to(to(0x4073)).gather(message).signaled(id).solicited(), &wqe, false);
}

/// `dci_stream_channel_id` of `struct mlx5_wqe_ctrl_seg`.
#[test]
fn streams_are_in_the_control_segment() {
    let mut first = ctrl(0x08, 4, 8, [0; 4]);
    first[9..11].copy_from_slice(&[0xbe, 0xef]);
    let to = aim(near()).on(DciStream(0xbeef));
    assert_eq!((to.address(), to.stream()), (aim(near()), DciStream(0xbeef)));
    let request = wqe::write(REMOTE).to(to).gather([LOCAL]).signaled(WrId(1));
    check::<DciStreams, _, _>(request, &[first, base(0), RADDR, DATA], false);
    // A request without a stream uses the first one.
    let wqe = [ctrl(0x08, 4, 8, [0; 4]), base(0), RADDR, DATA];
    let request = wqe::write(REMOTE).to(aim(near())).gather([LOCAL]).signaled(WrId(1));
    check::<DciStreams, _, _>(request, &wqe, false);
}

#[test]
fn every_way_writes_the_same_of_initiators() {
    let (near, far, stream) = (aim(near()), aim(far()), aim(far()).on(DciStream(9)));
    let write = || wqe::write(REMOTE).signaled(WrId(0));
    every_way!(Dci, write().to(near), 12, 0, |write| write.inline(&[9; 12]));
    every_way!(Dci, write().to(far), 8, 0, |write| write.inline(&[9; 8]));
    every_way!(DciStreams, wqe::read(REMOTE).to(stream), 0, 1, |read| read.scatter([LOCAL]));
}

/// An address gives back the values that it was made of.
#[test]
fn addresses_tell_their_parts() {
    let (compact, full) = (aim(near()), aim(far()));
    assert_eq!((compact.dctn(), compact.key(), compact.vector()), (full.dctn(), full.key(), near()));
    assert_eq!((full.vector(), full.to_full()), (far(), full));
    assert_eq!(compact.to_full(), aim(near().to_full()));
}
