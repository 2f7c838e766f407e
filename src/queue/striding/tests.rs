//! Queues whose completions no device has written: any bytes.
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU8, Ordering};
use std::boxed::Box;
use std::sync::Arc;
use std::vec::Vec;

use proptest::prelude::*;

use super::{Frame, StridedMemory, Strides, StridingParts, StridingRecvQueue};
use crate::cq::CompletionQueue;
use crate::cq::CqId;
use crate::cq::cqe::L3Header;
use crate::cq::setup::CqParts;
use crate::queue::RetireError;
use crate::setup::SetupError;
use crate::types::{CqCi, Cqn, Lkey, Qpn};

pub(super) const CQES: usize = 1 << 10;
const WQES: usize = 4;
const BUFFERS: usize = 6;
/// 2^8 strides of 64 bytes.
pub(super) const STRIDES: u32 = 256;

/// Memory that both sides reach by pointers.
#[repr(align(4096))]
struct Shared<T>(UnsafeCell<T>);

impl<T> Shared<T> {
    fn new(value: T) -> Box<Self> {
        Box::new(Self(UnsafeCell::new(value)))
    }

    fn at(&self) -> NonNull<T> {
        NonNull::new(self.0.get()).expect("an address")
    }
}

/// The fields of a completion that the queue looks at.
#[derive(Clone, Copy, Debug)]
struct Said {
    wqe_id: u16,
    first: u16,
    word: u32,
    op: u8,
}

const FRAME: u8 = 2 << 4;
const ERROR: u8 = 14 << 4;

fn frame(wqe_id: u16, first: u16, count: u32, len: u32) -> Said {
    Said { wqe_id, first, word: count << 16 | len, op: FRAME }
}

/// Declared in the order in which they must go.
pub(super) struct Rig {
    rq: StridingRecvQueue,
    cq: CompletionQueue,
    written: usize,
    cqes: Box<Shared<[[u8; 64]; CQES]>>,
    ring: Box<Shared<[[u64; 4]; WQES]>>,
    _shadow: Box<Shared<[MaybeUninit<u64>; WQES]>>,
    records: Box<Shared<[u64; 8]>>,
    memory: usize,
    alive: std::sync::Weak<Vec<AtomicU8>>,
}

impl Rig {
    pub(super) fn new(shifted: bool) -> Self {
        Self::at(0, shifted)
    }

    /// A rig whose first completion has the index `ci`.
    pub(super) fn at(ci: u32, shifted: bool) -> Self {
        let mut empty = [0; 64];
        empty[63] = 0xf0;
        let cqes = Shared::new([empty; CQES]);
        let (ring, shadow) = (Shared::new([[!0; 4]; WQES]), Shared::new([MaybeUninit::uninit(); WQES]));
        let records = Shared::new([0_u64; 8]);
        let parts = CqParts {
            buf: cqes.at().cast(),
            cqe_cnt: CQES as u32,
            cqe_size: 64,
            dbrec: records.at().cast(),
            cq_uar: records.at().cast(),
            cqn: Cqn::truncate(1),
            ci: CqCi::truncate(ci),
        };
        // SAFETY: memory of the rig, which goes after the queue.
        let cq = unsafe { CompletionQueue::from_parts(parts) }.expect("valid");
        let strides = Strides::new(8, 6).expect("possible").two_byte_shift(shifted);
        let keep = Arc::new(Vec::from_iter((0..BUFFERS * strides.wqe_bytes() as usize).map(|_| AtomicU8::new(0))));
        let alive = Arc::downgrade(&keep);
        let (start, len) = (NonNull::from(&keep[..]).cast::<u8>(), keep.len());
        // SAFETY: `keep` owns it, and the queue alone reaches it.
        let memory = unsafe { StridedMemory::over((start, len), Lkey(5), strides, keep) }.expect("long enough");
        let parts = StridingParts {
            buf: ring.at().cast(),
            wqe_cnt: WQES as u32,
            stride: 32,
            // SAFETY: the fifth word.
            dbrec: unsafe { records.at().cast::<u32>().add(10) },
            qpn: Qpn::truncate(7),
            cq: cq.id(),
            shadow: shadow.at().cast(),
        };
        // SAFETY: memory of the rig, which goes after the queue.
        let mut rq = unsafe { StridingRecvQueue::from_parts(parts, memory) }.expect("valid");
        assert_eq!(rq.refill(), WQES as u32);
        let memory = start.as_ptr().addr();
        Self { rq, cq, written: 0, cqes, ring, _shadow: shadow, records, memory, alive }
    }

