//! The Ethernet queues of the device against a hostile host and a hostile cable: striding receive queues with WQEs of
//! any bytes, WQEs of several frames, frames of any bytes.
//!
//! In every case the device writes only where it may. The CQEs of the receive queue use up one WQE after the other: the
//! strides begin where the last ones ended, frames fit into theirs, and all together are the WQE's.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use softhca::config::{DeviceConfig, DoorbellSource, Generation, Limits, PortConfig};
use softhca::context::{Access, MkeyContext};
use softhca::device::Device;
use softhca::firmware::{Firmware, Status};
use softhca::memory::HostMemory;
use softhca::wire::{Frame, Wire};

use super::memory::{Arena, BASE};

const PAGE: u64 = 4096;
/// Pages of host memory: records, the rings, the two CQs, and the buffers of four WQEs with a page before and behind.
const RECORDS: u64 = 0;
const SEND_RING: u64 = 1;
const RECEIVE_RING: u64 = 2;
const SEND_CQ: u64 = 3;
const RECEIVE_CQ: u64 = 4;
const BUFFERS: u64 = 6;
const BUFFER_PAGES: u64 = 32;
const PAGES: u64 = BUFFERS + BUFFER_PAGES + 1;
/// WQEs of the receive ring, WQEBBs of the send ring, CQEs of a CQ; log2 of them.
const LOG_WQES: u32 = 2;
const LOG_WQEBBS: u32 = 6;
const LOG_CQES: u32 = 6;
/// log2 of a WQE's strides, together.
const LOG_WQE_BYTES: u8 = 15;
/// Content of the pages that the device must leave alone.
const UNTOUCHED: u8 = 0xa5;
/// Most actions of an input, and steps of the device after each.
const ACTIONS: usize = 200;
const STEPS: usize = 32;

input_struct! {
    /// A frame of a WQE: bytes of the buffers, or inline.
    Piece {
        len: u16,
        at: u16,
        inline: bool,
        /// Another key than the existing one.
        key: u8,
    }
}

input_enum! {
    /// An action of the host or the cable.
    Action {
        /// The host posts a WQE of several frames, with these bytes XORed into its Ethernet segment.
        Several { pieces: Vec<Piece>, segment: [u8; 4] },
        /// It posts a WQE of any bytes.
        Send { opcode: u8, ds: u8, bytes: [u8; 48] },
        /// It posts a receive WQE, whose length and key may be others.
        Receive { len: u16, key: u8 },
        /// It writes to a ring.
        Store { at: u16, bytes: [u8; 16] },
        /// It sets the receive queue's record.
        Record { value: u16 },
        /// A frame arrives.
        Arrive { len: u16, bytes: Vec<u8> },
        /// The receive queue changes its state.
        Move { from: u8, to: u8 },
    }
}

input_struct! {
    /// The queues, and what happens to them.
    Input {
        /// log2 of the strides, from 2^3 on.
        strides: u8,
        shifted: bool,
        /// Bits: compressed CQEs, the enhanced layout; then their format.
        compressed: u8,
        actions: Vec<Action>,
    }
}

/// A cable on which frames come in.
#[derive(Clone, Default)]
struct Cable(Arc<Mutex<VecDeque<Vec<u8>>>>);

impl Wire for Cable {
    fn send(&mut self, _: Frame) -> Result<(), Frame> {
        Ok(())
    }

    fn recv(&mut self) -> Option<Frame> {
        None
    }

    fn recv_ethernet(&mut self) -> Option<Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

/// A mailbox under construction: fields by first bit and bits, as in Linux' `mlx5_ifc.h`.
struct Mailbox(Vec<u8>);

impl Mailbox {
    fn new(opcode: u16, bytes: usize) -> Self {
        Self(vec![0; bytes]).set(0, 16, opcode.into())
    }

    fn set(mut self, first: usize, bits: usize, value: u64) -> Self {
        for bit in 0..bits {
            let place = first + bits - 1 - bit;
            self.0[place / 8] |= ((value >> bit & 1) as u8) << (7 - place % 8);
        }
        self
    }

