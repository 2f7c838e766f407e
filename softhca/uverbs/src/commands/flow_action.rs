//! Actions of flows: lists of modifications of headers (Linux `drivers/infiniband/hw/mlx5/fs.c`,
//! `MLX5_IB_METHOD_FLOW_ACTION_CREATE_MODIFY_HEADER`). There are no others here.

use super::request::Request;
use crate::context::{self, Context, Rank};
use crate::device::{FlowDirection, Hca};
use crate::process::Errno;
use std::sync::Arc;

/// Attributes of a new one: handle, actions, type of table.
const HANDLE: u16 = 0x1000;
const ACTIONS: u16 = 0x1001;
const TABLE: u16 = 0x1002;

/// `MLX5_IB_UAPI_FLOW_TABLE_TYPE_*`: those of a NIC, and the first and the last of the others.
const NIC_RX: u64 = 0;
const NIC_TX: u64 = 1;
const FDB: u64 = 2;
const RDMA_TRANSPORT_TX: u64 = 6;

/// A list of modifications.
pub(crate) struct FlowAction {
    /// The number of the device's context.
    pub(super) modification: u32,
}

impl context::Object for FlowAction {
    fn rank(&self) -> Rank {
        Rank::FlowAction
    }

    fn release(&self, hca: &Hca) -> Result<(), Errno> {
        hca.destroy_modification(self.modification)
    }
}

/// `FLOW_ACTION_CREATE_MODIFY_HEADER`: 0x1000 handle, 0x1001 actions, 0x1002 type of table.
pub(crate) fn create(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let actions: Vec<[u8; 8]> = request.array(ACTIONS)?;
    if actions.is_empty() {
        return Err(Errno::EINVAL);
    }
    let direction = match request.input::<u64>(TABLE)? {
        NIC_RX => FlowDirection::Received,
        NIC_TX => FlowDirection::Sent,
        // Tables of an eSwitch or of RDMA, in which the device modifies nothing.
        FDB..=RDMA_TRANSPORT_TX => return Err(Errno::EOPNOTSUPP),
        _ => return Err(Errno::EINVAL),
    };
    let modification = context.hca.create_modification(direction, &actions)?;
    let handle = context.insert(Arc::new(FlowAction { modification }));
    request.put_handle(HANDLE, handle)
}
