//! The destination of XRC requests: a shared receive queue at the other end, by its number. Knows no request.
use super::be::Be32;
use super::sealed::Sealed;
use super::seg::XrcSeg;
use super::sink::Sink;
use super::to::Destination;
use crate::types::{DS_BYTES, Srqn};

impl Sealed for Srqn {}
impl Destination for Srqn {
    const DS: usize = size_of::<XrcSeg>() / DS_BYTES;

    #[inline(always)]
    fn encode<S: Sink>(&self, sink: &mut S) {
        sink.ds(XrcSeg { xrc_srqn: Be32::new(self.get()), rsvd: [0; 12] }.into());
    }
}
