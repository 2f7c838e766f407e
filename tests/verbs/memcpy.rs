//! Copies that the device makes: the data, its destination, and refused copies. Devices of older generations make none.
//!
//! Copies on a device belong here, bytes of their requests in `tests/send_queue/memcpy.rs`.

use blueflame::cq::{Side, WcStatus};
use blueflame::queue::PostError;
use blueflame::transport::{Dci, Rc};
use blueflame::types::WrId;
use blueflame::verbs::memory::Copier;
use blueflame::verbs::{Access, Buffer, Device, Error, ProtectionDomain, VerbsTransport};
use blueflame::wqe::operations::Opaque;
use blueflame::wqe::{self, EncodeError, Fence, Sge, SupportedOn};
use memmap2::MmapMut;

use crate::end::{End, connect};
use crate::on_device::device;

/// Who copies.
struct Line<T: VerbsTransport> {
    device: Device,
    pd: ProtectionDomain,
    copier: Copier,
    end: End<T>,
    memory: Buffer,
}

/// Byte `n` of the memory.
fn byte(n: usize) -> u8 {
    (n ^ n >> 8 ^ n >> 16) as u8
}

/// A queue pair that copies. `None` on a device that does not, which says so.
fn pair<T: VerbsTransport>(device: &Device, pd: &ProtectionDomain) -> Option<End<T>>
where
    wqe::operations::Memcpy: SupportedOn<T>,
{
    let cq = device.completion_queue(257).build().expect("a completion queue");
    let built = pd.queue_pair::<T>(&cq, &cq).sends(16).memcpy(true).build();
    if device.attr().max_memcpy != 0 {
        return Some(End::new(pd, cq, built.expect("a queue pair")));
    }
    assert!(matches!(built, Err(Error::Unsupported { what: "copies of memory (DMA MMO)" })));
    assert!(matches!(pd.copier(), Err(Error::Unsupported { what: "copies of memory (DMA MMO)" })));
    None
}

impl<T: VerbsTransport> Line<T>
where
    wqe::operations::Memcpy: SupportedOn<T>,
{
    fn new(ready: impl Fn(&Device, &ProtectionDomain, End<T>) -> End<T>) -> Option<Self> {
        let device = device();
        let pd = device.protection_domain().expect("a PD");
        let end = ready(&device, &pd, pair(&device, &pd)?);
        let copier = pd.copier().expect("it copies");
        assert_eq!(copier.max_bytes(), device.attr().max_memcpy);
        let bytes = 2 * copier.max_bytes() as usize + 4096;
        let mut memory = pd.register(MmapMut::map_anon(bytes).expect("memory"), Access::ALL).expect("registered");
        memory.write(0, &(0..bytes).map(byte).collect::<Vec<_>>());
        Some(Self { device, pd, copier, end, memory })
    }

    fn at(&self, offset: usize, len: usize) -> Vec<u8> {
        self.memory.to_vec(offset..offset + len)
    }

    /// Copies within the memory, and waits.
    fn copy(&mut self, from: usize, to: usize, len: usize) {
        let request =
            self.copier.copy(self.memory.sge_of(from..from + len), self.memory.addr() + to as u64, self.memory.lkey());
        self.end.post(&request.signaled(WrId(7)));
        assert_eq!(self.end.completion(), (Side::Requester, WrId(7), len as u32));
    }

    fn refused(&mut self, request: (Sge, u64, blueflame::Lkey), opaque: Opaque) {
        self.end.post(&wqe::memcpy(opaque, request.0, request.1, request.2).signaled(WrId(8)));
        assert_eq!(self.end.failure(), WcStatus::LocProtErr);
    }
}

/// Connected to a queue pair that is dropped at once: a copy needs no peer.
fn alone(device: &Device, pd: &ProtectionDomain, mut end: End<Rc>) -> End<Rc> {
    let mut peer = pair(device, pd).expect("as the first");
    connect(device, &mut end.pair, &mut peer.pair);
    end
}

