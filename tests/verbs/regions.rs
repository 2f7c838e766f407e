//! Registrations beyond the plain ones: changed, on demand, of dma-bufs, in pieces, of device memory, of none.
//!
//! Registrations belong here, pools in `buffer_pools.rs`.

use std::num::NonZeroUsize;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::panic::AssertUnwindSafe;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use blueflame::cq::WcStatus;
use blueflame::memory_polling::InOrder;
use blueflame::transport::Rc;
use blueflame::types::WrId;
use blueflame::verbs::adopt::adopt_pd;
use blueflame::verbs::memory::{Change, InPieces, OnDemandOps, Prefetch, RawMemory};
use blueflame::verbs::{Access, Buffer, CallError, Device, Error, HugeBuffer, Memory, ProtectionDomain};
use blueflame::{Remote, Sge, wqe};
use blueflame_sys as sys;
use memmap2::MmapMut;

use crate::end::{End, connected};
use crate::leaks::refuse_command;
use crate::on_device::device;

pub(crate) const PAGE: usize = 4096;

fn pages(count: usize) -> MmapMut {
    MmapMut::map_anon(count * PAGE).expect("memory")
}

/// Takes all rights away from a page: it cannot be pinned.
fn forbid(memory: &MmapMut, page: usize) {
    // SAFETY: a page of the map, which nobody accesses.
    let done =
        unsafe { libc::mprotect(memory.as_ptr().wrapping_add(page * PAGE).cast_mut().cast(), PAGE, libc::PROT_NONE) };
    assert_eq!(done, 0);
}

/// A connection, and the device and domain that it is of.
struct Line {
    device: Device,
    pd: ProtectionDomain,
    a: End<Rc>,
    b: End<Rc>,
}

impl Line {
    fn new() -> Self {
        let device = device();
        let pd = device.protection_domain().expect("a PD");
        let (a, b) = connected(&device, &pd);
        Self { device, pd, a, b }
    }

    /// Connects anew, after a failure.
    fn renew(&mut self) {
        (self.a, self.b) = connected(&self.device, &self.pd);
    }

    /// WRITEs `bytes` to `remote`.
    fn put(&mut self, remote: Remote, bytes: &[u8]) {
        self.a.buffer.write(0, bytes);
        self.a.post(&wqe::write(remote).gather([self.a.buffer.sge_of(0..bytes.len())]).signaled(WrId(7)));
        assert_eq!(self.a.completion().1, WrId(7));
    }

    /// A WRITE there fails.
    fn refused(&mut self, remote: Remote) {
        self.a.post(&wqe::write(remote).gather([self.a.buffer.sge_of(0..8)]).signaled(WrId(8)));
        assert_eq!(self.a.failure(), WcStatus::RemAccessErr);
        self.renew();
    }

    /// READs the bytes at `remote` into the end's own buffer.
    fn get(&mut self, remote: Remote, len: usize) -> Vec<u8> {
        self.a.buffer.fill(0xee);
        self.a.post(&wqe::read(remote).scatter([self.a.buffer.sge_of(0..len)]).signaled(WrId(9)));
        assert_eq!(self.a.completion().1, WrId(9));
        self.a.bytes(len)
    }

    /// WRITEs the memory of `entries` to the other end. Returns the bytes that have arrived.
    fn gathered(&mut self, entries: &[Sge]) -> Vec<u8> {
        let len = entries.iter().map(|entry| entry.length as usize).sum();
        let to = self.b.buffer.remote();
        // At most one entry a request, as many as queues of these tests have.
        let mut at = 0;
        for entry in entries {
            self.a.post(&wqe::write(to.at(at)).gather([*entry]).signaled(WrId(10)));
            assert_eq!(self.a.completion().1, WrId(10));
            at += u64::from(entry.length);
        }
        self.b.bytes(len)
    }
}

fn read(buffer: &Buffer, len: usize) -> Vec<u8> {
    buffer.to_vec(0..len)
}

