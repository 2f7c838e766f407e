//! One request of each kind and its expected effect, for the transports whose requests name their destination.

use crate::lab::*;

/// Where the requests take from, and where they bring it.
pub(crate) struct Every {
    at: u64,
    own: u32,
    data: u64,
    key: u32,
    sent: Vec<u8>,
}

impl Every {
    /// Fills both ends' memory, and posts receives at the target.
    pub(crate) fn prepare(initiator: &mut Node, target: &mut Node) -> Self {
        let (data, key) = (target.data, target.key);
        let sent = initiator.fill(0, 5000, 1);
        target.fill(0x2_0000, 3000, 2);
        target.memory.write(data + 0x4_0000, &5u64.to_ne_bytes());
        for i in 0..4u64 {
            target.post_recv(&[(data + 0x1_0000 + 0x2000 * i, 0x2000)]);
        }
        Self { at: initiator.data, own: initiator.key, data, key, sent }
    }

    /// Posts the requests, addressed by a function; a NOP is for nobody.
    pub(crate) fn post(&self, initiator: &mut Node, to: impl Fn(Wr) -> Wr) {
        let Self { at, own, data, key, .. } = *self;
        initiator.post(&to(Wr::send().sge(at, 5000, own)));
        initiator.post(&to(Wr::send().with_imm(0xabcd).inline(b"small")));
        initiator.post(&to(Wr::write(data, key).sge(at, 5000, own)));
        initiator.post(&to(Wr::write(data + 0x8000, key).with_imm(0x77).sge(at, 100, own)));
        initiator.post(&to(Wr::read(data + 0x2_0000, key).sge(at + 0x8000, 3000, own)));
        initiator.post(&to(Wr::add(data + 0x4_0000, key, 3).sge(at + 0xa000, 8, own)));
        initiator.post(&to(Wr::swap(data + 0x4_0000, key, 8, 100).sge(at + 0xa008, 8, own)));
        initiator.post(&Wr::nop());
        // Not before the answers of the READ have left, which need the key.
        initiator.post(&to(Wr::send().invalidating(key).inline(b"last").flags(SIGNALED | FENCE)));
    }

    /// Both memories and all CQEs are as they have to be; returns those of the target.
    pub(crate) fn check(&self, initiator: &mut Node, target: &mut Node) -> Vec<Cqe> {
        let Self { at, data, key, .. } = *self;
        let done: Vec<_> = initiator.poll_send().iter().map(|c| (c.opcode, c.wqe_opcode, c.byte_cnt)).collect();
        let bytes = [0, 0, 0, 0, 3000, 8, 8, 0, 0];
        let opcodes = [0x0a, 0x0b, 0x08, 0x09, 0x10, 0x12, 0x11, 0, 0x01];
        assert_eq!(done, opcodes.into_iter().zip(bytes).map(|(wqe, len)| (REQ, wqe, len)).collect::<Vec<_>>());
        let memory = &target.memory;
        assert_eq!(memory.read(data, 5000), self.sent);
        assert_eq!(memory.read(data + 0x1_0000, 5000), self.sent);
        assert_eq!(memory.read(data + 0x1_2000, 5), b"small");
        assert_eq!(memory.read(data + 0x8000, 100), self.sent[..100]);
        assert_eq!(memory.read(data + 0x4_0000, 8), 100u64.to_ne_bytes());
        assert_eq!(initiator.memory.read(at + 0x8000, 3000), memory.read(data + 0x2_0000, 3000));
        assert_eq!(initiator.memory.read(at + 0xa000, 16), [5u64.to_ne_bytes(), 8u64.to_ne_bytes()].concat());
        let received = target.poll_recv();
        let found: Vec<_> = received.iter().map(|c| (c.opcode, c.wqe_counter, c.byte_cnt, c.imm)).collect();
        let expected = [(RECV, 0, 5000, 0), (RECV_IMM, 1, 5, 0xabcd), (WRITE_IMM, 2, 100, 0x77), (RECV_INV, 3, 4, key)];
        assert_eq!(found, expected);
        received
    }
}
