//! Access by indirect keys: pieces, rights at each level, and what is refused.

use super::Resources;
use super::access::LocalFault;
use crate::config::{DeviceConfig, PortConfig};
use crate::context::{Access, KeyPiece, MkeyContext};
use crate::memory::Need;
use crate::memory::mkey::{Accessor, Behind, KeyFault, MAX_INDIRECTION, Mkey, NULL_KEY, RESERVED_LKEY, Signatures};
use crate::memory::test_memory::{BASE, TestMemory};
use crate::memory::{HOST_BYTES, HostMemory, KeyList, PAGE_READ, PAGE_WRITE, PageTable};
use crate::packet::Width;
use crate::wqe::DataSeg;

const PD: u32 = 3;
const ALL: Access = Access { local_write: true, remote_write: true, remote_read: true, remote_atomic: true };
const LOCAL: Access = Access { local_write: true, remote_write: false, remote_read: false, remote_atomic: false };

/// Host memory whose byte `n` is `n`.
fn resources() -> Resources {
    let resources =
        Resources::new(&DeviceConfig::with_port(PortConfig::infiniband(1)), Box::new(TestMemory::filled(0x1000, 0)));
    let bytes: Vec<u8> = (0..0x1000).map(|n| n as u8).collect();
    resources.memory.write(BASE, &bytes).unwrap();
    resources
}

fn add(resources: &mut Resources, access: Access, (iova, addr, len): (u64, u64, u64), behind: Behind) -> u32 {
    let index = resources.mkeys.reserve().unwrap();
    let context = MkeyContext { pd: PD, iova, addr, len, access };
    resources.mkeys.insert(
        index,
        Mkey {
            key: index << 8,
            context,
            behind,
            remote_invalidate: false,
            qpn: None,
            free: false,
            umr_octwords: None,
            signatures: Signatures::default(),
        },
    );
    index << 8
}

fn direct(resources: &mut Resources, access: Access) -> u32 {
    add(resources, access, (0, BASE, 0x1000), Behind::Memory)
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
    resources.remote_read(PD, key, addr, &mut out).map(|()| out)
}

