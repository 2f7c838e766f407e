//! Datagrams, XRC and dynamic connections of the port with itself.

use blueflame::cq::cqe::Grh;
use blueflame::queue::Received;
use blueflame::transport::{Dci, Ud, XrcInitiator};
use blueflame::types::{DcKey, Qkey};
use blueflame::verbs::QueuePair;
use blueflame::{WrId, wqe};

use super::check::Check;
use super::found::{Failure, Seen, ensure, same};
use super::lab::{DEPTH, End, INLINE, Lab, pattern, queues};
use crate::need::Need;

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "loopback.ud",
        title: "UD: datagrams, and their sources",
        fault: "Datagrams get lost or changed, or their completions name another sender: the address handle, the \
                Q_Key, or the header in front of the message.",
        needs: &[Need::Link, Need::Address],
        run: ud,
    },
    Check {
        id: "loopback.xrc",
        title: "XRC: one connection reaches two shared receive queues",
        fault: "Messages reach the wrong queue or none: the XRC domain, or the number in the request.",
        needs: &[Need::Link, Need::Address, Need::Xrc],
        run: xrc,
    },
    Check {
        id: "loopback.dc",
        title: "DC: an initiator reaches two targets in turns",
        fault: "Dynamic connections fail: the address vector, the key, or the firmware's support.",
        needs: &[Need::Link, Need::Address, Need::Dynamic],
        run: dc,
    },
];

fn ud(lab: &Lab) -> Result<Seen, Failure> {
    const QKEY: Qkey = Qkey(0x1122_3344);
    const ROUNDS: u32 = 40;
    let path = lab.path()?;
    let (mut near, mut far) = (End::<Ud>::new(lab)?, End::<Ud>::new(lab)?);
    near.pair.activate(&path, QKEY)?;
    far.pair.activate(&path, QKEY)?;
    let address = lab.pd().address(&path.route(&far.pair.qp.endpoint(&path))?)?;
    let to = address.queue_pair(far.pair.qp.qpn(), QKEY);
    let source = near.pair.qp.qpn();
    for round in 0..ROUNDS {
        let data = pattern(round, 1 + (round * 5) as usize);
        far.receive(WrId(round.into()), 0..2048)?;
        near.memory.write(0, &data);
        let sge = near.memory.sge_of(0..data.len());
        // Two WQEBBs inline, or gathered behind a full address.
        if data.len() <= INLINE as usize && round % 2 == 0 {
            near.run(lab, "a datagram", &wqe::send().to(to).inline_slice(&data[..]).signaled(WrId(1)))?;
        } else {
            near.run(lab, "a datagram", &wqe::send().to(to).imm(round).gather([sge]).signaled(WrId(1)))?;
        }
        let End { pair, received, .. } = &mut far;
        let rq = &mut pair.rq;
        let Received { bytes, source: from, .. } =
            lab.completion("a datagram's receive", received, |cqe| rq.complete(cqe))?;
        let len = bytes as usize;
        ensure(from == source, || format!("the datagram is said to be of {from:?}, and is of {source:?}"))?;
        let expected = data.len() + Grh::BYTES;
        ensure(len == expected, || format!("{len} bytes, not {expected}"))?;
        same("a datagram", &data, &far.memory.to_vec(Grh::BYTES..len))?;
    }
    Ok(Seen::new("40 datagrams of 1 to 196 bytes, inline and gathered"))
}

/// Bytes of a receive.
const SLOT: usize = 256;

