//! Initiators, and those whom each of their requests may be for: requests of all kinds, for either of two in any order,
//! by a model.

use blueflame::cq::{CompletionQueue, Side};
use blueflame::types::{Qpn, WrId};
use blueflame::wqe::atomics::Masked;
use blueflame_testkit::request::{Data, Extended, Kind, Service, Target, Wr};
use blueflame_testkit::{Buffer, Device, End, Faults, Receives, run_until_idle};
use proptest::collection::vec;
use proptest::prelude::*;

/// Bytes of a message, a window or a mailbox, at most.
const ROOM: usize = 200;
/// An addition of 16 bytes adds two fields of 8.
const FIELDS: u128 = 1 << 127 | 1 << 63;
/// The bits that are swapped if the others are unchanged.
const HALF: u128 = 0xffff_0000_ffff_0000_ffff_0000_ffff_0000;

/// A request: the operation, one of the two targets, a form of its address, and the length of the message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    what: u8,
    target: usize,
    form: u8,
    len: usize,
    gathered: bool,
}

/// Where requests arrive.
pub(crate) trait Peer {
    /// How a request names it, in one of the possible forms.
    fn target(&self, form: u8) -> Target;
    /// Where receives are posted, and where they complete.
    fn queues(&mut self) -> (&mut Receives, &mut CompletionQueue);
    /// The numbers that its completions have: the queue pair's, and the initiator's where they have it.
    fn numbers(&self) -> (Qpn, Option<Qpn>);
    fn device(&self) -> &Device;
}

/// An initiator, and two whom its requests may be for.
pub(crate) struct Lab<T: Service, P> {
    devices: Vec<Device>,
    near: End<T>,
    peers: [P; 2],
    /// For each: memory to write and read, its content, and the place of its messages.
    windows: [Buffer; 2],
    contents: [Vec<u8>; 2],
    mailboxes: [Buffer; 2],
    local: Buffer,
    asked: u64,
}

impl<T: Service, P: Peer> Lab<T, P> {
    pub(crate) fn new(devices: Vec<Device>, near: End<T>, peers: [P; 2]) -> Self {
        let buffers = || peers.each_ref().map(|peer| peer.device().buffer(ROOM).expect("memory"));
        let (windows, mailboxes, local) = (buffers(), buffers(), near.buffer(ROOM).expect("memory"));
        Self { devices, near, windows, contents: [vec![0; ROOM], vec![0; ROOM]], mailboxes, local, peers, asked: 0 }
    }

