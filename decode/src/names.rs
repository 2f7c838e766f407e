//! The names of numbers: opcodes of WQEs and CQEs, syndromes.
use blueflame::cq::{CqeOpcode, Syndrome, WcStatus};
use blueflame::wqe::seg::Opcode;

/// Opcodes of WQEs: rdma-core's `MLX5_OPCODE_*`, with the numbers from `blueflame`. Opcodes that `blueflame` lacks come
/// from Linux' `include/linux/mlx5/device.h` and DPDK's `mlx5_prm.h`.
pub const OPCODES: &[(u8, &str)] = &[
    (Opcode::Nop as u8, "MLX5_OPCODE_NOP"),
    (Opcode::SendInval as u8, "MLX5_OPCODE_SEND_INVAL"),
    (Opcode::RdmaWrite as u8, "MLX5_OPCODE_RDMA_WRITE"),
    (Opcode::RdmaWriteImm as u8, "MLX5_OPCODE_RDMA_WRITE_IMM"),
    (Opcode::Send as u8, "MLX5_OPCODE_SEND"),
    (Opcode::SendImm as u8, "MLX5_OPCODE_SEND_IMM"),
    (Opcode::Tso as u8, "MLX5_OPCODE_TSO"),
    (Opcode::Wait as u8, "MLX5_OPCODE_WAIT"),
    (Opcode::RdmaRead as u8, "MLX5_OPCODE_RDMA_READ"),
    (Opcode::AtomicCs as u8, "MLX5_OPCODE_ATOMIC_CS"),
    (Opcode::AtomicFa as u8, "MLX5_OPCODE_ATOMIC_FA"),
    (Opcode::AtomicMaskedCs as u8, "MLX5_OPCODE_ATOMIC_MASKED_CS"),
    (Opcode::AtomicMaskedFa as u8, "MLX5_OPCODE_ATOMIC_MASKED_FA"),
    (Opcode::RcvEn as u8, "MLX5_OPCODE_RCV_EN"),
    (Opcode::SendEn as u8, "MLX5_OPCODE_SEND_EN"),
    (0x18, "MLX5_OPCODE_BIND_MW"),
    (Opcode::Fmr as u8, "MLX5_OPCODE_FMR"),
    (Opcode::LocalInval as u8, "MLX5_OPCODE_LOCAL_INVAL"),
    (Opcode::ConfigCmd as u8, "MLX5_OPCODE_CONFIG_CMD"),
    (Opcode::SetPsv as u8, "MLX5_OPCODE_SET_PSV"),
    (0x21, "MLX5_OPCODE_GET_PSV"),
    (0x22, "MLX5_OPCODE_CHECK_PSV"),
    (Opcode::Dump as u8, "MLX5_OPCODE_DUMP"),
    (Opcode::Umr as u8, "MLX5_OPCODE_UMR"),
    (0x26, "MLX5_OPCODE_RGET_PSV"),
    (0x27, "MLX5_OPCODE_RCHECK_PSV"),
    (Opcode::TagMatching as u8, "MLX5_OPCODE_TAG_MATCHING"),
    (0x29, "MLX5_OPCODE_ENHANCED_MPSW"),
    (Opcode::FlowTblAccess as u8, "MLX5_OPCODE_FLOW_TBL_ACCESS"),
    (0x2d, "MLX5_OPCODE_ACCESS_ASO"),
    (Opcode::Mmo as u8, "MLX5_OPCODE_MMO"),
];

/// The name of a WQE's opcode.
pub(crate) fn opcode(opcode: u64) -> Option<&'static str> {
    OPCODES.iter().find(|(number, _)| u64::from(*number) == opcode).map(|(_, name)| *name)
}

/// The name of a syndrome.
pub(crate) fn syndrome(syndrome: u64) -> Option<&'static str> {
    match Syndrome::new(u8::try_from(syndrome).ok()?) {
        Syndrome::Known(known) => Some(known.name()),
        Syndrome::Unknown(_) => None,
    }
}

/// The name of a completion's status.
pub(crate) fn status(number: u64) -> Option<&'static str> {
    WcStatus::ALL.iter().find(|status| **status as u64 == number).map(|status| status.name())
}

/// The name of a CQE's opcode.
pub(crate) fn cqe_opcode(opcode: u64) -> Option<&'static str> {
    Some(match CqeOpcode::new(u8::try_from(opcode).ok()?) {
        CqeOpcode::Req => "MLX5_CQE_REQ",
        CqeOpcode::RespWrImm => "MLX5_CQE_RESP_WR_IMM",
        CqeOpcode::RespSend => "MLX5_CQE_RESP_SEND",
        CqeOpcode::RespSendImm => "MLX5_CQE_RESP_SEND_IMM",
        CqeOpcode::RespSendInv => "MLX5_CQE_RESP_SEND_INV",
        CqeOpcode::ResizeCq => "MLX5_CQE_RESIZE_CQ",
        CqeOpcode::NoPacket => "MLX5_CQE_NO_PACKET",
        CqeOpcode::SigErr => "MLX5_CQE_SIG_ERR",
        CqeOpcode::ReqErr => "MLX5_CQE_REQ_ERR",
        CqeOpcode::RespErr => "MLX5_CQE_RESP_ERR",
        CqeOpcode::Invalid => "MLX5_CQE_INVALID: never written by the device",
        _ => return None,
    })
}
