//! Changes of memory keys by UMR requests, and refusals.
//!
//! Requests as the decoder gives them belong here, their bytes in `softhca/src/wqe/tests/formats.rs`, and the driver's
//! commands and queues in `softhca/src/firmware/commands/umr_tests`.

use super::{MAX_TRANSLATIONS, Pd, Resources};
use crate::config::{DeviceConfig, Generation, PortConfig};
use crate::context::{Access, KeyPiece, MkeyContext, QpContext, Transport};
use crate::crypto::{Dek, DekInfo, EncryptionFormat, Engine, KeySize, Order, Properties, Unit};
use crate::memory::keys::fault::UmrFault;
use crate::memory::keys::mkey::{Behind, KeyFault, Mkey, Signatures};
use crate::memory::test_memory::BASE;
use crate::memory::{ArrayMemory, CrcKind, Domain, Encryption, KeyList, PageTable, Signature, SignatureFormat};
use crate::wqe::{KeyChange, Umr, UmrList};

const PD: u32 = 1;
const OTHER_PD: u32 = 2;
const QPN: u32 = 0x55;
const OTHER_QPN: u32 = 0x56;
/// Octwords that the list of each key may have.
const ROOM: u32 = 1 << 17;
const ALL: Access = Access { local_write: true, remote_write: true, remote_read: true, remote_atomic: true };

fn resources(generation: Generation) -> Resources {
    let config = DeviceConfig { generation, ..DeviceConfig::with_port(PortConfig::infiniband(1)) };
    let mut resources = Resources::new(&config, Box::new(ArrayMemory::filled(BASE, 0x1000, 0)));
    for pd in [PD, OTHER_PD] {
        resources.pds.insert(pd, Pd { users: 1 });
    }
    resources
}

/// A key of 0x1000 bytes, made as `made` changes it.
fn key(resources: &mut Resources, behind: Behind, made: impl FnOnce(&mut Mkey)) -> u32 {
    let index = resources.mkeys.reserve().unwrap();
    let context = MkeyContext { pd: PD, iova: 0, addr: BASE, len: 0x1000, access: ALL };
    let mkey = Mkey::of_memory(index << 8, context);
    let mut mkey = Mkey { behind, remote_invalidate: false, umr_octwords: Some(ROOM), ..mkey };
    made(&mut mkey);
    resources.translations += mkey.behind.translations();
    resources.mkeys.insert(index, mkey);
    index << 8
}

fn of_pieces(resources: &mut Resources, made: impl FnOnce(&mut Mkey)) -> u32 {
    let list = KeyList::own(vec![KeyPiece { key: 0x100, addr: 0, len: 0x1000 }]);
    key(resources, Behind::Pieces(list), made)
}

/// A request that changes nothing but `change`.
fn umr(key: u32, change: KeyChange) -> Umr {
    Umr {
        key,
        must_be_free: None,
        must_be_of_qp: false,
        change,
        at: 0,
        octwords: 0,
        list: UmrList::Inline(Vec::new()),
        format_octwords: 0,
        signatures: None,
        encryption: None,
    }
}

/// The request with `octwords` octwords of a list inline. They go to octword `at` of the key's list and behind it.
fn with_list(umr: Umr, at: u64, octwords: u16) -> Umr {
    Umr { at, octwords, list: UmrList::Inline(vec![0; 16 * usize::from(octwords)]), ..umr }
}

/// The context of a QP of [`PD`].
fn qp(transport: Transport) -> QpContext {
    QpContext { pd: PD, ..QpContext::new(transport) }
}

fn change(resources: &mut Resources, umr: &Umr) -> Result<(), UmrFault> {
    resources.change_mkey(QPN, &qp(Transport::RegUmr), umr)
}

/// The reason why the key cannot have the new state.
fn refused(resources: &mut Resources, umr: &Umr) -> Option<&'static str> {
    match change(resources, umr) {
        Ok(()) => None,
        Err(UmrFault::Change { what, .. }) => Some(what),
        Err(other) => panic!("{other}"),
    }
}