#[test]
fn memory_is_copied_with_no_peer() {
    let Some(mut line) = Line::<Rc>::new(alone) else { return };
    let max = line.copier.max_bytes() as usize;
    for (from, to, len) in [(0, max, 1), (3, max + 4093, 4100), (1, max + 4096, max), (max, 5, 63)] {
        let expected = line.at(from, len);
        let (before, after) = (line.at(to - 1, 1), line.at(to + len, usize::from(to + len < line.memory.len())));
        line.copy(from, to, len);
        assert_eq!(line.at(to, len), expected);
        assert_eq!((line.at(to - 1, 1), line.at(to + len, after.len())), (before, after), "what is beside it");
    }
    // The copied data, and its second copy.
    let (lkey, base) = (line.memory.lkey(), line.memory.addr());
    line.memory.write(0, b"twice");
    line.end.post(&line.copier.copy(line.memory.sge_of(0..5), base + 100, lkey));
    let second = line.copier.copy(line.memory.sge_of(100..105), base + 200, lkey);
    line.end.post(&second.fence(Fence::SmallAndReads).signaled(WrId(9)));
    assert_eq!(line.end.completion().1, WrId(9));
    assert_eq!(line.at(200, 5), b"twice");
    // Lengths.
    for bytes in [0, max as u32 + 1] {
        let from = Sge { length: bytes, ..line.memory.sge_of(0..1) };
        // SAFETY: it is refused.
        let refused = unsafe { line.end.sq.post_unchecked(&line.copier.copy(from, base, lkey)) };
        let limit = max as u32;
        assert_eq!(refused, Err(PostError::Encode(EncodeError::MemcpySize { bytes, limit })));
    }
    // The device knows its limit, too.
    let opaque = Opaque { max_bytes: 1 << 31, ..line.copier.opaque() };
    let from = Sge { length: max as u32 + 1, ..line.memory.sge_of(0..1) };
    line.end.post(&wqe::memcpy(opaque, from, base, lkey).signaled(WrId(8)));
    assert_eq!(line.end.failure(), WcStatus::LocLenErr);
}

#[test]
fn initiators_copy() {
    let ready = |device: &Device, _: &ProtectionDomain, mut end: End<Dci>| {
        end.activate(&device.path(1, None).expect("a path")).expect("RTS");
        end
    };
    let Some(mut line) = Line::<Dci>::new(ready) else { return };
    let expected = line.at(17, 5000);
    line.copy(17, 10_001, 5000);
    assert_eq!(line.at(10_001, 5000), expected);
}

#[test]
fn keys_must_permit_it() {
    let Some(mut line) = Line::<Rc>::new(alone) else { return };
    let other = line.device.protection_domain().expect("a PD");
    let register = |pd: &ProtectionDomain, access| {
        pd.register(MmapMut::map_anon(4096).expect("memory"), access).expect("registered")
    };
    let (foreign, read_only) = (register(&other, Access::ALL), register(&line.pd, Access::LOCAL_READ));
    let (good, opaque) = (line.memory.sge_of(0..64), line.copier.opaque());
    let to = |buffer: &Buffer, offset: u64| (buffer.addr() + offset, buffer.lkey());
    let mut refused = |from: Sge, (addr, lkey), opaque| {
        line.refused((from, addr, lkey), opaque);
        let fresh = pair(&line.device, &line.pd).expect("as before");
        line.end = alone(&line.device, &line.pd, fresh);
    };
    refused(good, to(&foreign, 0), opaque);
    refused(foreign.sge_of(0..64), (good.addr + 64, good.lkey), opaque);
    refused(good, to(&read_only, 0), opaque);
    refused(good, to(&read_only, 4090), opaque);
    refused(good, (good.addr + 64, good.lkey), Opaque { lkey: read_only.lkey(), addr: read_only.addr(), ..opaque });
    refused(good, (good.addr + 64, good.lkey), Opaque { addr: opaque.addr + 8192, ..opaque });
    // The right to read is the right to copy.
    line.end.post(&line.copier.copy(read_only.sge_of(0..64), good.addr, good.lkey).signaled(WrId(7)));
    assert_eq!(line.end.completion().1, WrId(7));
    assert_eq!(line.at(0, 64), [0; 64]);
    assert_eq!(line.at(64, 64), (64..128).map(byte).collect::<Vec<_>>(), "nothing was written");
}

/// A queue pair that was not made for it: some devices copy all the same.
#[test]
fn queue_pairs_are_made_for_it() {
    let Some(mut line) = Line::<Rc>::new(alone) else { return };
    let cq = line.device.completion_queue(257).build().expect("a completion queue");
    let plain = line.pd.queue_pair(&cq, &cq).sends(16).build().expect("a queue pair");
    line.end = alone(&line.device, &line.pd, End::new(&line.pd, cq, plain));
    let request = line.copier.copy(line.memory.sge_of(0..8), line.memory.addr() + 100, line.memory.lkey());
    line.end.post(&request.signaled(WrId(1)));
    let copies_anyway = line.device.attr().vendor_part_id == 4125;
    if copies_anyway {
        assert_eq!(line.end.completion().1, WrId(1));
    } else {
        assert_eq!(line.end.failure(), WcStatus::LocQpOpErr);
    }
}