    fn page(mut self, page: u64) -> Self {
        self.0.extend((BASE + page * PAGE).to_be_bytes());
        self
    }
}

/// The consumer of the receive queue's CQEs.
#[derive(Default)]
struct Consumer {
    /// CQEs taken.
    taken: u32,
    wqe: u16,
    strides: u32,
}

struct Lab {
    device: Device,
    firmware: Firmware,
    host: Arena,
    cable: Cable,
    now: Duration,
    key: u32,
    sqn: u32,
    rqn: u32,
    sent: u16,
    posted: u16,
    log_strides: u8,
    shift: u32,
    compressed: bool,
    /// The host has written to the receive ring or its record, or the queue has begun anew.
    disturbed: bool,
    consumer: Consumer,
}

impl Lab {
    fn new(input: &Input) -> Self {
        let (host, cable) = (Arena::new((PAGES * PAGE) as usize, 0), Cable::default());
        let config = DeviceConfig {
            generation: Generation::ConnectX7,
            qpn_first: 2,
            qpn_count: 32,
            doorbells: DoorbellSource::Records,
            limits: Limits { max_objects: 64, max_mkeys: 64, ..Limits::default() },
            ..DeviceConfig::with_port(PortConfig::ethernet(1))
        };
        let mut device = Device::new(config, Box::new(host.clone()), Box::new(cable.clone())).expect("a device");
        let (uar, pd) = (device.alloc_uar().expect("a page"), device.alloc_pd().expect("a PD"));
        let (addr, len) = (BASE + BUFFERS * PAGE, BUFFER_PAGES * PAGE);
        let access = Access { local_write: true, ..Access::default() };
        let key = device.create_mkey(MkeyContext { pd, iova: addr, addr, len, access }).expect("a key");
        let mut firmware = Firmware::new();
        firmware.declare_eq(&mut device, 2).expect("an event queue");
        let log_strides = 3 + input.strides % 7;
        let mut lab = Self {
            device,
            firmware,
            host,
            cable,
            now: Duration::from_secs(1),
            key,
            sqn: 0,
            rqn: 0,
            sent: 0,
            posted: 0,
            log_strides,
            shift: if input.shifted { 2 } else { 0 },
            compressed: input.compressed & 1 != 0,
            disturbed: false,
            consumer: Consumer::default(),
        };
        for page in [BUFFERS - 1, BUFFERS + BUFFER_PAGES] {
            lab.host.scribble((page * PAGE) as usize, &[UNTOUCHED; PAGE as usize]);
        }
        lab.make(input, uar, pd);
        lab
    }

