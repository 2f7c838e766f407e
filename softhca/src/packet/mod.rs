//! IB transport packets: BTH, extended headers, payload and padding, without CRCs (IBTA vol. 1, chapter 9). They must
//! never know a QP.
//!
//! [`Packet::parse`] takes any bytes and [`Headers::build`] any headers. Both check them against one table of what each
//! opcode carries ([`opcode`]).

pub(crate) mod buffer;
pub(crate) mod cnp;
pub mod dc;
pub mod extended;
pub mod headers;
pub mod opcode;

use std::ops::Range;

use thiserror::Error;

pub use dc::{AcceptEth, ConnectEth, DcEth};
pub use extended::{ExtendedAtomicEth, Masked, Width};
pub use headers::{Aeth, AethSyndrome, AtomicAckEth, AtomicEth, Bth, Deth, Ieth, ImmDt, NakCode, Reth, XrcEth};
pub use opcode::{Carries, Opcode, Operation, Place, Tail};

/// The largest payload of one packet in bytes: the largest MTU (IBTA vol. 1, 9.6).
pub const MAX_PAYLOAD: usize = 4096;

/// The smallest MTU.
const MIN_MTU: usize = 256;

/// The most bytes of payload of several packets that pass between devices of this kind as one: a segment.
pub(crate) const MAX_SEGMENT: usize = 1 << 16;

/// The most bytes that headers take: BTH, those of a masked atomic, and the header that DC adds.
pub const MAX_HEADERS: usize = Bth::BYTES + ExtendedAtomicEth::BYTES + 8;

/// Why bytes are not a packet, or headers do not make one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PacketFault {
    /// The packet ends inside of a header.
    #[error("packet of {len} bytes ends inside of a header")]
    Truncated {
        /// Bytes of the packet.
        len: usize,
    },
    /// Packets are a multiple of 4 bytes long.
    #[error("packet of {len} bytes is not a multiple of 4")]
    Unpadded {
        /// Bytes of the packet.
        len: usize,
    },
    /// The opcode is reserved or of a service that the device lacks.
    #[error("opcode {0:#04x} is unknown")]
    Opcode(u8),
    /// The transport header version is not 0.
    #[error("transport header version {0} is not 0")]
    Version(u8),
    /// More padding than payload.
    #[error("{pad} bytes of padding in a payload of {len}")]
    Padding {
        /// Bytes of padding announced.
        pad: u8,
        /// Bytes after the headers.
        len: usize,
    },
    /// A payload where the opcode has none, or more than [`MAX_PAYLOAD`].
    #[error("opcode {opcode:#04x} with a payload of {len} bytes")]
    Payload {
        /// The opcode's code.
        opcode: u8,
        /// Bytes of payload.
        len: usize,
    },
    /// To build: an extended header is missing, or one too many.
    #[error("the headers are not those of opcode {0:#04x}")]
    Headers(u8),
}

/// All headers of a packet. The opcode says which of the optional ones are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// Base.
    pub bth: Bth,
    /// Datagram.
    pub deth: Option<Deth>,
    /// Dynamic connection.
    pub dc: Option<DcEth>,
    /// XRC: the SRQ.
    pub xrc: Option<XrcEth>,
    /// RDMA.
    pub reth: Option<Reth>,
    /// Atomic request.
    pub atomic: Option<AtomicEth>,
    /// Masked atomic request.
    pub extended: Option<ExtendedAtomicEth>,
    /// Acknowledgement.
    pub aeth: Option<Aeth>,
    /// Atomic answer.
    pub atomic_ack: Option<AtomicAckEth>,
    /// Immediate data.
    pub imm: Option<ImmDt>,
    /// Key to invalidate.
    pub ieth: Option<Ieth>,
    /// DC: the request to a target.
    pub connect: Option<ConnectEth>,
    /// DC: the connection that a target has made.
    pub accept: Option<AcceptEth>,
}

impl Headers {
    /// The BTH alone.
    #[must_use]
    pub const fn new(bth: Bth) -> Self {
        Self {
            bth,
            deth: None,
            dc: None,
            xrc: None,
            reth: None,
            atomic: None,
            extended: None,
            aeth: None,
            atomic_ack: None,
            imm: None,
            ieth: None,
            connect: None,
            accept: None,
        }
    }

    /// A packet with these headers and room for `payload_len` bytes of payload, which the caller then fills in.
    ///
    /// # Errors
    /// [`PacketFault::Headers`] if the headers are not exactly those of the opcode, [`PacketFault::Payload`] if it
    /// has no payload or one of at most [`MAX_PAYLOAD`] bytes.
    pub fn build(&self, payload_len: usize) -> Result<Draft, PacketFault> {
        self.build_segment(payload_len, 1)
    }

