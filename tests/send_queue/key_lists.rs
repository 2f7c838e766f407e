//! Requests that configure indirect memory keys as literal bytes, in memory filled with 0xa5. libmlx5 has no such
//! request; in the differential tests it writes the others.
//!
//! Lists of pieces belong here, formats of data in `block_signatures.rs` and `encryption.rs`.

use blueflame::transport::Rc;
use blueflame::types::{Lkey, Qpn, Rkey, WrId};
use blueflame::wqe::keys::{KeyRights, Strided, Window, WindowRights};
use blueflame::wqe::limits::MAX_SGE_BYTES;
use blueflame::wqe::{self, EncodeError, Sge};

use crate::golden::check;
use crate::rig::{QPN, Rig, Setup};

const KEY: Rkey = Rkey(0x1234_5678);
const PLACE: Sge = Sge { addr: 0x2122_2324_2526_2800, length: 0x100, lkey: Lkey(0x4142_4344) };
const ZERO: [u8; 16] = [0; 16];

/// As Linux lays it out: without the flag that the list is in the WQE, entries in units of 16 bytes, and a data segment
/// in place of the list (`drivers/infiniband/hw/mlx5/wr.c`, `set_reg_umr_seg`, `set_reg_mkey_seg`, `set_reg_data_seg`).
#[test]
fn a_list_in_memory_is_a_data_segment() {
    let request = wqe::configure_key(KEY, 8).rights(KeyRights::REMOTE_READ | KeyRights::LOCAL_WRITE);
    let request = request.list_at(PLACE, 5, 0x0708_090a).signaled(WrId(1));
    let wqe = [
        [0, 0x12, 0x34, 0x25, 0xc0, 0xff, 0xee, 9, 0, 0, 0, 8, 0x12, 0x34, 0x56, 0x78],
        // Flags, 8 entries; free, rights, key, length.
        [0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0x20, 0x3c, 0x20, 0x01],
        ZERO,
        ZERO,
        // Not free; remote read, local write; any QP, lowest byte of the key.
        [0, 0, 0x18, 0, 0xff, 0xff, 0xff, 0x78, 0, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 8, 9, 0x0a],
        ZERO,
        ZERO,
        [0, 0, 0, 0x80, 0x41, 0x42, 0x43, 0x44, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x28, 0],
    ];
    check::<Rc, _, _>(request, &wqe, false);
}

const fn ctrl(ds: u8) -> [u8; 16] {
    [0, 0x12, 0x34, 0x25, 0xc0, 0xff, 0xee, ds, 0, 0, 0, 8, 0x12, 0x34, 0x56, 0x78]
}

/// Lengths have 64 bits. (libmlx5 44 counts in 32; later releases as here: rdma-core `providers/mlx5/qp.c`,
/// `umr_sg_list_create`, `umr_strided_seg_create`.)
#[test]
fn lists_are_longer_than_four_gibibytes() {
    let umr = [0x80, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0x20, 0, 0x20, 0x01];
    let key = [0, 0, 0, 0, 0xff, 0xff, 0xff, 0x78, 0, 0, 0, 0, 0, 0, 0, 0];
    let piece = Sge { length: MAX_SGE_BYTES, ..PLACE };
    let entry = [0x7f, 0xff, 0xff, 0xff, 0x41, 0x42, 0x43, 0x44, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x28, 0];
    let len = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 0xff, 0xff, 0xfd];
    let wqe = [ctrl(12), umr, ZERO, ZERO, key, len, ZERO, ZERO, entry, entry, entry, ZERO];
    check::<Rc, _, _>(wqe::configure_key(KEY, 4).list(&[piece; 3]).signaled(WrId(1)), &wqe, false);

    let entry = [0x12, 0x34, 0xff, 0xff, 0x41, 0x42, 0x43, 0x44, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x28, 0];
    let strided = Strided { addr: PLACE.addr, bytes: 0xffff, stride: 0x1234, lkey: PLACE.lkey };
    let block = [0, 1, 0xff, 0xfe, 0, 0, 4, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 2];
    // 0x1fffe times 2^32 - 1.
    let len = [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0xfd, 0xff, 0xfe, 0, 2];
    let wqe = [ctrl(12), umr, ZERO, ZERO, key, len, ZERO, ZERO, block, entry, entry, ZERO];
    let strided = [strided; 2];
    let request = wqe::configure_key(KEY, 4).interleaved(u32::MAX, &strided).signaled(WrId(1));
    check::<Rc, _, _>(request, &wqe, false);
}

/// `struct mlx5_klm`.
#[test]
fn an_entry_in_memory_is_length_key_and_address() {
    let entry = [0, 0, 1, 0, 0x41, 0x42, 0x43, 0x44, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x28, 0];
    assert_eq!(PLACE.to_list_entry(), entry);
}

/// Each limit from both sides. (The errors of a device's queue: `tests/verbs/key_lists.rs`.)
#[test]
fn lists_have_the_room_of_their_key() {
    let rig = Rig::new(Setup { wqebbs: 16, ..Setup::default() });
    let mut sq = rig.queue::<Rc>();
    let key = |room| wqe::configure_key(KEY, room);
    let too_long = |entries, limit| Err(EncodeError::KeyListTooLong { entries, limit }.into());
    // SAFETY: no device looks, nor below.
    assert_eq!(unsafe { sq.post_unchecked(&key(2).list(&[PLACE; 3])) }, too_long(3, 2));
    // SAFETY: no device looks.
    assert_eq!(unsafe { sq.post_unchecked(&key(3).list(&[PLACE; 3])) }, Ok(()));
    let mut at = |place, entries, room| {
        // SAFETY: no device looks.
        unsafe { sq.post_unchecked(&key(room).list_at(place, entries, 0x1000)) }
    };
    // The segment counts entries in fours, in 16 bits.
    let large = Sge { length: 0x10_0000, ..PLACE };
    assert_eq!(at(large, 0xfffd, 0xffff), too_long(0xfffd, 0xfffc));
    assert_eq!(at(large, 0xfffc, 0xffff), Ok(()));
    assert_eq!(at(PLACE, 0, 8), Err(EncodeError::KeyListEmpty.into()));
    let cut = EncodeError::KeyListCut { bytes: 0x7f, needed: 0x80 };
    assert_eq!(at(Sge { length: 0x7f, ..PLACE }, 5, 8), Err(cut.into()));
    assert_eq!(at(Sge { length: 0x80, ..PLACE }, 5, 8), Ok(()));
}

/// Its window would have more bytes than a list's entry counts.
#[test]
fn a_window_is_not_longer_than_an_entry() {
    let rig = Rig::new(Setup::default());
    let mut sq = rig.queue::<Rc>();
    let window = Window::Type2 { rkey: KEY, qpn: Qpn::truncate(QPN) };
    let mut bind = |length| {
        let piece = Sge { length, ..PLACE };
        // SAFETY: no device looks.
        unsafe { sq.post_unchecked(&wqe::bind_window(window, KEY, piece, WindowRights::READ)) }
    };
    let limit = MAX_SGE_BYTES;
    assert_eq!(bind(limit + 1), Err(EncodeError::SgeTooLong { bytes: limit + 1, limit }.into()));
    assert_eq!(bind(limit), Ok(()));
}
