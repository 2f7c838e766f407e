//! Options of a frame beside its checksums, as types. Knows no request.
use crate::wqe::error::EncodeError;
use crate::wqe::limits::FrameOffloads;
use crate::wqe::opcode::Opcode;
use crate::wqe::sealed::Sealed;
use crate::wqe::seg::{Be16, EthSeg};

/// The options of a frame: `()` for none, or each around the others.
pub trait FrameOptions: Sealed + Copy {
    /// The device's opcode.
    const OPCODE: Opcode;

    /// The offloads that the device must have.
    const NEEDS: FrameOffloads;

    /// Whether its values have limits.
    const CHECKED: bool;

    /// The same segment with these options.
    fn set(&self, segment: EthSeg) -> EthSeg;

    /// Whether a frame of `payload` bytes behind its inline headers may have these options.
    ///
    /// # Errors
    /// A value of the options is out of its limits.
    fn check(&self, payload: u64, offloads: FrameOffloads) -> Result<(), EncodeError>;
}

impl FrameOptions for () {
    const OPCODE: Opcode = Opcode::Send;
    const NEEDS: FrameOffloads = FrameOffloads::NONE;
    const CHECKED: bool = false;

    #[inline(always)]
    fn set(&self, segment: EthSeg) -> EthSeg {
        segment
    }

    #[inline(always)]
    fn check(&self, _: u64, _: FrameOffloads) -> Result<(), EncodeError> {
        Ok(())
    }
}

/// A large send, and other options ([`Request::large`](crate::wqe::Request::large)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Large<X = ()> {
    pub(super) mss: u16,
    pub(super) others: X,
}

impl<X> Sealed for Large<X> {}
impl<X: FrameOptions> FrameOptions for Large<X> {
    const OPCODE: Opcode = Opcode::Tso;
    const NEEDS: FrameOffloads = FrameOffloads { max_large_send: 1, ..X::NEEDS };
    const CHECKED: bool = true;

    #[inline(always)]
    fn set(&self, segment: EthSeg) -> EthSeg {
        EthSeg { mss: Be16::new(self.mss), ..self.others.set(segment) }
    }

    #[inline(always)]
    fn check(&self, payload: u64, offloads: FrameOffloads) -> Result<(), EncodeError> {
        if self.mss == 0 || payload > offloads.max_large_send.into() {
            return Err(EncodeError::large_send(self.mss, payload, offloads.max_large_send));
        }
        self.others.check(payload, offloads)
    }
}
