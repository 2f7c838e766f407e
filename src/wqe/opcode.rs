//! The numbers of operations: the device's and verbs'.
use core::fmt;

/// The operation that a send WQE requests: the low byte of the control segment's first word
/// (rdma-core `providers/mlx5/mlx5dv.h`, `MLX5_OPCODE_*`).
#[doc(alias = "MLX5_OPCODE")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Opcode {
    /// Nothing; completes like any other WQE.
    #[doc(alias = "MLX5_OPCODE_NOP")]
    Nop = 0x00,
    /// SEND that invalidates a memory key of the peer.
    #[doc(alias = "MLX5_OPCODE_SEND_INVAL")]
    SendInval = 0x01,
    /// RDMA WRITE.
    #[doc(alias = "MLX5_OPCODE_RDMA_WRITE")]
    RdmaWrite = 0x08,
    /// RDMA WRITE with immediate data, consumes a receive WQE of the peer.
    #[doc(alias = "MLX5_OPCODE_RDMA_WRITE_IMM")]
    RdmaWriteImm = 0x09,
    /// SEND.
    #[doc(alias = "MLX5_OPCODE_SEND")]
    Send = 0x0a,
    /// SEND with immediate data.
    #[doc(alias = "MLX5_OPCODE_SEND_IMM")]
    SendImm = 0x0b,
    /// Large send: the device cuts the payload into packets (Ethernet).
    #[doc(alias = "MLX5_OPCODE_TSO")]
    Tso = 0x0e,
    /// Waits for a completion queue, for the clock, or for data (DPDK `drivers/common/mlx5/mlx5_prm.h`,
    /// `MLX5_OPCODE_WAIT`).
    #[doc(alias = "MLX5_OPCODE_WAIT")]
    Wait = 0x0f,
    /// RDMA READ.
    #[doc(alias = "MLX5_OPCODE_RDMA_READ")]
    RdmaRead = 0x10,
    /// Atomic compare and swap, 8 bytes.
    #[doc(alias = "MLX5_OPCODE_ATOMIC_CS")]
    AtomicCs = 0x11,
    /// Atomic fetch and add, 8 bytes.
    #[doc(alias = "MLX5_OPCODE_ATOMIC_FA")]
    AtomicFa = 0x12,
    /// Masked compare and swap, size and masks in the WQE.
    #[doc(alias = "MLX5_OPCODE_ATOMIC_MASKED_CS")]
    AtomicMaskedCs = 0x14,
    /// Masked fetch and add, size and field boundary in the WQE.
    #[doc(alias = "MLX5_OPCODE_ATOMIC_MASKED_FA")]
    AtomicMaskedFa = 0x15,
    /// Has another queue receive (`IBV_EXP_WR_RECV_ENABLE` of MLNX_OFED's libmlx5).
    RcvEn = 0x16,
    /// Has another queue send (DPDK `MLX5_OPCODE_SEND_EN`).
    #[doc(alias = "MLX5_OPCODE_SEND_EN")]
    SendEn = 0x17,
    /// Fast memory registration, the predecessor of UMR.
    #[doc(alias = "MLX5_OPCODE_FMR")]
    Fmr = 0x19,
    /// Local invalidate of old devices; libmlx5 uses [`Umr`](Self::Umr) instead.
    #[doc(alias = "MLX5_OPCODE_LOCAL_INVAL")]
    LocalInval = 0x1b,
    /// Device configuration.
    #[doc(alias = "MLX5_OPCODE_CONFIG_CMD")]
    ConfigCmd = 0x1f,
    /// Sets a protection signature value.
    #[doc(alias = "MLX5_OPCODE_SET_PSV")]
    SetPsv = 0x20,
    /// Reads data and sends nothing (Linux `include/linux/mlx5/device.h`, `MLX5_OPCODE_DUMP`).
    #[doc(alias = "MLX5_OPCODE_DUMP")]
    Dump = 0x23,
    /// User-mode memory registration: memory windows, local invalidate, mkey layouts.
    #[doc(alias = "MLX5_OPCODE_UMR")]
    Umr = 0x25,
    /// Tag matching list operations.
    #[doc(alias = "MLX5_OPCODE_TAG_MATCHING")]
    TagMatching = 0x28,
    /// Several Ethernet frames in one WQE (Linux `include/linux/mlx5/device.h`, `MLX5_OPCODE_ENHANCED_MPSW`).
    #[doc(alias = "MLX5_OPCODE_ENHANCED_MPSW")]
    EnhancedMpsw = 0x29,
    /// Access to flow tables (steering).
    #[doc(alias = "MLX5_OPCODE_FLOW_TBL_ACCESS")]
    FlowTblAccess = 0x2c,
    /// Memory-to-memory operations (DMA copy, compression).
    #[doc(alias = "MLX5_OPCODE_MMO")]
    Mmo = 0x2f,
}

