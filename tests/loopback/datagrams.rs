//! Datagrams in any order and form: each arrives once, as sent, behind 40 bytes.
//!
//! UD belongs here, DC in `dynamic.rs`.

use blueflame::cq::Side;
use blueflame::cq::cqe::{Grh, GrhKind};
use blueflame::queue::BlueFlamePolicy;
use blueflame::transport::Ud;
use blueflame::types::{Qkey, Qpn};
use blueflame::wqe::UdAddress;
use blueflame::wqe::address::GlobalRoute;
use blueflame::{WrId, wqe};
use blueflame_testkit::request::{Data, Kind, Whom, Wr};
use blueflame_testkit::{Buffer, Pair, QKEY, RegisterOptions, Shape, connected_pair};
use proptest::collection::vec;
use proptest::prelude::*;

/// The longest message, and its receive.
const LONGEST: usize = 300;
const SLOT: usize = Grh::BYTES + LONGEST;

/// One datagram: its length, which address vector, immediate data, and whether it is gathered.
type Message = (usize, usize, Option<u32>, bool);

/// By LID in 16 bytes, by LID in 48, and by GID.
fn forms(pair: &Pair<Ud>) -> [Whom; 3] {
    let near = pair.far.address();
    let dgid = pair.far.endpoint().gid;
    let route = GlobalRoute { dgid, sgid_index: 0, flow_label: 0xa_bcde, hop_limit: 9, traffic_class: 0x5a };
    let global = UdAddress::new(near.vector().with_grh(&route), near.qpn(), near.qkey());
    [Whom::Compact(near), Whom::Full(near.to_full()), Whom::Full(global)]
}

struct Exchange {
    pair: Pair<Ud>,
    source: Buffer,
    mailbox: Buffer,
    sent: u64,
}

impl Exchange {
    fn new(shape: Shape) -> Self {
        let pair = Pair::<Ud>::builder().shape(shape).connect().expect("two ends");
        let mut source = pair.near.buffer(LONGEST).expect("memory");
        source.write(0, &pattern(LONGEST, 0));
        let mailbox = pair.far.buffer(SLOT).expect("memory");
        Self { pair, source, mailbox, sent: 0 }
    }

    /// Sends one message and looks at all that is known of it on either side.
    fn send(&mut self, (len, form, imm, gathered): Message) {
        let id = self.sent;
        self.sent += 1;
        let data = if gathered { Data::Sges(vec![self.source.sge(..len)]) } else { Data::Inline(pattern(len, id)) };
        let bytes = pattern(len, if gathered { 0 } else { id });
        let whom = forms(&self.pair)[form];
        let Pair { near, far } = &mut self.pair;
        self.mailbox.write(0, &[0xee; SLOT]);
        // SAFETY: the buffers are looked at when the requests have completed.
        unsafe {
            far.rq.post_unchecked(WrId(id), &[self.mailbox.sge(..)]).expect("room");
            near.post(&Wr::new(Kind::Datagram(whom, imm), data, id)).expect("room");
        }
        self.pair.run_until_idle().expect("an end");
        let Pair { near, far } = &mut self.pair;
        let sent = near.cq.poll().expect("a completion");
        assert_eq!(sent.check(), Ok(Side::Requester));
        assert_eq!(near.sq.retire(&sent).expect("outstanding").wr_id, WrId(id));
        let cqe = far.cq.poll().expect("a datagram");
        assert_eq!(cqe.check(), Ok(Side::Responder));
        assert_eq!((cqe.byte_len() as usize, cqe.imm()), (Grh::BYTES + len, imm));
        assert_eq!((cqe.src_qp(), cqe.slid()), (near.qpn(), near.endpoint().lid));
        assert_eq!(cqe.has_grh(), form == 2);
        assert_eq!(far.rq.retire(&cqe).expect("posted"), WrId(id));
        let received = self.mailbox.to_vec(..);
        let (header, rest) = Grh::split(&received).expect("40 bytes");
        assert_eq!(rest[..len], bytes);
        assert!(rest[len..].iter().all(|&byte| byte == 0xee), "bytes behind the message were written");
        if form == 2 {
            assert_eq!(header.kind(), GrhKind::GlobalRoute);
            assert_eq!((header.source_gid(), header.destination_gid()), (near.endpoint().gid, far.endpoint().gid));
            assert_eq!((header.flow_label(), header.hop_limit(), header.traffic_class()), (0xa_bcde, 9, 0x5a));
        }
        assert_eq!(self.pair.complaints(), []);
    }
}

fn pattern(len: usize, from: u64) -> Vec<u8> {
    (0..len as u64).map(|n| (n * 7 + from * 13) as u8).collect()
}

