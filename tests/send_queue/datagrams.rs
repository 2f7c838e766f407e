//! Datagrams by every way that the crate has, and those of UCX, which has compact address vectors.
//!
//! Addresses of UD belong here, those of DC in `dynamic.rs`, bytes of both in `tests/requests`.

use blueflame::transport::Ud;
use blueflame::types::{Lkey, Qkey, Qpn, WrId};
use blueflame::wqe::address::{CompactAv, FullAv, GlobalRoute};
use blueflame::wqe::seg::{BaseAvSeg, Be16, Be32, Be64, DatagramSeg, GrhAvSeg};
use blueflame::wqe::{self, Fence, Sge, UdAddress};
use proptest::prelude::*;

use crate::golden::{by_ucx, check, every_way};
use crate::requests::{GID, GRH, LOCAL, ctrl, datagram, datagram_base, far, near};
use crate::rig::{Rig, Setup};

/// Without a GRH, a full address vector is the compact one, and zeros.
#[test]
fn a_full_address_vector_without_a_route() {
    let wqe = [ctrl(0, 0x0a, 4, 0), datagram_base(0x80), [0; 16], [0; 16]];
    check::<Ud, _, _>(wqe::send().to(datagram(near()).to_full()), &wqe, false);
}

/// UCX 1.13.1's WQEs of `ud_mlx5` (`ucx_perftest -x ud_mlx5`: am_lat, am_bw), as the software device has fetched it
/// (`softhca-run --log softhca::wqe=trace`).
#[test]
fn ucx_writes_the_same_after_a_compact_address() {
    let to = |number| UdAddress::new(CompactAv::new(1), Qpn::truncate(number), Qkey(0x1ee7_a330));
    let wqe = by_ucx(
        "0000000a000041040000000000000000 1ee7a330000000000000404100000001
         8000001c000000290100010000000000 00000000000000000000000000000000",
    );
    let mut message = [0; 28];
    message[3..7].copy_from_slice(&[0x29, 1, 0, 1]);
    check::<Ud, _, _>(wqe::send().to(to(0x4041)).inline(&message), &wqe, true);
    let wqe =
        by_ucx("0000000a000043030000000000000000 1ee7a330000000000000404300000001 000007d800002c15000055b0e91fe850");
    let message = [Sge { addr: 0x55b0_e91f_e850, length: 0x7d8, lkey: Lkey(0x2c15) }];
    check::<Ud, _, _>(wqe::send().to(to(0x4043)).gather(message), &wqe, false);
}

/// RoCE: libmlx5's own bytes, in which key and number mean nothing.
#[test]
fn bytes_of_libmlx5_are_kept_but_for_key_and_number() {
    let base_seg = |key, number| BaseAvSeg {
        key: Be64::new(key),
        dqp_dct: Be32::new(number),
        stat_rate_sl: 0x06,
        fl_mlid: 0,
        rlid: Be16::new(0xc123),
    };
    let grh = GrhAvSeg {
        reserved0: Be32::new(0),
        rmac: [2, 4, 6, 8, 10, 12],
        tclass: 1,
        hop_limit: 2,
        grh_gid_fl: Be32::new(0x0030_0000),
    };
    let av = |key, number| FullAv::from_seg(DatagramSeg { base: base_seg(key, number), grh, rgid: GID });
    assert_eq!(av(u64::MAX, u32::MAX), av(0, 0));
    assert_eq!(av(0, 0).to_compact(), None);
    let first = [0x51, 0x52, 0x53, 0x54, 0, 0, 0, 0, 0x80, 0xab, 0xcd, 0xef, 0x06, 0, 0xc1, 0x23];
    let second = [0, 0, 0, 0, 2, 4, 6, 8, 10, 12, 1, 2, 0, 0x30, 0, 0];
    check::<Ud, _, _>(wqe::send().to(datagram(av(7, 8))), &[ctrl(0, 0x0a, 4, 0), first, second, GID], false);
}

#[test]
fn every_way_writes_the_same_datagram() {
    let send = || wqe::send().fence(Fence::Small).signaled(WrId(0));
    let (near, far) = (datagram(near()), datagram(far()));
    every_way!(Ud, send().to(near), 28, 0, |send| send.inline(&[9; 28]));
    every_way!(Ud, send().to(near), 29, 0, |send| send.inline(&[9; 29]));
    every_way!(Ud, send().to(far).imm(7), 8, 0, |send| send.inline(&[9; 8]));
    every_way!(Ud, send().to(far), 0, 1, |send| send.gather([LOCAL]));
    every_way!(Ud, send().to(far), 0, 0, |send| send);
}

#[test]
fn the_ring_wraps_inside_an_address() {
    // A ring of two WQEBBs, the second of which begins with a WQE of one unit of address too many.
    let rig = Rig::new(Setup { wqebbs: 2, pi: 0xffff, ..Setup::default() });
    let bytes: [u8; 40] = core::array::from_fn(|n| n as u8);
    rig.queue::<Ud>().post(&wqe::send().to(datagram(far())).inline(&bytes)).expect("posted");
    let mut wqe = Vec::from([0, 0xff, 0xff, 0x0a, 0xc0, 0xff, 0xee, 7, 0, 0, 0, 0, 0, 0, 0, 0]);
    wqe.extend([datagram_base(0x80), GRH, GID].as_flattened());
    wqe.extend([0x80, 0, 0, 40]);
    wqe.extend(bytes);
    wqe.resize(7 * 16, 0);
    let ring = rig.ring();
    assert_eq!((&ring[64..], &ring[..48]), (&wqe[..64], &wqe[64..]));
}

proptest! {
    /// Each form of an address gives back the values that it was made of.
    #[test]
    fn addresses_tell_their_parts(
        lid: u16, level in 0..16_u8, bits in 0..128_u8, qpn in 0..1_u32 << 24, qkey: u32, dgid: [u8; 16], index: u8,
        label in 0..1_u32 << 20,
    ) {
        let (number, key) = (Qpn::truncate(qpn), Qkey(qkey));
        let near = CompactAv::new(lid).service_level(level).path_bits(bits);
        let route = GlobalRoute { dgid, sgid_index: index, flow_label: label, hop_limit: 1, traffic_class: 2 };
        let far = near.with_grh(&route);
        let (by_lid, by_gid) = (UdAddress::new(near, number, key), UdAddress::new(far, number, key));
        prop_assert_eq!((by_lid.qpn(), by_lid.qkey(), by_lid.vector()), (number, key, near));
        prop_assert_eq!((by_gid.qpn(), by_gid.qkey(), by_gid.vector()), (number, key, far));
        prop_assert_eq!(by_lid.to_full(), UdAddress::new(near.to_full(), number, key));
        prop_assert_eq!((near.to_full().to_compact(), far.to_compact()), (Some(near), None));
        let base = BaseAvSeg {
            key: Be64::new(0), dqp_dct: Be32::new(0), stat_rate_sl: level, fl_mlid: bits, rlid: Be16::new(lid),
        };
        let gid_fl = Be32::new(1 << 30 | u32::from(index) << 20 | label);
        let (rmac, reserved0) = ([0; 6], Be32::new(0));
        let grh = GrhAvSeg { reserved0, rmac, tclass: 2, hop_limit: 1, grh_gid_fl: gid_fl };
        prop_assert_eq!(far, FullAv::from_seg(DatagramSeg { base, grh, rgid: dgid }));
    }
}
