//! Faults of a WQE.

use crate::context::Transport;
use crate::memory::DmaFault;
use thiserror::Error;

/// Why a WQE cannot be executed: the fault, with the value found. Offsets are in bytes from the WQE's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WqeFault {
    /// The ring cannot be read.
    #[error("ring: {0}")]
    Dma(#[from] DmaFault),
    /// The producer index is further ahead than the ring is large.
    #[error("producer index {producer:#x} is {ahead} past index {index:#x} in a ring of {entries}")]
    Overrun {
        /// Index of the next WQE to take.
        index: u16,
        /// Producer index from the doorbell record.
        producer: u16,
        /// Their difference.
        ahead: u16,
        /// Size of the ring, in the same unit.
        entries: u32,
    },
    /// The index in the control segment is not the WQE's place in the ring.
    #[error("control segment says index {found:#x}, the WQE is at {expected:#x}")]
    WrongIndex {
        /// Found.
        found: u16,
        /// Should be.
        expected: u16,
    },
    /// The QPN in the control segment is not the queue's.
    #[error("control segment says QPN {found:#x}, the queue belongs to {expected:#x}")]
    WrongQpn {
        /// Found.
        found: u32,
        /// Should be.
        expected: u32,
    },
    /// DS is 0, or has bits in the reserved part of its byte.
    #[error("DS is {0}; permitted: 1 to 63")]
    BadDs(u8),
    /// The WQE reaches past the producer index that the doorbell record announced.
    #[error("WQE at {index:#x} takes {wqebbs} WQEBBs, the doorbell record announced {announced}")]
    PastProducer {
        /// Index of the WQE.
        index: u16,
        /// WQEBBs by its DS.
        wqebbs: u16,
        /// WQEBBs from its start to the producer index.
        announced: u16,
    },
    /// Unknown opcode.
    #[error("opcode {0:#04x} is unknown")]
    UnknownOpcode(u8),
    /// TSO without a size of segments.
    #[error("TSO with an mss of 0")]
    NoSegmentSize,
    /// A WQE that states where the headers are, on a queue that was made without.
    #[error("offsets of headers (software parser); the queue's context lacks allow_swp")]
    NoSoftwareParser,
    /// A WQE of several frames on a queue that was made for WQEs of one.
    #[error("a WQE of several frames; the queue's context lacks allow_multi_pkt_send_wqe")]
    SingleFramesOnly,
    /// The opcode is not one of this transport's (IBTA vol. 1 table 38).
    #[error("opcode {opcode:#04x} is not permitted on {transport:?}")]
    WrongTransport {
        /// Opcode.
        opcode: u8,
        /// Transport of the QP.
        transport: Transport,
    },
    /// The opcode modifier is not one of this opcode's. It must be 0, except for masked atomics (8 for 4 bytes, 9 for
    /// 8 bytes), for MMO (1, DMA), and for WAIT (also 2, for the clock).
    #[error(
        "opcode modifier {opmod:#04x} with opcode {opcode:#04x}; permitted: 0, of masked atomics 8 and 9, of MMO 1, \
        of WAIT 0 and 2"
    )]
    BadOpmod {
        /// Opcode.
        opcode: u8,
        /// Modifier.
        opmod: u8,
    },
    /// A field that must be 0 is not.
    #[error("{field} at byte {at} is {value:#x}; it must be 0")]
    Reserved {
        /// Field.
        field: &'static str,
        /// Offset in bytes.
        at: usize,
        /// Found.
        value: u64,
    },
    /// The signature is not that of the WQE.
    #[error("signature is {found:#04x}, that of the WQE is {expected:#04x}")]
    BadSignature {
        /// Found.
        found: u8,
        /// Should be.
        expected: u8,
    },
    /// `fm_ce_se` has a combination of bits that means nothing.
    #[error("fm_ce_se is {0:#04x}: reserved bits, or a fence or completion mode that does not exist")]
    BadFlags(u8),
    /// The format of a memory key's data is unknown.
    #[error("format of data: {what} is {value:#x}")]
    BadFormat {
        /// The fault.
        what: &'static str,
        /// Found.
        value: u64,
    },
    /// DS ends before a segment that the opcode needs.
    #[error("no room for the {segment} segment: it ends at byte {needs}, DS says {has} bytes")]
    MissingSegment {
        /// Segment.
        segment: &'static str,
        /// Where the segment would end.
        needs: usize,
        /// Bytes of the WQE by its DS.
        has: usize,
    },
    /// `cs_flags` of the Ethernet segment has bits other than the checksums.
    #[error("cs_flags is {0:#04x}; permitted: 0x40 (L3), 0x80 (L4), 0x10 (inner L3) and 0x20 (inner L4)")]
    BadChecksumFlags(u8),
    /// The Ethernet segment holds fewer bytes of headers than the queue must give inline.
    #[error("{found} bytes of inline headers; this queue needs {needed}")]
    FewInlineHeaders {
        /// Found.
        found: u16,
        /// Least.
        needed: u16,
    },
    /// Inline data is longer than the rest of the WQE.
    #[error("inline segment at byte {at} has {len} bytes, DS leaves {room}")]
    InlineTooLong {
        /// Offset of the segment.
        at: usize,
        /// Its length.
        len: usize,
        /// Bytes left for data.
        room: usize,
    },
    /// Inline data where the device puts data (READ, atomics, receive).
    #[error("inline segment at byte {at}: the operation writes to its segments")]
    InlineResult {
        /// Offset of the segment.
        at: usize,
    },
    /// The result of an atomic needs segments of as many bytes in all as it works on.
    #[error("atomic on {bytes} bytes has {found} bytes of segments for its result")]
    AtomicLength {
        /// Bytes by the segments.
        found: u64,
        /// Bytes that it works on.
        bytes: u8,
    },
    /// A copy from and to memory of different lengths.
    #[error("a copy of {from} bytes to {to}")]
    MemcpyLength {
        /// Bytes of the source.
        from: u32,
        /// Bytes of the destination.
        to: u32,
    },
    /// `flags` of the UMR control segment has bits that mean nothing, or asks for a key that is free and is not.
    #[error("flags of the UMR control segment are {0:#04x}")]
    BadUmrFlags(u8),
    /// A UMR WQE changes fields that this device lacks.
    #[error("mkey_mask is {0:#x}: signatures, or fields that do not exist")]
    BadUmrMask(u64),
    /// The list of a UMR WQE is longer than the memory it is in.
    #[error("a list of {octwords} octwords in {bytes} bytes")]
    ShortList {
        /// Octwords by the UMR control segment.
        octwords: u16,
        /// Bytes by the data segment.
        bytes: u32,
    },
    /// Unknown tag operation.
    #[error("operation {0:#04x} on tags; permitted: 0x00 (none), 0x10 (append) and 0x20 (remove)")]
    BadTagOperation(u8),
    /// Something follows the last segment.
    #[error("{0} bytes after the last segment")]
    Trailing(usize),
    /// An SRQ WQE links to an index outside of the ring.
    #[error("SRQ WQE {index:#x} links to {next:#x} in a ring of {entries}")]
    BadLink {
        /// Its index.
        index: u16,
        /// The link.
        next: u16,
        /// WQEs in the ring.
        entries: u32,
    },
    /// The SRQ does not exist (any more).
    #[error("no SRQ {0:#x}")]
    NoSrq(u32),
}
