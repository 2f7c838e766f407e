//! Access by indirect keys: pieces, rights at each level, and refusals.

use super::Resources;
use crate::config::{DeviceConfig, Generation, PortConfig};
use crate::context::{Access, KeyPiece, MkeyContext, QpContext, Transport};
use crate::crypto::{Dek, DekInfo, Engine, KeySize, Order, Properties, Unit, Work};
use crate::memory::ArrayMemory;
use crate::memory::Encryption;
use crate::memory::Need;
use crate::memory::keys::fault::{LocalFault, MemcpyFault};
use crate::memory::keys::mkey::{
    Accessor, Behind, DUMP_FILL_KEY, KeyFault, MAX_INDIRECTION, Mkey, NULL_KEY, RESERVED_LKEY,
};
use crate::memory::test_memory::BASE;
use crate::memory::{CrcKind, Domain, Signature, SignatureFormat, Signed};
use crate::memory::{HOST_BYTES, HostMemory, KeyList, PAGE_READ, PAGE_WRITE, PageTable};
use crate::packet::Width;
use crate::resources::Psv;
use crate::wqe::{DataSeg, Memcpy};

const PD: u32 = 3;
const BY: Accessor = Accessor { pd: Some(PD), reserved_lkey: false, qpn: None };
const ALL: Access = Access { local_write: true, remote_write: true, remote_read: true, remote_atomic: true };
const LOCAL: Access = Access { local_write: true, remote_write: false, remote_read: false, remote_atomic: false };

/// Host memory whose byte `n` is `n`.
fn resources() -> Resources {
    let resources = Resources::new(
        &DeviceConfig::with_port(PortConfig::infiniband(1)),
        Box::new(ArrayMemory::filled(BASE, 0x1000, 0)),
    );
    let bytes: Vec<u8> = (0..0x1000).map(|n| n as u8).collect();
    resources.memory.write(BASE, &bytes).unwrap();
    resources
}

type Place = (u64, u64, u64);

fn add(resources: &mut Resources, access: Access, place: Place, behind: Behind) -> u32 {
    let index = resources.mkeys.reserve().unwrap();
    insert(resources, index, access, place, behind)
}

fn insert(resources: &mut Resources, index: u32, access: Access, place: Place, behind: Behind) -> u32 {
    let (iova, addr, len) = place;
    let context = MkeyContext { pd: PD, iova, addr, len, access };
    resources.mkeys.insert(index, Mkey { behind, remote_invalidate: false, ..Mkey::of_memory(index << 8, context) });
    index << 8
}

fn direct(resources: &mut Resources, access: Access) -> u32 {
    add(resources, access, (0, BASE, 0x1000), Behind::Memory)
}

/// The outcome for a peer that reads all of these bytes.
fn check_pieces(resources: &Resources, key: u32, addr: u64, len: u64) -> Result<(), KeyFault> {
    resources.check_by((PD.into(), key, Need::RemoteRead), addr, len)
}

fn piece(key: u32, addr: u64, len: u64) -> KeyPiece {
    KeyPiece { key, addr, len }
}

fn own(resources: &mut Resources, access: Access, pieces: &[KeyPiece]) -> u32 {
    let list = KeyList::own(pieces.to_vec());
    add(resources, access, (0, 0, list.bytes()), Behind::Pieces(list))
}

fn read<const N: usize>(resources: &Resources, key: u32, addr: u64) -> Result<[u8; N], KeyFault> {
    let mut out = [0xee; N];
    resources.remote_read(BY, key, addr, &mut out).map(|()| out)
}

