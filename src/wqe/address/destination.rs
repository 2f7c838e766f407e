//! The destination of a request whose queue pair does not fix it. Knows no request.
use crate::arch::ds::DsWords;
use crate::layout::Be32;
use crate::sealed::Sealed;
use crate::transport::{Transport as _, XrcInitiator};
use crate::types::{DS_BYTES, DciStream, Srqn};
use crate::wqe::seg::XrcSeg;

/// The destination of a request: segments that follow the control segment. It is a
/// [`UdAddress`](crate::wqe::UdAddress), a target of dynamic connections, or for XRC the number of a shared receive
/// queue.
pub trait Destination: Sealed + Copy {
    /// The number of DS.
    const DS: usize;

    /// The transports whose requests have it, [by their bits](crate::transport::Transport::BIT).
    #[doc(hidden)]
    const ON: u8;

    /// The stream of a DCI for this destination; 0 where there are no streams.
    #[doc(hidden)]
    #[inline]
    fn stream(&self) -> DciStream {
        DciStream(0)
    }

    /// Writes its segments to the start of `words`.
    #[doc(hidden)]
    fn write(&self, words: &mut [DsWords]);
}

impl Sealed for Srqn {}
impl Destination for Srqn {
    const DS: usize = size_of::<XrcSeg>() / DS_BYTES;
    const ON: u8 = XrcInitiator::BIT;

    #[inline(always)]
    fn write(&self, words: &mut [DsWords]) {
        if let [first, ..] = words {
            *first = XrcSeg { xrc_srqn: Be32::new(self.get()), rsvd: [0; 12] }.into();
        }
    }
}
