//! The device's users: each has a number, which the commands on its behalf carry (`mlx5_ib_devx_create`).

use super::hca::Hca;
use crate::abi::mailbox::{self, HEADER_BYTES, fields, sizes};
use crate::process::{Errno, capability, has_capability};
use softhca::firmware::{Status, Uid};

const CREATE_UCTX: u16 = 0xa04;
const DESTROY_UCTX: u16 = 0xa06;
sizes! { CREATE_BYTES: 0x40 = "create_uctx_in"; }
fields! {
    CAP: 0x80, 32 = "create_uctx_in.uctx.cap";
    NUMBER: 0x50, 16 = "create_uctx_out.uid", "destroy_uctx_in.uid";
}
/// `MLX5_UCTX_CAP_RAW_TX`, `MLX5_UCTX_CAP_INTERNAL_DEV_RES`.
const CAP_RAW_TX: u32 = 1;
const CAP_INTERNAL_DEV_RES: u32 = 1 << 1;

impl Hca {
    /// A new user, with the calling thread's rights that the device has.
    pub(crate) fn create_user(&self) -> Result<Uid, Errno> {
        let mut caps = 0;
        if has_capability(capability::NET_RAW) {
            caps |= CAP_RAW_TX;
        }
        if has_capability(capability::SYS_RAWIO) {
            caps |= CAP_INTERNAL_DEV_RES;
        }
        self.create_user_with(caps & self.capabilities.user_caps)
    }

    fn create_user_with(&self, caps: u32) -> Result<Uid, Errno> {
        if !self.capabilities.users {
            return Err(Errno::EINVAL);
        }
        let mut input = mailbox::command(CREATE_UCTX, 0, CREATE_BYTES);
        CAP.set(&mut input, caps.into());
        self.carry_out(&input).map(|output| Uid(NUMBER.get(&output) as u16))
    }

    /// The user is gone, and all that was its.
    pub(crate) fn destroy_user(&self, user: Uid) {
        let mut input = mailbox::command(DESTROY_UCTX, 0, HEADER_BYTES);
        NUMBER.set(&mut input, user.0.into());
        let status = self.execute(&input, &mut [0; HEADER_BYTES]);
        if status != Status::Ok {
            log::warn!("closing the device: user {} stays: {status:?}", user.0);
        }
    }

    /// On whose behalf all ask that are no users themselves; a device that has no users has none.
    pub(crate) fn common_user(&self) -> Option<Uid> {
        *self.common_user.get_or_init(|| self.create_user_with(0).ok())
    }
}
