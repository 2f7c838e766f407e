//! A ring of bytes in shared memory with one writer and one reader, each in its own process.
//!
//! Both sides are wait-free and keep their own index private. The indices that they publish are only advice to the
//! other side, which checks them. A side that dies at any moment leaves the ring usable: a record counts once the
//! writer's index is past it.
//!
//! ```text
//! 0   magic   4 capacity   64 tail (writer)   128 head (reader)   192 answered (reader)   4096 records, then `loans`
//! record: length u32, packets u16, kind u8, 0 u8; a [route], if the kind is 1; packet; padded to 8 bytes; wraps anywhere
//!         kind 0: a packet by the route of the packet before it   1: a packet by this route   255: an Ethernet frame
//! ```
//! Most packets of a ring go by one route, so few records have one. The reader's CPU fetches each line of a record from
//! the writer's. For a small packet, that takes longer than the rest of the work.
//!
//! Each word has one writer, as named there, and one reader: the other side. The writer of a word never loads it. So a
//! side that stores to the other's words changes only what itself will read.
//!
//! Indices count bytes modulo 2^32. Byte order is the machine's. `answered` is the end of the records that need no
//! answer any more: the reader's device has answered them, or takes none on purpose.
//!
//! Required: the reader sees whole records, and the writer overwrites only bytes that the reader has read.
//!
//! ```text
//! writer                               reader
//! write the record at tail             if tail (acquire) is past head
//! tail += its bytes   // release           read the record             // whole
//! if there is no room                      head += its bytes           // release: the reads are done
//!     head = reader's (acquire)
//!     write over bytes before head     // not before the load
//! ```

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use thiserror::Error;

use super::descriptor::Descriptor;
use super::landing::Piece;
use super::loans::{self, Lent};
use super::memory::{Prefetch, Shared};
use super::route::{self, ROUTE_BYTES};
use crate::{
    ethernet::MAX_FRAME,
    packet::{MAX_HEADERS, MAX_SEGMENT, buffer},
    wire::frame::{Frame, Route},
    wire::loan::{Batch, Loan},
};

/// Bytes of records that a ring holds.
pub(super) const CAPACITY: u32 = 1 << 20;
/// Bytes of a ring's memory.
const BYTES: usize = LOANS + loans::BYTES;

const MAGIC: u32 = 0x5248_4353;
const MAGIC_AT: usize = 0;
const CAPACITY_AT: usize = 4;
const TAIL_AT: usize = 64;
const HEAD_AT: usize = 128;
const ANSWERED_AT: usize = 192;
const RECORDS: usize = 4096;
const LOANS: usize = RECORDS + CAPACITY as usize;

const RECORD_HEADER: usize = 8;
/// The longest packet a ring carries, or the longest segment, in bytes.
const MAX_PACKET: usize = MAX_HEADERS + MAX_SEGMENT;

/// How far ahead of a record each side fetches a line of records from the other's CPU. Writers are far ahead: until a
/// store has its line, no later store reaches memory.
const READ_AHEAD: u32 = 256;
const WRITE_AHEAD: u32 = 512;

/// Kinds of records.
const SAME_ROUTE: u8 = 0;
const WITH_ROUTE: u8 = 1;
const ETHERNET: u8 = 0xff;

/// One record of a ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Record {
    /// A packet of the transport.
    Packet(Frame),
    /// An Ethernet frame.
    Ethernet(Vec<u8>),
}

/// The other side has written bytes that no peer of this version writes. The ring must not be used any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(super) enum Corrupt {
    /// The peer's index is impossible.
    #[error("{used} bytes in use, between {head:#x} and {tail:#x}, of {CAPACITY}")]
    Index {
        /// Reader's index.
        head: u32,
        /// Writer's index.
        tail: u32,
        /// Their distance.
        used: u32,
    },
    /// A record is longer than the longest packet, or than the bytes written.
    #[error("record of {len} bytes where {available} were written")]
    Length {
        /// Bytes of the packet, as the record says.
        len: u32,
        /// Bytes between the indices.
        available: u32,
    },
    /// There is no such kind of record. Or the first packet goes by the route of the one before it.
    #[error("record of kind {kind}")]
    Kind {
        /// Its kind.
        kind: u8,
    },
}

/// Bytes between the indices, or why the indices are impossible.
fn used(head: u32, tail: u32) -> Result<u32, Corrupt> {
    let used = tail.wrapping_sub(head);
    if used > CAPACITY || used % 8 != 0 { Err(Corrupt::Index { head, tail, used }) } else { Ok(used) }
}

