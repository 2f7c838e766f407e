//! UMR requests that give a key formats of its data.
//!
//! Decoding of UMR requests belongs here, their effect in `softhca/src/resources/umr_tests.rs`.

use super::*;

/// The segment of the memory key.
type MkeySeg = [u8; 64];

/// A request with an inline list of no entries, which enables these formats (Linux `include/linux/mlx5/qp.h`, `struct
/// mlx5_wqe_umr_ctrl_seg`).
fn umr(mkey: MkeySeg, formats: &[&[u8]]) -> Vec<u8> {
    let mut control = [0; 48];
    control[0] = 1 << 7;
    control[7] = 4 * formats.len() as u8;
    // MLX5_MKEY_MASK_BSF_EN.
    control[8..16].copy_from_slice(&(1_u64 << 12).to_be_bytes());
    let segments = [&[&control[..], &mkey], formats].concat();
    wqe(0x25, &segments)
}

fn decoded(formats: &[&[u8]]) -> Result<Umr, WqeFault> {
    fetch_at(0, &umr([0; 64], formats), Transport::Rc).map(|wqe| *wqe.umr.expect("a request for a key"))
}

/// Where other requests of XRC and DC name a peer, these go on at once (rdma-core `providers/mlx5/qp.c`,
/// `_build_umr_wqe`).
#[test]
fn a_request_for_a_key_names_no_peer() {
    let request = umr([0; 64], &[]);
    for transport in [Transport::Rc, Transport::Uc, Transport::Dc, Transport::Xrc, Transport::RegUmr] {
        let wqe = fetch_at(0, &request, transport).unwrap();
        assert_eq!((wqe.op, wqe.target, wqe.srqn, wqe.umr.is_some()), (SendOp::Umr, None, None, true));
    }
    for transport in [Transport::Ud, Transport::RawPacket] {
        assert_eq!(fault(&request, transport), WqeFault::WrongTransport { opcode: 0x25, transport });
    }
    // The XRC segment of another driver.
    let mut named = request[..16].to_vec();
    named.extend([0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    named.extend(&request[16..]);
    named[7] += 1;
    assert!(fetch_at(0, &named, Transport::Xrc).is_err());
}

/// One side: its block selector, the format and the number of the signature value, and its T10-DIF.
#[derive(Clone, Copy)]
struct Side(u8, u32, [u8; 16]);

const NONE: Side = Side(0, 0, [0; 16]);
const CRC32: Side = Side(1, 0x2200_0011, [0; 16]);
const CRC32C: Side = Side(1, 0x4200_0012, [0; 16]);
/// Blocks of 512 bytes, each with a guard that is a CRC, and with tags.
const DIF: Side = Side(1, 0x13, [0xc0, 0, 0, 5, 0, 0, 0, 6, 1, 0x80, 0, 0, 0, 0x40, 0xff, 0xff]);
/// Such blocks with other tags.
const OTHER_DIF: Side = Side(1, 0x14, [0xc0, 0, 0, 7, 0, 0, 0, 8, 1, 0x80, 0, 0, 0, 0x40, 0xff, 0xff]);

/// `struct mlx5_bsf`. The byte of the wire's block is `copy` where both sides have one structure.
fn signatures(size: u8, memory: Side, wire: Side, copy: Option<u8>) -> [u8; 64] {
    let mut seg = [0; 64];
    seg[0] = size | if copy.is_some() { 1 << 4 } else { 0 };
    seg[1..4].copy_from_slice(&[0xff, copy.unwrap_or(wire.0), memory.0]);
    seg[4..8].fill(0xff);
    seg[8..12].copy_from_slice(&wire.1.to_be_bytes());
    seg[12..16].copy_from_slice(&memory.1.to_be_bytes());
    seg[32..48].copy_from_slice(&wire.2);
    seg[48..].copy_from_slice(&memory.2);
    seg
}

/// `struct mlx5_crypto_bsf`.
fn encryption(size: u8, order: u8) -> [u8; 64] {
    let mut seg = [0; 64];
    seg[..2].copy_from_slice(&[size | 1, order]);
    seg[4..8].fill(0xff);
    seg[8] = 2;
    seg[33..36].copy_from_slice(&[0x12, 0x34, 0x56]);
    seg
}

/// Sizes of the formats: of one, and of both.
const ONE: u8 = 2 << 6;
const BOTH: u8 = 3 << 6;

fn bad(what: &'static str, value: u64) -> Option<WqeFault> {
    Some(WqeFault::BadFormat { what, value })
}

/// A segment of 32 bytes in 64, as SPDK writes it (`lib/mlx5/mlx5_umr.c`, `mlx5_set_umr_sig_bsf_seg`): one CRC32C
/// behind `bytes` bytes.
fn transaction(bytes: u32, flags: u32, wire: u32, memory: u32) -> [u8; 64] {
    let mut seg = [0; 64];
    seg[..2].copy_from_slice(&[1 << 6, 0xff]);
    for (at, number) in [(4, bytes), (16, flags), (24, wire), (28, memory)] {
        seg[at..at + 4].copy_from_slice(&number.to_be_bytes());
    }
    seg
}

#[test]
fn a_transaction_has_one_crc_behind_all_data() {
    const PSV: u32 = 0x4000_0012;
    let domain = |ones| {
        let signature = Signature::Crc(CrcKind::Crc32c);
        Some(Domain { block: 700, psv: 0x12, signature, ones, begins_anew: true })
    };
    for (flags, wire, memory, found) in [
        (3 << 28, PSV, 0, (None, domain(true))),
        (3 << 28, PSV | 1 << 24, 0, (None, domain(false))),
        (3 << 24, 0, PSV, (domain(true), None)),
    ] {
        let umr = decoded(&[&transaction(700, flags, wire, memory)]).expect("a request");
        let format = umr.signatures.expect("signatures");
        assert_eq!((format.memory, format.wire), found, "{flags:#x}");
        assert_eq!((format.check, format.copy, umr.encryption), (0xff, 0, None));
    }
    let part = "side of a transaction, or a part of one";
    for (seg, fault) in [
        (transaction(700, 1 << 29, PSV, 0), bad(part, 1 << 29)),
        (transaction(700, 3 << 28, PSV, PSV), bad(part, 3 << 28)),
        (transaction(700, 3 << 28, 0x6000_0012, 0), bad("format of a transaction's CRC", 0x60)),
        (transaction(0, 3 << 28, PSV, 0), bad("bytes of a transaction", 0)),
        (transaction(u32::MAX, 3 << 28, PSV, 0), bad("bytes of a transaction", u32::MAX.into())),
    ] {
        assert_eq!(decoded(&[&seg]).err(), fault);
    }
    let mut blocks = transaction(700, 3 << 28, PSV, 0);
    blocks[2] = 1;
    assert!(decoded(&[&blocks]).is_err(), "blocks as well");
}

/// SPDK and DPDK say how many bytes they encrypt: all of the key (`raw_data_size`).
#[test]
fn the_bytes_that_are_encrypted_are_all_of_the_key() {
    let mut seg = encryption(ONE, 0);
    for (said, named, fault) in [
        (0x1000, true, None),
        (0x1000, false, bad("bytes of data, other than all", 0x1000)),
        (0x800, true, bad("bytes of data, other than all", 0x800)),
    ] {
        seg[4..8].copy_from_slice(&u32::to_be_bytes(said));
        let mut mkey = [0; 64];
        mkey[0x18..0x20].copy_from_slice(&0x1000_u64.to_be_bytes());
        let mut request = umr(mkey, &[&seg]);
        // MLX5_MKEY_MASK_LEN.
        request[16 + 15] = named.into();
        assert_eq!(fetch_at(0, &request, Transport::Rc).err(), fault, "{said:#x}, {named}");
    }
}

/// Both sides have one structure if their signatures have one type and the same CRC (libmlx5 `mlx5_umr_block_crc_sbs`,
/// `mlx5_umr_block_t10dif_sbs`).
#[test]
fn sides_of_one_structure_are_alike() {
    let what = "sides that are not of one structure";
    let kinds = [CrcKind::Crc32, CrcKind::Crc32c].map(Signature::Crc);
    for (memory, wire, copy, fault) in [
        (CRC32, CRC32, Some(0xf0), None),
        (DIF, OTHER_DIF, Some(0xc0), None),
        (CRC32, CRC32C, Some(0xf0), bad(what, (ONE | 1 << 4).into())),
        (DIF, CRC32, Some(0xf0), bad(what, (ONE | 1 << 4).into())),
        (CRC32, CRC32C, None, None),
        (DIF, CRC32, None, None),
        (CRC32, NONE, None, None),
        (NONE, CRC32C, None, None),
    ] {
        let found = decoded(&[&signatures(ONE, memory, wire, copy)]);
        assert_eq!(found.clone().err(), fault);
        let Ok(Umr { signatures: Some(found), .. }) = found else { continue };
        assert_eq!(found.copy, copy.unwrap_or(0));
        for (side, found) in [(memory, found.memory), (wire, found.wire)] {
            assert_eq!(found.map_or(0, |domain| domain.psv), side.1 & 0xff_ffff);
            match side.1 >> 24 {
                0x22 => assert_eq!(found.expect("a domain").signature, kinds[0]),
                0x42 => assert_eq!(found.expect("a domain").signature, kinds[1]),
                _ => {}
            }
        }
    }
}

/// A side without blocks has neither a signature value nor tags.
#[test]
fn a_side_without_blocks_has_nothing() {
    for side in [Side(0, 0x11, [0; 16]), Side(0, 0x2200_0000, [0; 16]), Side(0, 0, DIF.2), Side(0, 0x13, DIF.2)] {
        for [memory, wire] in [[side, CRC32], [CRC32, side]] {
            assert_eq!(decoded(&[&signatures(ONE, memory, wire, None)]).err(), bad("block size", 0));
        }
    }
    assert_eq!(decoded(&[&signatures(ONE, NONE, NONE, None)]).map(|umr| umr.signatures.is_some()), Ok(true));
}

/// Encryption of raw data is beside signatures of one side: libmlx5 knows no device that does more
/// (`get_crypto_order`).
#[test]
fn raw_data_is_encrypted_where_one_side_has_signatures() {
    let what = "order of encryption and signatures on both sides";
    for (order, memory, wire, fault) in [
        (0, CRC32, CRC32C, None),
        (1, CRC32, CRC32C, None),
        (2, CRC32, CRC32C, bad(what, 2)),
        (3, CRC32, CRC32C, bad(what, 3)),
        (2, NONE, CRC32, None),
        (2, CRC32, NONE, None),
        (3, NONE, CRC32, None),
        (3, CRC32, NONE, None),
    ] {
        let found = decoded(&[&signatures(BOTH, memory, wire, None), &encryption(BOTH, order)]);
        assert_eq!(found.clone().err(), fault, "order {order}");
        if let Ok(Umr { signatures, encryption, .. }) = found {
            assert!(signatures.is_some());
            assert_eq!(encryption.map(|format| (format.dek, format.order as u8)), Some((0x12_3456, order)));
        }
    }
}

/// `MLX5_MKEY_MASK_PAGE_SIZE` has five bits of the length, and `MLX5_MKEY_MASK_PAGE_SIZE_5` the sixth (Linux
/// `include/linux/mlx5/device.h`; `drivers/infiniband/hw/mlx5/umr.c`, `get_umr_update_translation_mask`). The field has
/// all six (`mkc.log_page_size`).
#[test]
fn the_length_of_pages_has_two_masks() {
    let mut mkey = [0; 64];
    mkey[0x3b] = 0x2c;
    let formats = encryption(ONE, 0);
    for (mask, low, high) in [
        (1 << 1, Some(0x0c), None),
        (1 << 42, None, Some(true)),
        (1 << 1 | 1 << 42, Some(0x0c), Some(true)),
        (0, None, None),
    ] {
        let mut bytes = umr(mkey, &[&formats]);
        bytes[24..32].copy_from_slice(&(1_u64 << 12 | mask).to_be_bytes());
        let change = fetch_at(0, &bytes, Transport::RegUmr).unwrap().umr.expect("a request for a key").change;
        assert_eq!((change.log_bytes, change.log_bytes_5), (low, high), "{mask:#x}");
    }
}

/// Linux leaves zeros where a memory key context has no field; libmlx5 leaves old bytes of the ring there
/// (`set_umr_mkey_seg`).
#[test]
fn bits_without_a_field_are_the_kernel_s_to_clear() {
    for (at, bit) in
        [(0, 0x80), (0, 0x20), (0, 2), (1, 2), (3, 0x80), (3, 8), (8, 1), (0x24, 1), (0x2c, 1), (0x3c, 1), (0x3f, 1)]
    {
        let mut mkey = [0; 64];
        mkey[at] = bit;
        let bytes = umr(mkey, &[&encryption(ONE, 0)]);
        assert!(fetch_at(0, &bytes, Transport::Rc).is_ok(), "byte {at:#x}");
        let fault = fault(&bytes, Transport::RegUmr);
        assert!(
            matches!(fault, WqeFault::Reserved { field: "memory key segment", value: 1.., .. }),
            "{at:#x}: {fault}"
        );
    }
    let bytes = umr([0; 64], &[&encryption(ONE, 0)]);
    assert!(fetch_at(0, &bytes, Transport::RegUmr).is_ok());
}
