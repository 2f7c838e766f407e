//! Responses: those that a requester believes, and those that a responder sends.
//!
//! Acknowledgements, NAKs and answers belong here, the failures that they tell of in `failures.rs`.

use std::sync::{Arc, Mutex};

use crate::lab::*;
use softhca::context::{Backing, KeyPiece, MkeyContext, QpState, Transport};
use softhca::device::KeyOptions;
use softhca::packet::{Aeth, AethSyndrome, Bth, Headers, Opcode, Operation, Place, Reth};
use softhca::wire::{Frame, Macs, Route, Wire};

/// Opcodes of RC packets.
const WRITE_ONLY: u8 = 0x0a;
const READ_REQUEST: u8 = 0x0c;
const READ_RESPONSE_ONLY: u8 = 0x10;
const ACKNOWLEDGE: u8 = 0x11;
/// Syndromes of an AETH (IBTA vol. 1, table 45): no credits said; RNR NAK; reserved; NAKs.
const ACK: u8 = 0x1f;
const RNR: u8 = 0x21;
const RESERVED: u8 = 0x41;
const SEQUENCE: u8 = 0x60;
const RESERVED_NAK: u8 = 0x7f;

/// Syndrome of a CQE: bad response.
const BAD_RESPONSE: u8 = 0x10;

fn bth(opcode: u8, dest_qp: u32, psn: u32) -> Bth {
    let opcode = Opcode::new(opcode).unwrap();
    Bth { opcode, solicited: false, migrated: true, pkey: 0xffff, dest_qp, ack_request: true, psn }
}

/// A stranger sends a packet from one LID to another.
fn forge(lab: &Lab, [slid, dlid]: [u16; 2], headers: Headers, payload: &[u8]) {
    let mut draft = headers.build(payload.len()).unwrap();
    draft.payload_mut().copy_from_slice(payload);
    let route = Route { slid, dlid, sl: 0, grh: None, macs: Macs::default() };
    lab.attach_stranger().send(Frame::new(route, draft.finish())).expect("there is room");
}

/// A response to `a` from the address of `b`.
fn respond(lab: &Lab, opcode: u8, (psn, syndrome): (u32, u8), payload: &[u8]) {
    let aeth = Some(Aeth { syndrome: AethSyndrome::from_code(syndrome), msn: 0 });
    forge(lab, [2, 1], Headers { aeth, ..Headers::new(bth(opcode, lab.a.qpn, psn)) }, payload);
}

/// Two WRITEs, PSNs 0x123 and 0x124, of which `a` has heard nothing.
fn outstanding(options: Options) -> Lab {
    let mut lab = Lab::new(options);
    lab.b.script(|_| Fate::Drop);
    for at in [0, 64] {
        lab.a.post(&Wr::write(lab.b.data + at, lab.b.key).inline(b"x"));
    }
    lab.run();
    assert_eq!(lab.a.sent(Operation::Write), [0x123, 0x124]);
    lab
}

/// An acknowledgement covers its PSN and all before it, a NAK all before it (IBTA vol. 1, 9.7.5.1 and 9.7.5.2). The
/// requester ignores PSNs that it has not sent, and reserved syndromes and codes.
#[test]
fn a_requester_believes_what_can_be() {
    for (syndrome, psn, completed, again) in [
        (ACK, 0x122, 0, &[][..]),
        (ACK, 0x123, 1, &[]),
        (ACK, 0x124, 2, &[]),
        (ACK, 0x125, 0, &[]),
        (ACK, 0x126, 0, &[]),
        (RESERVED, 0x123, 0, &[]),
        (RESERVED, 0x124, 0, &[]),
        (RESERVED, 0x125, 0, &[]),
        (SEQUENCE, 0x123, 0, &[0x123, 0x124]),
        (SEQUENCE, 0x124, 1, &[0x124]),
        (SEQUENCE, 0x125, 0, &[]),
        (RESERVED_NAK, 0x123, 0, &[]),
        (RESERVED_NAK, 0x124, 1, &[]),
    ] {
        let mut lab = outstanding(Options::default());
        respond(&lab, ACKNOWLEDGE, (psn, syndrome), &[]);
        lab.run();
        let done: Vec<_> = lab.a.poll_send().iter().map(|cqe| (cqe.opcode, cqe.wqe_counter)).collect();
        assert_eq!(done, [(REQ, 0), (REQ, 1)][..completed], "{syndrome:#x} of PSN {psn:#x}");
        assert_eq!(lab.a.sent(Operation::Write)[2..], *again, "{syndrome:#x} of PSN {psn:#x}");
        assert_eq!(lab.a.state(), QpState::Rts);
    }
}

#[test]
fn a_second_copy_of_a_nak_is_no_second_loss() {
    let mut lab = outstanding(Options { retry_cnt: 1, ..Options::default() });
    lab.b.script(|_| Fate::Deliver);
    for _ in 0..3 {
        respond(&lab, ACKNOWLEDGE, (0x123, SEQUENCE), &[]);
    }
    lab.run();
    assert_eq!(lab.a.poll_send().iter().map(|cqe| cqe.opcode).collect::<Vec<_>>(), [REQ, REQ]);
    assert_eq!(lab.a.sent(Operation::Write)[2..], [0x123, 0x124], "once");
}

