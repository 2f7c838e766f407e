//! Queues that firmware commands make.

use blueflame::transport::{MIN_INLINE_HEADERS, Rc};
use blueflame::{WrId, wqe};
use blueflame_devx::memory::{Rings, ThreadRings};
use blueflame_devx::object::{Pd, Tis, TransportDomain, Uar};

use super::check::Check;
use super::ethernet::{Frames, Receiver};
use super::found::{Failure, Seen, ensure, same};
use super::lab::{INLINE, Lab, ROOM, memory, pattern};
use crate::need::Need;

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "devx.rings",
        title: "RC queue pairs whose rings lie one behind the other in one registration",
        fault: "Rings at an offset in their memory (UMEM) do not work: the kernel may have chosen larger pages than \
                4 KiB for the registration.",
        needs: &[Need::Link, Need::Address, Need::Devx],
        run: rings,
    },
    Check {
        id: "devx.frames",
        title: "a send queue of frames (CREATE_SQ) in the device's clock mode",
        fault: "The firmware refuses the queue: its timestamps (ts_format), or CAP_NET_RAW was missing when the device \
                was opened. The text has the syndrome.",
        needs: &[Need::Ethernet, Need::Link, Need::NetRaw, Need::Devx, Need::DevxFrames],
        run: frames,
    },
];

fn rings(lab: &Lab) -> Result<Seen, Failure> {
    const ROUNDS: u32 = 200;
    let context = lab.devx()?;
    let path = lab.path()?;
    let verbs_pd = context.device().protection_domain()?;
    let pd = Pd::of_verbs(context, &verbs_pd)?;
    let shared = Rings::new(context)?;
    let rings = ThreadRings::new(&shared);
    let mut ends = Vec::new();
    for _ in 0..3 {
        let uar = Uar::new(context)?;
        let cq = || rings.completion_queue(uar.page(), 64).build();
        let (sent, received) = (cq()?, cq()?);
        let builder = pd.queue_pair::<Rc>(&rings, &sent, &received).sends(16).receives(16).inline(INLINE);
        let mut pair = builder.build_on(uar)?;
        let itself = pair.qp.endpoint(&path);
        pair.qp.to_init(&path)?;
        pair.connect(&path, &itself, &itself)?;
        ends.push((pair, sent, received, memory(&verbs_pd, ROOM)?));
    }
    let in_use = shared.in_use();
    ensure(in_use.taken > 4096, || format!("only {} bytes of rings are in use", in_use.taken))?;
    for round in 0..ROUNDS {
        for (n, (pair, sent, received, memory)) in (0..).zip(&mut ends) {
            let data = pattern(3 * round + n, 1 + (round % 100) as usize);
            let rq = &mut pair.rq;
            // SAFETY: the memory is registered longer than the queue lives, and read after the completion.
            unsafe { rq.post_unchecked(WrId(round.into()), &[memory.sge_of(0..256)]) }?;
            pair.sq.post(&wqe::send().inline_slice(&data[..]).signaled(WrId(1)))?;
            lab.completion("a SEND", sent, |cqe| pair.sq.complete(cqe))?;
            let message = lab.completion("its receive", received, |cqe| rq.complete(cqe))?;
            same("a SEND", &data, &memory.to_vec(0..message.bytes as usize))?;
        }
    }
    Ok(Seen::new("600 messages through three queue pairs, whose rings wrapped")
        .figure("registrations, bytes in use", format!("{}, {}", in_use.registrations, in_use.taken)))
}

fn frames(lab: &Lab) -> Result<Seen, Failure> {
    let context = lab.devx()?;
    let own = Frames::new(lab)?;
    let mut receiver = Receiver::new(lab, &own.flow())?;
    let verbs_pd = context.device().protection_domain()?;
    let pd = Pd::of_verbs(context, &verbs_pd)?;
    let rings = ThreadRings::new(&Rings::new(context)?);
    let domain = TransportDomain::new(context)?;
    let tis = Tis::new(&domain, 0)?;
    let uar = Uar::new(context)?;
    let mut cq = rings.completion_queue(uar.page(), 64).build()?;
    let mut sq = pd.send_queue::<MIN_INLINE_HEADERS>(&rings, &cq, &tis, uar, 64)?;
    for number in 0..20 {
        let sent = own.frame(number, 60 + number as usize);
        let (headers, rest) = sent.split_first_chunk::<18>().ok_or("too short a frame")?;
        sq.post(&wqe::frame().inline_headers(headers).inline_slice(rest).signaled(WrId(1)))?;
        lab.completion("a frame that leaves", &mut cq, |cqe| sq.complete(cqe))?;
        let (arrived, _) = receiver.next(lab)?;
        same("a frame", &sent, &arrived)?;
    }
    Ok(Seen::new("20 frames by a queue of firmware commands, received by one of verbs"))
}
