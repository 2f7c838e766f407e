//! Atomics, plain and masked, with their operands in literal bytes.
//!
//! Atomics belong here, other operations in `mod.rs`.

use blueflame::wqe::atomics::Masked;
use blueflame_testkit::request::{Extended, Kind};

use super::segments::{Ds, REMOTE};

/// `UCT_IB_MLX5_OPMOD_EXT_ATOMIC` of 2 and of 3.
const OPMOD_4: u8 = 0x08;
const OPMOD_8: u8 = 0x09;
/// `MLX5_OPCODE_EXT_ATOMICS | (log_arg_sz - 2)`.
const OPMOD_16: u8 = 0x0a;

const COMPARE_32: Masked<u32> = Masked { value: 0x7172_7374, mask: 0x5152_5354 };
const SWAP_32: Masked<u32> = Masked { value: 0x6162_6364, mask: 0x8182_8384 };
/// Swap, compare, swap mask, compare mask.
const CS_32: Ds = [0x61, 0x62, 0x63, 0x64, 0x71, 0x72, 0x73, 0x74, 0x81, 0x82, 0x83, 0x84, 0x51, 0x52, 0x53, 0x54];
const COMPARE_64: Masked<u64> = Masked { value: 0x7172_7374_7576_7778, mask: 0x5152_5354_5556_5758 };
const SWAP_64: Masked<u64> = Masked { value: 0x6162_6364_6566_6768, mask: 0x8182_8384_8586_8788 };
/// Swap, compare; swap mask, compare mask.
const CS_64: [Ds; 2] = [
    [0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78],
    [0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58],
];
/// Add, boundary; the rest is reserved, and UCX leaves it as it was. So it is without a mask.
const FA_32: Ds = [0x61, 0x62, 0x63, 0x64, 0x80, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const FA_64: Ds = [0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x80, 0, 0, 0, 0x80, 0, 0, 0];
const ADD: Ds = [0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0, 0, 0, 0, 0, 0, 0, 0];

const COMPARE_128: Masked<u128> =
    Masked { value: 0x7172_7374_7576_7778_797a_7b7c_7d7e_7f70, mask: 0x5152_5354_5556_5758_595a_5b5c_5d5e_5f50 };
const SWAP_128: Masked<u128> =
    Masked { value: 0x6162_6364_6566_6768_696a_6b6c_6d6e_6f60, mask: 0x8182_8384_8586_8788_898a_8b8c_8d8e_8f80 };
/// Swap, compare, swap mask, compare mask; each word by word, in network order.
const CS_128: [Ds; 4] = [
    [0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x6f, 0x60],
    [0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x7b, 0x7c, 0x7d, 0x7e, 0x7f, 0x70],
    [0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x8b, 0x8c, 0x8d, 0x8e, 0x8f, 0x80],
    [0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5a, 0x5b, 0x5c, 0x5d, 0x5e, 0x5f, 0x50],
];
const BOUNDARY_128: u128 = 0x8000_0000_0000_0001_8000_0000_0000_0002;
/// Add, boundary.
const FA_128: [Ds; 2] = [CS_128[0], [0x80, 0, 0, 0, 0, 0, 0, 1, 0x80, 0, 0, 0, 0, 0, 0, 2]];

/// The name, the kind, the modifier and the opcode, the bytes of the word, and the operands.
pub(super) type Atomic = (&'static str, Kind, [u8; 2], u32, &'static [Ds]);

/// Masked ones have a modifier, which says how long their words are.
pub(super) fn all() -> [Atomic; 8] {
    let masked = |extended| Kind::Extended(REMOTE, extended);
    let swap_32 = masked(Extended::Swap32 { compare: COMPARE_32, swap: SWAP_32 });
    let swap_64 = masked(Extended::Swap64 { compare: COMPARE_64, swap: SWAP_64 });
    let swap_128 = masked(Extended::Swap128 { compare: COMPARE_128, swap: SWAP_128 });
    let add_32 = masked(Extended::Add32(0x6162_6364, 0x8000_8000));
    let add_64 = masked(Extended::Add64(SWAP_64.value, 0x8000_0000_8000_0000));
    let add_128 = masked(Extended::Add128(SWAP_128.value, BOUNDARY_128));
    let swap = Kind::CompareSwap(REMOTE, COMPARE_64.value, SWAP_64.value);
    [
        ("compare and swap", swap, [0, 0x11], 8, &CS_64[..1]),
        ("fetch and add", Kind::FetchAdd(REMOTE, SWAP_64.value), [0, 0x12], 8, &[ADD]),
        ("masked compare and swap of 4 bytes", swap_32, [OPMOD_4, 0x14], 4, &[CS_32]),
        ("masked compare and swap of 8 bytes", swap_64, [OPMOD_8, 0x14], 8, &CS_64),
        ("masked compare and swap of 16 bytes", swap_128, [OPMOD_16, 0x14], 16, &CS_128),
        ("masked fetch and add of 4 bytes", add_32, [OPMOD_4, 0x15], 4, &[FA_32]),
        ("masked fetch and add of 8 bytes", add_64, [OPMOD_8, 0x15], 8, &[FA_64]),
        ("masked fetch and add of 16 bytes", add_128, [OPMOD_16, 0x15], 16, &FA_128),
    ]
}