#[test]
fn a_part_of_a_buffer_is_copied() {
    let pd = device().protection_domain().expect("a PD");
    let mut buffer = pd.register(pages(1), Access::ALL).expect("registered");
    buffer.write(PAGE - 4, b"last");
    let (copied, end) = (buffer.to_vec(PAGE - 6..PAGE), buffer.to_vec(PAGE..PAGE));
    assert_eq!((&copied[..], &end[..]), (&b"\0\0last"[..], &[][..]));
    let reversed = std::ops::Range { start: 5, end: 4 };
    for range in [PAGE - 1..PAGE + 1, PAGE + 1..PAGE + 1, 0..usize::MAX, reversed] {
        let copied = std::panic::catch_unwind(AssertUnwindSafe(|| buffer.to_vec(range.clone())));
        assert!(copied.is_err(), "{range:?}");
    }
}

#[test]
fn a_registration_is_changed() {
    let mut line = Line::new();
    let mut buffer = line.pd.register(pages(2), Access::REMOTE_WRITE).expect("registered");
    line.put(buffer.remote(), b"first");
    assert_eq!(read(&buffer, 5), b"first");

    // Rights.
    buffer = buffer.reregister(Change::new().access(Access::REMOTE_READ)).expect("other rights");
    assert_eq!(buffer.access(), Access::REMOTE_READ);
    assert_eq!(line.get(buffer.remote(), 5), b"first");
    line.refused(buffer.remote());

    // The domain: another one's queues reach it, and this one's do not.
    let elsewhere = line.device.protection_domain().expect("a PD");
    buffer = buffer
        .reregister(Change::new().domain(&elsewhere).access(Access::REMOTE_WRITE))
        .expect("another domain and other rights");
    line.refused(buffer.remote());
    buffer = buffer.reregister(Change::new().domain(&line.pd)).expect("and back");
    // Kept for as long as the region was its own.
    drop(elsewhere);
    line.put(buffer.remote(), b"again");

    // The memory, larger and smaller. The old one is gone then.
    let dropped = Arc::new(AtomicUsize::new(0));
    for count in [8, 1] {
        let counted = Counted(pages(count), Arc::clone(&dropped));
        buffer = buffer.reregister(Change::new().memory(counted)).expect("other memory");
        assert_eq!(buffer.len(), count * PAGE);
        let end = buffer.len() as u64 - 4;
        line.put(buffer.remote().at(end), b"last");
        let mut last = [0; 4];
        buffer.read(buffer.len() - 4, &mut last);
        assert_eq!(&last, b"last");
        line.refused(buffer.remote().at(end + 1));
    }
    assert_eq!(dropped.load(Ordering::Relaxed), 1, "that of eight pages");
    drop(buffer);
    assert_eq!(dropped.load(Ordering::Relaxed), 2);
}

#[test]
fn what_cannot_change_stays_as_it_was() {
    let mut line = Line::new();
    let buffer = line.pd.register(pages(1), Access::REMOTE_WRITE).expect("registered");
    let mut unchanged = |error: Error, buffer: Option<Buffer>, wanted: Error| {
        assert_eq!(error, wanted);
        let buffer = buffer.expect("as it was");
        line.put(buffer.remote(), b"alive");
        buffer
    };
    let refused = buffer.reregister(Change::new()).expect_err("nothing to do");
    let nothing = Error::OutOfRange { what: "changes of a registration", value: 0, min: 1, max: 3 };
    let buffer = unchanged(refused.error, refused.buffer, nothing);
    // SAFETY: no bytes, of which nobody can make use.
    let empty = unsafe { RawMemory::new(NonNull::dangling(), 0) };
    let refused = buffer.reregister(Change::new().memory(empty)).expect_err("no bytes");
    let none = Error::OutOfRange { what: "bytes of memory to register", value: 0, min: 1, max: isize::MAX as u64 };
    let buffer = unchanged(refused.error, refused.buffer, none);
    let other = device().protection_domain().expect("a PD of another open device");
    let refused = buffer.reregister(Change::new().domain(&other)).expect_err("another device's");
    let foreign = Error::ForeignDevice { object: "memory region", part: "protection domain" };
    let buffer = unchanged(refused.error, refused.buffer, foreign);
    let mut parts = buffer.chunks(PAGE / 2);
    let rest = parts.pop();
    let refused = parts.remove(0).reregister(Change::new().access(Access::LOCAL_READ)).expect_err("one of two");
    let buffer = unchanged(refused.error, refused.buffer, Error::InPieces);
    drop(rest);
    let buffer = buffer.reregister(Change::new().access(Access::ALL)).expect("the only one now");
    assert_eq!(buffer.len(), PAGE / 2);

    // A command that fails: the device's state is unknown then, so the region goes.
    let nowhere = pages(1);
    forbid(&nowhere, 0);
    let refused = buffer.reregister(Change::new().memory(nowhere)).expect_err("no memory");
    assert!(matches!(refused.error, Error::Call(CallError { call: "ibv_rereg_mr", errno: libc::EFAULT })));
    assert!(refused.buffer.is_none());
}

