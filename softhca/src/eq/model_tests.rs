//! Event queues against a naive model of the driver's view: any events, any doorbells, in any order. The model has a
//! list of events in place of a ring, and numbers that do not wrap.

use super::queue::{BadConsumer, EqFailure, EqRing};
use crate::context::EqContext;
use crate::event::Event;
use crate::memory::ArrayMemory;
use crate::memory::test_memory::BASE;
use std::collections::VecDeque;

/// Indices that doorbells have room for.
const INDICES: u64 = 1 << 24;

/// A generator of numbers (Marsaglia's xorshift), so that a failure comes again.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// A queue in the model.
struct Model {
    size: u64,
    /// All entries ever written: type, and number of the CQ or slots.
    written: Vec<(u8, u32)>,
    consumed: u64,
    /// CQs whose events wait for room.
    waiting: VecDeque<u32>,
    armed: bool,
    failed: bool,
}

impl Model {
    fn is_full(&self) -> bool {
        self.written.len() as u64 - self.consumed >= self.size
    }

    /// The effect of an event: an interrupt, or the end.
    fn write(&mut self, kind: u8, number: u32) -> Result<bool, EqFailure> {
        if self.failed {
            return Ok(false);
        }
        let completion = kind == 0;
        if completion && (self.is_full() || !self.waiting.is_empty()) {
            if !self.waiting.contains(&number) {
                self.waiting.push_back(number);
            }
            return Ok(false);
        }
        if self.is_full() {
            self.failed = true;
            self.waiting.clear();
            return Err(EqFailure::Overrun);
        }
        self.written.push((kind, number));
        Ok(std::mem::take(&mut self.armed))
    }

    /// The effect of a doorbell with this consumer index.
    fn ring(&mut self, index: u32, arm: bool) -> Option<bool> {
        let written = self.written.len() as u64;
        let oldest = written.saturating_sub(self.size);
        let consumed = (oldest..=written).find(|at| at % INDICES == u64::from(index))?;
        self.consumed = consumed;
        let mut interrupts = false;
        while !self.is_full() {
            let Some(cqn) = self.waiting.pop_front() else { break };
            self.written.push((0, cqn));
            interrupts |= std::mem::take(&mut self.armed);
        }
        if arm {
            let unread = self.written.len() as u64 > self.consumed;
            self.armed = !unread;
            interrupts |= unread;
        }
        Some(interrupts)
    }
}

fn ring_of(log_size: u8) -> EqRing {
    EqRing::new(EqContext { buf: BASE, log_size, uar: 1, vector: 3, events: [0; 4] })
}

/// The ring as a driver initialises it.
fn memory_of(size: u64) -> ArrayMemory {
    let memory = ArrayMemory::filled(BASE, size as usize * 64 + 64, 0);
    for index in 0..size as usize {
        memory.put(index * 64 + 63, &[1]);
    }
    memory.put(size as usize * 64, &[0xa5; 64]);
    memory
}

/// Reads entries as Linux' `next_eqe_sw` does: by the owner bit, from the consumer index on, as many as are new.
fn read(memory: &ArrayMemory, size: u64, from: u64) -> Vec<(u8, u32)> {
    let bytes = memory.bytes();
    let entry = |at: u64| &bytes[(at % size) as usize * 64..][..64];
    let is_new = |at: &u64| u64::from(entry(*at)[63] & 1) == at / size % 2;
    let number = |bytes: &[u8]| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    (from..from + size)
        .take_while(is_new)
        .map(|at| (entry(at)[1], number(&entry(at)[if entry(at)[1] == 0 { 56 } else { 32 }..])))
        .collect()
}

#[test]
fn a_driver_sees_what_the_model_says() {
    let mut random = Random(0x5eed_e9e9);
    let (mut overruns, mut waits, mut bad) = (0, 0, 0);
    for _ in 0..400 {
        let log_size = random.below(4) as u8;
        let size = 1 << log_size;
        let memory = memory_of(size);
        let mut ring = ring_of(log_size);
        let mut model =
            Model { size, written: vec![], consumed: 0, waiting: VecDeque::new(), armed: false, failed: false };
        // Asynchronous events end a queue, so that not every run has them.
        let asynchronous = random.below(3) == 0;
        for _ in 0..300 {
            match random.below(8) {
                0 if asynchronous => {
                    let slots = random.below(100) as u32;
                    let result = ring.write(&Event::CommandDone { slots }, &memory);
                    assert_eq!(result, model.write(0x0a, slots));
                    overruns += u32::from(result.is_err());
                }
                0..=3 => {
                    let cqn = random.below(6) as u32;
                    assert_eq!(ring.write(&Event::Completion { cqn }, &memory), model.write(0, cqn));
                    waits += u32::from(!model.waiting.is_empty());
                }
                4 => {
                    let cqn = random.below(6) as u32;
                    ring.forget_cq(cqn);
                    model.waiting.retain(|&waiting| waiting != cqn);
                }
                kind => {
                    let unread = model.written.len() as u64 - model.consumed;
                    let mut index = ((model.consumed + random.below(unread + 1)) % INDICES) as u32;
                    if random.below(10) == 0 {
                        index = random.below(INDICES) as u32 | (random.below(2) as u32) << 23;
                    }
                    let arm = kind != 5;
                    let expected = model.ring(index, arm);
                    let producer = ring.info().producer;
                    bad += u32::from(expected.is_none());
                    assert_eq!(ring.ring(index, arm, &memory), expected.ok_or(Ok(BadConsumer { producer })));
                }
            }
            assert_eq!(read(&memory, size, model.consumed), model.written[model.consumed as usize..]);
            let info = ring.info();
            assert_eq!(u64::from(info.producer), model.written.len() as u64 % INDICES);
            assert_eq!(u64::from(info.consumer), model.consumed % INDICES);
            assert_eq!(info.failed, model.failed);
        }
        assert!(memory.bytes()[size as usize * 64..].iter().all(|&byte| byte == 0xa5), "nothing past the ring");
    }
    assert!(overruns > 20 && waits > 1000 && bad > 1000, "{overruns} {waits} {bad}");
}

#[test]
fn completions_of_more_queues_than_there_is_room_for_all_arrive() {
    let memory = memory_of(4);
    let mut ring = ring_of(2);
    for cqn in 0..100 {
        assert!(ring.write(&Event::Completion { cqn }, &memory).is_ok());
    }
    let mut seen = Vec::new();
    loop {
        let new = read(&memory, 4, seen.len() as u64);
        if new.is_empty() {
            break;
        }
        seen.extend(new);
        assert!(ring.ring(seen.len() as u32, true, &memory).is_ok());
    }
    assert_eq!(seen, (0..100).map(|cqn| (0, cqn)).collect::<Vec<_>>());
}

#[test]
fn memory_that_is_gone_ends_the_queue_and_nothing_else() {
    let memory = ArrayMemory::filled(BASE, 3 * 64, 1);
    let mut ring = ring_of(2);
    for slots in 1..=3 {
        assert_eq!(ring.write(&Event::CommandDone { slots }, &memory), Ok(false));
    }
    let failure = ring.write(&Event::CommandDone { slots: 4 }, &memory);
    assert!(matches!(failure, Err(EqFailure::Unreachable(_))), "{failure:?}");
    assert!(ring.info().failed);
    assert_eq!(ring.write(&Event::Completion { cqn: 5 }, &memory), Ok(false), "said once");
    assert_eq!(ring.ring(3, true, &memory), Ok(false), "it interrupts no more");
    assert_eq!(ring.ring(2, true, &memory), Ok(true), "but for what it has told");
}