fn messages() -> impl Strategy<Value = Vec<Message>> {
    let len = prop_oneof![0..=LONGEST, 0..64_usize, Just(28), Just(29)];
    vec((len, 0..3_usize, prop_oneof![Just(None), any::<u32>().prop_map(Some)], any::<bool>()), 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn every_datagram_arrives_as_it_was_sent(
        messages in messages(), prefer: bool, blueflame: bool, signal_all: bool,
    ) {
        let policy = if prefer { BlueFlamePolicy::Prefer } else { BlueFlamePolicy::Inline };
        let register = if blueflame { RegisterOptions::Own } else { RegisterOptions::OwnWithoutBlueFlame };
        let mut exchange = Exchange::new(Shape { policy, register, signal_all, ..Shape::SMALL });
        for message in messages {
            exchange.send(message);
        }
    }
}

/// A datagram for another queue pair, or one that does not fit, is lost silently, and the next is received.
#[test]
fn what_does_not_fit_is_lost_in_silence() {
    let mut pair = connected_pair::<Ud>().expect("two ends");
    let mailbox = pair.far.buffer(Grh::BYTES + 8).expect("memory");
    // SAFETY: the buffer is looked at when the datagram has arrived.
    unsafe { pair.far.rq.post_unchecked(WrId(7), &[mailbox.sge(..)]) }.expect("room");
    let there = pair.far.address();
    let wrong_key = UdAddress::new(there.vector(), there.qpn(), Qkey(QKEY.0 + 1));
    let nobody = UdAddress::new(there.vector(), Qpn::truncate(0xff_0000), QKEY);
    let sq = &mut pair.near.sq;
    sq.post(&wqe::send().to(wrong_key).inline(b"secret").signaled(WrId(1))).expect("room");
    sq.post(&wqe::send().to(nobody).inline(b"hello?").signaled(WrId(2))).expect("room");
    sq.post(&wqe::send().to(there).inline(b"too long!").signaled(WrId(3))).expect("room");
    pair.run_until_idle().expect("an end");
    assert!(pair.far.cq.poll().is_none());
    for tag in 1..=3 {
        let cqe = pair.near.cq.poll().expect("the sender hears nothing of it");
        assert_eq!(cqe.check(), Ok(Side::Requester));
        assert_eq!(pair.near.sq.retire(&cqe).expect("outstanding").wr_id, WrId(tag));
    }
    // The sender's own Q_Key, which is the same.
    let own_key = UdAddress::new(there.vector(), there.qpn(), Qkey(1 << 31));
    pair.near.sq.post(&wqe::send().to(own_key).inline(b"for you!")).expect("room");
    pair.run_until_idle().expect("an end");
    let cqe = pair.far.cq.poll().expect("a datagram");
    assert_eq!(cqe.byte_len(), 48);
    assert_eq!(mailbox.to_vec(Grh::BYTES..), b"for you!");
}

/// Prepared datagrams, and many with one doorbell.
#[test]
fn prepared_and_in_batches() {
    let mut pair = connected_pair::<Ud>().expect("two ends");
    let mailbox = pair.far.buffer(8 * 64).expect("memory");
    for slot in 0..8 {
        // SAFETY: the buffer is looked at when the datagrams have arrived.
        unsafe { pair.far.rq.post_unchecked(WrId(slot), &[mailbox.slot(slot as usize, 64)]) }.expect("room");
    }
    let (compact, full) = (pair.far.address(), pair.far.address().to_full());
    let sq = &mut pair.near.sq;
    let near = sq.prepare::<_, _, 4, 0>(&wqe::send().to(compact).imm(5)).expect("within the limits");
    let far = sq.prepare::<_, _, 4, 0>(&wqe::send().to(full)).expect("within the limits");
    for n in 0..2 {
        sq.post(&near.inline(&[n; 4])).expect("room");
        sq.post(&far.signaled_if(true, WrId(9)).inline(&[10 + n; 4])).expect("room");
    }
    let mut batch = sq.batch();
    for n in 20..22 {
        batch.push(&wqe::send().to(compact).inline(&[n; 4])).expect("room");
        batch.push(&wqe::send().imm(6).inline(&[10 + n; 4]).to(full)).expect("room");
    }
    batch.ring_doorbell();
    pair.run_until_idle().expect("an end");
    let mut seen = Vec::new();
    pair.far.cq.poll_with(16, |cqe| seen.push((cqe.check(), cqe.byte_len(), cqe.imm())));
    let told = [Some(5), None, Some(5), None, None, Some(6), None, Some(6)];
    assert_eq!(seen, told.map(|imm| (Ok(Side::Responder), 44, imm)));
    let firsts: Vec<_> = (0..8).map(|slot| mailbox.to_vec(slot * 64 + 40..slot * 64 + 44)).collect();
    assert_eq!(firsts, [0, 10, 1, 11, 20, 30, 21, 31].map(|n| vec![n; 4]));
}
