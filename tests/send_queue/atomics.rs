//! Masked atomics as literal bytes, in memory filled with 0xa5. libmlx5 has none, so opcodes, modifiers and operands
//! are those of UCX (`src/uct/ib/mlx5/rc/rc_mlx5.inl`, `uct_rc_mlx5_txqp_dptr_post`, with the segments of
//! `src/uct/ib/mlx5/ib_mlx5.h`). The compare and swap of 8 bytes is also `struct mlx5_wqe_masked_atomic_seg` of
//! rdma-core (`providers/mlx5/wqe.h`). Atomics of 16 bytes are those of the libmlx5 of MLNX_OFED 4 (`src/qp.c`,
//! `set_ext_atomic_seg`).
//!
//! Masked atomics belong here, plain ones in `golden.rs`.

use blueflame::transport::{Dci, DciStreams, Rc, XrcInitiator};
use blueflame::types::{DcKey, DciStream, Lkey, Qpn, Rkey, Srqn, WrId};
use blueflame::wqe::address::{CompactAv, FullAv, GlobalRoute};
use blueflame::wqe::atomics::Masked;
use blueflame::wqe::{self, DcAddress, Remote};

use crate::golden::{check, every_way};

const REMOTE: Remote = Remote { addr: 0x0102_0304_0506_0708, rkey: Rkey(0x1112_1314) };
const RADDR: [u8; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 0x11, 0x12, 0x13, 0x14, 0, 0, 0, 0];
const LKEY: Lkey = Lkey(0x4142_4344);
const PLACE: u64 = 0x2122_2324_2526_2728;
const SIXTEEN: [u8; 16] = [0, 0, 0, 16, 0x41, 0x42, 0x43, 0x44, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28];
const FOUR: [u8; 16] = [0, 0, 0, 4, 0x41, 0x42, 0x43, 0x44, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28];
const EIGHT: [u8; 16] = [0, 0, 0, 8, 0x41, 0x42, 0x43, 0x44, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28];

/// `UCT_IB_MLX5_OPMOD_EXT_ATOMIC` of 2 and of 3.
const OPMOD_4: u8 = 0x08;
const OPMOD_8: u8 = 0x09;
/// `MLX5_OPCODE_EXT_ATOMICS | (log_arg_sz - 2)`.
const OPMOD_16: u8 = 0x0a;

const fn ctrl(opmod: u8, opcode: u8, ds: u8, fm_ce_se: u8) -> [u8; 16] {
    [opmod, 0x12, 0x34, opcode, 0xc0, 0xff, 0xee, ds, 0, 0, 0, fm_ce_se, 0, 0, 0, 0]
}

const COMPARE_32: Masked<u32> = Masked { value: 0x7172_7374, mask: 0x5152_5354 };
const SWAP_32: Masked<u32> = Masked { value: 0x6162_6364, mask: 0x8182_8384 };
/// Swap, compare, swap mask, compare mask.
const CS_32: [u8; 16] =
    [0x61, 0x62, 0x63, 0x64, 0x71, 0x72, 0x73, 0x74, 0x81, 0x82, 0x83, 0x84, 0x51, 0x52, 0x53, 0x54];
