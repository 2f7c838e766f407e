//! CQEs of block signature errors.
use core::mem::offset_of;

use crate::cq::cqe::view::CqeView;
use crate::cq::layout::Cqe64;
use crate::cq::opcode::CqeOpcode;
use crate::cq::source::Source;
use crate::types::{Qpn, Rkey};

layout! {
    /// A completion queue entry of a signature error (rdma-core `providers/mlx5/cq.c`, `struct mlx5_sigerr_cqe`; the
    /// queue pair is where Linux has it, `include/linux/mlx5/device.h`, `struct mlx5_sig_err_cqe`).
    #[doc(alias = "mlx5_sigerr_cqe")]
    #[derive(Clone, Copy, Debug)]
    #[repr(C)]
    pub struct SigErrCqe[size_of::<Cqe64>()] {
        /// Reserved.
        0 => pub rsvd0: [u8; 16],
        /// The upper half of the signature that was with the data.
        16 => pub expected_trans_sig: u32,
        /// The upper half of the one that the device made of the data.
        20 => pub actual_trans_sig: u32,
        /// The lower half of the signature that was with the data.
        24 => pub expected_ref_tag: u32,
        /// The lower half of the one that the device made.
        28 => pub actual_ref_tag: u32,
        /// Bit 13: guard, 12: application tag, 11: reference tag.
        32 => pub syndrome: u16,
        /// Bits 2:0: 0 of a block, 1 of a transaction.
        34 => pub sig_type: u8,
        /// Bits 2:0: 0 on the wire, 1 in memory.
        35 => pub domain: u8,
        /// The memory key.
        36 => pub mkey: u32,
        /// Where in the transfer.
        40 => pub sig_err_offset: u64,
        /// Reserved.
        48 => pub rsvd1: [u8; 8],
        /// Bits 23:0: the queue pair.
        56 => pub qpn: u32,
        /// Reserved.
        60 => pub rsvd2: [u8; 2],
        /// A checksum of the CQE, undocumented: see [`ErrCqe::signature`](crate::cq::layout::ErrCqe::signature).
        62 => pub signature: u8,
        /// As in [`Cqe64::op_own`].
        63 => pub op_own: u8,
    }
}

/// The wrong part of a block signature (`enum mlx5dv_mkey_err_type`).
#[doc(alias = "mlx5dv_mkey_err_type")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SignaturePart {
    /// The guard of a T10-DIF, or a CRC.
    Guard,
    /// The application tag of a T10-DIF.
    AppTag,
    /// The reference tag of a T10-DIF.
    RefTag,
}

/// Where a block signature was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SignatureSide {
    /// Of data that came from the wire.
    Wire,
    /// Of data that came from memory.
    Memory,
    /// A number that this crate does not know.
    Unknown(u8),
}

/// A block signature does not match its data. The requests that moved the data complete as usual, after this.
///
/// Signatures are numbers, as for [`set_psv`](crate::wqe::set_psv): a CRC32 in the upper half, or all of a CRC64. A
/// T10-DIF has guard, application tag, and reference tag, from the highest bit on.
#[doc(alias = "mlx5dv_mkey_err")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SignatureError {
    /// The memory key, as it was configured.
    pub key: Rkey,
    /// The queue pair.
    pub qpn: Qpn,
    /// Where it was checked.
    pub side: SignatureSide,
    /// Of a transaction, and not of a block.
    pub transaction: bool,
    /// The device's syndrome, as bits: [`part`](Self::part) decodes it.
    pub syndrome: u16,
    /// The signature that was with the data (`expected`).
    pub found: u64,
    /// The one that the device made of the data (`actual`).
    pub made: u64,
    /// Where the block begins, in bytes of that side.
    pub offset: u64,
}

impl SignatureError {
    /// The wrong part. If several are wrong, the first of reference tag, application tag and guard, in this order
    /// (rdma-core `providers/mlx5/verbs.c`, `mlx5_decode_sigerr`). `None` if the device names none that this crate
    /// knows.
    #[must_use]
    pub const fn part(&self) -> Option<SignaturePart> {
        if self.syndrome & 1 << 11 != 0 {
            Some(SignaturePart::RefTag)
        } else if self.syndrome & 1 << 12 != 0 {
            Some(SignaturePart::AppTag)
        } else if self.syndrome & 1 << 13 != 0 {
            Some(SignaturePart::Guard)
        } else {
            None
        }
    }

    /// The values of that part, found and made. `guard_bits` is the size of the guard or CRC
    /// ([`BlockSignatureKind::guard_bits`](crate::wqe::formats::BlockSignatureKind::guard_bits)).
    #[must_use]
    pub const fn values(&self, guard_bits: u32) -> Option<[u64; 2]> {
        let (shift, mask) = match self.part() {
            Some(SignaturePart::RefTag) => (0, 0xffff_ffff),
            Some(SignaturePart::AppTag) => (32, 0xffff),
            Some(SignaturePart::Guard) if 0 < guard_bits && guard_bits <= 64 => (64 - guard_bits, u64::MAX),
            _ => return None,
        };
        Some([self.found >> shift & mask, self.made >> shift & mask])
    }
}

impl<S: Source> CqeView<S> {
    /// The signature error that this CQE reports, if its opcode is [`CqeOpcode::SigErr`]. It completes no request.
    #[doc(alias = "mlx5dv_mkey_check")]
    #[must_use]
    pub fn signature_error(&self) -> Option<SignatureError> {
        if self.opcode() != CqeOpcode::SigErr {
            return None;
        }
        let number = |upper, lower| u64::from(self.source.be32(upper)) << 32 | u64::from(self.source.be32(lower));
        Some(SignatureError {
            key: Rkey(self.source.be32(offset_of!(SigErrCqe, mkey))),
            qpn: Qpn::truncate(self.source.be32(offset_of!(SigErrCqe, qpn))),
            side: match self.source.u8(offset_of!(SigErrCqe, domain)) & 7 {
                0 => SignatureSide::Wire,
                1 => SignatureSide::Memory,
                other => SignatureSide::Unknown(other),
            },
            transaction: self.source.u8(offset_of!(SigErrCqe, sig_type)) & 7 != 0,
            syndrome: self.source.be16(offset_of!(SigErrCqe, syndrome)),
            found: number(offset_of!(SigErrCqe, expected_trans_sig), offset_of!(SigErrCqe, expected_ref_tag)),
            made: number(offset_of!(SigErrCqe, actual_trans_sig), offset_of!(SigErrCqe, actual_ref_tag)),
            offset: self.source.be64(offset_of!(SigErrCqe, sig_err_offset)),
        })
    }
}
