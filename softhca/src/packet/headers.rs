//! The headers of the IB transport, each to and from its bytes (IBTA vol. 1, chapter 9). All big endian.

use super::opcode::Opcode;

/// The low 24 bits, as three bytes.
pub(super) const fn be24(value: u32) -> [u8; 3] {
    let [_, a, b, c] = value.to_be_bytes();
    [a, b, c]
}

/// Base transport header (IBTA vol. 1, 9.2). The pad count is not here: it follows from the payload's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bth {
    /// The kind of packet.
    pub opcode: Opcode,
    /// The receiver is to raise a solicited event (SE).
    pub solicited: bool,
    /// The sender's path has migrated (MigReq).
    pub migrated: bool,
    /// Partition key.
    pub pkey: u16,
    /// Destination QP number, 24 bits.
    pub dest_qp: u32,
    /// The responder is to acknowledge (A).
    pub ack_request: bool,
    /// Packet sequence number, 24 bits.
    pub psn: u32,
}

impl Bth {
    /// Bytes on the wire.
    pub const BYTES: usize = 12;

    /// The header, with `pad` bytes (0 to 3) of padding announced; transport header version 0.
    #[must_use]
    pub fn to_bytes(&self, pad: u8) -> [u8; Self::BYTES] {
        let [p0, p1] = self.pkey.to_be_bytes();
        let [q0, q1, q2] = be24(self.dest_qp);
        let [s0, s1, s2] = be24(self.psn);
        let flags = u8::from(self.solicited) << 7 | u8::from(self.migrated) << 6 | (pad & 3) << 4;
        [self.opcode.code(), flags, p0, p1, 0, q0, q1, q2, u8::from(self.ack_request) << 7, s0, s1, s2]
    }

    /// The header, its pad count and its transport header version. Reserved bits (and FECN, BECN) are ignored.
    /// `None` if the opcode is unknown.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Option<(Self, u8, u8)> {
        let [opcode, flags, p0, p1, _, q0, q1, q2, ack, s0, s1, s2] = *bytes;
        let bth = Self {
            opcode: Opcode::new(opcode)?,
            solicited: flags & 0x80 != 0,
            migrated: flags & 0x40 != 0,
            pkey: u16::from_be_bytes([p0, p1]),
            dest_qp: u32::from_be_bytes([0, q0, q1, q2]),
            ack_request: ack & 0x80 != 0,
            psn: u32::from_be_bytes([0, s0, s1, s2]),
        };
        Some((bth, flags >> 4 & 3, flags & 0xf))
    }
}

/// Datagram extended transport header (IBTA vol. 1, 9.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deth {
    /// Q_Key.
    pub qkey: u32,
    /// Source QP number, 24 bits.
    pub src_qp: u32,
}

impl Deth {
    pub(super) fn to_bytes(self) -> [u8; 8] {
        let [k0, k1, k2, k3] = self.qkey.to_be_bytes();
        let [q0, q1, q2] = be24(self.src_qp);
        [k0, k1, k2, k3, 0, q0, q1, q2]
    }

    pub(super) fn from_bytes([k0, k1, k2, k3, _, q0, q1, q2]: [u8; 8]) -> Self {
        Self { qkey: u32::from_be_bytes([k0, k1, k2, k3]), src_qp: u32::from_be_bytes([0, q0, q1, q2]) }
    }
}

/// RDMA extended transport header (IBTA vol. 1, 9.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reth {
    /// Remote address.
    pub addr: u64,
    /// Remote key.
    pub rkey: u32,
    /// Bytes of the whole message.
    pub len: u32,
}

impl Reth {
    pub(super) fn to_bytes(self) -> [u8; 16] {
        (u128::from(self.addr) << 64 | u128::from(self.rkey) << 32 | u128::from(self.len)).to_be_bytes()
    }

    pub(super) fn from_bytes(bytes: [u8; 16]) -> Self {
        let word = u128::from_be_bytes(bytes);
        Self { addr: (word >> 64) as u64, rkey: (word >> 32) as u32, len: word as u32 }
    }
}

/// Atomic extended transport header (IBTA vol. 1, 9.3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtomicEth {
    /// Remote address.
    pub addr: u64,
    /// Remote key.
    pub rkey: u32,
    /// Value to swap in, or to add.
    pub swap_add: u64,
    /// Value to compare with; unused by fetch and add.
    pub compare: u64,
}