/// A request may require that the key belong to its own QP (`MLX5_UMR_CHECK_QPN`). A window of type 2 that is bound to
/// no QP fails that check (IBTA vol. 1, o10-37.2.26).
#[test]
fn a_key_of_another_qp_stays_as_it_is() {
    let bound_to = |bound, remote_invalidate, must_be_of_qp| {
        let mut resources = resources(Generation::ConnectX7);
        let key = of_pieces(&mut resources, |mkey| {
            (mkey.qpn, mkey.remote_invalidate) = (bound, remote_invalidate);
        });
        let free = KeyChange { free: Some(true), ..KeyChange::default() };
        let result = change(&mut resources, &Umr { must_be_of_qp, ..umr(key, free) });
        assert_eq!(resources.find_mkey(key).unwrap().free, result.is_ok());
        result.map_err(|fault| match fault {
            UmrFault::Key(KeyFault::WrongQp { bound, .. }) => Some(bound),
            UmrFault::Unbound(_) => None,
            other => panic!("{other}"),
        })
    };
    for (bound, is_window, asked, expected) in [
        (Some(QPN), true, true, Ok(())),
        (Some(OTHER_QPN), true, true, Err(Some(OTHER_QPN))),
        (Some(OTHER_QPN), true, false, Ok(())),
        (None, true, true, Err(None)),
        (None, true, false, Ok(())),
        (None, false, true, Ok(())),
        (None, false, false, Ok(())),
    ] {
        assert_eq!(bound_to(bound, is_window, asked), expected, "{bound:?}, a window: {is_window}, asked: {asked}");
    }
}

#[test]
fn a_key_is_bound_to_the_qp_that_asks_or_to_none() {
    for (qpn, possible) in [(Some(QPN), true), (Some(OTHER_QPN), false), (None, true)] {
        let mut resources = resources(Generation::ConnectX7);
        let key = of_pieces(&mut resources, |mkey| mkey.qpn = Some(QPN));
        let bind = KeyChange { qpn: Some(qpn), ..KeyChange::default() };
        let expected = if possible { Ok(()) } else { Err(UmrFault::OtherQp { key, qpn: OTHER_QPN }) };
        assert_eq!(change(&mut resources, &umr(key, bind)), expected);
        assert_eq!(resources.find_mkey(key).unwrap().qpn, if possible { qpn } else { Some(QPN) });
    }
}

/// Only the driver's own queue gives a key to another protection domain.
#[test]
fn a_user_gives_no_key_to_another_domain() {
    let elsewhere = KeyChange { pd: Some(OTHER_PD), ..KeyChange::default() };
    for (transport, permitted) in [(Transport::RegUmr, true), (Transport::Rc, false)] {
        let mut resources = resources(Generation::ConnectX7);
        let key = of_pieces(&mut resources, |_| {});
        let refusal = UmrFault::NotPermitted { key, what: "another protection domain" };
        let expected = if permitted { Ok(()) } else { Err(refusal) };
        assert_eq!(resources.change_mkey(QPN, &qp(transport), &umr(key, elsewhere)), expected);
        let pd = resources.find_mkey(key).unwrap().context.pd;
        assert_eq!(pd, if permitted { OTHER_PD } else { PD });
        let users = [PD, OTHER_PD].map(|pd| resources.pds.get(pd).unwrap().users);
        assert_eq!(users, if permitted { [0, 2] } else { [1, 1] });
    }
}

fn dek(resources: &mut Resources, pd: u32, tag: Option<[u8; 8]>) -> u32 {
    let number = resources.deks.reserve().unwrap();
    let info = DekInfo { pd, size: KeySize::Bits128, tag, opaque: 0 };
    let engine = Engine::new(KeySize::Bits128, &(0..32).collect::<Vec<u8>>()).unwrap();
    resources.deks.insert(number, Dek { info, engine });
    number
}

const TAG: [u8; 8] = *b"expected";

fn encryption(dek: u32, tag: [u8; 8]) -> EncryptionFormat {
    let first = std::array::from_fn(|n| n as u8 + 1);
    EncryptionFormat { dek, order: Order::WireSignature, unit: Unit::of_selector(2).unwrap(), first, tag }
}

/// A key with room for both formats, which may encrypt.
fn formatted(resources: &mut Resources) -> u32 {
    of_pieces(resources, |mkey| {
        mkey.signatures = Signatures { octwords: 8, ..Signatures::default() };
        mkey.encryption = Some(Encryption::default());
    })
}

