//! Modifications of headers, as the kernel's driver makes them (Linux
//! `drivers/net/ethernet/mellanox/mlx5/core/fs_cmd.c`, `mlx5_cmd_modify_header_alloc`).

use super::flow_commands::FlowDirection;
use super::hca::Hca;
use crate::abi::mailbox::{self, HEADER_BYTES, creator, fields};
use crate::process::Errno;
use softhca::firmware::DRIVER;

fields! {
    TABLE_TYPE: 0x60, 8 = "alloc_modify_header_context_in.table_type";
    COUNT: 0x78, 8 = "alloc_modify_header_context_in.num_of_actions";
    CREATED: 0x40, 32 = "alloc_modify_header_context_out.modify_header_id";
    DESTROYED: 0x40, 32 = "dealloc_modify_header_context_in.modify_header_id";
}
const DESTROY: u16 = 0x941;

impl Hca {
    /// Makes a list of actions; its number. More than the device has are not supported.
    pub(crate) fn create_modification(&self, direction: FlowDirection, actions: &[[u8; 8]]) -> Result<u32, Errno> {
        let [received, sent] = self.capabilities.frames.max_modify_actions;
        let most = if direction == FlowDirection::Sent { sent } else { received };
        if actions.len() > most as usize {
            return Err(Errno::EOPNOTSUPP);
        }
        let mut input = mailbox::command(creator::MODIFY_HEADER, DRIVER.0, HEADER_BYTES);
        TABLE_TYPE.set(&mut input, direction as u64);
        COUNT.set(&mut input, actions.len() as u64);
        input.extend(actions.as_flattened());
        self.carry_out(&input).map(|output| CREATED.get32(&output))
    }

    /// Destroys a list of actions: `EBUSY` if a rule names it.
    pub(crate) fn destroy_modification(&self, number: u32) -> Result<(), Errno> {
        let mut input = mailbox::command(DESTROY, DRIVER.0, HEADER_BYTES);
        DESTROYED.set(&mut input, number.into());
        self.carry_out(&input).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::mailbox::linux::{bytes, known};

    #[test]
    fn actions_follow_the_header() {
        let names = ["alloc_modify_header_context_in", "alloc_modify_header_context_out"];
        assert_eq!(names.map(bytes), [HEADER_BYTES; 2]);
        assert_eq!(known("alloc_modify_header_context_in.actions").at, HEADER_BYTES * 8);
        assert_eq!(["set_action_in", "add_action_in", "copy_action_in"].map(bytes), [8; 3]);
    }
}