/// Offset in the memory of the record byte that an index names, and how many bytes follow until the wrap.
fn place(index: u32) -> (usize, usize) {
    let at = (index & (CAPACITY - 1)) as usize;
    (RECORDS + at, CAPACITY as usize - at)
}

/// The writer's end.
#[derive(Debug)]
pub(super) struct Writer {
    shared: Shared,
    tail: u32,
    /// The reader's index when last looked at.
    head: u32,
    /// The end of the answered records when last looked at.
    answered: u32,
    /// The route of the latest packet.
    route: Option<Route>,
}

/// Records without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unanswered {
    /// The index of the first.
    pub(super) start: u32,
    /// The end of the last.
    pub(super) end: u32,
}

impl Unanswered {
    /// Whether all records before the index `end` are answered.
    pub(super) fn is_past(self, end: u32) -> bool {
        self.end.wrapping_sub(self.start) <= self.end.wrapping_sub(end)
    }
}

impl Writer {
    /// A new ring, and its memory for the reader.
    pub(super) fn create() -> io::Result<(Self, Descriptor)> {
        let (shared, memory) = Shared::create(BYTES)?;
        shared.word(CAPACITY_AT).store(CAPACITY, Ordering::Relaxed);
        shared.word(MAGIC_AT).store(MAGIC, Ordering::Release);
        Ok((Self { shared, tail: 0, head: 0, answered: 0, route: None }, memory))
    }

    /// Appends a frame; `false` if there is no room now. Frames longer than any packet have no place on a wire and
    /// are dropped.
    pub(super) fn push(&mut self, frame: &Frame) -> Result<bool, Corrupt> {
        let (len, packets) = (frame.packet.len(), frame.packets);
        if len > MAX_PACKET {
            log::warn!("packet of {len} bytes dropped: the limit is {MAX_PACKET}");
            return Ok(true);
        }
        if self.route == Some(frame.route) {
            return self.push_record([&record_header(len, packets, SAME_ROUTE), &frame.packet]);
        }
        let header = record_header(len, packets, WITH_ROUTE);
        let pushed = self.push_record([&header, &route::bytes(&frame.route), &frame.packet])?;
        if pushed {
            self.route = Some(frame.route);
        }
        Ok(pushed)
    }

    /// Appends an Ethernet frame, as [`Self::push`] does.
    pub(super) fn push_ethernet(&mut self, frame: &[u8]) -> Result<bool, Corrupt> {
        if frame.len() > MAX_FRAME {
            log::warn!("frame of {} bytes dropped: the limit is {MAX_FRAME}", frame.len());
            return Ok(true);
        }
        self.push_record([&record_header(frame.len(), 0, ETHERNET), frame])
    }

    /// Appends a record of these parts. All but the last are multiples of 8 bytes.
    fn push_record<const N: usize>(&mut self, parts: [&[u8]; N]) -> Result<bool, Corrupt> {
        let need = parts.iter().map(|part| part.len()).sum::<usize>().next_multiple_of(8) as u32;
        if CAPACITY - self.tail.wrapping_sub(self.head) < need {
            // Acquire: the reader has finished with the bytes before its index.
            let head = self.shared.word(HEAD_AT).load(Ordering::Acquire);
            // The reader's index must be between its last value and the end of the records written for it.
            if used(head, self.tail)? > used(self.head, self.tail)? {
                return Err(Corrupt::Index { head, tail: self.tail, used: self.tail.wrapping_sub(head) });
            }
            self.head = head;
            if CAPACITY - used(head, self.tail)? < need {
                return Ok(false);
            }
        }
        self.shared.prefetch(place(self.tail.wrapping_add(WRITE_AHEAD)).0, Prefetch::ToWrite);
        let mut at = self.tail;
        for part in parts {
            self.write(at, part);
            at = at.wrapping_add(part.len() as u32);
        }
        self.tail = self.tail.wrapping_add(need);
        self.shared.word(TAIL_AT).store(self.tail, Ordering::Release);
        Ok(true)
    }

    /// The end of all records.
    pub(super) fn end(&self) -> u32 {
        self.tail
    }

    /// The records that the reader's device has not dealt with; `None` if there are none. An index that goes back, or
    /// past the records written, is no answer.
    pub(super) fn unanswered(&mut self) -> Option<Unanswered> {
        let answered = self.shared.word(ANSWERED_AT).load(Ordering::Acquire);
        if self.tail.wrapping_sub(answered) < self.tail.wrapping_sub(self.answered) {
            self.answered = answered;
        }
        (self.answered != self.tail).then_some(Unanswered { start: self.answered, end: self.tail })
    }

