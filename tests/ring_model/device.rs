//! The device: it reads records, WQEs and registers, and writes completions, with a full barrier between its accesses.

use loom::sync::atomic::{Ordering, fence};

use crate::memory;
use crate::pointer;

pub(crate) const QPN: u32 = 0x11;
pub(crate) const LKEY: u32 = 0x77;
/// The opcode of a send (`MLX5_OPCODE_SEND`), and those of CQEs (`MLX5_CQE_*`).
const SEND: u32 = 0x0a;
const REQUESTER: u8 = 0x0;
const RESPONDER_SEND: u8 = 0x2;
const RESIZED: u8 = 0x5;
const NEVER_WRITTEN: u8 = 0xf;

/// The data of a request, and of a message.
pub(crate) const fn data(number: u32) -> u32 {
    0x1000 + number
}

/// The length that its completion reports.
pub(crate) const fn length(number: u32) -> u32 {
    0x200 + number
}

fn load(word: usize) -> u32 {
    let loaded = u32::from_be(memory::load(word));
    fence(Ordering::AcqRel);
    loaded
}

fn store(word: usize, value: u32) {
    fence(Ordering::AcqRel);
    memory::store(word, value.to_be());
}

/// A ring of CQEs that were never written.
pub(crate) fn new_ring(start: usize, cqes: u32) {
    for cqe in 0..cqes as usize {
        store(start + cqe * 16 + 15, u32::from(NEVER_WRITTEN) << 4);
    }
}

/// A completion queue.
pub(crate) struct Completions {
    start: usize,
    cqes: u32,
    /// The index of the next CQE.
    next: u32,
}

impl Completions {
    pub(crate) const fn new(start: usize, cqes: u32) -> Self {
        Self { start, cqes, next: 0 }
    }

    fn write(&mut self, opcode: u8, counter: u16, bytes: u32) {
        let consumer = load(memory::CQ_RECORD);
        assert!(self.next - consumer < self.cqes, "overrun: CQE {}, consumer index {consumer}", self.next);
        let start = self.start + (self.next % self.cqes) as usize * 16;
        store(start + 11, bytes);
        store(start + 14, QPN);
        let owner = self.next / self.cqes % 2;
        store(start + 15, u32::from(counter) << 16 | u32::from(opcode) << 4 | owner);
        self.next += 1;
    }

    /// Ends the ring, and goes on in another.
    fn move_to(&mut self, start: usize, cqes: u32) {
        self.write(RESIZED, 0, 0);
        (self.start, self.cqes) = (start, cqes);
    }
}

/// A send queue of 2 WQEBBs, and its completion queue.
pub(crate) struct Sends {
    pub(crate) completions: Completions,
    done: u32,
}

impl Sends {
    pub(crate) const fn new(completions: Completions) -> Self {
        Self { completions, done: 0 }
    }

    /// Looks at the register and at the record, and executes all requests that it finds.
    pub(crate) fn turn(&mut self) {
        let rung = [0, memory::HALF].map(|half| load(memory::REGISTER + half));
        let posted = load(memory::QP_RECORD + 1);
        for word in rung.into_iter().filter(|&word| word != 0) {
            let index = word >> 8 & 0xffff;
            assert!(index < posted, "a doorbell of WQE {index}, but the record says {posted}");
        }
        while self.done < posted {
            self.execute();
            self.done += 1;
        }
    }

    fn execute(&mut self) {
        let start = memory::SEND + self.done as usize % 2 * 16;
        assert_eq!(load(start), self.done << 8 | SEND, "WQE {} is not whole: first word", self.done);
        assert_eq!(load(start + 1) >> 8, QPN, "WQE {} is not whole: queue pair", self.done);
        assert_eq!(load(start + 5), data(self.done), "WQE {} is not whole: data", self.done);
        self.completions.write(REQUESTER, self.done as u16, length(self.done));
    }

    /// Executes a command to resize, if there is one.
    pub(crate) fn resize(&mut self, cqes: u32) {
        if load(memory::COMMAND) != 0 && load(memory::ANSWER) == 0 {
            self.completions.move_to(memory::NEW_CQ, cqes);
            store(memory::ANSWER, 1);
        }
    }
}

/// A shared receive queue, and its completion queue.
pub(crate) struct Receives {
    completions: Completions,
    wqes: u32,
    /// The next WQE.
    head: u32,
    taken: u32,
    /// Whether the last of several messages completes first.
    reversed: bool,
}

impl Receives {
    pub(crate) const fn new(completions: Completions, wqes: u32, reversed: bool) -> Self {
        Self { completions, wqes, head: 0, taken: 0, reversed }
    }

    /// Takes all WQEs that it finds, and fills their buffers.
    pub(crate) fn turn(&mut self) {
        let posted = load(memory::SHARED_RECORD);
        let mut taken = Vec::new();
        while self.taken < posted {
            assert!(self.head < self.wqes, "a link to WQE {}", self.head);
            let start = memory::SHARED + self.head as usize * 8;
            let (buffer, key) = (load(start + 7), load(start + 5));
            let expected = pointer::at::<u32>(memory::DATA + self.taken as usize).addr().get() as u32;
            assert_eq!((buffer, key), (expected, LKEY), "WQE {}, receive {}", self.head, self.taken);
            taken.push((self.head, self.taken));
            self.head = load(start) & 0xffff;
            self.taken += 1;
        }
        if self.reversed {
            taken.reverse();
        }
        for (wqe, number) in taken {
            store(memory::DATA + number as usize, data(number));
            self.completions.write(RESPONDER_SEND, wqe as u16, length(number));
        }
    }
}

/// Looks at the doorbell that arms a completion queue. Returns whether it was armed.
pub(crate) fn is_armed() -> bool {
    let rung = load(memory::ARM);
    let recorded = load(memory::CQ_RECORD + 1);
    assert!(rung == 0 || recorded == rung, "armed by {rung:#x}, but the record says {recorded:#x}");
    rung != 0
}
