//! A send WQE, decoded.

use super::changes::{TagOp, Umr};
use super::condition::Condition;
use super::payload::{DataSeg, Payload};
use crate::config::LinkLayer;
use crate::context::{Path, PathGrh};
use crate::ethernet::{Checksums, StatedHeaders};
use crate::packet::{Masked, Width};

/// Fence bits of a WQE (`fm_ce_se` bits 7:5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fence {
    /// None.
    #[default]
    None,
    /// Wait for earlier local operations: memory windows, local invalidate (`INITIATOR_SMALL_FENCE`).
    Small,
    /// Wait for earlier READs and atomics (`MLX5_WQE_CTRL_FENCE`).
    Full,
    /// Wait for all earlier requests (`MLX5_FENCE_MODE_STRONG_ORDERING`, Linux `include/linux/mlx5/qp.h`).
    Strong,
}

/// Memory of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remote {
    /// Address, as the key's owner named it.
    pub addr: u64,
    /// Key.
    pub rkey: u32,
}

/// The address vector of a WQE without its key (`struct mlx5_wqe_av`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressVector {
    /// Destination QPN, or number of the DCT.
    pub dest_qpn: u32,
    /// The byte `stat_rate_sl` whole: static rate in bits 7:4; on InfiniBand the service level in bits 3:0, on Ethernet
    /// in bits 3:1.
    pub stat_rate_sl: u8,
    /// Low bits of the source LID.
    pub src_path_bits: u8,
    /// InfiniBand: destination LID. Ethernet: UDP source port of RoCEv2.
    pub rlid: u16,
    /// The packet has a GRH. Drivers leave the bit clear on Ethernet, where it always has one.
    pub grh_present: bool,
    /// Global routing; zeroes when the WQE has the short address vector.
    pub grh: PathGrh,
    /// Destination MAC.
    pub dmac: [u8; 6],
}

/// Where a UD WQE goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdAddress {
    /// Q_Key.
    pub qkey: u32,
    /// Where.
    pub vector: AddressVector,
}

/// Where a DCI's WQE goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DcTarget {
    /// The DCT's access key.
    pub access_key: u64,
    /// Where.
    pub vector: AddressVector,
}

impl AddressVector {
    /// The path this names on a port of the given kind.
    #[must_use]
    pub fn path(&self, link: LinkLayer) -> Path {
        let ethernet = link == LinkLayer::Ethernet;
        Path {
            dlid: if ethernet { 0 } else { self.rlid },
            sl: if ethernet { self.stat_rate_sl >> 1 & 0x7 } else { self.stat_rate_sl & 0xf },
            src_path_bits: self.src_path_bits,
            grh: (ethernet || self.grh_present).then_some(self.grh),
            dmac: self.dmac,
        }
    }
}

/// Changes that the device makes to an Ethernet frame before it sends it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Framing {
    /// Checksums that it fills in.
    pub checksums: Checksums,
    /// It cuts the packet up into frames with this many bytes of payload (TSO).
    pub mss: Option<u16>,
    /// Each data segment is a frame of its own.
    pub many: bool,
    /// Where the WQE says that the headers are.
    pub stated: StatedHeaders,
    /// A number that rules of frames that leave can match.
    pub metadata: u32,
}

/// A masked atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extended {
    /// Bytes that it works on.
    pub width: Width,
    /// Its operation.
    pub masked: Masked,
}

/// A copy from memory of this side to memory of this side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memcpy {
    /// Key of memory that is the device's while it works.
    pub scratch_lkey: u32,
    /// Where it is.
    pub scratch_addr: u64,
    /// From where.
    pub from: DataSeg,
    /// To where: as many bytes.
    pub to: DataSeg,
}

/// How far another queue may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enable {
    /// Its QP, or its own number.
    pub qpn: u32,
    /// Producer index that it may go up to, as its doorbell record would have it.
    pub index: u16,
}

/// A word of memory that a WQE waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitData {
    /// Its 8 bytes.
    pub word: DataSeg,
    /// When the wait is over: the value is compared with the word, whose first byte is the highest.
    pub until: Condition,
    /// It does not wait: it fails if the wait is not over.
    pub is_check: bool,
}

/// The request of a send WQE. Its longest operands are behind a pointer: requests are moved often.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SendOp {
    /// Nothing.
    #[default]
    Nop,
    /// SEND. The address is there on UD only.
    Send(Option<UdAddress>),
    /// SEND with immediate data ([`SendWqe::imm`]). The address is there on UD only.
    SendImm(Option<UdAddress>),
    /// SEND of an Ethernet frame, of several, or of a large packet in many: raw packets.
    Frame(Framing),
    /// SEND and invalidate the peer's key ([`SendWqe::imm`]).
    SendInval,
    /// RDMA WRITE.
    Write(Remote),
    /// RDMA WRITE with immediate data.
    WriteImm(Remote),
    /// RDMA READ into the payload's segments.
    Read(Remote),
    /// Compare and swap 8 bytes; the old value goes to the payload's segments.
    CompareSwap {
        /// Where.
        remote: Remote,
        /// Value to find there.
        compare: u64,
        /// Value to put there.
        swap: u64,
    },
    /// Fetch and add 8 bytes; the old value goes to the payload's segments.
    FetchAdd {
        /// Where.
        remote: Remote,
        /// Value to add.
        add: u64,
    },
    /// Masked atomic; the old value goes to the payload's segments.
    Extended(Remote, Box<Extended>),
    /// Change a memory key ([`SendWqe::umr`]).
    Umr,
    /// Set signature value `psv`.
    SetPsv {
        /// Its number.
        psv: u32,
        /// Its new content.
        value: u64,
    },
    /// Copy memory of this side.
    Memcpy(Memcpy),
    /// Wait until a CQ has had the CQE of this index, 24 bits. The first is 0.
    WaitCqe {
        /// The CQ.
        cqn: u32,
        /// The CQE.
        index: u32,
    },
    /// Wait for a time.
    WaitTime(Condition),
    /// Wait for a value in memory.
    WaitData(WaitData),
    /// Have another queue send.
    EnableSends(Enable),
    /// Have another queue receive.
    EnableReceives(Enable),
    /// Read the payload, and send nothing.
    Dump,
    /// Change the tags of the QP's SRQ.
    Tags(TagOp),
}

/// A send WQE that has passed every check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SendWqe {
    /// Index of its first WQEBB, 16 bits, as the CQE will say.
    pub index: u16,
    /// How many WQEBBs it takes.
    pub wqebbs: u16,
    /// The opcode byte, as the CQE will say.
    pub opcode: u8,
    /// The operation.
    pub op: SendOp,
    /// The change of a memory key, and the key.
    pub umr: Option<Box<Umr>>,
    /// DC: the target. A NOP has none.
    pub target: Option<Box<DcTarget>>,
    /// DC: of which stream. It means something only if the QP has streams: without streams, drivers leave any value
    /// there.
    pub stream: u16,
    /// XRC: the peer's SRQ. A NOP has none.
    pub srqn: Option<u32>,
    /// Raw packets: the first bytes of the frame, from the Ethernet segment; the payload follows them.
    pub headers: Vec<u8>,
    /// Data.
    pub payload: Payload,
    /// It asks for a CQE (`MLX5_WQE_CTRL_CQ_UPDATE`).
    pub signaled: bool,
    /// If an error of the queue has been told, its own is not: it is flushed without a CQE.
    pub first_error_only: bool,
    /// It asks for a solicited event at the peer.
    pub solicited: bool,
    /// Fence.
    pub fence: Fence,
    /// Immediate data, or key to invalidate: host order of the big-endian word.
    pub imm: u32,
}
