//! What a send WQE says, decoded.

use super::payload::{DataSeg, Payload};
use super::umr::Umr;
use crate::config::LinkLayer;
use crate::context::{Path, PathGrh};
use crate::ethernet::Checksums;
use crate::packet::{Masked, Width};

/// Fence bits of a WQE (`fm_ce_se` bits 7:5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fence {
    /// None.
    None,
    /// Wait for earlier local operations: memory windows, local invalidate (`INITIATOR_SMALL_FENCE`).
    Small,
    /// Wait for earlier READs and atomics (`MLX5_WQE_CTRL_FENCE`).
    Full,
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

/// What the device does to an Ethernet frame before it sends it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Framing {
    /// Checksums that it fills in.
    pub checksums: Checksums,
    /// A VLAN tag that it puts in behind the addresses.
    pub tag: Option<[u8; 4]>,
    /// It cuts the packet up into frames with so many bytes of payload (TSO).
    pub mss: Option<u16>,
}

/// A masked atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extended {
    /// Bytes that it works on.
    pub width: Width,
    /// What it does.
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

/// What a send WQE asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendOp {
    /// Nothing.
    Nop,
    /// SEND. The address is there on UD only.
    Send(Option<UdAddress>),
    /// SEND with immediate data ([`SendWqe::imm`]). The address is there on UD only.
    SendImm(Option<UdAddress>),
    /// SEND of an Ethernet frame, or of a large packet in many: raw packets.
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
        /// What to add.
        add: u64,
    },
    /// Masked atomic; the old value goes to the payload's segments.
    Extended(Remote, Extended),
    /// Change a memory key ([`SendWqe::umr`]).
    Umr,
    /// Set signature value `psv`.
    SetPsv {
        /// Its number.
        psv: u32,
        /// What it becomes.
        value: u64,
    },
    /// Copy memory of this side.
    Memcpy(Memcpy),
}

/// A send WQE that has passed every check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendWqe {
    /// Index of its first WQEBB, 16 bits, as the CQE will say.
    pub index: u16,
    /// How many WQEBBs it takes.
    pub wqebbs: u16,
    /// The opcode byte, as the CQE will say.
    pub opcode: u8,
    /// What to do.
    pub op: SendOp,
    /// What is to become of which memory key.
    pub umr: Option<Box<Umr>>,
    /// DC: to whom. A NOP goes to nobody.
    pub target: Option<DcTarget>,
    /// DC: of which stream. It means something only if the QP has streams: without, drivers leave there what they like.
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
