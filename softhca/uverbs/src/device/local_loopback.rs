//! Whether frames that the device has sent come back in.
//!
//! Linux' driver turns that off as it starts (`mlx5_core_set_hca_defaults`), and on while the device has two transport
//! domains of programs (`mlx5_ib_enable_lb`). Each context has one. So a program alone does not receive its own frames.
//!
//! The object does so where frames leave to a cable. Between the programs of a user, own frames always come back: tests of
//! one process and one context live on that.

use super::hca::Hca;
use crate::abi::mailbox;
use crate::process::lock;
use softhca_settings::{Link, WireKind};

/// `MLX5_CMD_OP_MODIFY_NIC_VPORT_CONTEXT`.
const MODIFY_NIC_VPORT_CONTEXT: u16 = 0x755;

mod vport {
    use crate::abi::mailbox::{fields, sizes};

    fields! {
        pub(super) SELECTS_UNICAST: 0x74, 1 = "modify_nic_vport_context_in.field_select.disable_uc_local_lb";
        pub(super) SELECTS_MULTICAST: 0x75, 1 = "modify_nic_vport_context_in.field_select.disable_mc_local_lb";
        pub(super) NO_MULTICAST: 0x81d, 1 = "modify_nic_vport_context_in.nic_vport_context.disable_mc_local_lb";
        pub(super) NO_UNICAST: 0x81e, 1 = "modify_nic_vport_context_in.nic_vport_context.disable_uc_local_lb";
    }
    sizes! { pub(super) BYTES: 0x200 = "modify_nic_vport_context_in"; }
}

impl Hca {
    /// This process has opened a context, or closed one: `change` is 1 or -1.
    pub(crate) fn count_contexts(&self, change: isize) {
        let mut contexts = lock(&self.contexts);
        *contexts = contexts.saturating_add_signed(change);
        let has_cable = matches!(self.settings.wire, WireKind::Tap(_) | WireKind::Raw(_) | WireKind::Socket(_));
        if self.settings.link != Link::Ethernet || !has_cable {
            return;
        }
        let off = u64::from(*contexts < 2);
        let mut input = mailbox::command(MODIFY_NIC_VPORT_CONTEXT, 0, vport::BYTES);
        for (field, value) in [
            (vport::SELECTS_UNICAST, 1),
            (vport::SELECTS_MULTICAST, 1),
            (vport::NO_UNICAST, off),
            (vport::NO_MULTICAST, off),
        ] {
            field.set(&mut input, value);
        }
        if let Err(error) = self.carry_out(&input) {
            log::warn!("the loopback of frames stays as it was: {error:?}");
        }
    }
}
