//! The owner of each buffer. A buffer has a number, which is its `wr_id`.

use std::collections::BTreeMap;

use blueflame::Sge;
use blueflame::types::Lkey;

/// The queue that a buffer was posted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    Send,
    Receive,
    Shared,
    /// A buffer on the list of tags.
    List,
    /// A buffer for messages that match no tag.
    Unexpected,
    FrameSend,
}

/// The device's part of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// The device may use it at any time.
    Busy,
    /// The device is done with it, and has written the completion.
    Done,
}

/// The buffers that the device has. All others are the program's.
#[derive(Debug, Default)]
pub(super) struct Owners {
    lent: BTreeMap<u64, (Holder, Use)>,
    last: u64,
}

impl Owners {
    /// The number of a new buffer.
    pub(super) fn fresh(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// A buffer is posted.
    pub(super) fn lend(&mut self, id: u64, to: Holder) {
        assert_eq!(self.lent.insert(id, (to, Use::Busy)), None, "buffer {id} is the device's already");
    }

    /// The device is done with a buffer.
    pub(super) fn finish(&mut self, id: u64) {
        if let Some((_, used)) = self.lent.get_mut(&id) {
            *used = Use::Done;
        }
    }

    /// A queue hands a buffer back. An honest device is done with it.
    pub(super) fn back(&mut self, id: u64, from: Holder, is_honest: bool) {
        let lent = self.lent.remove(&id);
        let Some((holder, used)) = lent else {
            panic!("buffer {id} of {from:?} is handed back twice, or was never posted")
        };
        assert_eq!(holder, from, "another queue's buffer {id}");
        assert!(!is_honest || used == Use::Done, "buffer {id} of {from:?} is handed back while the device may use it");
    }

    /// A buffer is posted again, before it was handed back.
    pub(super) fn again(&mut self, id: u64) {
        let (_, used) = self.lent.get_mut(&id).expect("posted");
        *used = Use::Busy;
    }

    /// A queue was reset: its buffers are the program's. Returns how many there were.
    pub(super) fn give_up(&mut self, of: Holder) -> usize {
        let before = self.lent.len();
        self.lent.retain(|_, (holder, _)| *holder != of);
        before - self.lent.len()
    }

    /// How many buffers of a queue the device has, or had until its last completions.
    pub(super) fn count(&self, of: Holder) -> usize {
        self.lent.values().filter(|(holder, _)| *holder == of).count()
    }

    /// All completions are polled: no buffer of which the device is done may be left.
    pub(super) fn check_none_lost(&self, of: &[Holder]) {
        let lost = self.lent.iter().find(|(_, (holder, used))| of.contains(holder) && *used == Use::Done);
        assert!(lost.is_none(), "a completion was polled, but the buffer is lost: {lost:?}");
    }
}

/// The memory of a buffer.
pub(super) fn sge(id: u64) -> Sge {
    Sge { addr: 0x1_0000 * id, length: 4096, lkey: Lkey(0x200) }
}

/// A CQE: last byte without the owner, number of the queue pair, index of the WQE, bytes of the message.
pub(super) fn cqe(op_own: u8, qpn: u32, counter: u16, bytes: u32) -> [u8; 64] {
    let mut cqe = [0; 64];
    cqe[32..36].copy_from_slice(&qpn.to_be_bytes());
    cqe[44..48].copy_from_slice(&bytes.to_be_bytes());
    cqe[56..60].copy_from_slice(&qpn.to_be_bytes());
    cqe[60..62].copy_from_slice(&counter.to_be_bytes());
    cqe[63] = op_own;
    cqe
}

/// Last bytes of CQEs: successes and errors of each side.
pub(super) mod op {
    pub(in super::super) const SENT: u8 = 0;
    pub(in super::super) const RECEIVED: u8 = 2 << 4;
    pub(in super::super) const NO_PACKET: u8 = 6 << 4;
    pub(in super::super) const SEND_FAILED: u8 = 13 << 4;
    pub(in super::super) const RECEIVE_FAILED: u8 = 14 << 4;
}

/// Mini-CQEs of receives: the index, where the format has it, and the bytes.
pub(super) fn received(counter: u16, bytes: u32) -> [u8; 8] {
    let ([a, b], [c, d, e, f]) = (counter.to_be_bytes(), bytes.to_be_bytes());
    [0x77, 0x77, a, b, c, d, e, f]
}

/// Mini-CQEs of requests: the index, the opcode (SEND), the bytes.
pub(super) fn sent(counter: u16) -> [u8; 8] {
    let [a, b] = counter.to_be_bytes();
    [a, b, 0x0a, 0x77, 0, 0, 0, 0]
}