    /// [Builds](Self::build) a segment of `packets` packets.
    pub(crate) fn build_segment(&self, payload_len: usize, packets: u16) -> Result<Draft, PacketFault> {
        let opcode = self.bth.opcode;
        if self.carries() != opcode.carries() {
            return Err(PacketFault::Headers(opcode.code()));
        }
        check_payload(opcode, payload_len, packets)?;
        let pad = payload_len.wrapping_neg() & 3;
        let mut packet = Writer { bytes: [0; MAX_HEADERS], len: 0 };
        put(&mut packet, Some(self.bth.to_bytes(pad as u8)));
        put(&mut packet, self.deth.map(Deth::to_bytes));
        put(&mut packet, self.dc.map(DcEth::to_bytes));
        put(&mut packet, self.xrc.map(XrcEth::to_bytes));
        put(&mut packet, self.reth.map(Reth::to_bytes));
        put(&mut packet, self.atomic.map(AtomicEth::to_bytes));
        put(&mut packet, self.extended.map(ExtendedAtomicEth::to_bytes));
        put(&mut packet, self.aeth.map(Aeth::to_bytes));
        put(&mut packet, self.atomic_ack.map(|ack| ack.original.to_be_bytes()));
        put(&mut packet, self.imm.map(|imm| imm.0.to_be_bytes()));
        put(&mut packet, self.ieth.map(|ieth| ieth.0.to_be_bytes()));
        put(&mut packet, self.connect.map(ConnectEth::to_bytes));
        put(&mut packet, self.accept.map(|accept| accept.connection.to_be_bytes()));
        let Writer { bytes, len: start } = packet;
        let end = start + payload_len;
        let mut packet = buffer::take(end + pad);
        packet[..start].copy_from_slice(&bytes[..start]);
        packet[end..].fill(0);
        Ok(Draft { packet, payload: start..end })
    }

    fn carries(&self) -> Carries {
        [
            (self.deth.is_some(), Carries::DETH),
            (self.dc.is_some(), Carries::DC),
            (self.xrc.is_some(), Carries::XRC),
            (self.reth.is_some(), Carries::RETH),
            (self.atomic.is_some(), Carries::ATOMIC),
            (self.extended.is_some(), Carries::EXTENDED),
            (self.aeth.is_some(), Carries::AETH),
            (self.atomic_ack.is_some(), Carries::ATOMIC_ACK),
            (self.imm.is_some(), Carries::IMM),
            (self.ieth.is_some(), Carries::IETH),
            (self.connect.is_some(), Carries::CONNECT),
            (self.accept.is_some(), Carries::ACCEPT),
        ]
        .into_iter()
        .filter(|&(there, _)| there)
        .fold(Carries::NONE, |set, (_, header)| set.and(header))
    }
}

/// Headers that have been written.
struct Writer {
    bytes: [u8; MAX_HEADERS],
    len: usize,
}

fn put<const N: usize>(packet: &mut Writer, header: Option<[u8; N]>) {
    if let (Some(header), Some(place)) = (header, packet.bytes[packet.len..].first_chunk_mut()) {
        *place = header;
        packet.len += N;
    }
}

/// Bytes of the half of 16 bytes that does not fit an [`AtomicAckEth`].
const HIGH_HALF: usize = 8;

fn check_payload(opcode: Opcode, len: usize, packets: u16) -> Result<(), PacketFault> {
    if packets != 1 {
        return check_segment(opcode, len, packets);
    }
    let limit = match opcode.operation() {
        // This device's own format, as for masked atomics: the high half of the value that an atomic of 16 bytes
        // found.
        Operation::AtomicAcknowledge => HIGH_HALF,
        _ if opcode.has_payload() => MAX_PAYLOAD,
        _ => 0,
    };
    if len > limit { Err(PacketFault::Payload { opcode: opcode.code(), len }) } else { Ok(()) }
}

/// All packets of a segment but the last are full, the last one is not empty, and their MTU is a valid one.
fn check_segment(opcode: Opcode, len: usize, packets: u16) -> Result<(), PacketFault> {
    let before = usize::from(packets.saturating_sub(1));
    let lengths = before * MIN_MTU + 1..=MAX_SEGMENT.min((before + 1) * MAX_PAYLOAD);
    let valid = packets > 1 && opcode.may_join() && lengths.contains(&len);
    if valid { Ok(()) } else { Err(PacketFault::Payload { opcode: opcode.code(), len }) }
}

