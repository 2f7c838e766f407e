//! A send WQE, decoded.

use super::changes::{TagOp, Umr};
use super::payload::{DataSeg, Payload};
use crate::config::LinkLayer;
use crate::context::{Path, PathGrh, TimestampFormat};
use crate::ethernet::{Checksums, StatedHeaders};
use crate::packet::{Masked, Width};
use std::time::Duration;

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

/// How a value is compared with the clock (DPDK `drivers/common/mlx5/mlx5_prm.h`, `MLX5_WAIT_COND_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// It always holds.
    Always,
    /// The value equals the clock.
    Equal,
    /// It is more.
    Bigger,
    /// It is less.
    Smaller,
    /// It is ahead of the clock, which starts again at 0 past the mask.
    CyclicBigger,
    /// It is behind.
    CyclicSmaller,
}

/// Seconds that the clock is compared by; then it starts again at 0 (`MLX5_TS_MASK_SECS` of DPDK's
/// `drivers/net/mlx5/mlx5.h`).
const COMPARED_SECONDS: u64 = 8;

/// Ticks of this device's clock where it runs freely (`cmd_hca_cap.device_frequency_khz`).
const TICKS_PER_SECOND: u64 = 1_000_000_000;

/// A time that a WQE waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTime {
    /// How.
    pub comparison: Comparison,
    /// It waits until the comparison does not hold.
    pub inverted: bool,
    /// Value to compare with the clock.
    pub value: u64,
    /// Which bits of both.
    pub mask: u64,
}

impl WaitTime {
    /// Whether the device's comparison, of a clock of this format, has all bits of the mask. Otherwise it never holds.
    ///
    /// A clock of real time compares three bits of seconds: with a mask of all ones "the wait never satisfies"
    /// (NVIDIA's daqiri `src/engines/ibverbs/daqiri_ibverbs_engine.cpp`, `initialize`, at `rt_timemask`). For a
    /// free-running clock, no source shows a wider mask than DPDK's to work either. DPDK's mask has the ticks of eight
    /// seconds, rounded up to a power of two (`drivers/net/mlx5/mlx5_txq.c`, `mlx5_txq_dynf_timestamp_set`).
    #[must_use]
    pub fn is_compared(&self, format: TimestampFormat) -> bool {
        let end = match format {
            TimestampFormat::RealTime => COMPARED_SECONDS << 32,
            TimestampFormat::FreeRunning => (COMPARED_SECONDS * TICKS_PER_SECOND).next_power_of_two(),
        };
        self.mask < end
    }

    /// Whether the wait is over when the clock shows `clock`.
    #[must_use]
    pub fn is_over(&self, clock: u64) -> bool {
        let (value, shown) = (self.value & self.mask, clock & self.mask);
        let half = self.mask / 2 + 1;
        // How far the clock is past the value, around the mask's end.
        let past = shown.wrapping_sub(value) & self.mask;
        let holds = match self.comparison {
            Comparison::Always => true,
            Comparison::Equal => value == shown,
            Comparison::Bigger => value > shown,
            Comparison::Smaller => value < shown,
            Comparison::CyclicBigger => past >= half,
            Comparison::CyclicSmaller => past != 0 && past < half,
        };
        holds != self.inverted
    }

    /// How long after `clock`, which has this format, it is over, if it is not: a tick where that is not easily told.
    #[must_use]
    pub fn time_left(&self, clock: u64, format: TimestampFormat) -> Duration {
        let past = clock.wrapping_sub(self.value) & self.mask;
        if self.comparison != Comparison::CyclicSmaller || self.inverted || past != 0 && past <= self.mask / 2 {
            return Duration::from_nanos(1);
        }
        let (value, shown) = (self.value & self.mask, clock & self.mask);
        let left = match format {
            TimestampFormat::FreeRunning => Duration::from_nanos(value.wrapping_sub(shown) & self.mask),
            TimestampFormat::RealTime => {
                let time = |clock: u64| Duration::new(clock >> 32, 0) + Duration::from_nanos(clock & 0xffff_ffff);
                let around = if value < shown { Duration::from_secs((self.mask >> 32) + 1) } else { Duration::ZERO };
                (time(value) + around).saturating_sub(time(shown))
            }
        };
        left + Duration::from_nanos(1)
    }
}

/// The request of a send WQE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    Extended(Remote, Extended),
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
    WaitTime(WaitTime),
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
    pub target: Option<DcTarget>,
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