/// As Linux' rdma_rxe has it (`rxe_comp.c`, `check_ack`).
#[test]
fn an_answer_acknowledges_or_is_bad() {
    for (syndrome, expected) in [(ACK, 0), (RNR, BAD_RESPONSE), (RESERVED, BAD_RESPONSE), (SEQUENCE, BAD_RESPONSE)] {
        let mut lab = Lab::new(Options::default());
        lab.b.script(|_| Fate::Drop);
        lab.a.post(&Wr::read(lab.b.data, lab.b.key).sge(lab.a.data, 8, lab.a.key));
        lab.run();
        respond(&lab, READ_RESPONSE_ONLY, (0x123, syndrome), b"answered");
        lab.run();
        let done: Vec<_> = lab.a.poll_send().iter().map(|cqe| cqe.syndrome).collect();
        assert_eq!(done, [expected], "{syndrome:#x}");
        let arrived: &[u8] = if expected == 0 { b"answered" } else { &[0; 8] };
        assert_eq!(lab.a.memory.read(lab.a.data, 8), arrived);
    }
}

/// The parts of an answer are named in its opcodes, and a middle one has no AETH (IBTA vol. 1, 9.4.4). The answer
/// acknowledges by itself.
#[test]
fn an_answer_says_which_of_its_parts_a_packet_is() {
    use Place::{First, Last, Middle, Only};
    for (len, expected) in [
        (8, &[Only][..]),
        (256, &[Only]),
        (257, &[First, Last]),
        (512, &[First, Last]),
        (513, &[First, Middle, Last]),
        (1000, &[First, Middle, Middle, Last]),
    ] {
        let mut lab = Lab::new(Options { mtu: 256, ..Options::default() });
        let places = Arc::new(Mutex::new(Vec::new()));
        let seen = places.clone();
        lab.b.script(move |packet| {
            seen.lock().unwrap().push((packet.headers.bth.opcode.place(), packet.headers.aeth.is_some()));
            Fate::Deliver
        });
        lab.a.post(&Wr::read(lab.b.data, lab.b.key).sge(lab.a.data, len, lab.a.key));
        lab.run();
        let expected: Vec<_> = expected.iter().map(|&place| (place, place != Middle)).collect();
        assert_eq!(*places.lock().unwrap(), expected, "{len}");
        assert_eq!((lab.a.poll_send().len(), lab.b.sent(Operation::Acknowledge)), (1, vec![]));
        lab.a.post(&Wr::add(lab.b.data, lab.b.key, 1).sge(lab.a.data, 8, lab.a.key));
        lab.run();
        assert_eq!((lab.a.poll_send().len(), lab.b.sent(Operation::Acknowledge)), (1, vec![]));
    }
}

/// A duplicate that does not ask is not acknowledged again, as Linux' hfi1 has it (`rc.c`, `hfi1_rc_rcv_error`).
#[test]
fn a_repeated_request_is_acknowledged_if_it_asks() {
    for (ack_request, acknowledged) in [(false, &[0x123][..]), (true, &[0x123, 0x123])] {
        let mut lab = Lab::new(Options::default());
        let (addr, rkey) = (lab.b.data, lab.b.key);
        lab.a.post(&Wr::write(addr, rkey).inline(b"at first"));
        lab.run();
        let reth = Some(Reth { addr, rkey, len: 8 });
        let bth = Bth { ack_request, ..bth(WRITE_ONLY, lab.b.qpn, 0x123) };
        forge(&lab, [1, 2], Headers { reth, ..Headers::new(bth) }, b"repeated");
        lab.run();
        assert_eq!(lab.b.sent(Operation::Acknowledge), acknowledged, "it asks: {ack_request}");
        assert_eq!(lab.b.memory.read(addr, 8), b"at first");
    }
}

/// An answer that waits for the wire acknowledges the requests before it, so it does not begin anew.
#[test]
fn a_repeated_request_before_an_answer_that_waits_needs_nothing_more() {
    const PACKETS: u32 = 100;
    let mut lab = Lab::new(Options { mtu: 256, ..Options::default() });
    let (at, rkey) = (lab.b.data, lab.b.key);
    let data = lab.b.fill(0, 256 * PACKETS as usize, 5);
    lab.b.script(|_| Fate::Refuse);
    lab.a.post_silently(&Wr::write(at + 0x8_0000, rkey).inline(b"before"));
    lab.a.post_silently(&Wr::read(at, rkey).sge(lab.a.data, 256 * PACKETS, lab.a.key));
    lab.a.ring();
    lab.run();
    let reth = Some(Reth { addr: at + 0x8_0000, rkey, len: 8 });
    forge(&lab, [1, 2], Headers { reth, ..Headers::new(bth(WRITE_ONLY, lab.b.qpn, 0x123)) }, b"repeated");
    lab.run();
    lab.b.script(|_| Fate::Deliver);
    lab.run();
    assert_eq!(lab.b.sent(Operation::ReadResponse), (0x124..0x124 + PACKETS).collect::<Vec<_>>());
    assert_eq!(lab.a.poll_send().len(), 2);
    assert_eq!(lab.a.memory.read(lab.a.data, data.len()), data);
    assert_eq!(lab.b.memory.read(at + 0x8_0000, 8), b"before\0\0");
}

