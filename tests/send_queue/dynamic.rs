//! Requests of initiators by every way that the crate has, and those of UCX, which has compact address vectors.
//!
//! Addresses of DC belong here, those of UD in `datagrams.rs`, bytes of both in `tests/requests`.

use blueflame::transport::{Dci, DciStreams};
use blueflame::types::{DcKey, DciStream, Lkey, Qpn, Rkey, WrId};
use blueflame::wqe::address::CompactAv;
use blueflame::wqe::{self, DcAddress, Remote, Sge};

use crate::golden::{by_ucx, check, every_way};
use crate::requests::{LOCAL, REMOTE, dynamic, far, near};

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

#[test]
fn every_way_writes_the_same_of_initiators() {
    let (near, far, stream) = (dynamic(near()), dynamic(far()), dynamic(far()).on(DciStream(9)));
    let write = || wqe::write(REMOTE).signaled(WrId(0));
    every_way!(Dci, write().to(near), 12, 0, |write| write.inline(&[9; 12]));
    every_way!(Dci, write().to(far), 8, 0, |write| write.inline(&[9; 8]));
    every_way!(DciStreams, wqe::read(REMOTE).to(stream), 0, 1, |read| read.scatter([LOCAL]));
}

/// An address gives back the values that it was made of.
#[test]
fn addresses_tell_their_parts() {
    let (compact, full) = (dynamic(near()), dynamic(far()));
    assert_eq!((compact.dctn(), compact.key(), compact.vector()), (full.dctn(), full.key(), near()));
    assert_eq!((full.vector(), full.to_full()), (far(), full));
    assert_eq!(compact.to_full(), dynamic(near().to_full()));
    let stream = compact.on(DciStream(0xbeef));
    assert_eq!((stream.address(), stream.stream()), (compact, DciStream(0xbeef)));
}