    /// Writes the CQE with index `n`.
    ///
    /// # Safety
    /// There is room for it, and it was not polled.
    pub(super) unsafe fn put(&self, n: usize, cqe: [u8; 64]) {
        // SAFETY: a CQE of the ring. The caller promises that there is room for it, and that it was not polled.
        unsafe { self.cqes.at().cast::<[u8; 64]>().add(n % CQES).write(cqe) };
    }

    /// The consumer index that the device is told.
    pub(super) fn told(&self) -> impl Fn() -> u32 + use<> {
        let record = self.records.at().cast::<u32>();
        // SAFETY: the completion queue's record, which stays until the caller has dropped the rig's rest.
        move || u32::from_be(unsafe { record.read_volatile() })
    }

    /// The queues, the address of the buffers, and the rest, which must stay.
    pub(super) fn apart(self) -> (StridingRecvQueue, CompletionQueue, usize, impl Sized) {
        let Self { rq, cq, cqes, ring, _shadow, records, memory, .. } = self;
        (rq, cq, memory, (cqes, ring, _shadow, records))
    }

    /// Has the queue take a completion, `times` times. Returns the last answer, the frame kept.
    fn take(&mut self, said: Said, times: usize) -> Result<Option<Frame>, RetireError> {
        let mut cqe = [0; 64];
        cqe[2..4].copy_from_slice(&said.wqe_id.to_be_bytes());
        cqe[44..48].copy_from_slice(&said.word.to_be_bytes());
        cqe[60..62].copy_from_slice(&said.first.to_be_bytes());
        cqe[63] = said.op;
        // SAFETY: the next place of the first pass, whose owner bit is 0.
        unsafe { self.cqes.at().cast::<[u8; 64]>().add(self.written).write(cqe) };
        self.written += 1;
        let (rq, mut last) = (&mut self.rq, None);
        self.cq.poll_with(1, |cqe| {
            for _ in 0..times {
                last = Some(rq.receive(&cqe).map(|frame| frame.map(|frame| frame.keep())));
            }
        });
        last.expect("a completion")
    }

    fn kept(&mut self, said: Said) -> Frame {
        self.take(said, 1).expect("of the next strides").expect("a frame")
    }

    /// Offset of a frame in the memory.
    fn offset(&self, frame: &Frame) -> usize {
        frame.as_ptr().as_ptr().addr() - self.memory
    }
}

/// By a program that forgets guards. If a refused one counted, enough of them would wrap the count.
#[test]
fn a_refused_guard_is_not_counted() {
    let rig = Rig::new(false);
    let memory = rig.rq.memory();
    let users = memory.users().swap(usize::MAX / 2, Ordering::Relaxed);
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| memory.guard())).is_err());
    assert_eq!(memory.users().swap(users, Ordering::Relaxed), usize::MAX / 2);
}