    fn make(&mut self, input: &Input, uar: u32, pd: u32) {
        let (uar, pd) = (u64::from(uar), u64::from(pd));
        let record = |n: u64| BASE + RECORDS * PAGE + 64 * n;
        let compressed = u64::from(input.compressed);
        let cqs = [(SEND_CQ, 0), (RECEIVE_CQ, compressed & 1)].map(|(page, on)| {
            self.host.scribble((page * PAGE) as usize, &[0xf1; PAGE as usize]);
            let format = compressed >> 2 & 7;
            let (format, ext) = if format < 4 { (format, 0) } else { (0, 1) };
            let mail = Mailbox::new(0x400, 0x110)
                .set(0x80 + 0x11, 1, on)
                .set(0x80 + 0x12, 2, on * format)
                .set(0x80 + 0x1e, 2, on * (compressed >> 1 & 1))
                .set(0x80 + 0x5c, 2, on * ext)
                .set(0x80 + 0x63, 5, LOG_CQES.into())
                .set(0x80 + 0x68, 24, uar)
                .set(0x80 + 0xa0, 32, 2)
                .set(0x80 + 0x1c0, 64, record(page));
            self.number(mail.page(page))
        });
        let domain = self.number(Mailbox::new(0x816, 16));
        let tis = self.number(Mailbox::new(0x912, 0xc0).set(0x100 + 0x128, 24, domain));
        let sq = Mailbox::new(0x904, 0x110)
            .set(0x100 + 0x3, 1, 1)
            .set(0x100 + 0x48, 24, cqs[0])
            .set(0x100 + 0x100, 16, 1)
            .set(0x100 + 0x168, 24, tis)
            .set(0x280, 4, 1)
            .set(0x280 + 0x48, 24, pd)
            .set(0x280 + 0x68, 24, uar)
            .set(0x280 + 0x80, 64, record(SEND_RING))
            .set(0x280 + 0x10c, 4, 6)
            .set(0x280 + 0x11b, 5, LOG_WQEBBS.into());
        self.sqn = self.number(sq.page(SEND_RING)) as u32;
        self.number(Mailbox::new(0x905, 0x110).set(0x48, 24, self.sqn.into()).set(0x100 + 0x8, 4, 1));
        let rq = Mailbox::new(0x908, 0x110)
            .set(0x100 + 0x3, 1, 1)
            .set(0x100 + 0xd, 1, 1)
            .set(0x100 + 0x48, 24, cqs[1])
            .set(0x280, 4, 3)
            .set(0x280 + 0x48, 24, pd)
            .set(0x280 + 0x80, 64, record(RECEIVE_RING))
            .set(0x280 + 0x10c, 4, 5)
            .set(0x280 + 0x11b, 5, LOG_WQES.into())
            .set(0x280 + 0x134, 4, u64::from(self.log_strides + 16 - 9) % 16)
            .set(0x280 + 0x138, 1, input.shifted.into())
            .set(0x280 + 0x13d, 3, u64::from(LOG_WQE_BYTES - self.log_strides - 6));
        self.rqn = self.number(rq.page(RECEIVE_RING)) as u32;
        self.change_state(0, 1);
        let tir = Mailbox::new(0x900, 0x110).set(0x100 + 0xe8, 24, self.rqn.into()).set(0x100 + 0x128, 24, domain);
        let tir = self.number(tir);
        // All frames go there: a root table of 2^4 rules, with one.
        let table = self.number(Mailbox::new(0x930, 0x40).set(0xc0 + 0x18, 8, 4));
        let group = self.number(Mailbox::new(0x933, 0x400).set(0xa8, 24, table).set(0x120, 32, 15));
        let mut rule = Mailbox::new(0x936, 0x340)
            .set(0xa8, 24, table)
            .set(0x200 + 0x20, 32, group)
            .set(0x200 + 0x70, 16, 4)
            .set(0x200 + 0x88, 24, 1);
        rule.0.extend((2 << 56 | tir << 32).to_be_bytes());
        self.number(rule);
        self.number(Mailbox::new(0x92f, 0x40).set(0xa8, 24, table));
    }

    fn execute(&mut self, mail: &Mailbox) -> (Status, u64) {
        let mut output = [0; 0x40];
        let status = self.firmware.execute(&mut self.device, &mail.0, &mut output);
        (status, u64::from(u32::from_be_bytes([0, output[9], output[10], output[11]])))
    }

    /// Carries out a command that must work; the number in its output.
    fn number(&mut self, mail: Mailbox) -> u64 {
        let (status, number) = self.execute(&mail);
        assert_eq!(status, Status::Ok, "{:02x?}", &mail.0[..2]);
        number
    }

    fn change_state(&mut self, from: u8, to: u8) -> Status {
        let mail = Mailbox::new(0x909, 0x110).set(0x40, 4, from.into()).set(0x48, 24, self.rqn.into());
        self.execute(&mail.set(0x100 + 0x8, 4, to.into())).0
    }

    fn put(&self, page: u64, offset: u64, bytes: &[u8]) {
        self.host.scribble((page * PAGE + offset) as usize, bytes);
    }

