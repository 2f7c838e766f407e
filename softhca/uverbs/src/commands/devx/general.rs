//! Commands of no object, and numbers that commands need: `MLX5_IB_OBJECT_DEVX`.

use super::mailboxes::Mailboxes;
use crate::abi::mailbox::{OPCODE, VHCA_TUNNEL_ID};
use crate::commands::request::Request;
use crate::context::{Context, mapping};
use crate::device::Hca;
use crate::device::limits::{COMP_VECTORS, FIRST_EQN};
use crate::process::Errno;
use std::sync::Arc;

/// Commands that belong to no object, besides those from 0xb00 to 0xcff (`devx_is_general_cmd`).
const GENERAL: [u16; 17] = [
    0x100, // QUERY_HCA_CAP
    0x101, // QUERY_ADAPTER
    0x10a, // QUERY_ISSI
    0x740, // QUERY_ESW_FUNCTIONS
    0x750, // QUERY_VPORT_STATE
    0x752, // QUERY_ESW_VPORT_CONTEXT
    0x754, // QUERY_NIC_VPORT_CONTEXT
    0x760, // QUERY_ROCE_ADDRESS
    0x762, // QUERY_HCA_VPORT_CONTEXT
    0x76f, // QUERY_VNIC_ENV
    0x770, // QUERY_VPORT_COUNTER
    0x80a, // GET_DROPPED_PACKET_LOG
    0x80d, // NOP
    0x822, // QUERY_CONG_STATUS
    0x824, // QUERY_CONG_PARAMS
    0x826, // QUERY_CONG_STATISTICS
    0x842, // QUERY_LAG
];

fn is_general(hca: &Hca, input: &[u8]) -> bool {
    let opcode = OPCODE.get(input) as u16;
    let tunnelled = hca.capabilities.vhca_tunnel && VHCA_TUNNEL_ID.get(input) != 0;
    tunnelled || (0xb00..0xd00).contains(&opcode) || GENERAL.contains(&opcode)
}

/// `DEVX_OTHER`: 0x1000 input, 0x1001 output.
pub(crate) fn other(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let mut mailboxes = Mailboxes::copy_in(context, request, (0x1000, 0x1001))?;
    if !is_general(&context.hca, &mailboxes.input) {
        return Err(Errno::EINVAL);
    }
    mailboxes.execute(context, request)
}

/// `DEVX_QUERY_UAR`: 0x1000 the register as the program counts those that it has added, 0x1001 the device's number of
/// its page. A page that was allocated by itself has told its number already.
pub(crate) fn query_uar(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let register: u32 = request.input(0x1000)?;
    let uars = context.static_uars.get().ok_or(Errno::EINVAL)?;
    if uars.page_of_added(register).is_none() {
        mapping::add_unseen(context)?;
    }
    request.put(0x1001, &uars.page_of_added(register).ok_or(Errno::EINVAL)?)
}

/// `DEVX_QUERY_EQN`: 0x1000 completion vector, 0x1001 number of its event queue.
pub(crate) fn query_eqn(_: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let vector: u32 = request.input(0x1000)?;
    if vector >= COMP_VECTORS {
        return Err(Errno::EINVAL);
    }
    request.put(0x1001, &(FIRST_EQN + vector))
}