#[test]
fn parts_that_cannot_be_are_refused() {
    let (ring, shadow) = (Shared::new([[0_u64; 4]; WQES]), Shared::new([MaybeUninit::<u64>::uninit(); WQES + 1]));
    let record = Shared::new([0_u32; 2]);
    let parts = StridingParts {
        buf: ring.at().cast(),
        wqe_cnt: WQES as u32,
        stride: 32,
        dbrec: record.at().cast(),
        qpn: Qpn::truncate(7),
        cq: CqId::NONE,
        shadow: shadow.at().cast(),
    };
    let build = |parts| {
        let strides = Strides::new(8, 6).expect("possible");
        let bytes = Arc::new(Vec::from_iter((0..strides.wqe_bytes()).map(|_| AtomicU8::new(0))));
        let (start, len) = (NonNull::from(&bytes[..]).cast::<u8>(), bytes.len());
        // SAFETY: `bytes` owns it, and goes with the memory.
        let memory = unsafe { StridedMemory::over((start, len), Lkey(5), strides, bytes) }.expect("one buffer");
        // SAFETY: refused before the queue is used, apart from the valid one, which is dropped at once.
        unsafe { StridingRecvQueue::from_parts(parts, memory) }.err()
    };
    for wqe_cnt in [0, 1, 3, 1 << 16, u32::MAX] {
        let (what, value) = ("WQEs of a receive queue", wqe_cnt.into());
        let refused = SetupError::NotPowerOfTwo { what, value, min: 2, max: 1 << 15 };
        assert_eq!(build(StridingParts { wqe_cnt, ..parts }), Some(refused));
    }
    let (what, max) = ("bytes of a WQE of a receive queue", 4096);
    for stride in [0, 16, 48, 8192] {
        let refused = SetupError::NotPowerOfTwo { what, value: stride.into(), min: 32, max };
        assert_eq!(build(StridingParts { stride, ..parts }), Some(refused));
    }
    for stride in [64, 4096] {
        let refused = SetupError::OutOfRange { what, value: stride.into(), min: 32, max: 32 };
        assert_eq!(build(StridingParts { stride, ..parts }), Some(refused));
    }
    let misaligned = |what, address, alignment| SetupError::Misaligned { what, address, alignment };
    // SAFETY: within the buffers.
    let (buf, dbrec, shadow) = unsafe { (parts.buf.add(8), parts.dbrec.byte_add(2), parts.shadow.byte_add(1)) };
    assert_eq!(
        build(StridingParts { buf, ..parts }),
        Some(misaligned("ring of a receive queue", buf.addr().get(), 16))
    );
    assert_eq!(
        build(StridingParts { dbrec, ..parts }),
        Some(misaligned("doorbell record of a receive queue", dbrec.addr().get(), 4))
    );
    assert_eq!(
        build(StridingParts { shadow, ..parts }),
        Some(misaligned("private memory of a receive queue", shadow.addr().get(), 8))
    );
    assert_eq!(build(parts), None);
}

#[test]
fn memory_below_one_wqe_is_refused() {
    let strides = Strides::new(8, 6).expect("possible");
    let bytes = Arc::new(Vec::from_iter((1..strides.wqe_bytes()).map(|_| AtomicU8::new(0))));
    let (start, len) = (NonNull::from(&bytes[..]).cast::<u8>(), bytes.len());
    // SAFETY: as in `parts_that_cannot_be_are_refused`.
    let refused = unsafe { StridedMemory::over((start, len), Lkey(5), strides, bytes) };
    assert_eq!(refused.err().map(|bytes| bytes.len()), Some(len));
}

#[test]
fn a_depth_bounds_the_posted_wqes() {
    let mut rig = Rig::new(false);
    assert_eq!((rig.rq.memory().buffers(), rig.rq.ring_addr()), (BUFFERS as u32, rig.ring.at().addr().get()));
    rig.rq.set_depth(WQES as u32 + 1);
    assert_eq!(rig.rq.depth(), WQES as u32);
    rig.rq.set_depth(2);
    let filler = |wqe_id| Said { wqe_id, first: 0, word: 1 << 31 | STRIDES << 16, op: FRAME };
    for (wqe, refilled) in [(0, 0), (1, 0), (2, 1)] {
        assert!(rig.take(filler(wqe), 1).expect("all strides").is_none());
        // A WQE is over when the next one begins.
        assert!(rig.take(Said { wqe_id: wqe + 1, word: 1 << 31, ..filler(0) }, 1).expect("none").is_none());
        assert_eq!((rig.rq.refill(), rig.rq.posted()), (refilled, 3_u32.saturating_sub(wqe.into()).max(2)));
    }
}

#[test]
fn wqes_have_the_data_segment_behind_the_other_one() {
    let rig = Rig::new(false);
    // SAFETY: no device has it.
    let ring = unsafe { rig.ring.at().read() };
    for (n, wqe) in ring.into_iter().enumerate() {
        let addr = (rig.memory + n * (1 << 14)) as u64;
        assert_eq!(wqe, [0, 0, (1_u64 << 46 | 5).to_be(), addr.to_be()]);
    }
}

