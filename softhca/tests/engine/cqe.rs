//! CQEs as the tests decode them.

use crate::arena::Arena;

/// A completion as the test's own decoder reads it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cqe {
    pub(crate) opcode: u8,
    pub(crate) wqe_counter: u16,
    pub(crate) byte_cnt: u32,
    pub(crate) imm: u32,
    pub(crate) syndrome: u8,
    pub(crate) vendor: u8,
    pub(crate) wqe_opcode: u8,
    pub(crate) qpn: u32,
    pub(crate) uidx: u32,
    pub(crate) solicited: bool,
    pub(crate) inline: u8,
    pub(crate) slid: u16,
    pub(crate) flags_rqpn: u32,
    /// `app`, `app_op` and `app_info`.
    pub(crate) app: [u8; 4],
    pub(crate) data: Vec<u8>,
}

pub(crate) const REQ: u8 = 0;
pub(crate) const WRITE_IMM: u8 = 1;
pub(crate) const RECV: u8 = 2;
pub(crate) const RECV_IMM: u8 = 3;
pub(crate) const RECV_INV: u8 = 4;
pub(crate) const NO_PACKET: u8 = 6;
pub(crate) const REQ_ERR: u8 = 13;
pub(crate) const RESP_ERR: u8 = 14;

pub(crate) struct Cq {
    pub(crate) cqn: u32,
    pub(crate) buf: u64,
    pub(crate) log_size: u8,
    pub(crate) ci: u32,
    pub(crate) dbr: u64,
}

impl Cq {
    pub(crate) fn poll(&mut self, memory: &Arena) -> Vec<Cqe> {
        let mut found = Vec::new();
        loop {
            let slot = u64::from(self.ci) & ((1 << self.log_size) - 1);
            let b = memory.read(self.buf + 64 * slot, 64);
            let owner = (self.ci >> self.log_size & 1) as u8;
            if b[63] >> 4 == 15 || b[63] & 1 != owner {
                break;
            }
            self.ci += 1;
            memory.write(self.dbr, &(self.ci & 0xff_ffff).to_be_bytes());
            let be32 = |at: usize| u32::from_be_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]]);
            let opcode = b[63] >> 4;
            let is_error = opcode == REQ_ERR || opcode == RESP_ERR;
            found.push(Cqe {
                opcode,
                wqe_counter: u16::from_be_bytes([b[60], b[61]]),
                byte_cnt: be32(44),
                imm: be32(36),
                syndrome: if is_error { b[55] } else { 0 },
                vendor: if is_error { b[54] } else { 0 },
                wqe_opcode: b[56],
                qpn: be32(56) & 0xff_ffff,
                uidx: be32(32),
                solicited: b[63] & 2 != 0,
                inline: b[63] >> 2 & 3,
                slid: u16::from_be_bytes([b[22], b[23]]),
                flags_rqpn: be32(24),
                app: [b[40], b[41], b[42], b[43]],
                data: b[..32].to_vec(),
            });
        }
        found
    }
}
