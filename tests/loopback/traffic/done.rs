//! A completion, copied out of the queue.

use blueflame::cq::{CqeError, CqeFormat, CqeOpcode, CqeView, Side, Source, WcOpcode};

/// A completion, copied out of the queue.
pub(super) struct Done {
    pub(super) side: Side,
    pub(super) opcode: CqeOpcode,
    pub(super) wc_opcode: WcOpcode,
    pub(super) wqe_counter: u16,
    pub(super) byte_len: usize,
    pub(super) imm: Option<u32>,
    pub(super) invalidated: Option<u32>,
    /// Data that came in the CQE.
    pub(super) inline: Option<Vec<u8>>,
}

impl Done {
    pub(super) fn new<S: Source>(cqe: &CqeView<S>) -> Self {
        let (side, in_cqe) = match cqe.check() {
            Ok(side) => (side, false),
            Err(CqeError::DataInCqe { side, .. }) => (side, true),
            Err(error) => panic!("{error}"),
        };
        assert_eq!(in_cqe, cqe.format() != CqeFormat::Plain);
        let inline = in_cqe.then(|| {
            let mut bytes = vec![0; 64];
            let len = cqe.copy_inline(&mut bytes).expect("data in the CQE");
            bytes.truncate(len);
            bytes
        });
        Self {
            side,
            opcode: cqe.opcode(),
            wc_opcode: cqe.wc_opcode(),
            wqe_counter: cqe.wqe_counter(),
            byte_len: cqe.byte_len() as usize,
            imm: cqe.imm(),
            invalidated: cqe.invalidated_rkey().map(|key| key.0),
            inline,
        }
    }
}
