//! Which atomics the device has, and in which byte order it returns 8 bytes.

use blueflame::wqe::atomics::AtomicWord;

use crate::caps::CapMode;
use crate::cmd::AtomicCaps;
use crate::context::Context;
use crate::error::Error;
use crate::support::ask::has;

/// In `atomic_operations`: masked compare and swap, and masked fetch and add (Linux `include/linux/mlx5/mlx5_ifc.h`,
/// `MLX5_ATOMIC_OPS_EXTENDED_CMP_SWAP`, `MLX5_ATOMIC_OPS_EXTENDED_FETCH_ADD`).
const MASKED: u16 = 3 << 2;

/// The atomics of 8 bytes that InfiniBand has (Linux `MLX5_ATOMIC_MODE_IB_COMP`).
const IB_COMP: u8 = 1;
/// All of these, and masked atomics of 4 and 8 bytes (`MLX5_ATOMIC_MODE_8B`; UCX
/// `UCT_IB_MLX5_QPC_ATOMIC_MODE_UP_TO_8B`).
const UP_TO_8_BYTES: u8 = 3;
/// All of these, and atomics of 16 bytes (`MLX5_ATOMIC_MODE_16B`).
const UP_TO_16_BYTES: u8 = 4;

/// In `atomic_req_8B_endianness_mode`: the host's order (Linux `drivers/net/ethernet/mellanox/mlx5/core/main.c`,
/// `MLX5_ATOMIC_REQ_MODE_HOST_ENDIANNESS`).
const HOST_MODE: u8 = 1;

/// Byte order of the 8 bytes that an atomic operation fetches ([`result`](blueflame::wqe::Request::result)). Operands
/// are encoded alike in both; numbers of 4 and 16 bytes come in network order in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchedOrder {
    /// The CPU's order: Linux' driver has requested it (`handle_hca_cap_atomic`).
    Host,
    /// Big endian: no driver has requested the host's order. rdma-core's VFIO driver does not.
    Network,
}

impl FetchedOrder {
    /// The number that the device has put into memory as `bytes`.
    #[must_use]
    pub const fn number(self, bytes: [u8; 8]) -> u64 {
        match self {
            Self::Host => u64::from_ne_bytes(bytes),
            Self::Network => u64::from_be_bytes(bytes),
        }
    }
}

impl Context {
    /// The byte order of the 8 bytes that atomics fetch. The driver chose it before the device was opened, so one query
    /// is enough. NVSHMEM and UCX read the same field (`nvshmemt_ib_common_query_endianness_conversion_size`;
    /// `src/uct/ib/mlx5/dv/ib_mlx5dv_md.c`, `atomic_arg_sizes_be`).
    ///
    /// # Errors
    /// [`Error::Capability`]: the device has no atomics; [`Error::Command`].
    pub fn fetched_order(&self) -> Result<FetchedOrder, Error> {
        has("cmd_hca_cap.atomic", self.general()?.atomic())?;
        let mode = self.capabilities::<AtomicCaps>(CapMode::Current)?.atomic_req_8b_endianness_mode();
        Ok(if mode == HOST_MODE { FetchedOrder::Host } else { FetchedOrder::Network })
    }

    /// Whether queue pairs, targets of dynamic connections among them, have masked atomics on words of type `W`
    /// ([`masked_compare_swap`](blueflame::wqe::masked_compare_swap),
    /// [`masked_fetch_add`](blueflame::wqe::masked_fetch_add)).
    ///
    /// # Errors
    /// [`Error::Capability`], which names the missing capability, or [`Error::Command`].
    pub fn extended_atomics<W: AtomicWord>(&self) -> Result<(), Error> {
        has("cmd_hca_cap.atomic", self.general()?.atomic())?;
        let atomics = self.capabilities::<AtomicCaps>(CapMode::Current)?;
        has("atomic_caps.atomic_operations: masked ones", atomics.atomic_operations() & MASKED == MASKED)?;
        let has_size = |sizes: u16| usize::from(sizes) & size_of::<W>() != 0;
        has("atomic_caps.atomic_size_qp: of these bytes", has_size(atomics.atomic_size_qp()))?;
        has("atomic_caps.atomic_size_dc: of these bytes", has_size(atomics.atomic_size_dc()))
    }

    /// The atomic mode for responders that offers every atomic of the device, as Linux selects it (`get_atomic_mode`).
    pub(crate) fn atomic_mode(&self) -> Result<u8, Error> {
        let refused = |result| match result {
            Ok(()) => Ok(false),
            Err(Error::Capability { .. }) => Ok(true),
            Err(error) => Err(error),
        };
        if refused(self.extended_atomics::<u32>())? || refused(self.extended_atomics::<u64>())? {
            return Ok(IB_COMP);
        }
        Ok(if refused(self.extended_atomics::<u128>())? { UP_TO_8_BYTES } else { UP_TO_16_BYTES })
    }
}