    /// Whether the responder of queue pair `qpn` is on loan here to queue pair `from`, and expects `psn`: `ids`.
    pub(super) fn may_execute(&self, ids: (u32, u32, u32)) -> bool {
        loans::is_on_loan(&self.shared, LOANS, ids)
    }

    /// Executes requests by a loan: see [`loans::execute`].
    pub(super) fn execute(&self, batch: &Batch<'_>, copy: impl FnOnce(&[Piece]) -> usize) -> usize {
        loans::execute(&self.shared, LOANS, batch, copy)
    }

    /// Announces a ring full of records that were never written, as no writer does.
    #[cfg(test)]
    pub(super) fn claim_all(&self) {
        let tail = self.shared.word(HEAD_AT).load(Ordering::Acquire).wrapping_add(CAPACITY);
        self.shared.word(TAIL_AT).store(tail, Ordering::Release);
    }

    fn write(&self, index: u32, data: &[u8]) {
        let (at, room) = place(index);
        if data.len() <= room {
            return self.shared.write(at, data);
        }
        let (first, wrapped) = data.split_at(room);
        self.shared.write(at, first);
        self.shared.write(RECORDS, wrapped);
    }
}

/// The reader's end.
#[derive(Debug)]
pub(super) struct Reader {
    /// Loans keep it as long as they last.
    shared: Arc<Shared>,
    head: u32,
    /// The writer's index when last looked at.
    tail: u32,
    /// The end of the answered records.
    answered: u32,
    /// The route of the latest packet.
    route: Option<Route>,
}

