//! Options of a frame beside its outer checksums, as types. Knows no request.
use super::header_offsets::HeaderOffsets;
use crate::wqe::error::EncodeError;
use crate::wqe::limits::FrameOffloads;
use crate::wqe::opcode::Opcode;
use crate::wqe::sealed::Sealed;
use crate::wqe::seg::{Be16, Be32, EthSeg};

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

/// Options that all frames of a [session](crate::queue::send::Session) can have in common: all but large sends.
pub trait SharedOptions: FrameOptions {}

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
impl SharedOptions for () {}

/// A large send, and other options ([`Request::large`](crate::wqe::Request::large)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Large<X = ()> {
    pub(super) mss: u16,
    pub(super) others: X,
}

impl<X> Sealed for Large<X> {}
impl<X: FrameOptions> FrameOptions for Large<X> {
    const OPCODE: Opcode = Opcode::Tso;
    const NEEDS: FrameOffloads = FrameOffloads { max_large_send: 1, ..X::NEEDS }.with_common();
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

/// Options without limits of their own: their segment, and their needs.
macro_rules! unlimited {
    ($($name:ident, |$this:ident, $segment:ident| $set:expr, needs $need:ident;)*) => {$(
        impl<X> Sealed for $name<X> {}
        impl<X: SharedOptions> SharedOptions for $name<X> {}
        impl<X: FrameOptions> FrameOptions for $name<X> {
            const OPCODE: Opcode = X::OPCODE;
            const NEEDS: FrameOffloads = FrameOffloads { $need: true, ..X::NEEDS }.with_common();
            const CHECKED: bool = X::CHECKED;

            #[inline(always)]
            fn set(&self, segment: EthSeg) -> EthSeg {
                let ($this, $segment) = (self, self.others.set(segment));
                $set
            }

            #[inline(always)]
            fn check(&self, payload: u64, offloads: FrameOffloads) -> Result<(), EncodeError> {
                self.others.check(payload, offloads)
            }
        }
    )*};
}

/// Checksums of the headers inside of a tunnel, and other options
/// ([`Request::inner_l3_checksum`](crate::wqe::Request::inner_l3_checksum)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InnerChecksums<X = ()> {
    /// `MLX5_ETH_WQE_L3_INNER_CSUM`, `MLX5_ETH_WQE_L4_INNER_CSUM`.
    pub(super) flags: u8,
    pub(super) others: X,
}

/// Offsets of headers, and other options ([`Request::header_offsets`](crate::wqe::Request::header_offsets)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parsed<X = ()> {
    pub(super) at: HeaderOffsets,
    pub(super) others: X,
}

/// Metadata for flow tables, and other options ([`Request::metadata`](crate::wqe::Request::metadata)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata<X = ()> {
    pub(super) metadata: u32,
    pub(super) others: X,
}

unlimited! {
    InnerChecksums, |option, segment| EthSeg { cs_flags: segment.cs_flags | option.flags, ..segment },
        needs inner_checksums;
    Parsed, |option, segment| {
        EthSeg { swp_offs: Be32::new(option.at.offsets), swp_flags: option.at.flags, ..segment }
    }, needs header_offsets;
    Metadata, |option, segment| EthSeg { flow_table_metadata: Be32::new(option.metadata), ..segment }, needs metadata;
}