    /// One request, and all that follows from it on either side.
    pub(crate) fn ask(&mut self, ask: Ask) {
        let id = self.asked;
        self.asked += 1;
        let Ask { what, target: to, form, len, gathered } = ask;
        let bytes: Vec<u8> = (0..len as u64).map(|n| (n * 7 + id * 13) as u8).collect();
        let (peer, window) = (&mut self.peers[to], self.windows[to].remote());
        let old = u64::from_ne_bytes(self.contents[to][..8].try_into().expect("8 bytes"));
        let there = u128::from_ne_bytes(self.contents[to][..16].try_into().expect("16 bytes"));
        let large = u128::from(id + 1).wrapping_mul(0xfedc_ba98_7654_3210_0123_4567_89ab_cdef);
        let (kind, receives) = match what {
            0 => (Kind::Send, true),
            1 => (Kind::SendImm(id as u32), true),
            2 => (Kind::Write(window), false),
            3 => (Kind::WriteImm(window, id as u32), true),
            4 => (Kind::Read(window), false),
            5 => (Kind::FetchAdd(window, 5), false),
            6 => (Kind::CompareSwap(window, old, id), false),
            7 => (Kind::Extended(window, Extended::Add128(large, FIELDS)), false),
            _ => {
                let (compare, swap) = (Masked { value: there, mask: !HALF }, Masked { value: large, mask: HALF });
                (Kind::Extended(window, Extended::Swap128 { compare, swap }), false)
            }
        };
        // In the CPU's order, or of 16 bytes in that of the network.
        let fetched = match what {
            0..=4 => Vec::new(),
            5 | 6 => old.to_ne_bytes().to_vec(),
            _ => there.to_be_bytes().to_vec(),
        };
        let data = match what {
            0..=3 if !gathered => Data::Inline(bytes.clone()),
            0..=3 => {
                self.local.write(0, &bytes);
                Data::Sges(vec![self.local.sge(..len)])
            }
            _ => Data::Sges(vec![self.local.sge(..if fetched.is_empty() { len } else { fetched.len() })]),
        };
        let wr = Wr { to: Some(peer.target(form)), ..Wr::new(kind, data, id) };
        // SAFETY: the buffers are looked at when the requests have completed.
        unsafe {
            if receives {
                peer.queues().0.post_unchecked(WrId(id), &[self.mailboxes[to].sge(..)]).expect("room");
            }
            self.near.post(&wr).expect("room");
        }
        run_until_idle(&self.devices.iter().collect::<Vec<_>>()).expect("an end");
        let sent = self.near.cq.poll().expect("a completion");
        assert_eq!(sent.check(), Ok(Side::Requester), "{ask:?}");
        assert_eq!(self.near.sq.retire(&sent).expect("outstanding").wr_id, WrId(id));
        let contents = &mut self.contents[to];
        match what {
            2 | 3 => contents[..len].copy_from_slice(&bytes),
            4 => assert_eq!(self.local.to_vec(..len), contents[..len]),
            5 => contents[..8].copy_from_slice(&old.wrapping_add(5).to_ne_bytes()),
            6 => contents[..8].copy_from_slice(&id.to_ne_bytes()),
            7 => {
                let half = |shift: u32| ((there >> shift) as u64).wrapping_add((large >> shift) as u64);
                let sum = u128::from(half(64)) << 64 | u128::from(half(0));
                contents[..16].copy_from_slice(&sum.to_ne_bytes());
            }
            8 => contents[..16].copy_from_slice(&(there & !HALF | large & HALF).to_ne_bytes()),
            _ => {}
        }
        if !fetched.is_empty() {
            assert_eq!(self.local.to_vec(..fetched.len()), fetched, "{ask:?}");
        }
        let peer = &mut self.peers[to];
        let (qpn, source) = peer.numbers();
        assert_eq!(self.windows[to].to_vec(..), *contents, "{ask:?}");
        let (rq, cq) = peer.queues();
        let received = cq.poll();
        assert_eq!(received.is_some(), receives);
        if let Some(cqe) = received {
            assert_eq!(cqe.check(), Ok(Side::Responder));
            assert_eq!((cqe.byte_len() as usize, cqe.imm()), (len, (what != 0).then_some(id as u32)));
            assert_eq!(cqe.qpn(), qpn);
            assert!(source.is_none_or(|source| cqe.src_qp() == source));
            assert_eq!(rq.retire(&cqe).expect("posted"), WrId(id));
            if what < 2 {
                assert_eq!(self.mailboxes[to].to_vec(..len), bytes);
            }
        }
        assert!(self.peers[1 - to].queues().1.poll().is_none(), "the other one has heard of it");
        assert!(self.devices.iter().all(|device| device.complaints().is_empty()));
    }
}

pub(crate) fn asks() -> impl Strategy<Value = Vec<Ask>> {
    let one = (0..9_u8, 0..2_usize, 0..3_u8, 0..=ROOM, any::<bool>());
    vec(one.prop_map(|(what, target, form, len, gathered)| Ask { what, target, form, len, gathered }), 1..40)
}

/// A network that loses frames, or a good one.
pub(crate) fn faults(lossy: bool) -> Faults {
    if lossy { "drop=30,dup=10,reorder=10,seed=7".parse().expect("faults") } else { Faults::default() }
}