fn xrc(lab: &Lab) -> Result<Seen, Failure> {
    let path = lab.path()?;
    let domain = lab.device().xrc_domain()?;
    let target = domain.target()?;
    let memory = [lab.memory(SLOT)?, lab.memory(SLOT)?];
    let mut workers = Vec::new();
    for memory in &memory {
        let cq = lab.device().completion_queue(16).build()?;
        let mut srq = lab.pd().xrc_shared_recv_queue(&domain, cq.handle(), 16, 1)?;
        // SAFETY: the memory is registered longer than the queue lives, and read after completions; so below.
        unsafe { srq.post_unchecked(WrId(1), &[memory.sge()]) }?;
        workers.push((srq, cq, memory));
    }
    let mut cq = lab.device().completion_queue(2 * DEPTH).build()?;
    let builder = lab.pd().queue_pair::<XrcInitiator>(&cq, &cq).sends(DEPTH).inline(INLINE);
    let mut pair = builder.build()?;
    let (here, there) = (pair.qp.endpoint(&path), target.endpoint(&path));
    target.qp().to_init(&path)?;
    target.connect(&path, &there, &here)?;
    pair.connect(&path, &here, &there)?;
    let QueuePair { mut sq, .. } = pair;
    for round in 0..20 {
        let data = pattern(round, 10 + round as usize);
        let (srq, received, memory) = &mut workers[round as usize % 2];
        sq.post(&wqe::send().to(srq.handle().srqn()).inline_slice(&data[..]).signaled(WrId(2)))?;
        lab.completion("a SEND", &mut cq, |cqe| sq.complete(cqe))?;
        // SAFETY: only receives of this queue complete here, and each completion is polled once.
        let message = lab.completion("the receive of the right queue", received, |cqe| unsafe { srq.complete(cqe) })?;
        same("a message", &data, &memory.to_vec(0..message.bytes as usize))?;
        // SAFETY: the memory is registered longer than the queue lives, and read after completions.
        unsafe { srq.post_unchecked(WrId(1), &[memory.sge()]) }?;
    }
    Ok(Seen::new("20 messages, to two queues in turns"))
}

fn dc(lab: &Lab) -> Result<Seen, Failure> {
    const KEY: DcKey = DcKey(0xfeed_beef_0123_4567);
    let path = lab.path()?;
    let memory = [lab.memory(2 * SLOT)?, lab.memory(2 * SLOT)?];
    let mut targets = Vec::new();
    for memory in &memory {
        let cq = lab.device().completion_queue(16).build()?;
        let mut srq = lab.pd().shared_recv_queue(16, 1)?;
        // SAFETY: the memory is registered longer than the queue lives, and read after completions; so below.
        unsafe { srq.post_unchecked(WrId(1), &[memory.sge_of(0..SLOT)]) }?;
        let target = lab.pd().target(&cq, srq.handle()).build(&path, KEY)?;
        targets.push((target, srq, cq, memory));
    }
    let [mut sent, received] = queues(lab)?;
    let builder = lab.pd().queue_pair::<Dci>(&sent, &received).sends(DEPTH).inline(INLINE);
    let mut pair = builder.build()?;
    pair.activate(&path)?;
    for round in 0..20 {
        let data = pattern(round, 10 + round as usize);
        let (target, srq, cq, memory) = &mut targets[round as usize % 2];
        let address = lab.pd().address(&path.route(&target.endpoint(&path))?)?.target(target.dctn(), target.key());
        let place = memory.remote().at(SLOT as u64);
        pair.sq.post(&wqe::write(place).to(address).inline_slice(&data[..]))?;
        pair.sq.post(&wqe::send().to(address).inline_slice(&data[..]).signaled(WrId(2)))?;
        lab.completion("a SEND", &mut sent, |cqe| pair.sq.complete(cqe))?;
        // SAFETY: only receives of this queue complete here, and each completion is polled once.
        let message = lab.completion("the receive of the right target", cq, |cqe| unsafe { srq.complete(cqe) })?;
        same("a message", &data, &memory.to_vec(0..message.bytes as usize))?;
        same("a WRITE", &data, &memory.to_vec(SLOT..SLOT + data.len()))?;
        // SAFETY: the memory is registered longer than the queue lives, and read after completions.
        unsafe { srq.post_unchecked(WrId(1), &[memory.sge_of(0..SLOT)]) }?;
    }
    Ok(Seen::new("20 WRITEs and 20 messages, to two targets in turns"))
}