/// A packet whose payload is still to be filled in: host memory is copied straight into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    packet: Vec<u8>,
    payload: Range<usize>,
}

impl Draft {
    /// The payload, of any bytes at first.
    #[must_use]
    pub fn payload_mut(&mut self) -> &mut [u8] {
        &mut self.packet[self.payload.clone()]
    }

    /// The packet with its padding.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        self.packet
    }
}

/// A parsed packet; the payload is borrowed from the bytes it was parsed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// All headers, exactly those that the opcode carries.
    pub headers: Headers,
    /// Payload without padding; empty if the opcode has none.
    pub payload: &'a [u8],
    /// Packets that it stands for: 1, or those of a segment.
    pub packets: u16,
}

impl<'a> Packet<'a> {
    /// Reads a packet; the bytes may be anything.
    ///
    /// # Errors
    /// [`PacketFault`] if they are no packet of a service that the device has.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, PacketFault> {
        Self::of(bytes, 1)
    }

    /// [Reads](Self::parse) the bytes of a frame that stands for `packets` packets.
    ///
    /// # Errors
    /// [`PacketFault`], for instance if `packets` packets cannot be one frame.
    pub fn of(bytes: &'a [u8], packets: u16) -> Result<Self, PacketFault> {
        let mut rest = Rest { len: bytes.len(), bytes };
        let base = rest.take::<{ Bth::BYTES }>()?;
        let (bth, pad, version) = Bth::from_bytes(&base).ok_or(PacketFault::Opcode(base[0]))?;
        if version != 0 {
            return Err(PacketFault::Version(version));
        }
        let carries = bth.opcode.carries();
        let headers = Headers {
            bth,
            deth: rest.header(carries.has(Carries::DETH), Deth::from_bytes)?,
            dc: rest.header(carries.has(Carries::DC), DcEth::from_bytes)?,
            xrc: rest.header(carries.has(Carries::XRC), XrcEth::from_bytes)?,
            reth: rest.header(carries.has(Carries::RETH), Reth::from_bytes)?,
            atomic: rest.header(carries.has(Carries::ATOMIC), AtomicEth::from_bytes)?,
            extended: rest.header(carries.has(Carries::EXTENDED), ExtendedAtomicEth::from_bytes)?,
            aeth: rest.header(carries.has(Carries::AETH), Aeth::from_bytes)?,
            atomic_ack: rest
                .header(carries.has(Carries::ATOMIC_ACK), |word| AtomicAckEth { original: u64::from_be_bytes(word) })?,
            imm: rest.header(carries.has(Carries::IMM), |word| ImmDt(u32::from_be_bytes(word)))?,
            ieth: rest.header(carries.has(Carries::IETH), |word| Ieth(u32::from_be_bytes(word)))?,
            connect: rest.header(carries.has(Carries::CONNECT), ConnectEth::from_bytes)?,
            accept: rest
                .header(carries.has(Carries::ACCEPT), |word| AcceptEth { connection: u32::from_be_bytes(word) })?,
        };
        let padded = rest.bytes;
        if padded.len() % 4 != 0 {
            return Err(PacketFault::Unpadded { len: bytes.len() });
        }
        let fault = PacketFault::Padding { pad, len: padded.len() };
        let end = padded.len().checked_sub(usize::from(pad)).ok_or(fault)?;
        let payload = &padded[..end];
        check_payload(bth.opcode, payload.len(), packets)?;
        Ok(Self { headers, payload, packets })
    }

    /// The destination QP of a packet that may not parse; `None` if it is too short for a BTH.
    #[must_use]
    pub fn dest_qp(bytes: &[u8]) -> Option<u32> {
        let base = bytes.first_chunk::<{ Bth::BYTES }>()?;
        Some(u32::from_be_bytes([0, base[5], base[6], base[7]]))
    }
}

/// The unread part of a packet of `len` bytes.
struct Rest<'a> {
    bytes: &'a [u8],
    len: usize,
}

impl Rest<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], PacketFault> {
        let (head, tail) = self.bytes.split_first_chunk().ok_or(PacketFault::Truncated { len: self.len })?;
        self.bytes = tail;
        Ok(*head)
    }

    fn header<const N: usize, T>(
        &mut self,
        present: bool,
        read: impl FnOnce([u8; N]) -> T,
    ) -> Result<Option<T>, PacketFault> {
        if present { self.take().map(|bytes| Some(read(bytes))) } else { Ok(None) }
    }
}

#[cfg(test)]
mod tests;