/// `bsf_en` says whether formats follow (Linux `set_sig_mkey_segment`, libmlx5 `set_umr_mkey_seg`). A request that leaves
/// it may have them as well (SPDK `mlx5_set_umr_ctrl_seg_mtt`).
#[test]
fn formats_are_there_if_and_only_if_the_key_gets_them() {
    let domain =
        Domain { block: 512, psv: 1, signature: Signature::Crc(CrcKind::Crc32), ones: true, begins_anew: false };
    let signatures = SignatureFormat { memory: Some(domain), wire: None, check: 0xff, copy: 0 };
    for (signs, encrypts, enabled, possible) in [
        (true, false, Some(true), true),
        (false, true, Some(true), true),
        (true, true, Some(true), true),
        (false, false, Some(true), false),
        (true, false, None, true),
        (false, true, None, true),
        (true, true, None, true),
        (true, false, Some(false), false),
        (false, false, Some(false), true),
        (false, false, None, true),
    ] {
        let mut resources = resources(Generation::ConnectX7);
        let key = formatted(&mut resources);
        let dek = dek(&mut resources, PD, None);
        let request = Umr {
            format_octwords: 4 * (u16::from(signs) + u16::from(encrypts)),
            signatures: signs.then_some(signatures),
            encryption: encrypts.then_some(encryption(dek, TAG)),
            ..umr(key, KeyChange { formatted: enabled, ..KeyChange::default() })
        };
        let expected = (!possible).then_some("formats that are there and not enabled, or the other way round");
        assert_eq!(refused(&mut resources, &request), expected, "{signs} {encrypts} {enabled:?}");
        let mkey = resources.find_mkey(key).unwrap();
        assert_eq!(mkey.signatures.format.is_some(), signs && possible);
        assert_eq!(mkey.encryption.as_ref().unwrap().properties.is_some(), encrypts && possible);
    }
}

/// An encryption key belongs to the memory key's domain. If it was made with a tag, the request names that tag (libmlx5
/// `mlx5dv_dek_init_attr`, `mlx5dv_crypto_attr`, `keytag`).
#[test]
fn a_key_encrypts_by_a_key_of_its_domain_and_with_its_tag() {
    const DOMAIN: &str = "a key of encryption that the protection domain does not have";
    const WRONG_TAG: &str = "a tag that is not that of the key of encryption";
    let enabled = KeyChange { formatted: Some(true), ..KeyChange::default() };
    let mut device = resources(Generation::ConnectX7);
    let numbers = [(PD, None), (OTHER_PD, None), (PD, Some(TAG))].map(|(pd, tag)| dek(&mut device, pd, tag));
    let [plain, elsewhere, tagged] = numbers;
    let key = formatted(&mut device);
    let with = |dek, tag| Umr { format_octwords: 4, encryption: Some(encryption(dek, tag)), ..umr(key, enabled) };
    for (dek, tag, expected) in [
        (plain, TAG, None),
        (plain, [0; 8], None),
        (elsewhere, TAG, Some(DOMAIN)),
        (plain + 100, TAG, Some(DOMAIN)),
        (tagged, TAG, None),
        (tagged, *b"Expected", Some(WRONG_TAG)),
    ] {
        assert_eq!(refused(&mut device, &with(dek, tag)), expected, "{dek} {tag:x?}");
    }
    // A key that was not made for it.
    let other = of_pieces(&mut device, |mkey| mkey.signatures.octwords = 8);
    let without = "encryption of a key that was not made for it (crypto_en)";
    assert_eq!(refused(&mut device, &Umr { key: other, ..with(plain, TAG) }), Some(without));
}