/// The device may know either memory.
#[test]
fn both_memories_stay_if_a_change_fails_and_the_region_cannot_go() {
    let pd = device().protection_domain().expect("a PD");
    let dropped = Arc::new(AtomicUsize::new(0));
    let nowhere = pages(1);
    forbid(&nowhere, 0);
    let [old, new] = [pages(1), nowhere].map(|pages| Counted(pages, Arc::clone(&dropped)));
    let buffer = pd.register(old, Access::ALL).expect("registered");
    // The first command fails by itself.
    refuse_command(2);
    let refused = buffer.reregister(Change::new().memory(new)).expect_err("no memory");
    assert!(refused.buffer.is_none());
    assert_eq!(dropped.load(Ordering::Relaxed), 0);
}

/// Says that it was dropped.
struct Counted(MmapMut, Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: as for the map itself.
unsafe impl Memory for Counted {
    fn range(&mut self) -> (NonNull<u8>, usize) {
        self.0.range()
    }
}

#[test]
fn no_flags_are_polled_in_memory_of_relaxed_ordering() {
    let pd = device().protection_domain().expect("a PD");
    let strict = pd.register(pages(1), Access::REMOTE_WRITE).expect("registered");
    assert!(!strict.polled(0..64, InOrder::assumed()).arrived(1));
    let relaxed = Access::REMOTE_WRITE | Access::RELAXED_ORDERING;
    let mut line = Line::new();
    let relaxed = line.pd.register(pages(1), relaxed).expect("a hint is never refused");
    line.put(relaxed.remote(), b"data");
    assert_eq!(read(&relaxed, 4), b"data");
    let polled = std::panic::catch_unwind(AssertUnwindSafe(|| relaxed.polled(0..64, InOrder::assumed()).arrived(1)));
    assert!(polled.is_err(), "the flag could come first");
}

#[test]
fn memory_is_borrowed_only_where_no_peer_may_write() {
    let pd = device().protection_domain().expect("a PD");
    let mut buffer = pd.register(pages(1), Access::LOCAL_WRITE | Access::REMOTE_READ).expect("registered");
    buffer.write(10, b"received");
    assert_eq!(buffer.bytes(10..18), Ok(&b"received"[..]));
    assert_eq!(buffer.bytes(PAGE..PAGE), Ok(&b""[..]));
    let past = |value, min| Error::OutOfRange { what: "end of a range in a buffer", value, min, max: PAGE as u64 };
    assert_eq!(buffer.bytes(10..PAGE + 1), Err(past(PAGE as u64 + 1, 10)));
    assert_eq!(buffer.try_sge_of(10..PAGE + 1), Err(past(PAGE as u64 + 1, 10)));
    #[expect(clippy::reversed_empty_ranges, reason = "as a peer may name it")]
    let reversed = buffer.try_sge_of(10..9);
    assert_eq!(reversed, Err(past(9, 10)));
    assert_eq!(buffer.try_sge_of(10..PAGE), Ok(buffer.sge_of(10..PAGE)));
    for right in [Access::REMOTE_WRITE, Access::REMOTE_ATOMIC, Access::LOCAL_WRITE | Access::MW_BIND] {
        let Ok(buffer) = pd.register(pages(1), right) else { continue };
        assert_eq!(buffer.bytes(0..1), Err(Error::PeersMayWrite { access: buffer.access() }));
    }
}

#[test]
fn memory_comes_on_demand() {
    let mut line = Line::new();
    let attr = line.device.memory_attr().expect("asked").on_demand;
    if !attr.explicit {
        let error = line.pd.register(pages(1), Access::ALL | Access::ON_DEMAND).expect_err("not on this device");
        assert_eq!(error, Error::Unsupported { what: "registering memory on demand" });
        return;
    }
    assert!(attr.rc.contains(OnDemandOps::SEND) && attr.rc.contains(OnDemandOps::WRITE));
    let memory = pages(64);
    let start = memory.as_ptr();
    let buffer = line.pd.register(memory, Access::ALL | Access::ON_DEMAND).expect("registered");
    assert_eq!(present(start, 64), 0, "nothing was pinned");
    line.put(buffer.remote().at(5 * PAGE as u64), b"here");
    assert_eq!(present(start, 64), 1);
    let mut there = [0; 4];
    buffer.read(5 * PAGE, &mut there);
    assert_eq!(&there, b"here");

    buffer.prefetch(0..4 * PAGE, Prefetch::Present, true).expect("nothing to do");
    assert_eq!(present(start, 64), 1);
    buffer.prefetch(8 * PAGE..16 * PAGE, Prefetch::Read, true).expect("fetched");
    buffer.prefetch(16 * PAGE + 1..32 * PAGE - 1, Prefetch::Write, true).expect("fetched");
    assert_eq!(present(start, 64), 1 + 24);
    buffer.prefetch(0..0, Prefetch::Write, true).expect("no bytes");
    buffer.prefetch(0..PAGE, Prefetch::Read, false).expect("some time");

    let needs = Access::ON_DEMAND;
    let pinned = line.pd.register(pages(1), Access::ALL).expect("registered");
    let error = pinned.prefetch(0..1, Prefetch::Read, true).expect_err("pinned");
    assert_eq!(error, Error::AccessMissing { needs, has: Access::ALL });
    assert!(error.to_string().contains("must permit ON_DEMAND"), "{error}");
    let readable = line.pd.register(pages(1), Access::REMOTE_READ | Access::ON_DEMAND).expect("registered");
    let error = readable.prefetch(0..1, Prefetch::Write, true).expect_err("not to be written");
    assert!(matches!(error, Error::AccessMissing { .. }), "{error}");
}

/// How many pages are present.
fn present(start: *const u8, count: usize) -> usize {
    let map = std::fs::File::open("/proc/self/pagemap").expect("Linux");
    let mut entries = vec![0; count * 8];
    std::os::unix::fs::FileExt::read_exact_at(&map, &mut entries, (start.addr() / PAGE * 8) as u64).expect("entries");
    // Bit 63 of each (Documentation/admin-guide/mm/pagemap.rst).
    entries.chunks(8).filter(|entry| entry[7] & 0x80 != 0).count()
}

#[test]
fn all_memory_has_one_key() {
    let mut line = Line::new();
    // SAFETY: the test names memory of its own, and tells nobody the key.
    let all = unsafe { line.pd.register_address_space(Access::ALL) };
    if !line.device.memory_attr().expect("asked").on_demand.implicit {
        let error = all.expect_err("not on this device");
        assert_eq!(error, Error::Unsupported { what: "registering the whole address space" });
        return;
    }
    let all = all.expect("registered");
    assert!(all.access().contains(Access::ON_DEMAND));
    let (from, to) = (Box::new(*b"from the heap"), pages(3));
    let there = to.as_ptr().wrapping_add(PAGE - 6);
    all.prefetch(to.as_ptr(), 3 * PAGE, Prefetch::Write, true).expect("present");
    line.a.post(&wqe::write(all.remote(there)).gather([all.sge(from.as_ptr(), 13)]).signaled(WrId(1)));
    assert_eq!(line.a.completion().1, WrId(1));
    assert_eq!(to[PAGE - 6..][..13], *b"from the heap");
    drop(to);
    line.refused(all.remote(there));
}

/// A dma-buf of `count` pages. Where the kernel makes none (`/dev/udmabuf`), the memfd itself: the software device
/// takes it in place of one.
pub(crate) fn dmabuf(count: usize) -> (OwnedFd, MmapMut) {
    // SAFETY: a name that is a string; the descriptor is nobody else's.
    let file = unsafe { OwnedFd::from_raw_fd(libc::memfd_create(c"buffer".as_ptr(), libc::MFD_ALLOW_SEALING)) };
    let file = std::fs::File::from(file);
    file.set_len((count * PAGE) as u64).expect("memory");
    // SAFETY: nobody shortens the file.
    let map = unsafe { MmapMut::map_mut(&file) }.expect("mapped");
    (udmabuf(&file, count).unwrap_or_else(|| file.into()), map)
}

/// `UDMABUF_CREATE` of `linux/udmabuf.h`.
fn udmabuf(memory: &std::fs::File, count: usize) -> Option<OwnedFd> {
    use std::os::fd::AsRawFd;
    #[repr(C)]
    struct Create {
        memfd: u32,
        flags: u32,
        offset: u64,
        size: u64,
    }
    const UDMABUF_CREATE: libc::c_ulong = 0x4018_7542;
    let device = std::fs::OpenOptions::new().read(true).write(true).open("/dev/udmabuf").ok()?;
    let create = Create { memfd: memory.as_raw_fd() as u32, flags: 1, offset: 0, size: (count * PAGE) as u64 };
    // SAFETY: open descriptors, and the structure that this call takes.
    let fd = unsafe {
        libc::fcntl(memory.as_raw_fd(), libc::F_ADD_SEALS, libc::F_SEAL_SHRINK);
        libc::ioctl(device.as_raw_fd(), UDMABUF_CREATE, &raw const create)
    };
    // SAFETY: a new descriptor.
    (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) })
}