impl AtomicEth {
    pub(super) fn to_bytes(self) -> [u8; 28] {
        let mut bytes = [0; 28];
        bytes[..8].copy_from_slice(&self.addr.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.rkey.to_be_bytes());
        bytes[12..20].copy_from_slice(&self.swap_add.to_be_bytes());
        bytes[20..].copy_from_slice(&self.compare.to_be_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: [u8; 28]) -> Self {
        let u64_at = |at: usize| bytes[at..at + 8].iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
        Self { addr: u64_at(0), rkey: (u64_at(4)) as u32, swap_add: u64_at(12), compare: u64_at(20) }
    }
}

/// ACK extended transport header (IBTA vol. 1, 9.3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aeth {
    /// ACK or NAK.
    pub syndrome: AethSyndrome,
    /// Message sequence number, 24 bits.
    pub msn: u32,
}

impl Aeth {
    pub(super) fn to_bytes(self) -> [u8; 4] {
        let [m0, m1, m2] = be24(self.msn);
        [self.syndrome.code(), m0, m1, m2]
    }

    pub(super) fn from_bytes([syndrome, m0, m1, m2]: [u8; 4]) -> Self {
        Self { syndrome: AethSyndrome::from_code(syndrome), msn: u32::from_be_bytes([0, m0, m1, m2]) }
    }
}

/// Syndrome of an [`Aeth`] (IBTA vol. 1, 9.7.5.2.1, tables 43 to 45).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AethSyndrome {
    /// Acknowledged; the credit count, 5 bits ([`AethSyndrome::NO_CREDITS`] when credits are not used).
    Ack(u8),
    /// Receiver not ready; the RNR timer code, 5 bits.
    RnrNak(u8),
    /// Negative acknowledgement.
    Nak(NakCode),
    /// Bits that mean nothing: the reserved type, or the reserved high bit set.
    Reserved(u8),
}

impl AethSyndrome {
    /// Credit count of a responder that does not use end-to-end flow control.
    pub const NO_CREDITS: u8 = 31;

    /// The byte in the header.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Ack(credits) => credits & 0x1f,
            Self::RnrNak(timer) => 0x20 | timer & 0x1f,
            Self::Nak(code) => 0x60 | code.0 & 0x1f,
            Self::Reserved(code) => code,
        }
    }

    /// The meaning of the byte in the header.
    #[must_use]
    pub const fn from_code(code: u8) -> Self {
        match code >> 5 {
            0 => Self::Ack(code & 0x1f),
            1 => Self::RnrNak(code & 0x1f),
            3 => Self::Nak(NakCode(code & 0x1f)),
            _ => Self::Reserved(code),
        }
    }
}

/// Why a request was refused, 5 bits (IBTA vol. 1, table 44). Any value may arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NakCode(pub u8);

impl NakCode {
    /// The PSN is ahead of the one expected.
    pub const PSN_SEQUENCE: Self = Self(0);
    /// Invalid request.
    pub const INVALID_REQUEST: Self = Self(1);
    /// The key, range or right is wrong.
    pub const REMOTE_ACCESS: Self = Self(2);
    /// The responder failed for a reason of its own.
    pub const REMOTE_OPERATIONAL: Self = Self(3);
}

/// Atomic acknowledge extended transport header (IBTA vol. 1, 9.5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtomicAckEth {
    /// The value found in memory; of 16 bytes its low half, and the high one is the payload.
    pub original: u64,
}

/// Immediate data (IBTA vol. 1, 9.3.6): the big-endian word's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImmDt(pub u32);

/// Invalidate extended transport header (IBTA vol. 1, 9.3.7): the key to invalidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ieth(pub u32);

/// XRC extended transport header (IBTA vol. 1, annex A14): the SRQ that a request is for, 24 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XrcEth(pub u32);

impl XrcEth {
    pub(super) fn to_bytes(self) -> [u8; 4] {
        let [s0, s1, s2] = be24(self.0);
        [0, s0, s1, s2]
    }

    pub(super) fn from_bytes([_, s0, s1, s2]: [u8; 4]) -> Self {
        Self(u32::from_be_bytes([0, s0, s1, s2]))
    }
}
