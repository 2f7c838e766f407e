//! The destination of XRC requests: a shared receive queue at the other end, by its number. Knows no request.
use crate::types::{DS_BYTES, Srqn};
use crate::wqe::address::to::Destination;
use crate::wqe::sealed::Sealed;
use crate::wqe::seg::XrcSeg;
use crate::wqe::sink::Sink;
use crate::wqe::words::be::Be32;

impl Sealed for Srqn {}
impl Destination for Srqn {
    const DS: usize = size_of::<XrcSeg>() / DS_BYTES;

    #[inline(always)]
    fn encode<S: Sink>(&self, sink: &mut S) {
        sink.ds(XrcSeg { xrc_srqn: Be32::new(self.get()), rsvd: [0; 12] }.into());
    }
}
