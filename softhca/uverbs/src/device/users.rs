//! The device's users: each has a number, which the commands on its behalf carry (`mlx5_ib_devx_create`).

use super::firmware::command_errno;
use super::hca::Hca;
use crate::abi::mailbox::{self, Field, HEADER_BYTES, field};
use crate::process::{Errno, capability, has_capability};
use softhca::firmware::{Status, Uid};

const CREATE_UCTX: u16 = 0xa04;
const DESTROY_UCTX: u16 = 0xa06;
/// Bytes of `create_uctx_in`.
const CREATE_BYTES: usize = 0x40;
/// `uctx.cap`.
const CAP: Field = field(0x80, 32);
/// Of `create_uctx_out`, and of `destroy_uctx_in`.
const NUMBER: Field = field(0x50, 16);
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
        self.create_user_with(caps & self.capabilities().user_caps)
    }

    fn create_user_with(&self, caps: u32) -> Result<Uid, Errno> {
        if !self.capabilities().users {
            return Err(Errno::EINVAL);
        }
        let mut input = mailbox::command(CREATE_UCTX, 0, CREATE_BYTES);
        CAP.set(&mut input, caps.into());
        let mut output = [0; HEADER_BYTES];
        match self.execute(&input, &mut output) {
            Status::Ok => Ok(Uid(NUMBER.get(&output) as u16)),
            status => Err(command_errno(status)),
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::mailbox::linux::{bytes, known};

    #[test]
    fn users_are_where_linux_has_them() {
        assert_eq!((CAP, CREATE_BYTES), (known("create_uctx_in.uctx.cap"), bytes("create_uctx_in")));
        assert_eq!([NUMBER; 2], ["create_uctx_out.uid", "destroy_uctx_in.uid"].map(known));
    }
}