/// The number of the first data unit is big endian where an access may have several units
/// (`aes_xts_multi_block_be_tweak`), else little endian. Later requests that say nothing of formats leave it.
#[test]
fn properties_are_the_generation_s_and_stay() {
    for (generation, first, one) in [
        (Generation::ConnectX6Dx, 0x100f_0e0d_0c0b_0a09_0807_0605_0403_0201, true),
        (Generation::ConnectX7, 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10, false),
    ] {
        let mut resources = resources(generation);
        let key = formatted(&mut resources);
        let dek = dek(&mut resources, PD, None);
        let format = encryption(dek, TAG);
        let enabled = KeyChange { formatted: Some(true), ..KeyChange::default() };
        let request = Umr { format_octwords: 4, encryption: Some(format), ..umr(key, enabled) };
        assert_eq!(change(&mut resources, &request), Ok(()));
        let expected = Properties { dek, order: format.order, unit: format.unit, first, one };
        let properties =
            |resources: &Resources| resources.find_mkey(key).unwrap().encryption.as_ref().unwrap().properties;
        assert_eq!(properties(&resources), Some(expected), "{generation:?}");
        let rights = KeyChange { remote_write: Some(false), ..KeyChange::default() };
        assert_eq!(change(&mut resources, &umr(key, rights)), Ok(()));
        assert_eq!(properties(&resources), Some(expected), "{generation:?}");
        let disabled = KeyChange { formatted: Some(false), ..KeyChange::default() };
        assert_eq!(change(&mut resources, &umr(key, disabled)), Ok(()));
        assert_eq!(properties(&resources), None, "{generation:?}");
    }
}

/// A free key gives access to nothing, so its region may be longer than its list. `length64` means all that the list holds.
#[test]
fn a_region_is_as_long_as_its_list_unless_the_key_is_free() {
    let longer = Some("a region that is longer than its list");
    for (free, len, expected) in [
        (Some(false), 0x1000, None),
        (Some(false), 0x1001, longer),
        (Some(false), u64::MAX, None),
        (None, 0x1001, longer),
        (Some(true), 0x1000, None),
        (Some(true), 0x1001, None),
        (Some(true), u64::MAX, None),
    ] {
        let mut resources = resources(Generation::ConnectX7);
        let key = of_pieces(&mut resources, |_| {});
        let request = umr(key, KeyChange { free, len: Some(len), ..KeyChange::default() });
        assert_eq!(refused(&mut resources, &request), expected, "{free:?} {len:#x}");
    }
}

/// `relaxed_ordering_write_umr`: from ConnectX-6 Dx on.
#[test]
fn the_order_is_relaxed_where_the_device_can() {
    let relaxed = KeyChange { relaxed_ordering: Some(true), ..KeyChange::default() };
    for (generation, expected) in [
        (Generation::ConnectX5, Some("relaxed ordering, which a ConnectX-5 does not have")),
        (Generation::ConnectX6Dx, None),
        (Generation::ConnectX7, None),
    ] {
        let mut resources = resources(generation);
        let key = of_pieces(&mut resources, |_| {});
        assert_eq!(refused(&mut resources, &umr(key, relaxed)), expected, "{generation:?}");
    }
}

#[test]
fn a_key_of_memory_itself_has_no_list_and_one_region() {
    const LIST: Option<&str> = Some("a list, which it does not have");
    const REGION: Option<&str> = Some("another region, and it has no list");
    let nothing = KeyChange::default();
    for (octwords, change, expected) in [
        (0, nothing, None),
        (0, KeyChange { free: Some(true), remote_write: Some(false), ..nothing }, None),
        (4, nothing, LIST),
        (0, KeyChange { log_bytes: Some(12), ..nothing }, LIST),
        (4, KeyChange { log_bytes: Some(12), ..nothing }, LIST),
        (0, KeyChange { start: Some(0x1000), ..nothing }, REGION),
        (0, KeyChange { len: Some(0x800), ..nothing }, REGION),
        (0, KeyChange { start: Some(0x1000), len: Some(0x800), ..nothing }, REGION),
    ] {
        let mut resources = resources(Generation::ConnectX7);
        let key = key(&mut resources, Behind::Memory, |_| {});
        let request = with_list(umr(key, change), 0, octwords);
        assert_eq!(refused(&mut resources, &request), expected, "{octwords} {change:?}");
        let context = resources.find_mkey(key).unwrap().context;
        assert_eq!((context.iova, context.len), (0, 0x1000));
    }
}

/// As many pieces as `CREATE_MKEY` takes.
#[test]
fn a_list_has_at_most_65536_pieces() {
    for (at, expected) in [(0, None), (0xfffc, None), (0x1_0000, Some("more than 2^16 pieces"))] {
        let mut resources = resources(Generation::ConnectX7);
        let list = KeyList::Equal { pieces: Vec::new(), log_bytes: 12 };
        let key = key(&mut resources, Behind::Pieces(list), |mkey| mkey.context.len = 0);
        let request = with_list(umr(key, KeyChange::default()), at, 4);
        assert_eq!(refused(&mut resources, &request), expected, "{at:#x}");
    }
}