#[test]
fn pieces_are_read_and_written_in_order_and_the_null_key_is_nothing() {
    let mut resources = resources();
    let memory = direct(&mut resources, LOCAL);
    let pieces = [piece(memory, 0x30, 3), piece(NULL_KEY, 7, 2), piece(memory, 0x10, 4)];
    let key = own(&mut resources, ALL, &pieces);
    assert_eq!(read(&resources, key, 1), Ok([0x31, 0x32, 0, 0, 0x10]));
    resources.remote_write(BY, key, 2, &[0xa1, 0xa2, 0xa3, 0xa4]).unwrap();
    assert_eq!(read(&resources, key, 0), Ok([0x30, 0x31, 0xa1, 0, 0, 0xa4, 0x11, 0x12, 0x13]));
    // Local data is gathered and scattered in the same order.
    let seg = [DataSeg { addr: 1, len: 8, lkey: key }];
    let mut out = [0xee; 6];
    resources.gather(BY, &seg, 1, &mut out).unwrap();
    assert_eq!(out, [0xa1, 0, 0, 0xa4, 0x11, 0x12]);
    resources.scatter(BY, &seg, 4, &[0xb1]).unwrap();
    assert_eq!(read(&resources, key, 5), Ok([0xb1]));
    for lkey in [NULL_KEY, DUMP_FILL_KEY] {
        let null = [DataSeg { addr: u64::MAX - 1, len: 4, lkey }];
        resources.scatter(BY, &null, 0, &[1; 4]).unwrap();
        out.fill(0xee);
        resources.gather(BY, &null, 0, &mut out[..4]).unwrap();
        assert_eq!(out, [0, 0, 0, 0, 0xee, 0xee]);
        assert_eq!(read::<1>(&resources, lkey, 0), Err(KeyFault::NoSuch(lkey)), "peers have no such key");
    }
    let key = own(&mut resources, ALL, &[piece(DUMP_FILL_KEY, 0, 2)]);
    assert_eq!(read::<1>(&resources, key, 0), Err(KeyFault::NoSuch(DUMP_FILL_KEY)), "nor have indirect keys");
}

