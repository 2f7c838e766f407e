//! The headers that a device needs inline in frames, as it says itself. libmlx5 knows them from the kernel, and does
//! not tell (rdma-core `providers/mlx5/mlx5.c`, `eth_min_inline_size`). So firmware is asked, as DPDK does
//! (`drivers/common/mlx5/mlx5_devx_cmds.c`, `mlx5_devx_cmd_query_nic_vport_context`).

use blueflame_sys as sys;

use crate::transport::InlineLayers;
use crate::verbs::Error;

/// Bytes of a command and of an answer before their own parts.
const HEADER_BYTES: usize = 16;
/// `QUERY_HCA_CAP`, of the current capabilities for frames (`MLX5_CAP_ETHERNET_OFFLOADS` 1, times 2, plus 1).
const OFFLOADS: Command = Command { opcode: 0x100, op_mod: 3, answer: 0x1000 };
/// `QUERY_NIC_VPORT_CONTEXT`, of the function's own port.
const VPORT: Command = Command { opcode: 0x754, op_mod: 0, answer: 0x100 };

/// A command without operands. Offsets and sizes are those of the PRM (Linux `include/linux/mlx5/mlx5_ifc.h`).
struct Command {
    opcode: u16,
    op_mod: u16,
    /// Bytes of the answer behind its header.
    answer: usize,
}

impl Command {
    /// The first four bytes of the answer. `None` if the kernel has no DevX for this program, or firmware refuses.
    ///
    /// # Safety
    /// The context is open and of an mlx5 device.
    unsafe fn ask(&self, context: *mut sys::ibv_context) -> Option<[u8; 4]> {
        let mut input = [0_u8; HEADER_BYTES];
        input[..2].copy_from_slice(&self.opcode.to_be_bytes());
        input[6..8].copy_from_slice(&self.op_mod.to_be_bytes());
        let mut output = vec![0_u8; HEADER_BYTES + self.answer];
        let (at, bytes) = (output.as_mut_ptr().cast(), output.len());
        // SAFETY: the caller vouches for the context; the mailboxes are ours, with their lengths.
        let errno = unsafe { sys::mlx5dv_devx_general_cmd(context, input.as_ptr().cast(), input.len(), at, bytes) };
        if errno == 0 { output[HEADER_BYTES..].first_chunk().copied() } else { None }
    }
}

/// The headers that a device needs; `None`: it cannot be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::verbs) struct Needed(pub(super) Option<InlineLayers>);

impl Needed {
    /// # Safety
    /// As [`Command::ask`].
    pub(in crate::verbs) unsafe fn query(context: *mut sys::ibv_context) -> Self {
        // SAFETY: the caller promises that the context is open, and of an mlx5 device.
        let caps = unsafe { OFFLOADS.ask(context) };
        // `wqe_inline_mode`: two bits from bit 0x12. Linux `include/linux/mlx5/vport.h`, `MLX5_CAP_INLINE_MODE_*`.
        Self(caps.map(|caps| match caps[2] >> 4 & 3 {
            2 => InlineLayers::None,
            // `min_wqe_inline_mode`: three bits from bit 5. Without an answer, Linux takes layer 2 (`vport.c`,
            // `mlx5_query_min_inline`).
            // SAFETY: the caller promises that the context is open, and of an mlx5 device.
            1 => unsafe { VPORT.ask(context) }.map_or(InlineLayers::L2, |vport| layers(vport[0] & 7)),
            _ => InlineLayers::L2,
        }))
    }

    /// Refuses frames that have fewer headers inline than these.
    pub(in crate::verbs) fn check(self, has: InlineLayers) -> Result<(), Error> {
        match self.0 {
            Some(needs) if has < needs => Err(Error::InlineLayers { has, needs }),
            _ => Ok(()),
        }
    }
}

/// The mode of a number of the port's context. One that no source knows is taken for the largest.
fn layers(mode: u8) -> InlineLayers {
    match mode {
        0 => InlineLayers::None,
        1 => InlineLayers::L2,
        2 => InlineLayers::Ip,
        3 => InlineLayers::TcpUdp,
        5 => InlineLayers::InnerL2,
        6 => InlineLayers::InnerIp,
        _ => InlineLayers::InnerTcpUdp,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_headers_do_no_harm_and_fewer_are_refused() {
        let needs = InlineLayers::Ip;
        let needed = Needed(Some(needs));
        assert_eq!(needed.check(InlineLayers::TcpUdp), Ok(()));
        assert_eq!(needed.check(needs), Ok(()));
        let error = Error::InlineLayers { has: InlineLayers::L2, needs };
        assert_eq!(needed.check(InlineLayers::L2), Err(error.clone()));
        let text = error.to_string();
        assert!(text.contains("the headers up to IP") && text.ends_with("RawPacket<34>"), "{text}");
        // No type of this crate has these.
        assert!(Needed(Some(layers(5))).check(InlineLayers::TcpUdp).is_err());
        assert_eq!(Needed(None).check(InlineLayers::None), Ok(()));
    }

    /// Linux `include/linux/mlx5/device.h`, `enum mlx5_inline_modes`; 4 is reserved.
    #[test]
    fn numbers_are_those_of_the_context() {
        use InlineLayers::{InnerIp, InnerL2, InnerTcpUdp, Ip, L2, None, TcpUdp};
        let all = [None, L2, Ip, TcpUdp, InnerTcpUdp, InnerL2, InnerIp, InnerTcpUdp];
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(layers), all);
    }
}