#[test]
fn a_dmabuf_is_source_and_destination() {
    let mut line = Line::new();
    let (file, map) = dmabuf(4);
    let page = PAGE as u64;
    let region = match line.pd.register_dmabuf(file.as_fd(), page + 16..3 * page, 16, Access::ALL) {
        Err(Error::Unsupported { what: "registering dma-bufs" }) => return,
        other => other.expect("registered"),
    };
    drop(file);
    assert_eq!((region.addr(), region.len()), (16, 2 * page - 16));
    line.put(region.remote().at(8), b"to another device");
    assert_eq!(map[PAGE + 24..][..17], *b"to another device");
    let entry = region.sge_of(11, 14).expect("inside");
    assert_eq!(line.gathered(&[entry]), b"another device");
    assert_eq!((region.sge_of(2 * page - 17, 2), region.sge_of(u64::MAX, 2)), (None, None));
    line.refused(Remote { addr: 0, ..region.remote() });

    let (file, _map) = dmabuf(1);
    let error = |range, iova, access| line.pd.register_dmabuf(file.as_fd(), range, iova, access).expect_err("no");
    assert!(matches!(error(5..5, 0, Access::ALL), Error::OutOfRange { value: 0, .. }));
    assert_eq!(error(0..page, 0, Access::ON_DEMAND), Error::AccessExcess { not: Access::ON_DEMAND });
    for (range, iova) in [(0..2 * page, 0), (0..page, 8)] {
        let invalid = CallError { call: "ibv_reg_dmabuf_mr", errno: libc::EINVAL };
        let error = error(range, iova, Access::ALL);
        assert_eq!(error, Error::Call(invalid));
        assert!(error.to_string().contains("dma-buf"), "{error}");
    }
    let (reader, _writer) = std::io::pipe().expect("a pipe");
    let error = line.pd.register_dmabuf(reader.as_fd(), 0..page, 0, Access::ALL).expect_err("no memory");
    assert!(matches!(error, Error::Call(CallError { errno: libc::EINVAL, .. })), "{error}");
}