#[test]
fn frames_fillers_and_errors_take_strides() {
    let mut rig = Rig::new(true);
    let first = rig.kept(frame(0, 0, 1, 62));
    assert_eq!((rig.offset(&first), first.len()), (2, 62));
    // A read ends with the frame.
    let mut out = [0xff; 8];
    assert_eq!((first.read(60, &mut out), out), (2, [0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]));
    assert_eq!((first.read(62, &mut out), first.read(usize::MAX, &mut out)), (0, 0));
    // 63 bytes and two zeros need two strides, with any count in the completion.
    let second = rig.kept(frame(0, 1, 0, 63));
    assert_eq!((rig.offset(&second), rig.rq.posted()), (66, 4));
    let filler = Said { wqe_id: 0, first: 3, word: 1 << 31 | 253 << 16, op: FRAME };
    assert!(rig.take(filler, 1).expect("to the end").is_none());
    let third = rig.kept(frame(1, 0, 4, 200));
    assert_eq!((rig.offset(&third), rig.rq.posted()), ((1 << 14) + 2, 3));
    // An error that counts 5, and one that counts none: the rest.
    for word in [5 << 16, 0] {
        assert!(rig.take(Said { wqe_id: 1, first: 4, word, op: ERROR }, 1).expect("ours").is_none());
    }
    let fourth = rig.kept(frame(2, 0, 1, 60));
    assert_eq!(rig.offset(&fourth), (2 << 14) + 2);
    drop(fourth);
    assert_eq!(rig.rq.refill(), 2, "two buffers were never posted");
    drop((first, second));
    drop(third);
    assert!(rig.alive.upgrade().is_some());
    let alive = rig.alive.clone();
    drop(rig);
    assert!(alive.upgrade().is_none(), "the memory goes with the queue");
}

/// Bytes 0 and 57 to 59 of a CQE; the bits beside them do not matter.
#[test]
fn a_frame_has_the_tag_and_the_tunnel_of_its_completion() {
    let mut rig = Rig::new(false);
    let cases = [
        (0x00, None),
        (0x01, Some(L3Header::Ipv4)),
        (0x03, Some(L3Header::Ipv6)),
        (0x02, None),
        (0xfd, Some(L3Header::Ipv4)),
        (0xff, Some(L3Header::Ipv6)),
        (0xfc, None),
    ];
    for (n, (info, tunnel)) in cases.into_iter().enumerate() {
        let mut cqe = [0; 64];
        cqe[0] = info;
        cqe[44..48].copy_from_slice(&[0, 1, 0, 60]);
        cqe[56..60].copy_from_slice(&[0xff, 0x80, 0, 1]);
        cqe[61] = n as u8;
        cqe[63] = FRAME;
        // SAFETY: the next place of the first pass, whose owner bit is 0.
        unsafe { rig.put(n, cqe) };
        let (rq, mut found) = (&mut rig.rq, None);
        rig.cq.poll_with(1, |cqe| {
            let frame = rq.receive(&cqe).expect("the next stride").expect("a frame");
            found = Some((frame.flow_tag(), frame.tunnel(), cqe.tunnel()));
        });
        assert_eq!(found, Some((0x80_0001, tunnel, tunnel)), "{info:#x}");
    }
}

#[test]
fn impossible_strides_are_errors() {
    let mut rig = Rig::new(false);
    let strides = |first, end, next| Err(RetireError::Strides { first, end, next, count: STRIDES });
    let mut refused = |said| rig.take(said, 1).map(drop);
    assert_eq!(refused(frame(0, 256, 1, 60)), strides(256, 257, 0));
    assert_eq!(refused(frame(0, 255, 2, 60)), strides(255, 257, 0));
    assert_eq!(refused(frame(0, 255, 0, 65)), strides(255, 257, 0));
    for wqe_id in [1, 2, 3, 0xffff] {
        let expected = RetireError::NotOutstanding { wqe_counter: wqe_id, oldest: 0, next: 4 };
        assert_eq!(refused(frame(wqe_id, 0, 1, 60)), Err(expected));
    }
    assert!(matches!(refused(Said { op: 0, ..frame(0, 0, 1, 60) }), Err(RetireError::WrongSide { .. })));
    // Given twice, a completion counts once.
    let twice = rig.take(frame(0, 0, 256, 60), 2);
    assert!(matches!(twice, Err(RetireError::NotOutstanding { oldest: 1, .. })), "{twice:?}");
    let twice = rig.take(frame(1, 0, 2, 60), 2);
    assert_eq!(twice.map(drop), strides(0, 2, 2));
}