#[test]
fn pieces_of_one_length_may_be_of_indirect_keys() {
    let mut resources = resources();
    let memory = direct(&mut resources, LOCAL);
    let inner = own(&mut resources, LOCAL, &[piece(memory, 0x80, 6), piece(memory, 0x40, 10)]);
    let list = KeyList::Equal { pieces: vec![piece(inner, 8, 0), piece(inner, 0, 0)], log_bytes: 3 };
    // As UCX makes keys for atomics: the region's first address is not its first piece's.
    let key = add(&mut resources, ALL, (0x1000, 0, 16), Behind::Pieces(list));
    assert_eq!(
        read(&resources, key, 0x1004),
        Ok([0x46, 0x47, 0x48, 0x49, 0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x40, 0x41])
    );
    // An atomic takes 8 bytes in one piece of host memory, at a multiple of 8.
    resources.memory.write(BASE + 0x40, &5_u64.to_ne_bytes()).unwrap();
    let list = KeyList::Equal { pieces: vec![piece(memory, 0x40, 0), piece(memory, 0x4c, 0)], log_bytes: 3 };
    let atomic = add(&mut resources, ALL, (0, 0, 16), Behind::Pieces(list));
    assert_eq!(resources.remote_atomic(BY, atomic, (0, Width::Eight), &mut |old| old + 1), Ok(5));
    assert_eq!(resources.remote_atomic(BY, atomic, (0, Width::Eight), &mut |old| old), Ok(6));
    assert_eq!(resources.remote_atomic(BY, atomic, (8, Width::Eight), &mut |old| old), Err(KeyFault::Misaligned(8)));
    assert_eq!(
        resources.remote_atomic(BY, key, (0x1000, Width::Eight), &mut |old| old),
        Err(KeyFault::Misaligned(0x1000))
    );
    let list = KeyList::Equal { pieces: vec![piece(memory, 0x40, 0); 4], log_bytes: 2 };
    let torn = add(&mut resources, ALL, (0, 0, 16), Behind::Pieces(list));
    assert_eq!(resources.remote_atomic(BY, torn, (0, Width::Eight), &mut |old| old), Err(KeyFault::Misaligned(0)));
    // Of 4 bytes, half of a word is in one piece, and the other half stays as it is.
    resources.memory.write(BASE + 0x40, &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    let found = u64::from(u32::from_ne_bytes([1, 2, 3, 4]));
    assert_eq!(resources.remote_atomic(BY, torn, (4, Width::Four), &mut |_| u128::MAX << 16), Ok(found.into()));
    let mut bytes = [0; 8];
    resources.memory.read(BASE + 0x40, &mut bytes).unwrap();
    assert_eq!(bytes[..4], 0xffff_0000_u32.to_ne_bytes());
    assert_eq!(bytes[4..], [5, 6, 7, 8]);
    assert_eq!(resources.remote_atomic(BY, torn, (2, Width::Four), &mut |old| old), Err(KeyFault::Misaligned(2)));
}

#[test]
fn rights_and_domains_are_checked_at_each_level() {
    let mut resources = resources();
    let read_only = direct(&mut resources, Access::default());
    let elsewhere = direct(&mut resources, ALL);
    resources.mkeys.get_mut(elsewhere >> 8).unwrap().context.pd = PD + 1;
    let key = own(&mut resources, ALL, &[piece(read_only, 0, 4), piece(elsewhere, 0, 4)]);
    assert_eq!(read(&resources, key, 0), Ok([0, 1, 2, 3]));
    let fault = KeyFault::NotPermitted { key: read_only, need: Need::LocalWrite };
    assert_eq!(resources.remote_write(BY, key, 0, &[1]), Err(fault));
    let fault = KeyFault::WrongPd { key: elsewhere, found: PD + 1, expected: PD };
    assert_eq!(read::<2>(&resources, key, 3), Err(fault));
    assert_eq!(check_pieces(&resources, key, 0, 8), Err(fault));
    assert_eq!(resources.check_remote(BY, key, 0, 8, Need::RemoteRead), Ok(()), "the key alone");
    let local = own(&mut resources, LOCAL, &[piece(read_only, 0, 4)]);
    let fault = KeyFault::NotPermitted { key: local, need: Need::RemoteRead };
    assert_eq!(read::<1>(&resources, local, 0), Err(fault));
    // Nothing is written if a later piece cannot be.
    let memory = direct(&mut resources, LOCAL);
    let key = own(&mut resources, ALL, &[piece(memory, 0x20, 2), piece(0x7700, 0, 2)]);
    assert_eq!(resources.remote_write(BY, key, 0, &[9; 4]), Err(KeyFault::NoSuch(0x7700)));
    assert_eq!(read(&resources, key, 0), Ok([0x20, 0x21]));
}

#[test]
fn keys_that_lead_to_themselves_or_to_nothing_are_faults() {
    let mut resources = resources();
    let index = resources.mkeys.reserve().unwrap();
    let list = KeyList::own(vec![piece(index << 8, 0, 8)]);
    insert(&mut resources, index, ALL, (0, 0, 8), Behind::Pieces(list));
    assert_eq!(read::<1>(&resources, index << 8, 0), Err(KeyFault::TooIndirect { key: index << 8 }));
    // As many as may be, and one more.
    let mut key = direct(&mut resources, LOCAL);
    for depth in 1..=MAX_INDIRECTION + 1 {
        key = own(&mut resources, ALL, &[piece(key, 0, 8)]);
        assert_eq!(read::<1>(&resources, key, 0).is_ok(), depth <= MAX_INDIRECTION, "{depth}");
    }
    let free = direct(&mut resources, ALL);
    resources.mkeys.get_mut(free >> 8).unwrap().free = true;
    assert_eq!(read::<1>(&resources, free, 0), Err(KeyFault::Free(free)));
    let seg = [DataSeg { addr: 0, len: 8, lkey: free }];
    assert_eq!(resources.gather(BY, &seg, 0, &mut [0]), Err(LocalFault::Key(KeyFault::Free(free))));
    assert_eq!(resources.invalidate(BY, free), Err(KeyFault::NotInvalidated(free)));
}

#[test]
fn pages_are_reached_by_their_table_also_from_an_indirect_key() {
    let mut resources = resources();
    // Pages of the host's memory backwards, of which the last may only be read; the region begins in the first.
    let pages = vec![PAGE_READ | PAGE_WRITE, PAGE_READ].into_iter().map(|rights| BASE + rights).collect();
    let table = Behind::Pages(PageTable::new(pages, 12));
    let key = add(&mut resources, ALL, (0x7ffe, 0, 0x1002), table);
    assert!(matches!(read::<1>(&resources, key, 0x7ffd), Err(KeyFault::OutOfBounds { addr: 0x7ffd, len: 1, .. })));
    assert_eq!(read(&resources, key, 0x7ffe), Ok([0xfe, 0xff, 0, 1]));
    resources.remote_write(BY, key, 0x7fff, &[0x55]).unwrap();
    assert_eq!(read(&resources, key, 0x7fff), Ok([0x55]));
    let fault = KeyFault::NoPage { key, addr: 0x8000, need: Need::RemoteWrite };
    assert_eq!(resources.remote_write(BY, key, 0x7fff, &[9, 9]), Err(fault), "none is written");
    assert_eq!(read(&resources, key, 0x7fff), Ok([0x55]));
    let indirect = own(&mut resources, ALL, &[piece(key, 0x8002, 2), piece(key, 0x7ffe, 2)]);
    assert_eq!(read(&resources, indirect, 1), Ok([3, 0xfe, 0x55]));
    // No table can name the device's own addresses.
    let table = Behind::Pages(PageTable::new(vec![HOST_BYTES | PAGE_READ], 12));
    let outside = add(&mut resources, ALL, (0, 0, 0x1000), table);
    assert!(matches!(read::<1>(&resources, outside, 0), Err(KeyFault::Dma(_))));
}

#[test]
fn the_reserved_key_is_all_memory_for_those_who_have_it() {
    let resources = resources();
    let seg = [DataSeg { addr: BASE + 0x10, len: 4, lkey: RESERVED_LKEY }];
    let mut out = [0; 4];
    assert!(resources.gather(BY, &seg, 0, &mut out).is_err());
    let kernel = Accessor { reserved_lkey: true, ..PD.into() };
    resources.gather(kernel, &seg, 0, &mut out).unwrap();
    assert_eq!(out, [0x10, 0x11, 0x12, 0x13]);
    assert_eq!(resources.remote_read(BY, RESERVED_LKEY, BASE, &mut out), Err(KeyFault::NoSuch(RESERVED_LKEY)));
    let lists = [DataSeg { addr: HOST_BYTES, len: 4, lkey: RESERVED_LKEY }];
    assert!(resources.scatter(kernel, &lists, 0, &out).is_err(), "not the device's own addresses");
}

#[test]
fn more_pieces_than_a_message_can_need_are_a_fault_and_no_delay() {
    let mut resources = resources();
    let memory = direct(&mut resources, LOCAL);
    let tiny = KeyList::Equal { pieces: vec![piece(memory, 0, 0); 1 << 16], log_bytes: 0 };
    let tiny = add(&mut resources, LOCAL, (0, 0, 1 << 16), Behind::Pieces(tiny));
    let large = KeyList::Equal { pieces: vec![piece(tiny, 0, 0); 1 << 16], log_bytes: 16 };
    let key = add(&mut resources, ALL, (0, 0, 1 << 32), Behind::Pieces(large));
    let (addr, len) = (1, 1 << 30);
    assert_eq!(check_pieces(&resources, key, addr, len), Err(KeyFault::TooManyPieces { key, addr, len }));
    assert_eq!(check_pieces(&resources, key, 0, 1 << 16), Ok(()));
}

/// A key of data units with this selector, and with signatures or none.
fn encrypting(
    resources: &mut Resources,
    (order, selector): (Order, u8),
    signatures: Option<SignatureFormat>,
    len: u64,
) -> u32 {
    let key = add(resources, ALL, (0x4000, BASE, len), Behind::Memory);
    let number = resources.deks.reserve().unwrap();
    let info = DekInfo { pd: PD, size: KeySize::Bits128, tag: None, opaque: 0 };
    let engine = Engine::new(KeySize::Bits128, &(0..32).collect::<Vec<u8>>()).unwrap();
    resources.deks.insert(number, Dek { info, engine });
    let unit = Unit::of_selector(selector).unwrap();
    let mkey = resources.mkeys.get_mut(key >> 8).unwrap();
    let mut encryption = Encryption::default();
    encryption.set(Some(Properties { dek: number, order, unit, first: 7, one: false }));
    mkey.encryption = Some(encryption);
    mkey.signatures.format = signatures.map(Signed::new);
    key
}

/// The encrypted units, one after the other.
fn units(data: &[u8], bytes: usize) -> Vec<u8> {
    let engine = Engine::new(KeySize::Bits128, &(0..32).collect::<Vec<u8>>()).unwrap();
    let mut data = data.to_vec();
    for (number, unit) in data.chunks_mut(bytes).enumerate() {
        engine.apply(Work::Encrypt, unit, 7 + number as u128);
    }
    data
}

fn memory(resources: &Resources, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    resources.memory.read(BASE, &mut bytes).unwrap();
    bytes
}

#[test]
fn what_leaves_memory_is_encrypted_and_what_arrives_is_decrypted_in_parts_of_any_length() {
    for order in [Order::RawWire, Order::WireSignature] {
        for part in [1, 7, 16, 256, 1000, 1560] {
            let mut resources = resources();
            let key = encrypting(&mut resources, (order, 2), None, 1560);
            let plain = memory(&resources, 1560);
            let wire = units(&plain, 520);
            let mut read = vec![0; 1560];
            for (n, out) in read.chunks_mut(part).enumerate() {
                resources.remote_read(BY, key, 0x4000 + (n * part) as u64, out).unwrap();
            }
            assert_eq!(read, wire, "parts of {part}");
            resources.memory.write(BASE, &[0; 1560]).unwrap();
            for (n, data) in wire.chunks(part).enumerate() {
                resources.remote_write(BY, key, 0x4000 + (n * part) as u64, data).unwrap();
            }
            assert_eq!(memory(&resources, 1560), plain, "parts of {part}");
        }
    }
}

#[test]
fn what_is_encrypted_in_memory_leaves_it_decrypted() {
    let mut resources = resources();
    let key = encrypting(&mut resources, (Order::MemorySignature, 2), None, 1040);
    let plain: Vec<u8> = (0..1040).map(|n| (n % 251) as u8).collect();
    let seg = [DataSeg { addr: 0x4000, len: 1040, lkey: key }];
    resources.scatter(BY, &seg, 0, &plain).unwrap();
    assert_eq!(memory(&resources, 1040), units(&plain, 520));
    let mut out = vec![0; 1040];
    resources.gather(BY, &seg, 0, &mut out).unwrap();
    assert_eq!(out, plain);
}

/// A READ is answered after the key's first address has become a later one.
#[test]
fn bytes_before_an_encrypting_key_are_outside_of_it() {
    for selector in [1, 2] {
        let mut resources = resources();
        let key = encrypting(&mut resources, (Order::RawWire, selector), None, 1040);
        for (before, len) in [(8, 7), (16, 15), (16, 16), (1, 1), (600, 520), (600, 599)] {
            let read = resources.remote_read(BY, key, 0x4000 - before, &mut vec![0; len]);
            assert!(matches!(read, Err(KeyFault::OutOfBounds { .. })), "{len} bytes at -{before}: {read:?}");
        }
    }
}

#[test]
fn accesses_are_of_whole_units_or_of_blocks_at_their_beginning() {
    let mut resources = resources();
    let key = encrypting(&mut resources, (Order::RawWire, 2), None, 1560);
    for (at, len, need, good) in [
        (0, 1560, Need::RemoteWrite, true),
        (520, 496, Need::RemoteWrite, true),
        (520, 512, Need::RemoteWrite, false),
        (16, 504, Need::RemoteWrite, false),
        // The part that a READ requests again.
        (504, 536, Need::RemoteRead, true),
        (504, 535, Need::RemoteRead, false),
    ] {
        assert_eq!(resources.check_remote(BY, key, 0x4000 + at, len, need).is_ok(), good, "{len} bytes at {at}");
    }
    let seg = |len| [DataSeg { addr: 0x4000, len, lkey: key }];
    assert!(resources.gather(BY, &seg(512), 0, &mut [0; 16]).is_err());
    assert!(resources.gather(BY, &seg(496), 0, &mut [0; 16]).is_ok());
    assert!(resources.check_units(BY, &seg(1560), 512, Need::LocalWrite).is_err());
    assert!(resources.check_units(BY, &seg(1560), 528, Need::LocalWrite).is_err());
    assert!(resources.check_units(BY, &seg(1560), 536, Need::LocalWrite).is_ok());
    // The middle of a block that was not begun.
    assert!(resources.remote_write(BY, key, 0x4000 + 8, &[0; 8]).is_err());
    assert_eq!(resources.remote_atomic(BY, key, (0x4000, Width::Eight), &mut |old| old), Err(KeyFault::Signed(key)));
    // No other key leads to it.
    let outer = own(&mut resources, ALL, &[piece(key, 0x4000, 520)]);
    assert_eq!(check_pieces(&resources, outer, 0, 520), Err(KeyFault::Signed(key)));
    let number = resources.mkeys.get(key >> 8).unwrap().encryption.as_ref().unwrap().properties.unwrap().dek;
    let gone = KeyFault::Encryption { key, what: "its key of encryption is gone" };
    resources.deks.get_mut(number).unwrap().info.pd = PD + 1;
    assert_eq!(resources.check_remote(BY, key, 0x4000, 520, Need::RemoteRead), Err(gone), "another domain's");
    resources.deks.remove(number);
    assert_eq!(resources.check_remote(BY, key, 0x4000, 520, Need::RemoteRead), Err(gone));
    resources.mkeys.get_mut(key >> 8).unwrap().encryption = Some(Encryption::default());
    let without = KeyFault::Encryption { key, what: "nothing says how it encrypts" };
    assert_eq!(resources.check_remote(BY, key, 0x4000, 520, Need::RemoteRead), Err(without));
}

/// Peers cannot fill the device's memory with beginnings of pieces: the ones at the lowest addresses go.
#[test]
fn few_pieces_wait_for_their_rest() {
    let mut resources = resources();
    let key = encrypting(&mut resources, (Order::RawWire, 1), None, 1 << 15);
    for piece in 0..1025 {
        assert_eq!(resources.remote_write(BY, key, 0x4000 + 16 * piece, &[0]), Ok(()));
    }
    let rest = |piece: u64| resources.remote_write(BY, key, 0x4001 + 16 * piece, &[0; 15]).is_ok();
    assert_eq!([0, 1, 2].map(rest), [false, true, true]);
}

/// Rows B, C, H and J of the table of `mlx5dv_wr_set_mkey_crypto`(3), by CRCs of 512 bytes.
#[test]
fn signatures_are_before_or_after_encryption() {
    let plain: Vec<u8> = (0..1024).map(|n| (n * 3 % 253) as u8).collect();
    let domain =
        Domain { block: 512, psv: 1, signature: Signature::Crc(CrcKind::Crc64), ones: true, begins_anew: false };
    let signed = |data: &[u8]| -> Vec<u8> {
        let blocks = data.chunks(512).enumerate();
        blocks.flat_map(|(n, data)| [data, &domain.of(n as u64, data).to_le_bytes()].concat()).collect()
    };
    let format = |memory, wire| SignatureFormat { memory, wire, check: 0xff, copy: 0 };
    let (in_memory, on_wire) = (format(Some(domain), None), format(None, Some(domain)));
    let of_1024 = units(&plain, 512);
    // The last are whether accesses of 512 and of 520 bytes are possible: of any length, unless the wire has the data
    // units.
    for (row, order, selector, format, in_memory, wire, possible) in [
        ("B", Order::RawWire, 1, on_wire, plain.clone(), signed(&of_1024), [true, true]),
        ("C", Order::WireSignature, 2, on_wire, plain.clone(), units(&signed(&plain), 520), [false, true]),
        ("H", Order::MemorySignature, 2, in_memory, units(&signed(&plain), 520), plain.clone(), [true, true]),
        ("J", Order::RawMemory, 1, in_memory, signed(&of_1024), plain.clone(), [true, false]),
    ] {
        let mut resources = resources();
        resources.psvs.insert(1, Psv { pd: PD, value: Some(domain.initial()) });
        let key = encrypting(&mut resources, (order, selector), Some(format), in_memory.len() as u64);
        resources.memory.write(BASE, &in_memory).unwrap();
        for part in [1, 100, 256, wire.len()] {
            let mut out = vec![0; wire.len()];
            for (n, out) in out.chunks_mut(part).enumerate() {
                resources.remote_read(BY, key, 0x4000 + (n * part) as u64, out).unwrap();
            }
            assert_eq!(out, wire, "row {row}, parts of {part}");
        }
        resources.memory.write(BASE, &[0; 1040]).unwrap();
        for (n, data) in wire.chunks(256).enumerate() {
            resources.remote_write(BY, key, 0x4000 + (n * 256) as u64, data).unwrap();
        }
        assert_eq!(memory(&resources, in_memory.len()), in_memory, "row {row}");
        assert_eq!(resources.signature_errors.borrow().len(), 0, "row {row}");
        let check = |len| resources.check_remote(BY, key, 0x4000, len, Need::RemoteRead).is_ok();
        assert_eq!([512, 520].map(check), possible, "row {row}");
    }
}

/// The format of a key names the signature value, which belongs to the key's protection domain.
#[test]
fn signature_values_are_those_of_the_format_and_of_the_domain() {
    let mut resources = resources();
    let domain =
        Domain { block: 512, psv: 1, signature: Signature::Crc(CrcKind::Crc32), ones: true, begins_anew: false };
    let key = direct(&mut resources, ALL);
    let format = SignatureFormat { memory: None, wire: Some(domain), check: 0xff, copy: 0 };
    resources.mkeys.get_mut(key >> 8).unwrap().signatures.format = Some(Signed::new(format));
    let expected = domain.initial();
    let fault = |found| KeyFault::SignatureValue { key, psv: 1, found, expected };
    let check = |resources: &Resources| resources.check_remote(BY, key, 0, 512, Need::RemoteRead);
    assert_eq!(check(&resources), Err(fault(None)), "it is not there");
    for (pd, value, found) in [
        (PD, None, Err(fault(None))),
        (PD, Some(expected ^ 1), Err(fault(Some(expected ^ 1)))),
        (PD + 1, Some(expected), Err(fault(None))),
        (PD, Some(expected), Ok(())),
    ] {
        resources.psvs.insert(1, Psv { pd, value });
        assert_eq!(check(&resources), found, "{pd} {value:x?}");
    }
    let of_pd = |pd| QpContext { pd, ..QpContext::new(Transport::Rc) };
    for (pd, psv) in [(PD + 1, 1), (PD, 2)] {
        assert!(resources.set_psv(&of_pd(pd), psv, 0).is_err());
    }
    assert_eq!(check(&resources), Ok(()));
    resources.set_psv(&of_pd(PD), 1, expected ^ 2).unwrap();
    assert_eq!(check(&resources), Err(fault(Some(expected ^ 2))));
}

/// SPDK computes a CRC so: it READs data and CRC into memory (`module/accel/mlx5/accel_mlx5.c`,
/// `accel_mlx5_crc_task_process_one_req`). It sets no signature value first.
#[test]
fn a_transaction_makes_its_crc_whatever_the_signature_value_has() {
    let mut resources = resources();
    let key = direct(&mut resources, ALL);
    let signature = Signature::Crc(CrcKind::Crc32c);
    let domain = Domain { block: 9, psv: 1, signature, ones: true, begins_anew: true };
    let format = SignatureFormat { memory: None, wire: Some(domain), check: 0xff, copy: 0 };
    resources.mkeys.get_mut(key >> 8).unwrap().signatures.format = Some(Signed::new(format));
    let fault = KeyFault::SignatureValue { key, psv: 1, found: None, expected: domain.initial() };
    assert_eq!(read::<13>(&resources, key, 0), Err(fault), "it is not there");
    resources.psvs.insert(1, Psv { pd: PD + 1, value: Some(0) });
    assert_eq!(read::<13>(&resources, key, 0), Err(fault), "it belongs to another protection domain");
    resources.memory.write(BASE, b"123456789").unwrap();
    for value in [None, Some(0)] {
        resources.psvs.insert(1, Psv { pd: PD, value });
        // The check value of the catalogue of CRCs, its lowest byte first.
        assert_eq!(read::<13>(&resources, key, 0), Ok(*b"123456789\x83\x92\x06\xe3"), "{value:?}");
    }
}

/// The lowest byte of a key is the driver's to choose: a key with another one does not exist (IBTA vol. 1, 10.6.3).
#[test]
fn keys_are_named_whole() {
    let mut resources = resources();
    let key = encrypting(&mut resources, (Order::RawWire, 1), None, 1024);
    assert!(read::<16>(&resources, key, 0x4000).is_ok());
    assert_eq!(read::<16>(&resources, key + 1, 0x4000), Err(KeyFault::NoSuch(key + 1)));
    let key = direct(&mut resources, ALL);
    resources.mkeys.get_mut(key >> 8).unwrap().remote_invalidate = true;
    assert_eq!(resources.invalidate(BY, key + 1), Err(KeyFault::NoSuch(key + 1)));
    assert!(read::<1>(&resources, key, 0).is_ok(), "it is not invalidated");
    assert_eq!(resources.invalidate(BY, key), Ok(()));
    assert_eq!(read::<1>(&resources, key, 0), Err(KeyFault::Free(key)));
}

/// Segments without bytes of the data may have any key.
#[test]
fn segments_without_a_part_of_the_data_are_not_looked_at() {
    let mut resources = resources();
    let memory = direct(&mut resources, LOCAL);
    let unset = encrypting(&mut resources, (Order::RawWire, 1), None, 1024);
    resources.mkeys.get_mut(unset >> 8).unwrap().encryption = Some(Encryption::default());
    let seg = |lkey, len| DataSeg { addr: 0x10, len, lkey };
    let segs = [seg(0x7700, 8), seg(memory, 4), seg(0x7800, 8)];
    let mut out = [0; 4];
    assert_eq!(resources.gather(BY, &segs, 8, &mut out), Ok(()));
    assert_eq!(out, [0x10, 0x11, 0x12, 0x13]);
    assert_eq!(resources.scatter(BY, &segs, 8, &[1, 2, 3, 4]), Ok(()));
    let segs = [seg(memory, 8), seg(unset, 16)];
    assert_eq!(resources.check_units(BY, &segs, 8, Need::LocalWrite), Ok(()));
    assert!(resources.check_units(BY, &segs, 9, Need::LocalWrite).is_err());
    let segs = [seg(memory, 4); 2];
    let fault = |offset, len| Err(LocalFault::TooShort { offset, len, capacity: 8 });
    for (offset, len, expected) in [(0, 8, Ok(())), (0, 9, fault(0, 9)), (7, 1, Ok(())), (8, 1, fault(8, 1))] {
        assert_eq!(resources.gather(BY, &segs, offset, &mut vec![0; len as usize]), expected);
        assert_eq!(resources.scatter(BY, &segs, offset, &vec![0; len as usize]), expected);
    }
}

/// Formats count the bytes of a region in few bits: no key that has one reaches further, however long it is.
#[test]
fn a_format_ends_where_its_count_does() {
    const END: u64 = 1 << 33;
    let mut resources = resources();
    let domain =
        Domain { block: 512, psv: 1, signature: Signature::Crc(CrcKind::Crc64), ones: true, begins_anew: false };
    resources.psvs.insert(1, Psv { pd: PD, value: Some(domain.initial()) });
    let format = SignatureFormat { memory: Some(domain), wire: None, check: 0xff, copy: 0 };
    let key = add(&mut resources, ALL, (0, 0, u64::MAX), Behind::Memory);
    resources.mkeys.get_mut(key >> 8).unwrap().signatures.format = Some(Signed::new(format));
    for (addr, len, is_there) in [(END - 512, 511, true), (END - 512, 512, false), (1 << 63, 512, false)] {
        let expected =
            if is_there { Ok(()) } else { Err(KeyFault::OutOfBounds { key, addr, len, start: 0, size: u64::MAX }) };
        assert_eq!(resources.check_remote(BY, key, addr, len, Need::RemoteRead), expected, "{addr:#x}");
    }
}

/// `log_dma_mmo_max_size` is 21.
#[test]
fn a_copy_has_at_most_two_mebibytes() {
    let mut resources = resources();
    resources.generation = Generation::ConnectX7;
    let null = |len| DataSeg { addr: 0, len, lkey: NULL_KEY };
    let qp = QpContext { pd: PD, ..QpContext::new(Transport::Rc) };
    for (len, expected) in
        [(1 << 21, Ok(())), ((1 << 21) + 1, Err(MemcpyFault::Length { len: (1 << 21) + 1, limit: 1 << 21 }))]
    {
        let copy = Memcpy { scratch_lkey: NULL_KEY, scratch_addr: 0, from: null(len), to: null(len) };
        assert_eq!(resources.memcpy(&qp, true, &copy), expected);
    }
}

#[test]
fn an_atomic_of_the_null_key_finds_zero() {
    let mut resources = resources();
    let key = own(&mut resources, ALL, &[piece(NULL_KEY, 0, 64)]);
    let atomic = |addr, width| resources.remote_atomic(BY, key, (addr, width), &mut |old| old + 1);
    for _ in 0..2 {
        assert_eq!((atomic(8, Width::Eight), atomic(4, Width::Four)), (Ok(0), Ok(0)));
    }
    assert!(atomic(4, Width::Eight).is_err() && atomic(2, Width::Four).is_err());
}