fn how(log_piece_bytes: u8, threads: usize) -> InPieces {
    InPieces { log_piece_bytes, threads: NonZeroUsize::new(threads).expect("a thread") }
}

/// As many bytes at `offset` as the entries of the range name, which must be those of the range.
fn check_entries(huge: &HugeBuffer, range: std::ops::Range<usize>, log_piece_bytes: u8) -> Vec<Sge> {
    let entries: Vec<_> = huge.sges(range.clone()).collect();
    let mut at = range.start;
    for entry in &entries {
        let end = at + entry.length as usize;
        assert_eq!(entry.addr, huge.addr() + at as u64);
        assert_eq!(at >> log_piece_bytes, (end - 1) >> log_piece_bytes, "of one piece");
        assert_eq!(huge.keys_at(at).map(|keys| keys.0), Some(entry.lkey));
        at = end;
    }
    assert_eq!(at, range.end.min(huge.len()).max(range.start));
    entries
}

#[test]
fn a_huge_region_is_registered_in_pieces() {
    let mut line = Line::new();
    for (threads, log) in [(1, 12), (4, 12), (3, 13), (64, 14), (2, 30)] {
        let mut huge = line.pd.register_in_pieces(pages(11), Access::ALL, how(log, threads)).expect("registered");
        assert_eq!((huge.len(), huge.pieces()), (11 * PAGE, (11 * PAGE).div_ceil(1 << log)));
        let pattern: Vec<u8> = (0..huge.len()).map(|i| (i / 7) as u8 ^ (i / PAGE) as u8).collect();
        huge.write(0, &pattern);
        for range in [0..1, 0..huge.len(), PAGE - 1..PAGE + 1, 5..5, 3 * PAGE..9 * PAGE, 10 * PAGE + 9..11 * PAGE] {
            let entries = check_entries(&huge, range.clone(), log);
            assert_eq!(line.gathered(&entries), pattern[range.clone()], "{range:?}");
        }
        let end = huge.len();
        check_entries(&huge, end - 1..end + 9, log);
        assert_eq!((huge.sges(end..end + 1).count(), huge.keys_at(1 << 40), huge.remote_at(end)), (0, None, None));
        // Each piece permits its own bytes, by its own key.
        for offset in [0, 4 * PAGE + 17, end - 8] {
            huge.write(0, &pattern);
            let (remote, left) = huge.remote_at(offset).expect("inside");
            assert_eq!(line.get(remote, 8), pattern[offset..offset + 8]);
            line.put(remote.at(left as u64 - 4), b"end!");
            let mut bytes = [0; 4];
            huge.read(offset + left - 4, &mut bytes);
            assert_eq!(&bytes, b"end!");
            line.refused(remote.at(left as u64 - 7));
        }
    }
    for log in [11, 41] {
        let error = line.pd.register_in_pieces(pages(1), Access::ALL, how(log, 1)).expect_err("of that size");
        assert_eq!(
            error,
            Error::OutOfRange { what: "log2 of the bytes of a piece", value: log.into(), min: 12, max: 40 }
        );
    }
}