#[test]
fn pieces_of_one_length_have_up_to_2_gib() {
    const LONGER: Option<&str> = Some("pieces of a length that no piece has");
    for (log, expected) in [(0, None), (31, None), (32, LONGER), (63, LONGER)] {
        let mut resources = resources(Generation::ConnectX7);
        let list = KeyList::Equal { pieces: Vec::new(), log_bytes: 12 };
        let key = key(&mut resources, Behind::Pieces(list), |mkey| mkey.context.len = 0);
        let request = umr(key, KeyChange { log_bytes: Some(log), ..KeyChange::default() });
        assert_eq!(refused(&mut resources, &request), expected, "2^{log} bytes");
    }
}

/// Linux' `MLX5_MKEY_MASK_PAGE_SIZE` changes bits 4 to 0 of the length, and `MLX5_MKEY_MASK_PAGE_SIZE_5` bit 5 alone,
/// where the device has `umr_log_entity_size_5`. Pieces of 2^32 bytes and more are a capability of their own.
#[test]
fn the_highest_bit_of_a_length_is_changed_by_itself() {
    const ABSENT: Option<&str> = Some("bit 5 of the length of pages: not a capability (umr_log_entity_size_5)");
    const LONGER: Option<&str> = Some("pieces of a length that no piece has");
    let lengths = |low, high| KeyChange { log_bytes: low, log_bytes_5: high, ..KeyChange::default() };
    for (generation, change, expected, after) in [
        (Generation::ConnectX7, lengths(Some(20), Some(false)), ABSENT, 12),
        (Generation::ConnectX8, lengths(Some(20), Some(false)), None, 20),
        (Generation::ConnectX8, lengths(None, Some(false)), None, 12),
        (Generation::ConnectX8, lengths(None, Some(true)), LONGER, 12),
        (Generation::ConnectX8, lengths(Some(0), Some(true)), LONGER, 12),
        (Generation::ConnectX8, lengths(Some(20), None), None, 20),
    ] {
        let mut resources = resources(generation);
        let list = KeyList::Equal { pieces: Vec::new(), log_bytes: 12 };
        let key = key(&mut resources, Behind::Pieces(list), |mkey| mkey.context.len = 0);
        assert_eq!(refused(&mut resources, &umr(key, change)), expected, "{generation:?} {change:?}");
        let Behind::Pieces(KeyList::Equal { log_bytes, .. }) = &resources.find_mkey(key).unwrap().behind else {
            panic!("another list")
        };
        assert_eq!(*log_bytes, after, "{generation:?} {change:?}");
    }
}

/// The lists of all keys share the device's memory.
#[test]
fn a_list_grows_as_long_as_there_is_room() {
    for (left, has_room) in [(8, true), (7, false)] {
        let mut resources = resources(Generation::ConnectX7);
        let key = key(&mut resources, Behind::Pages(PageTable::new(Vec::new(), 12)), |mkey| mkey.context.len = 0);
        let before = u64::from(MAX_TRANSLATIONS) - left;
        resources.translations = before;
        // Four octwords are eight pages.
        let grow = with_list(umr(key, KeyChange::default()), 0, 4);
        let expected = if has_room { Ok(()) } else { Err(UmrFault::Full(key)) };
        assert_eq!(change(&mut resources, &grow), expected, "{left}");
        assert_eq!(resources.translations, if has_room { MAX_TRANSLATIONS.into() } else { before });
        // A repeated request takes no more translations.
        assert_eq!(change(&mut resources, &grow), expected, "{left}");
    }
}

/// A request without a list names no place in one.
#[test]
fn the_place_of_no_list_does_not_count() {
    let pages = || Behind::Pages(PageTable::new(vec![BASE], 12));
    let pieces = || Behind::Pieces(KeyList::own(vec![KeyPiece { key: 0x100, addr: 0, len: 0x1000 }]));
    for behind in [pages(), pieces(), Behind::Memory] {
        for at in [ROOM.into(), 0x8000_0000, 1 << 63] {
            let mut resources = resources(Generation::ConnectX7);
            let key = key(&mut resources, behind.clone(), |_| {});
            assert_eq!(change(&mut resources, &with_list(umr(key, KeyChange::default()), at, 0)), Ok(()), "{at:#x}");
        }
    }
}
