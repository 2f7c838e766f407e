//! Requests about other queues, the clock, and data that stays on this side, of the target `wqe_build`: the device must
//! read each request as posted.

use std::mem::MaybeUninit;
use std::num::NonZeroU32;
use std::ptr::NonNull;

use blueflame::Sge;
use blueflame::cq::CqId;
use blueflame::db::Managed;
use blueflame::queue::send::{SqParts, WqeRecord};
use blueflame::queue::{PostError, SendQueue};
use blueflame::transport;
use blueflame::types::{CqCi, Cqn, Lkey, Qpn, SqPi, WrId};
use blueflame::wqe::cross_channel::{DeviceClock, WordCondition};
use blueflame::wqe::limits::MAX_SGE_BYTES;
use blueflame::wqe::{self, EncodeError};
use softhca::wqe::{Comparison, Condition, DataSeg, Enable, Payload, SendOp, WaitData};

use super::memory::Arena;
use super::request::{Input, Request};

type Expected = (SendOp, Payload, bool);

impl Request {
    fn read(&self) -> Vec<Sge> {
        self.entries.iter().map(|e| Sge { addr: e.addr, length: e.bytes, lkey: Lkey(e.lkey) }).collect()
    }

    fn post_wait(&self, sq: &mut SendQueue<transport::Rc>, id: u64) -> (Result<(), PostError>, Expected) {
        let (signaled, tag) = (self.flags & 1 != 0, WrId(id));
        let nothing = Payload::default();
        match self.kind % 5 {
            0 => {
                let (cqn, index) = (Cqn::truncate(self.imm), CqCi::truncate(self.rkey));
                let request = wqe::wait_for_completion(cqn, index).signaled_if(signaled, tag);
                let op = SendOp::WaitCqe { cqn: cqn.get(), index: index.get() };
                (sq.post(&request), (op, nothing, signaled))
            }
            1 => {
                let (comparison, value) = (Comparison::CyclicSmaller, self.addr);
                let khz = NonZeroU32::new(self.rkey).unwrap_or(NonZeroU32::MIN);
                // The bits of the last of eight seconds' ticks.
                let mask = u64::MAX >> (8000 * u64::from(khz.get()) - 1).leading_zeros();
                let (clock, ahead) = (DeviceClock::free_running(khz), u64::from(self.imm));
                let request = clock.at(value.wrapping_sub(ahead)).wait_until(value);
                assert_eq!(request.is_ok(), ahead <= mask / 2, "{request:?}");
                let request = request.unwrap_or_else(|_| clock.at(value).wait_until(value).expect("no distance"));
                let wait = Condition { comparison, inverted: false, value, mask };
                let done = sq.post(&request.signaled_if(signaled, tag));
                (done, (SendOp::WaitTime(wait), nothing, signaled))
            }
            2 => {
                let (qpn, index) = (Qpn::truncate(self.rkey), self.imm as u16);
                let (ring, record) = (Arena::new(64, 0xa5), Arena::new(8, 0xa5));
                let mut shadow = [MaybeUninit::<WqeRecord>::uninit(); 1];
                let parts = SqParts {
                    ring: ring.ptr(),
                    wqebbs: 1,
                    dbrec: record.ptr().cast(),
                    qpn,
                    cq: CqId::NONE,
                    max_inline: 0,
                    max_sge: 0,
                    signal_all: false,
                    pi: SqPi(index),
                    shadow: NonNull::from(&mut shadow).cast(),
                };
                // SAFETY: its memory outlives the queue, and nothing else uses it.
                let slave =
                    unsafe { SendQueue::<transport::Rc, Managed>::from_parts(parts, Managed) }.expect("a queue");
                // SAFETY: no device acts on the posted WQEs.
                let done = sq.post(&unsafe { slave.enable() }.signaled_if(signaled, tag));
                (done, (SendOp::EnableSends(Enable { qpn: qpn.get(), index }), nothing, signaled))
            }
            3 => {
                let (value, mask) = (u64::from_le_bytes(self.operands[..8].try_into().expect("8")), self.flags.into());
                let until: fn(u64) -> WordCondition = match self.imm % 6 {
                    0 => WordCondition::equals,
                    1 => WordCondition::differs,
                    2 => WordCondition::is_less_than,
                    3 => WordCondition::is_at_least,
                    4 => WordCondition::is_more_than,
                    _ => WordCondition::is_at_most,
                };
                let lkey = Lkey(self.rkey);
                let request = wqe::wait_for_word(self.addr, lkey, until(value).bits(mask));
                assert_eq!(request.is_ok(), self.addr.is_multiple_of(8), "{request:?}");
                let addr = self.addr & !7;
                let request = request.or_else(|_| wqe::wait_for_word(addr, lkey, until(value).bits(mask)));
                let request = request.expect("aligned").signaled_if(signaled, tag);
                // SAFETY: no device acts on the posted WQEs.
                let done = unsafe { sq.post_unchecked(&request) };
                let comparison =
                    [Comparison::Equal, Comparison::Bigger, Comparison::Smaller][self.imm as usize % 6 / 2];
                let until = Condition { comparison, inverted: self.imm % 6 % 2 == 1, value, mask };
                let word = DataSeg { len: 8, lkey: self.rkey, addr };
                let wait = WaitData { word, until, is_check: false };
                (done, (SendOp::WaitData(wait), nothing, signaled))
            }
            _ => {
                let entries = self.read();
                // SAFETY: no device acts on the posted WQEs.
                let done = unsafe { sq.post_unchecked(&wqe::dump_slice(&entries).signaled_if(signaled, tag)) };
                let seg = |s: &Sge| DataSeg { len: s.length, lkey: s.lkey.0, addr: s.addr };
                let segs = entries.iter().filter(|s| s.length != 0).map(seg).collect();
                (done, (SendOp::Dump, Payload::Segs(segs), signaled))
            }
        }
    }

    /// A refusal names a limit that the request is really past.
    fn is_past_reading(&self, error: &PostError, input: &Input) -> bool {
        let entries = self.read();
        let units = entries.iter().filter(|s| s.length != 0).count();
        match *error {
            PostError::Encode(EncodeError::TooManySges { count, limit }) => {
                count == entries.len() && limit == u32::from(input.max_sge) && count > limit as usize
            }
            PostError::Encode(EncodeError::SgeTooLong { bytes, .. }) => {
                bytes > MAX_SGE_BYTES && entries.iter().any(|s| s.length == bytes)
            }
            PostError::Encode(EncodeError::WqeTooLong { ds, .. }) => ds > 63 && ds == 1 + units,
            PostError::LargerThanRing { needed, ring } => {
                ring == 1 << (input.log_wqebbs & 7) && u32::from(needed.0) > ring && units > 3
            }
            _ => false,
        }
    }
}

/// Posts and decodes.
pub(crate) fn run(input: &Input) {
    super::keys::post_all(
        input,
        Request::post_wait,
        |request, error| request.is_past_reading(error, input),
        |found, (op, payload, signaled)| {
            assert_eq!((&found.op, &found.payload, found.signaled), (op, payload, *signaled));
        },
    );
}