#[test]
fn a_piece_that_fails_undoes_all() {
    let device = device();
    // SAFETY: the context is open.
    let raw = NonNull::new(unsafe { sys::ibv_alloc_pd(device.as_raw()) }).expect("a PD");
    // SAFETY: alive until it is freed below.
    let pd = unsafe { adopt_pd(raw) }.expect("adopted");
    for (threads, hole) in [(1, 0), (1, 5), (4, 5), (3, 15)] {
        let memory = pages(16);
        forbid(&memory, hole);
        let dropped = Arc::new(AtomicUsize::new(0));
        let counted = Counted(memory, Arc::clone(&dropped));
        let error = pd.register_in_pieces(counted, Access::ALL, how(12, threads)).expect_err("a hole");
        assert_eq!(error, Error::Call(CallError { call: "ibv_reg_mr_iova2", errno: libc::EFAULT }));
        assert_eq!(dropped.load(Ordering::Relaxed), 1, "the memory is free again");
    }
    drop(pd);
    // SAFETY: nothing of it is left; if there were a region, the kernel would say EBUSY.
    assert_eq!(unsafe { sys::ibv_dealloc_pd(raw.as_ptr()) }, 0);
}

#[test]
fn device_memory_is_source_and_destination() {
    let mut line = Line::new();
    let max = line.device.memory_attr().expect("asked").max_device_memory;
    if max == 0 {
        let error = line.device.device_memory(64, 0).expect_err("none on this device");
        assert_eq!(error, Error::Unsupported { what: "device memory" });
        return;
    }
    let memory = line.device.device_memory(4096, 6).expect("device memory");
    let region = line.pd.register_device_memory(&memory, 1024..4096, Access::ALL).expect("registered");
    assert_eq!((memory.len(), region.len(), region.remote().addr), (4096, 3072, 0));
    let pattern: Vec<u8> = (0..3072_u32).map(|i| (i / 3) as u8).collect();
    memory.write(1024, &pattern).expect("written");
    let mut back = vec![0; 3072];
    memory.read(1024, &mut back).expect("read");
    assert_eq!(back, pattern);

    // Posted from it, and WRITEn, READ and counted in it.
    let entry = region.sge_of(100, 2000).expect("inside");
    assert_eq!(line.gathered(&[entry]), pattern[100..2100]);
    line.put(region.remote().at(5), b"from afar");
    assert_eq!(line.get(region.remote().at(4), 10), [&pattern[4..5], b"from afar"].concat());
    memory.write(1024 + 64, &41_u64.to_ne_bytes()).expect("written");
    let (addr, lkey) = (line.a.buffer.addr(), line.a.buffer.lkey());
    line.a.post(&wqe::fetch_add(region.remote().at(64), 1).result(addr, lkey).signaled(WrId(3)));
    assert_eq!(line.a.completion().1, WrId(3));
    let mut count = [0; 8];
    memory.read(1024 + 64, &mut count).expect("read");
    assert_eq!((u64::from_ne_bytes(count), line.a.bytes(8)), (42, 41_u64.to_ne_bytes().to_vec()));
    line.refused(region.remote().at(3072 - 7));
    // A region keeps its memory.
    drop(memory);
    assert_eq!(line.get(region.remote().at(5), 9), b"from afar");
    assert_eq!((region.sge_of(3072, 1), region.sge_of(3072, 0).is_some()), (None, true));
}

