//! Frames for the tests of the wires.

use parking_lot::Mutex;

use super::frame::{Frame, Macs, Route};
use crate::packet::{Bth, Headers, Opcode, Operation, Place, Tail};

/// Held by tests that fork, and by tests that need a slot to be free as soon as its owner is gone. A forked child
/// holds the locks of all tests until it calls `exec` or ends.
pub(crate) static FORKING: Mutex<()> = Mutex::new(());

/// A SEND Only for `dest_qp` behind `dlid` with `len` bytes of payload that depend on both.
pub(crate) fn frame(dlid: u16, dest_qp: u32, len: usize) -> Frame {
    numbered(dlid, dest_qp, len, 0)
}

/// A [frame] with a PSN; the payload depends on the PSN as well.
pub(crate) fn numbered(dlid: u16, dest_qp: u32, len: usize, psn: u32) -> Frame {
    let opcode = Opcode::of(crate::context::Transport::Rc, Operation::Send, Place::Only, Tail::None).unwrap();
    let bth = Bth {
        opcode,
        solicited: false,
        migrated: true,
        pkey: 0xffff,
        dest_qp,
        ack_request: true,
        psn: psn & 0xff_ffff,
    };
    let mut draft = Headers::new(bth).build(len).unwrap();
    for (at, byte) in draft.payload_mut().iter_mut().enumerate() {
        *byte = (at as u32 ^ dest_qp ^ psn) as u8;
    }
    Frame::new(Route { slid: 1, dlid, sl: 0, grh: None, macs: Macs::default() }, draft.finish())
}
