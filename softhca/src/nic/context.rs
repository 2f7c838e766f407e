//! Contexts of the objects: the parts of the PRM's contexts (SQC, RQC, TISC, TIRC, RQTC) that the device acts on.

use super::merging::Merging;
use super::strides::Strides;
use crate::context::{CrossChannel, RqContext, SqContext, TimestampFormat};

/// Send queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SendQueueContext {
    /// PD of the keys in its WQEs.
    pub(crate) pd: u32,
    pub(crate) cqn: u32,
    /// UAR page on which its doorbell is rung.
    pub(crate) uar: u32,
    pub(crate) ring: SqContext,
    /// Host address of the doorbell record, of which the second word is the queue's.
    pub(crate) dbr: u64,
    /// User index, 24 bits.
    pub(crate) uidx: u32,
    pub(crate) timestamps: TimestampFormat,
    /// TIS; without one it executes NOPs alone.
    pub(crate) tis: Option<u32>,
    /// In the error state its WQEs are flushed.
    pub(crate) flushes: bool,
    /// How it waits for the queues of others, enables their WQEs, or lets them enable its own.
    pub(crate) cross_channel: CrossChannel,
    /// The WQEs of its ring are executed again in each round.
    pub(crate) static_ring: bool,
}

/// Receive queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReceiveQueueContext {
    /// PD of the keys in its WQEs.
    pub(crate) pd: u32,
    pub(crate) cqn: u32,
    pub(crate) ring: RqContext,
    /// A WQE takes several frames, each in strides of its own.
    pub(crate) strides: Option<Strides>,
    /// Host address of the doorbell record, of which the first word is the queue's.
    pub(crate) dbr: u64,
    /// User index, 24 bits.
    pub(crate) uidx: u32,
    pub(crate) timestamps: TimestampFormat,
    /// Q counter; 0 is none.
    pub(crate) counter: u8,
    /// Customers' VLAN tags are taken out of frames, and go into the CQE.
    pub(crate) strips_vlan: bool,
    /// In the error state its WQEs are flushed.
    pub(crate) flushes: bool,
}

/// Transport interface send: the common context of send queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TisContext {
    pub(crate) transport_domain: u32,
    /// The port of a bond by which frames leave; 0: the device chooses.
    pub(crate) lag_port: u8,
}

/// Receive queues to choose from by a hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RqtContext {
    /// Most queues that it will ever have.
    pub(crate) max_size: u16,
    /// Their numbers; a power of two of them.
    pub(crate) rqs: Vec<u32>,
}

/// How a TIR finds the receive queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dispatch {
    /// It has one.
    Direct(u32),
    /// By hash in an RQT.
    Table(u32),
}

/// Hash functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HashFunction {
    /// Always 0.
    None,
    /// All bytes XORed, and inverted: eight bits.
    InvertedXor8,
    /// Toeplitz' of Microsoft's RSS.
    Toeplitz,
}

/// Fields of a frame that are hashed, if it has the protocols.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HashSelect {
    /// IPv6's addresses, else IPv4's.
    pub(crate) ipv6: bool,
    /// UDP's ports, else TCP's.
    pub(crate) udp: bool,
    pub(crate) source_ip: bool,
    pub(crate) destination_ip: bool,
    pub(crate) source_port: bool,
    pub(crate) destination_port: bool,
    /// IPsec's security parameters index.
    pub(crate) security_index: bool,
}

/// How a TIR hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HashContext {
    pub(crate) function: HashFunction,
    /// Both directions of a connection have the same hash.
    pub(crate) symmetric: bool,
    /// For Toeplitz' function.
    pub(crate) key: [u8; 40],
    pub(crate) select: HashSelect,
    /// The fields are those of the headers inside of a tunnel. A frame without one has none.
    pub(crate) inside: bool,
}

/// Transport interface receive: where frames go that rules send to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TirContext {
    pub(crate) dispatch: Dispatch,
    pub(crate) hash: HashContext,
    pub(crate) transport_domain: u32,
    /// CQEs tell of the headers inside of a tunnel (`tunneled_offload_en`).
    pub(crate) tunnels: bool,
    /// TCP segments become one frame.
    pub(crate) merging: Option<Merging>,
    /// Frames of send queues of the same transport domain are not for it: those to one station, and those to a group.
    pub(crate) blocks_own_unicast: bool,
    pub(crate) blocks_own_multicast: bool,
}