/// A key of `b` with two pieces of 256 bytes, and the key of the second piece.
fn in_pieces(lab: &mut Lab) -> (u32, u32) {
    let at = lab.b.data;
    let [first, second] = [at, at + 256].map(|at| lab.b.register(at, 256, ALL));
    let pieces = [(first, at), (second, at + 256)].map(|(key, addr)| KeyPiece { key, addr, len: 256 });
    let context = MkeyContext { pd: lab.b.pd, iova: 0, addr: 0, len: 512, access: ALL };
    let whole = lab.b.device.create_mkey_with(context, KeyOptions::with(Backing::Pieces(pieces.to_vec()))).unwrap();
    (whole, second)
}

/// The responder looks at each piece when it sends it. So a duplicate of a READ of many pieces costs no more than the
/// packets that answer it.
#[test]
fn a_repeated_read_is_answered_up_to_the_piece_that_is_gone() {
    let mut lab = Lab::new(Options { mtu: 256, ..Options::default() });
    let (rkey, second) = in_pieces(&mut lab);
    lab.a.post(&Wr::read(0, rkey).sge(lab.a.data, 512, lab.a.key));
    lab.run();
    assert_eq!(lab.a.poll_send()[0].opcode, REQ);
    lab.b.device.destroy_mkey(second).unwrap();
    let reth = Some(Reth { addr: 0, rkey, len: 512 });
    forge(&lab, [1, 2], Headers { reth, ..Headers::new(bth(READ_REQUEST, lab.b.qpn, 0x123)) }, &[]);
    lab.run();
    assert_eq!(lab.b.sent(Operation::ReadResponse), [0x123, 0x124, 0x123]);
    assert_eq!((lab.b.sent(Operation::Acknowledge), lab.b.state()), (vec![], QpState::Rts), "it is never refused");
    // The queue pairs go on.
    lab.a.post(&Wr::write(lab.b.data, lab.b.key).inline(b"next"));
    lab.run();
    assert_eq!((lab.a.poll_send()[0].opcode, lab.b.memory.read(lab.b.data, 4)), (REQ, b"next".to_vec()));
    // Without the key itself there is no answer at all.
    lab.b.device.destroy_mkey(rkey).unwrap();
    forge(&lab, [1, 2], Headers { reth, ..Headers::new(bth(READ_REQUEST, lab.b.qpn, 0x123)) }, &[]);
    lab.run();
    assert_eq!(lab.b.sent(Operation::ReadResponse), [0x123, 0x124, 0x123]);
}

/// Hardware behaves like this: it examines a piece when it comes to it.
#[test]
fn a_new_request_is_executed_up_to_the_piece_that_is_gone() {
    for (is_read, answered) in [(true, &[0x123][..]), (false, &[])] {
        let mut lab = Lab::new(Options { mtu: 256, ..Options::default() });
        let (rkey, second) = in_pieces(&mut lab);
        lab.b.device.destroy_mkey(second).unwrap();
        let sent = lab.a.fill(0, 512, 3);
        let wr = if is_read { Wr::read(0, rkey) } else { Wr::write(0, rkey) };
        lab.a.post(&wr.sge(lab.a.data, 512, lab.a.key));
        lab.settle();
        let done: Vec<_> = lab.a.poll_send().iter().map(|cqe| cqe.syndrome).collect();
        assert_eq!((done, lab.b.state()), (vec![0x13], QpState::Err), "remote access, READ: {is_read}");
        assert_eq!(lab.b.sent(Operation::ReadResponse), answered);
        assert_eq!(lab.b.memory.read(lab.b.data, 256) == sent[..256], !is_read);
    }
}

/// On UC, the peer can begin the same WRITE again and again.
#[test]
fn an_unreliable_write_is_executed_up_to_the_piece_that_is_gone() {
    let mut lab = Lab::new(Options { transport: Transport::Uc, mtu: 256, ..Options::default() });
    let (rkey, second) = in_pieces(&mut lab);
    lab.b.device.destroy_mkey(second).unwrap();
    let sent = lab.a.fill(0, 512, 3);
    lab.a.post(&Wr::write(0, rkey).sge(lab.a.data, 512, lab.a.key));
    lab.run();
    assert_eq!(lab.b.memory.read(lab.b.data, 512), [&sent[..256], &[0; 256]].concat());
    assert_eq!(lab.b.state(), QpState::Rts);
}
