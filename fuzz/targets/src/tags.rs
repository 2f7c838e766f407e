//! Operations on lists of tags, of the target `wqe_build`: the device must read each request as posted.

use blueflame::Sge;
use blueflame::queue::{PostError, SendQueue};
use blueflame::transport;
use blueflame::types::{Lkey, TagIndex, WrId};
use blueflame::wqe::limits::MAX_SGE_BYTES;
use blueflame::wqe::{self, EncodeError};
use softhca::wqe::{Append, DataSeg, INVALID_LKEY, SendOp, TagChange, TagOp};

use super::request::{Input, Request};

impl Request {
    fn tag_buffer(&self) -> Sge {
        let entry = self.entries.first();
        entry.map_or(Sge { addr: !self.addr, length: 0, lkey: Lkey(self.rkey) }, |entry| Sge {
            addr: entry.addr,
            length: entry.bytes,
            lkey: Lkey(entry.lkey),
        })
    }

    fn post_tag(&self, sq: &mut SendQueue<transport::Rc>, id: u64) -> (Result<(), PostError>, TagOp) {
        /// Posts a request with the flags that were asked for.
        macro_rules! post {
            ($request:expr) => {{
                let request = $request.wr_id(WrId(id));
                let request = if self.flags & 1 != 0 { request.reported() } else { request };
                let request = if self.flags & 2 != 0 { request.unexpected(self.imm as u16) } else { request };
                // SAFETY: no device acts on the posted WQEs.
                unsafe { sq.post_unchecked(&request) }
            }};
        }
        let index = TagIndex(self.rkey as u16);
        let (done, change) = match self.kind % 3 {
            0 => {
                let (mask, buffer) = (!self.addr ^ u64::from(self.imm), self.tag_buffer());
                let done = post!(wqe::tag_append(self.addr, mask, index, buffer));
                let seg = DataSeg { len: buffer.length, lkey: buffer.lkey.0, addr: buffer.addr };
                // With this key, an entry has no memory.
                let buffer = (seg.len != 0 && seg.lkey != INVALID_LKEY).then_some(seg);
                (done, TagChange::Append(Append { next: index.0, tag: self.addr, mask, buffer }))
            }
            1 => (post!(wqe::tag_remove(index)), TagChange::Remove { index: index.0 }),
            _ => (post!(wqe::tag_sync()), TagChange::None),
        };
        let sw_phase = (self.flags & 2 != 0).then_some(self.imm as u16);
        (done, TagOp { change, sw_phase, completes: self.flags & 1 != 0 })
    }

    /// A refusal names a limit that the request is really past.
    fn is_past_tags(&self, error: &PostError, input: &Input) -> bool {
        match *error {
            PostError::Encode(EncodeError::TooManySges { count: 1, limit: 0 }) => input.max_sge == 0,
            PostError::Encode(EncodeError::SgeTooLong { bytes, .. }) => {
                bytes > MAX_SGE_BYTES && bytes == self.tag_buffer().length
            }
            _ => false,
        }
    }
}

/// Posts and decodes.
pub(crate) fn run(input: &Input) {
    super::keys::post_all(
        input,
        Request::post_tag,
        |request, error| request.is_past_tags(error, input),
        |found, op| {
            assert_eq!(found.op, SendOp::Tags(*op));
            assert!(!found.signaled);
        },
    );
}