const COMPARE_64: Masked<u64> = Masked { value: 0x7172_7374_7576_7778, mask: 0x5152_5354_5556_5758 };
const SWAP_64: Masked<u64> = Masked { value: 0x6162_6364_6566_6768, mask: 0x8182_8384_8586_8788 };
/// Swap, compare; swap mask, compare mask.
const CS_64: [[u8; 16]; 2] = [
    [0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78],
    [0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58],
];
/// Add, boundary; the rest is reserved, and UCX leaves it as it was.
const FA_32: [u8; 16] = [0x61, 0x62, 0x63, 0x64, 0x80, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const FA_64: [u8; 16] = [0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x80, 0, 0, 0, 0x80, 0, 0, 0];

const COMPARE_128: Masked<u128> =
    Masked { value: 0x7172_7374_7576_7778_797a_7b7c_7d7e_7f70, mask: 0x5152_5354_5556_5758_595a_5b5c_5d5e_5f50 };
const SWAP_128: Masked<u128> =
    Masked { value: 0x6162_6364_6566_6768_696a_6b6c_6d6e_6f60, mask: 0x8182_8384_8586_8788_898a_8b8c_8d8e_8f80 };
/// Swap, compare, swap mask, compare mask; each word by word, in network order.
const CS_128: [[u8; 16]; 4] = [
    [0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x6f, 0x60],
    [0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x7b, 0x7c, 0x7d, 0x7e, 0x7f, 0x70],
    [0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x8b, 0x8c, 0x8d, 0x8e, 0x8f, 0x80],
    [0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5a, 0x5b, 0x5c, 0x5d, 0x5e, 0x5f, 0x50],
];
const BOUNDARY_128: u128 = 0x8000_0000_0000_0001_8000_0000_0000_0002;
/// Add, boundary.
const FA_128: [[u8; 16]; 2] = [CS_128[0], [0x80, 0, 0, 0, 0, 0, 0, 1, 0x80, 0, 0, 0, 0, 0, 0, 2]];

#[test]
fn of_a_reliable_connection() {
    let wqe = [ctrl(OPMOD_4, 0x14, 4, 8), RADDR, CS_32, FOUR];
    let swap = wqe::masked_compare_swap(REMOTE, COMPARE_32, SWAP_32).result(PLACE, LKEY).signaled(WrId(1));
    check::<Rc, _, _>(swap, &wqe, false);
    let wqe = [ctrl(OPMOD_8, 0x14, 5, 8), RADDR, CS_64[0], CS_64[1], EIGHT];
    let swap = wqe::masked_compare_swap(REMOTE, COMPARE_64, SWAP_64).result(PLACE, LKEY).signaled(WrId(1));
    check::<Rc, _, _>(swap, &wqe, false);
    let wqe = [ctrl(OPMOD_4, 0x15, 4, 8), RADDR, FA_32, FOUR];
    let add = wqe::masked_fetch_add(REMOTE, 0x6162_6364_u32, 0x8000_8000).result(PLACE, LKEY).signaled(WrId(1));
    check::<Rc, _, _>(add, &wqe, false);
    let wqe = [ctrl(OPMOD_8, 0x15, 4, 8), RADDR, FA_64, EIGHT];
    let add = wqe::masked_fetch_add(REMOTE, 0x6162_6364_6566_6768_u64, 0x8000_0000_8000_0000);
    check::<Rc, _, _>(add.result(PLACE, LKEY).signaled(WrId(1)), &wqe, false);
    let wqe = [ctrl(OPMOD_16, 0x14, 7, 8), RADDR, CS_128[0], CS_128[1], CS_128[2], CS_128[3], SIXTEEN];
    let swap = wqe::masked_compare_swap(REMOTE, COMPARE_128, SWAP_128).result(PLACE, LKEY).signaled(WrId(1));
    check::<Rc, _, _>(swap, &wqe, false);
    let wqe = [ctrl(OPMOD_16, 0x15, 5, 8), RADDR, FA_128[0], FA_128[1], SIXTEEN];
    let add = wqe::masked_fetch_add(REMOTE, SWAP_128.value, BOUNDARY_128).result(PLACE, LKEY).signaled(WrId(1));
    check::<Rc, _, _>(add, &wqe, false);
}

/// As all operations do: behind an SRQ's number, or an address vector of either length.
#[test]
fn follow_the_destination() {
    let srq = [0, 0xab, 0xcd, 0xef, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let base = |mark| [0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, mark, 0xab, 0xcd, 0xef, 3, 0, 0x12, 0x34];
    let number = 0x00ab_cdef;
    let near = CompactAv::new(0x1234).service_level(3);
    let route = GlobalRoute { dgid: [9; 16], sgid_index: 0, flow_label: 0, hop_limit: 1, traffic_class: 0 };
    let far: FullAv = near.with_grh(&route);
    let grh = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0x40, 0, 0, 0];
    let aim = |vector| DcAddress::new(vector, Qpn::truncate(number), DcKey(0x5152_5354_5556_5758));
    let (near, far) = (aim(near), DcAddress::new(far, Qpn::truncate(number), DcKey(0x5152_5354_5556_5758)));
    macro_rules! each {
        ($transport:ty, $to:expr, $before:expr) => {
            let before: &[[u8; 16]] = $before;
            let wqe = |opmod, opcode, stream: u8, segments: &[[u8; 16]]| {
                let mut first = ctrl(opmod, opcode, (1 + before.len() + segments.len()) as u8, 0);
                first[10] = stream;
                [&[first], before, segments].concat()
            };
            let stream = if stringify!($transport) == "DciStreams" { 7 } else { 0 };
            let swap = wqe::masked_compare_swap(REMOTE, COMPARE_32, SWAP_32).to($to).result(PLACE, LKEY);
            check::<$transport, _, _>(swap, &wqe(OPMOD_4, 0x14, stream, &[RADDR, CS_32, FOUR]), false);
            let swap = wqe::masked_compare_swap(REMOTE, COMPARE_64, SWAP_64).to($to).result(PLACE, LKEY);
            check::<$transport, _, _>(swap, &wqe(OPMOD_8, 0x14, stream, &[RADDR, CS_64[0], CS_64[1], EIGHT]), false);
            let add = wqe::masked_fetch_add(REMOTE, 0x6162_6364_u32, 0x8000_8000).to($to).result(PLACE, LKEY);
            check::<$transport, _, _>(add, &wqe(OPMOD_4, 0x15, stream, &[RADDR, FA_32, FOUR]), false);
            let add = wqe::masked_fetch_add(REMOTE, 0x6162_6364_6566_6768_u64, 0x8000_0000_8000_0000);
            check::<$transport, _, _>(
                add.to($to).result(PLACE, LKEY),
                &wqe(OPMOD_8, 0x15, stream, &[RADDR, FA_64, EIGHT]),
                false,
            );
            let swap = wqe::masked_compare_swap(REMOTE, COMPARE_128, SWAP_128).to($to).result(PLACE, LKEY);
            let operands = [&[RADDR], &CS_128[..], &[SIXTEEN]].concat();
            check::<$transport, _, _>(swap, &wqe(OPMOD_16, 0x14, stream, &operands), false);
            let add = wqe::masked_fetch_add(REMOTE, SWAP_128.value, BOUNDARY_128).to($to).result(PLACE, LKEY);
            let operands = [RADDR, FA_128[0], FA_128[1], SIXTEEN];
            check::<$transport, _, _>(add, &wqe(OPMOD_16, 0x15, stream, &operands), false);
        };
    }
    each!(XrcInitiator, Srqn::truncate(number), &[srq]);
    each!(Dci, near, &[base(0)]);
    each!(Dci, far, &[base(0x80), grh, [9; 16]]);
    each!(DciStreams, far.on(DciStream(7)), &[base(0x80), grh, [9; 16]]);
}

/// The modifier is that of erased and of prepared requests, too.
#[test]
fn every_way_has_the_modifier() {
    let swap = wqe::masked_compare_swap(REMOTE, COMPARE_64, SWAP_64).signaled(WrId(1));
    every_way!(Rc, swap, 0, 1, |swap| swap.result(PLACE, LKEY));
    let swap = wqe::masked_compare_swap(REMOTE, COMPARE_128, SWAP_128).signaled(WrId(1));
    every_way!(Rc, swap, 0, 1, |swap| swap.result(PLACE, LKEY));
}