#[test]
fn a_frame_of_no_bytes_is_an_error() {
    for shifted in [false, true] {
        let mut rig = Rig::new(shifted);
        for (first, count) in [(0, 0), (0, 1), (0, 2), (7, 1), (255, 1), (255, 0)] {
            let refused = rig.take(frame(0, first, count, 0), 1).map(drop);
            assert_eq!(refused, Err(RetireError::NoBytes { first: first.into() }), "{shifted}, {count} strides");
        }
        // The queue is unchanged, and takes a frame of one byte.
        assert_eq!(rig.kept(frame(0, 0, 1, 1)).len(), 1, "{shifted}");
        // A filler and an error have no bytes either, and are none. A filler of no strides takes none.
        assert!(rig.take(Said { wqe_id: 0, first: 1, word: 1 << 31, op: FRAME }, 1).expect("none").is_none());
        let filler = Said { wqe_id: 0, first: 1, word: 1 << 31 | 2 << 16, op: FRAME };
        assert!(rig.take(filler, 1).expect("strides 1 and 2").is_none());
        assert!(rig.take(Said { wqe_id: 0, first: 3, word: 1 << 16, op: ERROR }, 1).expect("ours").is_none());
        assert_eq!(rig.kept(frame(0, 4, 1, 60)).len(), 60);
    }
}

fn said() -> impl Strategy<Value = Said> {
    let op = prop_oneof![8 => Just(FRAME), 1 => Just(ERROR), 1 => (0..15_u8, any::<u8>()).prop_map(|(op, low)| (op << 4) | (low & 0xe))];
    let count = prop_oneof![4 => 0..40_u32, 1 => any::<u32>().prop_map(|count| count & 0xffff)];
    let len = prop_oneof![4 => 1..2500_u32, 1 => 0..0x1_0000_u32, 1 => Just(0)];
    let wqe_id = prop_oneof![6 => Just(None), 1 => any::<u16>().prop_map(Some)];
    (wqe_id, -2_i32..4, count, len, op).prop_map(|(wqe_id, ahead, count, len, op)| Said {
        // Those that a rig replaces by the next: see the test.
        wqe_id: wqe_id.unwrap_or(u16::MAX),
        first: ahead as u16,
        word: count << 16 | len,
        op,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// With any bytes from the device, frames lie in the memory, and kept ones never overlap. So no buffer with a kept
    /// frame is posted.
    #[test]
    fn kept_frames_never_overlap(
        steps in prop::collection::vec((said(), any::<bool>(), any::<usize>(), 1..3_usize), 1..400),
        shifted: bool,
    ) {
        let mut rig = Rig::new(shifted);
        let mut kept: Vec<Frame> = Vec::new();
        let (mut wqe, mut next) = (0_u16, 0_u16);
        for (mut said, refill, which, times) in steps {
            if said.wqe_id == u16::MAX {
                said.wqe_id = wqe;
                said.first = next.wrapping_add(said.first);
            }
            if let Ok(Some(frame)) = rig.take(said, times) {
                let offset = rig.offset(&frame);
                prop_assert!(frame.len() != 0);
                prop_assert!(offset + frame.len() <= BUFFERS << 14);
                prop_assert_eq!(offset >> 14, (offset + frame.len() - 1) >> 14, "in one buffer");
                kept.push(frame);
            }
            // The stride that the queue expects next, as far as a test can guess it.
            (wqe, next) = (rig.rq.tail as u16, rig.rq.next as u16);
            if u32::from(next) == STRIDES {
                (wqe, next) = (wqe.wrapping_add(u16::from(rig.rq.is_open)), 0);
            }
            if refill {
                rig.rq.refill();
            }
            if kept.len() > 3 && which % 3 == 0 {
                drop(kept.swap_remove(which % kept.len()));
            }
            let mut ranges: Vec<_> = kept.iter().map(|frame| (rig.offset(frame), frame.len())).collect();
            ranges.sort_unstable();
            prop_assert!(ranges.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0), "{:?}", ranges);
        }
        let alive = rig.alive.clone();
        drop(rig);
        prop_assert_eq!(alive.upgrade().is_none(), kept.is_empty());
        drop(kept);
        prop_assert!(alive.upgrade().is_none());
    }
}
