//! Which strides are filled, which frames are kept, which buffers are posted: by the formats' sources alone.

use std::collections::VecDeque;

use blueflame::cq::{CqeFormat, CqeOpcode};
use blueflame::queue::striding::{FrameBytes, Strides};

use softhca::memory::HostMemory;

use crate::memory::{Arena, BASE};

/// The key of the buffers.
pub(super) const LKEY: u32 = 0x55;

/// The fields of a completion that matter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Completion {
    pub(super) wqe_id: u16,
    pub(super) first: u16,
    pub(super) word: u32,
    pub(super) opcode: CqeOpcode,
    pub(super) format: CqeFormat,
}

/// The queue's answer to a completion.
#[derive(Debug)]
pub(crate) enum Expected {
    /// A frame: where it begins in the memory, its bytes, and the number that is written there.
    Frame { buffer: usize, at: usize, len: usize, id: u64 },
    /// It has no frame.
    Nothing,
    /// It is not of the strides that come next.
    Refused,
}

pub(crate) struct Model {
    /// Strides of a WQE, bytes of a stride, and bytes before a frame.
    pub(super) count: u32,
    pub(super) bytes: u32,
    pub(super) shift: u32,
    pub(super) wqes: u32,
    /// Buffers that are posted, the oldest first.
    pub(super) posted: VecDeque<usize>,
    /// Index of the oldest posted WQE, and its first stride that is not filled.
    pub(super) oldest: u32,
    pub(super) next: u32,
    /// How many frames are kept, by buffer.
    pub(crate) kept: Vec<u32>,
    /// The device has written to the ring. The queue writes the first 16 bytes of its WQEs only when it starts.
    pub(super) is_damaged: bool,
    memory: Arena,
    frames: u64,
}

impl Model {
    pub(super) fn new(strides: Strides, wqes: u32, buffers: usize, memory: Arena) -> Self {
        Self {
            count: strides.count(),
            bytes: 1 << strides.log_bytes(),
            shift: strides.shift_bytes(),
            wqes,
            posted: VecDeque::new(),
            oldest: 0,
            next: 0,
            kept: vec![0; buffers],
            is_damaged: false,
            memory,
            frames: 0,
        }
    }

    pub(super) fn strides_of(&self, len: u32) -> u32 {
        (len + self.shift).div_ceil(self.bytes)
    }

    /// Whether buffer `n` can be posted.
    fn is_free(&self, n: usize) -> bool {
        self.kept[n] == 0 && !self.posted.contains(&n)
    }

    /// The answer that the queue must give. A frame's bytes are written, as the device has.
    pub(super) fn receive(&mut self, said: &Completion) -> Expected {
        use CqeOpcode::{RespErr, RespSend, RespSendImm, RespSendInv, RespWrImm};
        let is_frame = said.opcode == RespSend && said.format == CqeFormat::Plain;
        let is_receive = match said.opcode {
            RespErr => true,
            RespWrImm | RespSend | RespSendImm | RespSendInv => said.format != CqeFormat::Compressed,
            _ => false,
        };
        let Some(&buffer) = self.posted.front().filter(|_| is_receive) else { return Expected::Refused };
        if !u32::from(said.wqe_id).wrapping_sub(self.oldest).is_multiple_of(self.wqes) {
            return Expected::Refused;
        }
        let (counted, len) = (said.word >> 16 & 0x3fff, said.word & 0xffff);
        if !is_frame {
            let left = self.count - self.next;
            self.fill(self.next + if counted == 0 { left } else { counted.min(left) });
            return Expected::Nothing;
        }
        let is_filler = said.word >> 31 != 0;
        let first = u32::from(said.first);
        let end = first + if is_filler { counted } else { counted.max(self.strides_of(len)) };
        let has_bytes = is_filler || len > 0;
        if first < self.next || end > self.count || !has_bytes {
            return Expected::Refused;
        }
        self.fill(end);
        if is_filler {
            return Expected::Nothing;
        }
        let at = buffer * (self.count * self.bytes) as usize + (first * self.bytes + self.shift) as usize;
        let (len, id) = (len as usize, self.frames);
        self.frames += 1;
        let bytes = id.to_le_bytes();
        if len > 0 {
            self.memory.scribble(at, &bytes[..len.min(8)]);
            self.memory.scribble(at + len - 1, &bytes[..1]);
        }
        Expected::Frame { buffer, at, len, id }
    }

    /// The oldest WQE is filled up to a stride.
    fn fill(&mut self, end: u32) {
        self.next = end;
        if end == self.count {
            self.posted.pop_front();
            (self.oldest, self.next) = (self.oldest.wrapping_add(1), 0);
        }
    }

    /// A frame lies where it must, and has its bytes.
    pub(super) fn check(&self, frame: &FrameBytes, (at, len, id): (usize, usize, u64)) {
        let offset = frame.as_ptr().addr().get() - self.memory.ptr().addr().get();
        assert_eq!((offset, frame.len()), (at, len));
        check_bytes(frame, id);
    }

    /// The queue has posted `posted` WQEs.
    pub(super) fn refilled(&mut self, posted: u32, ring: &Arena, record: &Arena) {
        let free = (0..self.kept.len()).filter(|&n| self.is_free(n)).count();
        let room = self.wqes as usize - self.posted.len();
        assert_eq!(posted as usize, room.min(free), "of {free} free buffers, room for {room}");
        for _ in 0..posted {
            let place = self.oldest.wrapping_add(self.posted.len() as u32) % self.wqes;
            let mut wqe = [0; 32];
            ring.read(BASE + u64::from(place) * 32, &mut wqe).expect("in the ring");
            let wqe_bytes = self.count * self.bytes;
            assert!(self.is_damaged || wqe[..16] == [0; 16], "{wqe:x?}");
            assert_eq!(wqe[16..24], [wqe_bytes.to_be_bytes(), LKEY.to_be_bytes()].concat());
            let addr = u64::from_be_bytes(*wqe[24..].first_chunk().expect("8 bytes"));
            let offset = addr - self.memory.ptr().addr().get() as u64;
            assert!(offset.is_multiple_of(wqe_bytes.into()), "{offset} is no buffer's first byte");
            let buffer = (offset / u64::from(wqe_bytes)) as usize;
            assert!(self.is_free(buffer), "buffer {buffer} has {} kept frames, or is posted", self.kept[buffer]);
            self.posted.push_back(buffer);
        }
        if posted != 0 {
            let head = self.oldest.wrapping_add(self.posted.len() as u32) & 0xffff;
            assert_eq!(record.load_be32(BASE), Ok(head));
        }
    }

    pub(super) fn reset(&mut self) {
        self.posted.clear();
        (self.oldest, self.next) = (0, 0);
    }
}

/// A frame has the bytes that were written.
pub(super) fn check_bytes(frame: &FrameBytes, id: u64) {
    let (mut first, mut last) = ([0; 8], [0]);
    let (read, len) = (frame.read(0, &mut first), frame.len());
    let mut expected = id.to_le_bytes();
    if len > 0 {
        assert_eq!((frame.read(len - 1, &mut last), last[0]), (1, expected[0]), "frame {id}");
        if len <= 8 {
            expected[len - 1] = expected[0];
        }
    }
    assert_eq!(first[..read], expected[..read], "frame {id}");
}