    /// Puts a WQE into the send ring, around its end, and announces it.
    fn send(&mut self, mut wqe: Vec<u8>) {
        wqe[1..3].copy_from_slice(&self.sent.to_be_bytes());
        wqe[4..7].copy_from_slice(&self.sqn.to_be_bytes()[1..]);
        for (n, part) in wqe.chunks(64).enumerate() {
            self.put(SEND_RING, (u64::from(self.sent) + n as u64) % (1 << LOG_WQEBBS) * 64, part);
        }
        self.sent = self.sent.wrapping_add(wqe.len().div_ceil(64) as u16);
        self.put(RECORDS, 64 * SEND_RING + 4, &u32::from(self.sent).to_be_bytes());
    }

    fn several(&mut self, pieces: &[Piece], segment: [u8; 4]) {
        let mut wqe = vec![0, 0, 0, 0x29, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0];
        wqe.extend([0; 16]);
        for (at, bits) in [4, 7, 12, 13].into_iter().zip(segment) {
            wqe[16 + at] ^= bits;
        }
        for Piece { len, at, inline, key } in pieces {
            let room = 63 * 16 - wqe.len();
            if *inline {
                let len = usize::from(*len).min(room.saturating_sub(20));
                wqe.extend((len as u32 | 1 << 31).to_be_bytes());
                wqe.extend((0..len).map(|n| (n as u16 ^ at) as u8));
                wqe.resize(wqe.len().next_multiple_of(16), 0);
            } else if room >= 16 {
                wqe.extend(u32::from(*len).to_be_bytes());
                wqe.extend((self.key ^ u32::from(*key)).to_be_bytes());
                wqe.extend((BASE + BUFFERS * PAGE + u64::from(*at)).to_be_bytes());
            }
            if wqe.len() >= 62 * 16 {
                break;
            }
        }
        wqe[7] = (wqe.len() / 16) as u8;
        self.send(wqe);
    }

    /// Posts a receive WQE of the next quarter of the buffers.
    fn receive(&mut self, len: u16, key: u8) {
        let index = u64::from(self.posted) % (1 << LOG_WQES);
        let address = BASE + BUFFERS * PAGE + (index << LOG_WQE_BYTES);
        let data = [
            &(1 << LOG_WQE_BYTES ^ u32::from(len)).to_be_bytes()[..],
            &(self.key ^ u32::from(key)).to_be_bytes(),
            &address.to_be_bytes(),
        ];
        self.put(RECEIVE_RING, index * 32 + 16, &data.concat());
        self.posted = self.posted.wrapping_add(1);
        self.put(RECORDS, 64 * RECEIVE_RING, &u32::from(self.posted).to_be_bytes());
    }

    fn act(&mut self, action: &Action) {
        match action {
            Action::Several { pieces, segment } => self.several(pieces, *segment),
            Action::Send { opcode, ds, bytes } => {
                let mut wqe = vec![0, 0, 0, *opcode, 0, 0, 0, ds % 64, 0, 0, 0, 8, 0, 0, 0, 0];
                wqe.extend(bytes);
                self.send(wqe);
            }
            Action::Receive { len, key } => self.receive(*len, *key),
            Action::Store { at, bytes } => {
                self.put(SEND_RING, u64::from(*at) % (2 * PAGE - 16), bytes);
                self.disturbed = true;
            }
            Action::Record { value } => {
                self.put(RECORDS, 64 * RECEIVE_RING, &u32::from(*value).to_be_bytes());
                self.disturbed = true;
            }
            Action::Arrive { len, bytes } => {
                let mut frame = bytes.clone();
                frame.resize(usize::from(*len) % 10_000, 0x5a);
                self.cable.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(frame);
            }
            Action::Move { from, to } => {
                let moved = self.change_state(from % 16, to % 16) == Status::Ok;
                if moved && to % 16 == 0 {
                    self.posted = 0;
                    self.disturbed = true;
                    self.put(RECORDS, 64 * RECEIVE_RING, &[0; 4]);
                }
            }
        }
    }

