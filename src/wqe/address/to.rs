//! Requests that name their destination: an operation with a destination before its segments. Knows a destination only
//! by its size.
use crate::types::DciStream;
use crate::wqe::opcode::Opcode;
use crate::wqe::operations::service::{Carries, Fetches, HasRemote, OfSome, Operation, Scatters};
use crate::wqe::sealed::Sealed;
use crate::wqe::sink::Sink;
use crate::wqe::words::be::Be32;

/// The destination of a request whose queue pair does not fix it: segments that follow the control segment. It is a
/// [`UdAddress`](crate::wqe::UdAddress), a target of dynamic connections, or for XRC the number of a shared receive
/// queue.
pub trait Destination: Sealed + Copy {
    /// The number of DS.
    const DS: usize;

    /// The stream of a DCI for this destination; 0 where there are no streams.
    #[doc(hidden)]
    #[inline]
    fn stream(&self) -> DciStream {
        DciStream(0)
    }

    /// Writes its segments.
    #[doc(hidden)]
    fn encode<S: Sink>(&self, sink: &mut S);
}

/// The operation `O`, for the destination `D`: made by [`Request::to`](crate::wqe::Request::to).
///
/// ```text
///    0  control segment
///   16  destination: of a datagram or a dynamic connection, 16 or 48 bytes of address vector; of XRC, 16 bytes with an SRQ's
///       number
///    A  the operation's own segments
///    D  data segments, or one inline segment       SEND to a CompactAv: D = 32     SEND to a FullAv: D = 64
///                                                  WRITE to a CompactAv: D = 48    WRITE to a FullAv: D = 80
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct To<O, D> {
    pub(in crate::wqe) operation: O,
    pub(in crate::wqe) destination: D,
}

impl<O, D> Sealed for To<O, D> {}
impl<O: Operation, D: Destination> Operation for To<O, D> {
    const OPCODE: Opcode = O::OPCODE;
    const OPMOD: u8 = O::OPMOD;
    const DS: usize = D::DS + O::DS;
    const INLINE: bool = O::INLINE;

    #[inline]
    fn imm(&self) -> Be32 {
        self.operation.imm()
    }

    #[inline]
    fn stream(&self) -> DciStream {
        self.destination.stream()
    }

    #[inline(always)]
    fn encode<S: Sink>(&self, sink: &mut S) {
        self.destination.encode(sink);
        self.operation.encode(sink);
    }
}

impl<O: Operation, D: Destination> OfSome for To<O, D> {}
impl<O: Carries, D: Destination> Carries for To<O, D> {}
impl<O: Scatters, D: Destination> Scatters for To<O, D> {}
impl<O: Fetches, D: Destination> Fetches for To<O, D> {
    type Found = O::Found;
}
impl<O: HasRemote, D: Destination> HasRemote for To<O, D> {
    const REMOTE_DS: usize = D::DS + O::REMOTE_DS;
}