#[test]
fn pieces_are_read_and_written_in_order_and_the_null_key_is_nothing() {
    let mut resources = resources();
    let memory = direct(&mut resources, LOCAL);
    let pieces = [piece(memory, 0x30, 3), piece(NULL_KEY, 7, 2), piece(memory, 0x10, 4)];
    let key = own(&mut resources, ALL, &pieces);
    assert_eq!(read(&resources, key, 1), Ok([0x31, 0x32, 0, 0, 0x10]));
    resources.remote_write(PD, key, 2, &[0xa1, 0xa2, 0xa3, 0xa4]).unwrap();
    assert_eq!(read(&resources, key, 0), Ok([0x30, 0x31, 0xa1, 0, 0, 0xa4, 0x11, 0x12, 0x13]));
    // The same for local data.
    let seg = [DataSeg { addr: 1, len: 8, lkey: key }];
    let mut out = [0xee; 6];
    resources.gather(PD, &seg, 1, &mut out).unwrap();
    assert_eq!(out, [0xa1, 0, 0, 0xa4, 0x11, 0x12]);
    resources.scatter(PD, &seg, 4, &[0xb1]).unwrap();
    assert_eq!(read(&resources, key, 5), Ok([0xb1]));
    let null = [DataSeg { addr: u64::MAX - 1, len: 4, lkey: NULL_KEY }];
    resources.scatter(PD, &null, 0, &[1; 4]).unwrap();
    resources.gather(PD, &null, 0, &mut out[..4]).unwrap();
    assert_eq!(out[..4], [0; 4]);
    assert_eq!(read::<1>(&resources, NULL_KEY, 0), Err(KeyFault::NoSuch(NULL_KEY)), "peers have no null key");
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
    // 8 bytes in one piece of host memory, at a multiple of 8, are what an atomic can have.
    resources.memory.write(BASE + 0x40, &5_u64.to_ne_bytes()).unwrap();
    let list = KeyList::Equal { pieces: vec![piece(memory, 0x40, 0), piece(memory, 0x4c, 0)], log_bytes: 3 };
    let atomic = add(&mut resources, ALL, (0, 0, 16), Behind::Pieces(list));
    assert_eq!(resources.remote_atomic(PD, atomic, (0, Width::Eight), &mut |old| old + 1), Ok(5));
    assert_eq!(resources.remote_atomic(PD, atomic, (0, Width::Eight), &mut |old| old), Ok(6));
    assert_eq!(resources.remote_atomic(PD, atomic, (8, Width::Eight), &mut |old| old), Err(KeyFault::Misaligned(8)));
    assert_eq!(
        resources.remote_atomic(PD, key, (0x1000, Width::Eight), &mut |old| old),
        Err(KeyFault::Misaligned(0x1000))
    );
    let list = KeyList::Equal { pieces: vec![piece(memory, 0x40, 0); 4], log_bytes: 2 };
    let torn = add(&mut resources, ALL, (0, 0, 16), Behind::Pieces(list));
    assert_eq!(resources.remote_atomic(PD, torn, (0, Width::Eight), &mut |old| old), Err(KeyFault::Misaligned(0)));
    // Of 4 bytes, half of a word is in one piece, and the other half stays as it is.
    resources.memory.write(BASE + 0x40, &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    let found = u64::from(u32::from_ne_bytes([1, 2, 3, 4]));
    assert_eq!(resources.remote_atomic(PD, torn, (4, Width::Four), &mut |_| u64::MAX << 16), Ok(found));
    let mut bytes = [0; 8];
    resources.memory.read(BASE + 0x40, &mut bytes).unwrap();
    assert_eq!(bytes[..4], 0xffff_0000_u32.to_ne_bytes());
    assert_eq!(bytes[4..], [5, 6, 7, 8]);
    assert_eq!(resources.remote_atomic(PD, torn, (2, Width::Four), &mut |old| old), Err(KeyFault::Misaligned(2)));
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
    assert_eq!(resources.remote_write(PD, key, 0, &[1]), Err(fault));
    let fault = KeyFault::WrongPd { key: elsewhere, found: PD + 1, expected: PD };
    assert_eq!(read::<2>(&resources, key, 3), Err(fault));
    assert_eq!(resources.check_remote(PD, key, 0, 8, Need::RemoteRead), Err(fault));
    let local = own(&mut resources, LOCAL, &[piece(read_only, 0, 4)]);
    let fault = KeyFault::NotPermitted { key: local, need: Need::RemoteRead };
    assert_eq!(read::<1>(&resources, local, 0), Err(fault));
    // Nothing is written if a later piece cannot be.
    let memory = direct(&mut resources, LOCAL);
    let key = own(&mut resources, ALL, &[piece(memory, 0x20, 2), piece(0x7700, 0, 2)]);
    assert_eq!(resources.remote_write(PD, key, 0, &[9; 4]), Err(KeyFault::NoSuch(0x7700)));
    assert_eq!(read(&resources, key, 0), Ok([0x20, 0x21]));
}

#[test]
fn keys_that_lead_to_themselves_or_to_nothing_are_faults() {
    let mut resources = resources();
    let index = resources.mkeys.reserve().unwrap();
    let list = KeyList::own(vec![piece(index << 8, 0, 8)]);
    let context = MkeyContext { pd: PD, iova: 0, addr: 0, len: 8, access: ALL };
    let behind = Behind::Pieces(list);
    resources.mkeys.insert(
        index,
        Mkey {
            key: index << 8,
            context,
            behind,
            remote_invalidate: false,
            qpn: None,
            free: false,
            umr_octwords: None,
            signatures: Signatures::default(),
        },
    );
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
    assert_eq!(resources.gather(PD, &seg, 0, &mut [0]), Err(LocalFault::Key(KeyFault::Free(free))));
    assert_eq!(resources.invalidate(PD, free), Err(KeyFault::NotInvalidated(free)));
}

#[test]
fn pages_are_reached_by_their_table_also_from_an_indirect_key() {
    let mut resources = resources();
    // Pages of the host's memory backwards, of which the last may only be read; the region begins in the first.
    let pages = vec![PAGE_READ | PAGE_WRITE, PAGE_READ].into_iter().map(|rights| BASE + rights).collect();
    let table = Behind::Pages(PageTable::new(pages, 12));
    let key = add(&mut resources, ALL, (0x7ffe, 0, 0x1002), table);
    assert_eq!(read(&resources, key, 0x7ffd), Err::<[u8; 1], _>(KeyFault::OutOfBounds { key, addr: 0x7ffd, len: 1 }));
    assert_eq!(read(&resources, key, 0x7ffe), Ok([0xfe, 0xff, 0, 1]));
    resources.remote_write(PD, key, 0x7fff, &[0x55]).unwrap();
    assert_eq!(read(&resources, key, 0x7fff), Ok([0x55]));
    let fault = KeyFault::NoPage { key, addr: 0x8000, need: Need::RemoteWrite };
    assert_eq!(resources.remote_write(PD, key, 0x7fff, &[9, 9]), Err(fault), "none is written");
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
    assert!(resources.gather(PD, &seg, 0, &mut out).is_err());
    let kernel = Accessor { reserved_lkey: true, ..PD.into() };
    resources.gather(kernel, &seg, 0, &mut out).unwrap();
    assert_eq!(out, [0x10, 0x11, 0x12, 0x13]);
    assert_eq!(resources.remote_read(PD, RESERVED_LKEY, BASE, &mut out), Err(KeyFault::NoSuch(RESERVED_LKEY)));
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
    assert_eq!(
        resources.check_remote(PD, key, addr, len, Need::RemoteRead),
        Err(KeyFault::TooManyPieces { key, addr, len })
    );
    assert_eq!(resources.check_remote(PD, key, 0, 1 << 16, Need::RemoteRead), Ok(()));
}
