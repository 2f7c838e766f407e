//! QUERY_HCA_CAP: the device's capabilities.

use crate::cmd::{Opcode, Status};
use crate::mailbox::{Value, commands, names, structures};

structures! {
    /// Queries a set of capabilities.
    pub struct QueryHcaCapIn: "query_hca_cap_in", 0x80 {
        opcode: 0x0, 16, Opcode;
        uid: 0x10, 16, u16;
        op_mod: 0x30, 16, CapabilitySelector;
        other_function: 0x40, 1, bool;
        ec_vf_function: 0x41, 1, bool;
        function_id_type: 0x43, 1, bool;
        function_id: 0x50, 16, u16;
    }

    /// Answer to [`QueryHcaCapIn`].
    pub struct QueryHcaCapOut: "query_hca_cap_out", 0x8080 {
        status: 0x0, 8, Status;
        syndrome: 0x20, 32, u32;
    }
    bytes {
        capability: 0x80, 4096;
    }
}

commands! {
    QueryHcaCapIn => QueryHcaCapOut, QUERY_HCA_CAP, Executes;
}

names! {
    /// A set of capabilities: `enum mlx5_cap_type` of Linux' `include/linux/mlx5/device.h`, CRYPTO of DPDK's
    /// `mlx5_prm.h`.
    pub struct CapabilitySet(u16) {
        GENERAL = 0x0,
        ETHERNET_OFFLOADS = 0x1,
        ODP = 0x2,
        ATOMIC = 0x3,
        ROCE = 0x4,
        IPOIB_OFFLOADS = 0x5,
        IPOIB_ENHANCED_OFFLOADS = 0x6,
        FLOW_TABLE = 0x7,
        ESWITCH_FLOW_TABLE = 0x8,
        ESWITCH = 0x9,
        VECTOR_CALC = 0xb,
        QOS = 0xc,
        DEBUG = 0xd,
        DEV_MEM = 0xf,
        TLS = 0x11,
        VDPA_EMULATION = 0x13,
        DEV_EVENT = 0x14,
        IPSEC = 0x15,
        CRYPTO = 0x1a,
        SHAMPO = 0x1d,
        PSP = 0x1e,
        MACSEC = 0x1f,
        GENERAL_2 = 0x20,
        PORT_SELECTION = 0x25,
        ADV_VIRTUALIZATION = 0x26,
        ADV_RDMA = 0x28,
        TLP_EMULATION = 0x2a,
    }
}

/// The set and the mode of the query (`query_hca_cap_in.op_mod`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CapabilitySelector {
    /// The set.
    pub set: CapabilitySet,
    /// True for the values in force, false for the highest that may be set.
    pub current: bool,
}

impl Value for CapabilitySelector {
    const BITS: usize = 16;

    fn from_bits(bits: u64) -> Self {
        Self { set: CapabilitySet((bits >> 1) as u16), current: bits & 1 != 0 }
    }

    fn into_bits(self) -> u64 {
        u64::from(self.set.0) << 1 | u64::from(self.current)
    }
}
