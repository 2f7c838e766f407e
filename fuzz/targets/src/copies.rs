//! Copies of memory, of the target `wqe_build`: the device must read the request as posted, and refuses no length that
//! the crate takes.

use blueflame::Sge;
use blueflame::queue::{PostError, SendQueue};
use blueflame::transport;
use blueflame::types::{Lkey, WrId};
use blueflame::wqe::limits::MAX_MEMCPY_BYTES;
use blueflame::wqe::operations::Opaque;
use blueflame::wqe::{self, EncodeError};
use softhca::wqe::{DataSeg, Fence, Memcpy, SendOp};

use super::request::{Input, Request};

impl Request {
    /// The most bytes of a copy.
    fn most(&self) -> u32 {
        u32::from_le_bytes([self.operands[12], self.operands[13], self.operands[14], self.operands[15]])
    }

    fn source(&self) -> Sge {
        let entry = self.entries.first();
        entry.map_or(Sge { addr: !self.addr, length: self.imm, lkey: Lkey(self.rkey) }, |entry| Sge {
            addr: entry.addr,
            length: entry.bytes,
            lkey: Lkey(entry.lkey),
        })
    }

    fn post_copy(&self, sq: &mut SendQueue<transport::Rc>, id: u64) -> (Result<(), PostError>, (Memcpy, bool)) {
        let (opaque, from) = (u64::from(self.inline_len) << 40 | 64, self.source());
        let opaque = Opaque { addr: opaque, lkey: Lkey(!self.rkey), max_bytes: self.most() };
        let (signaled, fenced) = (self.flags & 1 != 0, self.flags & 2 != 0);
        let fence = if fenced { wqe::Fence::SmallAndReads } else { wqe::Fence::None };
        let request = wqe::memcpy(opaque, from, self.addr, Lkey(self.imm)).fence(fence).signaled_if(signaled, WrId(id));
        // SAFETY: no device acts on the posted WQEs.
        let done = unsafe { sq.post_unchecked(&request) };
        let from = DataSeg { len: from.length, lkey: from.lkey.0, addr: from.addr };
        let to = DataSeg { len: from.len, lkey: self.imm, addr: self.addr };
        let copy = Memcpy { scratch_lkey: opaque.lkey.0, scratch_addr: opaque.addr, from, to };
        (done, (copy, fenced))
    }

    /// A refusal names a limit that the copy is really past.
    fn is_past_copying(&self, error: &PostError) -> bool {
        let most = self.most().min(MAX_MEMCPY_BYTES);
        matches!(*error, PostError::Encode(EncodeError::MemcpySize { bytes, limit })
            if bytes == self.source().length && limit == most && (bytes == 0 || bytes > limit))
    }
}

/// Posts and decodes.
pub(crate) fn run(input: &Input) {
    super::keys::post_all(input, Request::post_copy, Request::is_past_copying, |found, (copy, fenced)| {
        assert_eq!(found.op, SendOp::Memcpy(*copy));
        assert_eq!(found.fence, if *fenced { Fence::Full } else { Fence::None });
    });
}