/// Numbers of `enum ibv_wr_opcode` (rdma-core `libibverbs/verbs.h`), the verbs API's names of send operations.
#[doc(alias = "ibv_wr_opcode")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
#[expect(missing_docs, reason = "the names are those of `enum ibv_wr_opcode`, which says no more than they do")]
pub enum IbvWrOpcode {
    RdmaWrite = 0,
    RdmaWriteWithImm = 1,
    Send = 2,
    SendWithImm = 3,
    RdmaRead = 4,
    AtomicCmpAndSwp = 5,
    AtomicFetchAndAdd = 6,
    LocalInv = 7,
    BindMw = 8,
    SendWithInv = 9,
    Tso = 10,
    Driver1 = 11,
    Flush = 14,
    AtomicWrite = 15,
}

/// An operation of verbs that mlx5 devices do not have, as far as is publicly known. Neither rdma-core (v65), Linux
/// (6.12), UCX nor DPDK has an opcode for it. Software devices implement it (Linux `drivers/infiniband/sw/rxe`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NotSupported(pub IbvWrOpcode);

impl fmt::Display for NotSupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is an operation of verbs, but not supported by mlx5", self.0)
    }
}

impl core::error::Error for NotSupported {}

impl IbvWrOpcode {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 14] = [
        Self::RdmaWrite,
        Self::RdmaWriteWithImm,
        Self::Send,
        Self::SendWithImm,
        Self::RdmaRead,
        Self::AtomicCmpAndSwp,
        Self::AtomicFetchAndAdd,
        Self::LocalInv,
        Self::BindMw,
        Self::SendWithInv,
        Self::Tso,
        Self::Driver1,
        Self::Flush,
        Self::AtomicWrite,
    ];

    /// The operation with this number. `None` if verbs has none (12 and 13 are unused).
    #[must_use]
    pub const fn from_raw(number: u32) -> Option<Self> {
        let mut i = 0;
        while i < Self::ALL.len() {
            if Self::ALL[i] as u32 == number {
                return Some(Self::ALL[i]);
            }
            i += 1;
        }
        None
    }

    /// The device's opcode for it, as in libmlx5 (rdma-core `providers/mlx5/qp.c`, `mlx5_ib_opcode`).
    ///
    /// # Errors
    /// [`NotSupported`] for `FLUSH` and `ATOMIC_WRITE`.
    pub const fn opcode(self) -> Result<Opcode, NotSupported> {
        Ok(match self {
            Self::RdmaWrite => Opcode::RdmaWrite,
            Self::RdmaWriteWithImm => Opcode::RdmaWriteImm,
            Self::Send => Opcode::Send,
            Self::SendWithImm => Opcode::SendImm,
            Self::RdmaRead => Opcode::RdmaRead,
            Self::AtomicCmpAndSwp => Opcode::AtomicCs,
            Self::AtomicFetchAndAdd => Opcode::AtomicFa,
            // Memory windows and invalidated keys are memory keys, so both operations are key changes by UMR.
            Self::LocalInv | Self::BindMw | Self::Driver1 => Opcode::Umr,
            Self::SendWithInv => Opcode::SendInval,
            Self::Tso => Opcode::Tso,
            Self::Flush | Self::AtomicWrite => return Err(NotSupported(self)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `mlx5_ib_opcode[]` of rdma-core 44 as numbers, indexed by `ibv_wr_opcode`.
    const MLX5_IB_OPCODE: [u8; 12] = [0x08, 0x09, 0x0a, 0x0b, 0x10, 0x11, 0x12, 0x25, 0x25, 0x01, 0x0e, 0x25];

    #[test]
    fn map_is_libmlx5s() {
        for (number, &opcode) in MLX5_IB_OPCODE.iter().enumerate() {
            let ibv = IbvWrOpcode::from_raw(number as u32).expect("a verbs opcode");
            assert_eq!(ibv.opcode().expect("a device opcode") as u8, opcode, "{ibv:?}");
        }
        for unused in [12, 13, 16, u32::MAX] {
            assert_eq!(IbvWrOpcode::from_raw(unused), None);
        }
        // libmlx5 does not have these.
        for (number, ibv) in [(14, IbvWrOpcode::Flush), (15, IbvWrOpcode::AtomicWrite)] {
            assert_eq!(IbvWrOpcode::from_raw(number), Some(ibv));
            assert_eq!(ibv.opcode(), Err(NotSupported(ibv)));
        }
        let said = std::format!("{}", NotSupported(IbvWrOpcode::Flush));
        assert_eq!(said, "Flush is an operation of verbs, but not supported by mlx5");
    }
}