    /// Takes the CQEs, and looks at those of receives. Compressed ones are not read.
    fn consume(&mut self) {
        let mut cqe = [0; 64];
        for (page, receives) in [(SEND_CQ, false), (RECEIVE_CQ, true)] {
            if self.compressed && receives {
                // The device overwrites none that the record does not permit.
                continue;
            }
            let mut taken = if receives { self.consumer.taken } else { self.sends_taken() };
            loop {
                let at = page * PAGE + u64::from(taken % (1 << LOG_CQES)) * 64;
                self.host.read(BASE + at, &mut cqe).expect("a CQE");
                if cqe[63] >> 4 == 0xf || u32::from(cqe[63] & 1) != taken >> LOG_CQES & 1 {
                    break;
                }
                if receives {
                    self.check(&cqe);
                }
                taken += 1;
            }
            if receives {
                self.consumer.taken = taken;
            }
            self.put(RECORDS, 64 * page, &taken.to_be_bytes());
        }
    }

    /// How many CQEs of sends were taken: as many as the record says.
    fn sends_taken(&self) -> u32 {
        self.host.load_be32(BASE + RECORDS * PAGE + 64 * SEND_CQ).expect("a record")
    }

    fn check(&mut self, cqe: &[u8; 64]) {
        if self.disturbed {
            return;
        }
        let be16 = |at: usize| u16::from_be_bytes([cqe[at], cqe[at + 1]]);
        let (total, stride) = (1 << self.log_strides, 1 << (LOG_WQE_BYTES - self.log_strides));
        let (count, len) = (u32::from(be16(44) & 0x3fff), u32::from(be16(46)));
        let Consumer { wqe, strides, .. } = self.consumer;
        assert_eq!((be16(2), count > 0, strides + count <= total), (wqe, true, true), "{cqe:02x?}");
        match cqe[63] >> 4 {
            2 if cqe[44] >> 7 != 0 => assert_eq!((u32::from(be16(60)), len, strides + count), (strides, 0, total)),
            2 => {
                assert_eq!(u32::from(be16(60)), strides);
                assert_eq!(count, (len + self.shift).div_ceil(stride), "{len} bytes");
            }
            14 => assert_eq!(u32::from(be16(20)), strides),
            other => panic!("opcode {other}"),
        }
        self.consumer.strides += count;
        if self.consumer.strides == total {
            (self.consumer.wqe, self.consumer.strides) = (wqe.wrapping_add(1), 0);
        }
    }
}

/// Does it all.
pub fn run(input: &Input) {
    let mut lab = Lab::new(input);
    for action in input.actions.iter().take(ACTIONS) {
        lab.act(action);
        for _ in 0..STEPS {
            lab.now += Duration::from_micros(1);
            if !lab.device.step(lab.now) {
                break;
            }
        }
        lab.consume();
        while lab.device.next_event().is_some() {}
        lab.device.complaints();
        lab.device.take_frames();
    }
    let bytes = lab.host.bytes();
    for page in [BUFFERS - 1, BUFFERS + BUFFER_PAGES] {
        let page = &bytes[(page * PAGE) as usize..][..PAGE as usize];
        assert!(page.iter().all(|&byte| byte == UNTOUCHED), "written past the buffers");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_the_host_come_back_in() {
        let input = Input { strides: 0, shifted: false, compressed: 0, actions: vec![] };
        let mut lab = Lab::new(&input);
        let piece = |len: u16, inline: bool| Piece { len, at: 0, inline, key: 0 };
        lab.act(&Action::Receive { len: 0, key: 0 });
        lab.act(&Action::Several { pieces: vec![piece(60, true), piece(5000, false)], segment: [0; 4] });
        while lab.device.step(lab.now) {}
        lab.consume();
        // One stride of 4 KiB, and two.
        assert_eq!((lab.consumer.taken, lab.consumer.strides, lab.sends_taken()), (2, 3, 1));
    }
}