impl Reader {
    /// Opens a ring that a peer has laid out.
    pub(super) fn open(memory: &Descriptor) -> io::Result<Self> {
        let shared = Arc::new(Shared::of_peer(memory, BYTES)?);
        let found = (shared.word(MAGIC_AT).load(Ordering::Acquire), shared.word(CAPACITY_AT).load(Ordering::Relaxed));
        if found != (MAGIC, CAPACITY) {
            let what = format!("ring with magic {:#x} and capacity {:#x}", found.0, found.1);
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        Ok(Self { shared, head: 0, tail: 0, answered: 0, route: None })
    }

    /// Lends a responder to the writer, who is gone once `closed` says so. `None` if it lends as much as it can.
    pub(super) fn lend(&self, closed: Arc<AtomicBool>, loan: &Loan) -> Option<Lent> {
        Lent::new(self.shared.clone(), LOANS, closed, loan)
    }

    /// All records that were read are answered.
    pub(super) fn answer(&mut self) {
        self.answer_up_to(self.head);
    }

    /// Records get no answer now, read or not.
    pub(super) fn ignore(&mut self) {
        let tail = self.shared.word(TAIL_AT).load(Ordering::Acquire);
        self.answer_up_to(tail);
    }

    fn answer_up_to(&mut self, end: u32) {
        if self.answered != end {
            self.answered = end;
            self.shared.word(ANSWERED_AT).store(end, Ordering::Release);
        }
    }

    /// Whether nothing is waiting.
    pub(super) fn is_empty(&self) -> bool {
        self.head == self.tail && self.shared.word(TAIL_AT).load(Ordering::Relaxed) == self.head
    }

    /// Takes the next record out, if there is one.
    pub(super) fn pop(&mut self) -> Result<Option<Record>, Corrupt> {
        if self.head == self.tail {
            // Acquire: the records before the writer's index are complete.
            let tail = self.shared.word(TAIL_AT).load(Ordering::Acquire);
            used(self.head, tail)?;
            self.tail = tail;
            if self.head == tail {
                return Ok(None);
            }
        }
        let available = used(self.head, self.tail)?;
        if (available as usize) < RECORD_HEADER {
            return Err(Corrupt::Length { len: 0, available });
        }
        if available > READ_AHEAD {
            self.shared.prefetch(place(self.head.wrapping_add(READ_AHEAD)).0, Prefetch::ToRead);
        }
        let mut header = [0; RECORD_HEADER];
        self.read(self.head, &mut header);
        // From here on the length is private: the writer cannot change it after the check.
        let [l0, l1, l2, l3, p0, p1, kind, _] = header;
        let (len, packets) = (u32::from_ne_bytes([l0, l1, l2, l3]), u16::from_ne_bytes([p0, p1]));
        let before = RECORD_HEADER + if kind == WITH_ROUTE { ROUTE_BYTES } else { 0 };
        let need = (before as u32).saturating_add(len).checked_next_multiple_of(8).unwrap_or(u32::MAX);
        let limit = if kind == ETHERNET { MAX_FRAME } else { MAX_PACKET };
        if len as usize > limit || need > available {
            return Err(Corrupt::Length { len, available });
        }
        if kind == WITH_ROUTE {
            let mut bytes = [0; ROUTE_BYTES];
            self.read(self.head.wrapping_add(RECORD_HEADER as u32), &mut bytes);
            self.route = Some(route::read(&bytes));
        }
        let mut packet = buffer::take(len as usize);
        self.read(self.head.wrapping_add(before as u32), &mut packet);
        self.head = self.head.wrapping_add(need);
        self.shared.word(HEAD_AT).store(self.head, Ordering::Release);
        match (kind, self.route) {
            (ETHERNET, _) => Ok(Some(Record::Ethernet(packet))),
            (SAME_ROUTE | WITH_ROUTE, Some(route)) => Ok(Some(Record::Packet(Frame { route, packet, packets }))),
            _ => Err(Corrupt::Kind { kind }),
        }
    }

    fn read(&self, index: u32, out: &mut [u8]) {
        let (at, room) = place(index);
        if out.len() <= room {
            return self.shared.read(at, out);
        }
        let (first, wrapped) = out.split_at_mut(room);
        self.shared.read(at, first);
        self.shared.read(RECORDS, wrapped);
    }
}

fn record_header(len: usize, packets: u16, kind: u8) -> [u8; RECORD_HEADER] {
    let ([l0, l1, l2, l3], [p0, p1]) = ((len as u32).to_ne_bytes(), packets.to_ne_bytes());
    [l0, l1, l2, l3, p0, p1, kind, 0]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::config::GidType;
    use crate::wire::frame::{Grh, Macs};
    use crate::wire::test_frames::{frame, numbered};

    fn ring() -> (Writer, Reader) {
        let (writer, memory) = Writer::create().unwrap();
        (writer, Reader::open(&memory).unwrap())
    }

    #[test]
    fn frames_pass_over_many_wraps() {
        let (mut writer, mut reader) = ring();
        let (mut pushed, mut popped) = (0, 0);
        while popped < 5000 {
            while pushed < 5000 && writer.push(&numbered(1, 2, (pushed * 37 % 4097) as usize, pushed)).unwrap() {
                pushed += 1;
            }
            for _ in 0..(pushed - popped).min(101) {
                let expected = numbered(1, 2, (popped * 37 % 4097) as usize, popped);
                assert_eq!(reader.pop().unwrap(), Some(Record::Packet(expected)), "frame {popped}");
                popped += 1;
            }
        }
        assert_eq!(reader.pop(), Ok(None));
        assert!(reader.is_empty());
    }

    #[test]
    fn a_route_with_grh_passes() {
        let (mut writer, mut reader) = ring();
        for kind in [GidType::InfiniBand, GidType::RoceV1, GidType::RoceV2] {
            let grh = Grh {
                kind,
                sgid: [1; 16],
                dgid: [2; 16],
                traffic_class: 3,
                flow_label: 0xf_1234,
                hop_limit: 5,
                udp_sport: 6,
            };
            let sent = Frame {
                route: Route {
                    slid: 7,
                    dlid: 8,
                    sl: 9,
                    grh: Some(grh),
                    macs: Macs { source: [1; 6], destination: [2; 6] },
                },
                ..frame(0, 1, 3)
            };
            assert!(writer.push(&sent).unwrap());
            assert_eq!(reader.pop().unwrap(), Some(Record::Packet(sent)));
        }
    }

    #[test]
    fn a_record_has_a_route_where_it_changes() {
        let (mut writer, mut reader) = ring();
        let by = |slid| Frame { route: Route { slid, ..frame(0, 1, 3).route }, ..frame(0, 1, 3) };
        let mut ends = Vec::new();
        for slid in [1, 1, 2, 2, 1] {
            assert!(writer.push(&by(slid)).unwrap());
            ends.push(writer.tail);
        }
        let short = (RECORD_HEADER + by(1).packet.len()).next_multiple_of(8) as u32;
        let long = short + ROUTE_BYTES as u32;
        assert_eq!(ends, [long, long + short, 2 * long + short, 2 * long + 2 * short, 3 * long + 2 * short]);
        for slid in [1, 1, 2, 2, 1] {
            assert_eq!(reader.pop(), Ok(Some(Record::Packet(by(slid)))));
        }
    }

    #[test]
    fn a_record_of_no_kind_or_without_a_route_is_found_out() {
        for kind in [SAME_ROUTE, 2, 254] {
            let (mut writer, mut reader) = ring();
            assert_eq!(writer.push_record([&record_header(8, 1, kind), &[0; 8]]), Ok(true));
            assert_eq!(reader.pop(), Err(Corrupt::Kind { kind }));
        }
    }

    #[test]
    fn ethernet_frames_go_between_packets() {
        let (mut writer, mut reader) = ring();
        for round in 0..1000 {
            let whole = vec![round as u8; (round * 97) % (MAX_FRAME + 1)];
            assert!(writer.push_ethernet(&whole).unwrap());
            assert!(writer.push(&frame(1, 2, 4096)).unwrap());
            assert_eq!(reader.pop(), Ok(Some(Record::Ethernet(whole))));
            assert_eq!(reader.pop(), Ok(Some(Record::Packet(frame(1, 2, 4096)))));
        }
        assert!(writer.push_ethernet(&[0; MAX_FRAME + 1]).unwrap(), "too long: lost");
        assert_eq!(reader.pop(), Ok(None));
        while writer.push_ethernet(&[0; MAX_FRAME]).unwrap() {}
        assert_eq!(reader.pop(), Ok(Some(Record::Ethernet(vec![0; MAX_FRAME]))));
    }

    #[test]
    fn memory_that_is_too_short_or_no_ring_is_refused() {
        for len in [BYTES - 1, BYTES] {
            let (_, memory) = Shared::create(len).unwrap();
            assert_eq!(Reader::open(&memory).unwrap_err().kind(), io::ErrorKind::InvalidData, "{len}");
        }
    }

    #[test]
    fn answers_go_forward_to_the_end_of_what_was_written() {
        let (mut writer, reader) = ring();
        let mut store = |answered: u32| {
            reader.shared.word(ANSWERED_AT).store(answered, Ordering::Relaxed);
            writer.unanswered()
        };
        assert_eq!(store(64), None, "nothing was written");
        writer.tail = 640;
        let left = |start| Some(Unanswered { start, end: 640 });
        let mut store = |answered: u32| {
            reader.shared.word(ANSWERED_AT).store(answered, Ordering::Relaxed);
            writer.unanswered()
        };
        for (answered, start) in [(0, 0), (128, 128), (64, 128), (648, 128), (u32::MAX, 128), (0x8000_0000, 128)] {
            assert_eq!(store(answered), left(start), "{answered:#x}");
        }
        assert_eq!(store(640), None);
        let some = Unanswered { start: u32::MAX - 7, end: 8 };
        assert!([u32::MAX - 15, u32::MAX - 7].iter().all(|&end| some.is_past(end)));
        assert!(![0, 8].iter().any(|&end| some.is_past(end)));
    }

    #[test]
    fn a_reader_that_lies_is_found_out() {
        let (mut writer, reader) = ring();
        reader.shared.word(HEAD_AT).store(64, Ordering::Relaxed);
        while writer.tail < CAPACITY - 8192 {
            assert!(writer.push(&frame(1, 2, 4096)).unwrap());
        }
        reader.shared.word(HEAD_AT).store(writer.tail.wrapping_add(64 * 1024), Ordering::Relaxed);
        let outcome = (0..3).map(|_| writer.push(&frame(1, 2, 4096))).find(Result::is_err);
        assert!(matches!(outcome, Some(Err(Corrupt::Index { .. }))), "{outcome:?}");
    }

    proptest! {
        /// Any bytes in the shared part: frames, an end or an error, and never more frames than fit.
        #[test]
        fn a_hostile_writer_does_no_harm(
            tail in any::<u32>(),
            words in prop::collection::vec((0..CAPACITY / 4, any::<u32>()), 0..64),
            len in 0..5000u32,
        ) {
            let (_writer, mut reader) = ring();
            reader.shared.word(TAIL_AT).store(tail % (2 * CAPACITY), Ordering::Relaxed);
            reader.shared.write(RECORDS, &len.to_ne_bytes());
            for (at, word) in words {
                reader.shared.write(RECORDS + at as usize % 1024 * 4, &word.to_ne_bytes());
            }
            let mut frames = 0;
            while let Ok(Some(record)) = reader.pop() {
                let (len, limit) = match record {
                    Record::Packet(frame) => (frame.packet.len(), MAX_PACKET),
                    Record::Ethernet(frame) => (frame.len(), MAX_FRAME),
                };
                prop_assert!(len <= limit);
                frames += 1;
                prop_assert!(frames <= CAPACITY as usize / RECORD_HEADER);
            }
        }
    }
}