#[test]
fn what_device_memory_cannot_do() {
    let line = Line::new();
    let max = line.device.memory_attr().expect("asked").max_device_memory;
    if max == 0 {
        return;
    }
    for bytes in [0, max + 1] {
        let error = line.device.device_memory(bytes, 0).expect_err("out of range");
        assert_eq!(error, Error::OutOfRange { what: "bytes of device memory", value: bytes, min: 1, max });
    }
    let memory = line.device.device_memory(64, 0).expect("device memory");
    for (offset, bytes) in [(2, 4), (4, 3), (64, 4), (68, 0), (u64::MAX, 4), (0, 68)] {
        let error = memory.write(offset, &vec![0; bytes]).expect_err("not there");
        assert!(matches!(error, Error::OutOfRange { .. }), "{error}");
        let error = memory.read(offset, &mut vec![0; bytes]).expect_err("not there");
        assert!(matches!(error, Error::OutOfRange { .. }), "{error}");
    }
    for range in [0..0, 8..8, 0..65, 64..64] {
        let error = line.pd.register_device_memory(&memory, range, Access::ALL).expect_err("not there");
        assert!(matches!(error, Error::OutOfRange { .. }), "{error}");
    }
    let error = line.pd.register_device_memory(&memory, 0..64, Access::ON_DEMAND).expect_err("never");
    assert_eq!(error, Error::AccessExcess { not: Access::ON_DEMAND });
    let other = device().protection_domain().expect("a PD of another open device");
    let error = other.register_device_memory(&memory, 0..64, Access::ALL).expect_err("foreign");
    assert_eq!(error, Error::ForeignDevice { object: "memory region", part: "device memory" });
}

#[test]
fn a_region_without_memory_fills_and_drops() {
    let mut line = Line::new();
    let nothing = line.pd.null_region().expect("a region");
    line.a.buffer.fill(0xaa);
    line.b.buffer.fill(0xbb);
    let some = line.a.buffer.sge_of(0..4);
    let sent = line.gathered(&[some, nothing.sge(100), some]);
    assert_eq!(sent, [&[0xaa; 4][..], &[0; 100], &[0xaa; 4]].concat());
    let there = line.b.buffer.remote();
    line.a.post(&wqe::read(there).scatter([nothing.sge(108)]).signaled(WrId(11)));
    assert_eq!(line.a.completion().1, WrId(11));
    assert_eq!(line.a.bytes(108), [0xaa; 108], "a READ that is dropped");
    // Peers have no key of it.
    line.refused(Remote { addr: 0, rkey: blueflame::types::Rkey(nothing.lkey().0) });
    drop((nothing, line.pd.null_region().expect("another")));
}
