//! Rings that wrap, and completions in each form.

use blueflame::cq::CqeError;
use blueflame::cq::compressed::{Checksum, Hash, MiniFormat};
use blueflame::transport::Rc;
use blueflame::{CompleteError, WrId, wqe};

use super::check::Check;
use super::found::{Failure, Seen, ensure, same};
use super::lab::{DEPTH, End, Lab, connect, connected, geometry, pattern};
use crate::need::Need;

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "completions.wraps",
        title: "rings and indices wrap: 35,000 requests of one to three WQEBBs",
        fault: "Requests are lost or repeated at the end of a ring, or where the index of 16 bits begins again.",
        needs: &[Need::Link, Need::Address],
        run: wraps,
    },
    Check {
        id: "completions.wide",
        title: "CQEs of 128 bytes",
        fault: "CQEs of this size have their fields elsewhere than expected. Use CQEs of 64 bytes, and report it.",
        needs: &[Need::Link, Need::Address, Need::WideCqes],
        run: wide,
    },
    Check {
        id: "completions.inline",
        title: "short messages arrive in CQEs of 64 and 128 bytes",
        fault: "The data in a CQE is not where it is expected. Leave scatter-to-CQE off (the default), and report it.",
        needs: &[Need::Link, Need::Address, Need::WideCqes],
        run: inline,
    },
    Check {
        id: "completions.compressed_hash",
        title: "compressed CQEs whose mini-CQEs have the hash",
        fault: "Sessions of compressed CQEs expand to wrong completions. Do not compress, and report it with a dump of \
                the ring (`blueflame decode`).",
        needs: &[Need::Link, Need::Address, Need::ByHash],
        run: compressed::<Hash>,
    },
    Check {
        id: "completions.compressed_checksum",
        title: "compressed CQEs whose mini-CQEs have the checksum",
        fault: "As completions.compressed_hash.",
        needs: &[Need::Link, Need::Address, Need::ByChecksum],
        run: compressed::<Checksum>,
    },
];

fn wraps(lab: &Lab) -> Result<Seen, Failure> {
    const REQUESTS: u32 = 35_000;
    const BATCH: u32 = 20;
    let (mut near, far) = connected::<Rc>(lab)?;
    let place = |n: u32| (n % BATCH) as usize * 256;
    let len = |n: u32| 8 + (n * 13 % 120) as usize;
    let data = |n: u32| {
        let mut bytes = [n as u8; 128];
        bytes[..4].copy_from_slice(&n.to_be_bytes());
        bytes
    };
    for first in (0..REQUESTS).step_by(BATCH as usize) {
        let mut batch = near.pair.sq.batch();
        for n in first..first + BATCH {
            let (at, bytes) = (far.memory.remote().at(place(n) as u64), data(n));
            let last = n + 1 == first + BATCH;
            batch.push(&wqe::write(at).inline_slice(&bytes[..len(n)]).signaled_if(last, WrId(n.into())))?;
        }
        batch.ring_doorbell();
        let done = near.sent(lab, "a batch of WRITEs")?;
        let expected = WrId(u64::from(first + BATCH - 1));
        ensure(done == expected, || format!("a completion of {done:?}, not of {expected:?}"))?;
        for n in first..first + BATCH {
            let arrived = far.memory.to_vec(place(n)..place(n) + len(n));
            same(&format!("WRITE {n}"), &data(n)[..len(n)], &arrived)?;
        }
    }
    Ok(Seen::new("35,000 WRITEs of 8 to 127 bytes arrived, in order").figure("ring", near.pair.sq.capacity().0))
}

fn wide(lab: &Lab) -> Result<Seen, Failure> {
    let cq = || lab.device().completion_queue(2 * DEPTH).cqe_bytes(128).build();
    let (mut near, mut far) = (End::<Rc>::over(lab, [cq()?, cq()?])?, End::<Rc>::over(lab, [cq()?, cq()?])?);
    connect(&lab.path()?, &mut near.pair, &mut far.pair)?;
    // More than the queues have places.
    let rounds = 3 * near.sent.capacity();
    for n in 0..rounds {
        let bytes = pattern(n, 1 + (n % 100) as usize);
        far.receive(WrId(n.into()), 0..256)?;
        near.run(lab, "a SEND", &wqe::send().imm(n).inline_slice(&bytes[..]).signaled(WrId(n.into())))?;
        let received = far.received(lab, "the receive of a SEND")?;
        let expected = (WrId(n.into()), bytes.len(), Some(n));
        ensure(received == expected, || format!("received {received:?}, not {expected:?}"))?;
        same("a SEND", &bytes, &far.memory.to_vec(0..bytes.len()))?;
    }
    Ok(Seen::new("three times as many messages as the queues have places"))
}

/// Messages of all lengths around those that a CQE can hold.
fn inline(lab: &Lab) -> Result<Seen, Failure> {
    let mut inside = [0; 2];
    for (kind, cqe_bytes) in [64, 128].into_iter().enumerate() {
        let cq = || lab.device().completion_queue(2 * DEPTH).cqe_bytes(cqe_bytes).build();
        let (mut near, [sent, received]) = (End::<Rc>::over(lab, [cq()?, cq()?])?, [cq()?, cq()?]);
        let pair = geometry(lab.pd().queue_pair::<Rc>(&sent, &received)).scatter_to_cqe(true).build()?;
        let mut far = End { pair, sent, received, memory: lab.memory(4096)? };
        connect(&lab.path()?, &mut near.pair, &mut far.pair)?;
        for len in 1..=80 {
            let data = pattern(len as u32, len);
            far.memory.fill(0);
            far.receive(WrId(1), 0..256)?;
            near.run(lab, "a SEND", &wqe::send().inline_slice(&data[..]).signaled(WrId(2)))?;
            let End { pair, received, memory, .. } = &mut far;
            let rq = &mut pair.rq;
            let (arrived, was_inside) = lab.until("the receive of a SEND", || {
                let mut found: Option<Result<_, Failure>> = None;
                received.poll_with(1, |cqe| {
                    let mut take = || {
                        let mut out = vec![0; cqe.byte_len() as usize];
                        let was_inside = match rq.complete(&cqe) {
                            Ok(_) => false,
                            Err(CompleteError::Failed { error: CqeError::DataInCqe { .. }, .. }) => true,
                            Err(error) => return Err(error.into()),
                        };
                        if was_inside {
                            cqe.copy_inline(&mut out)?;
                        } else {
                            memory.read(0, &mut out);
                        }
                        Ok((out, was_inside))
                    };
                    found = Some(take());
                });
                found.transpose()
            })?;
            same("a SEND", &data, &arrived)?;
            inside[kind] += u32::from(was_inside);
        }
    }
    let text = format!("{} of 80 in CQEs of 64 bytes, {} of 80 in CQEs of 128", inside[0], inside[1]);
    Ok(Seen::new("160 messages of 1 to 80 bytes, in CQEs or in memory").figure("in CQEs", text))
}

fn compressed<F: MiniFormat>(lab: &Lab) -> Result<Seen, Failure> {
    const MESSAGES: usize = 48;
    const SLOT: usize = 64;
    const ROUNDS: u32 = 20;
    let mut near = End::<Rc>::new(lab)?;
    let sent = lab.device().completion_queue(2 * DEPTH).build()?;
    let mut received = lab.device().completion_queue(2 * DEPTH).compressed::<F>().build()?;
    let mut pair = geometry(lab.pd().queue_pair::<Rc>(&sent, &received)).build()?;
    let memory = lab.memory(MESSAGES * SLOT)?;
    connect(&lab.path()?, &mut near.pair, &mut pair)?;
    let rq = &mut pair.rq;
    let len = |round: u32, n: usize| 40 + (n / 8 + round as usize) % 16;
    for round in 0..ROUNDS {
        let data: Vec<_> = (0..MESSAGES).map(|n| pattern(round + n as u32, len(round, n))).collect();
        let mut receives = rq.batch();
        for n in 0..MESSAGES {
            // SAFETY: the memory is registered longer than the queue lives, and read after completions.
            unsafe { receives.push_unchecked(WrId(n as u64), &[memory.sge_of(n * SLOT..(n + 1) * SLOT)]) }?;
        }
        receives.ring_doorbell();
        // Bursts, so that completions come close enough to one another to be compressed.
        for burst in data.chunks(MESSAGES / 3) {
            let mut sends = near.pair.sq.batch();
            for (n, bytes) in (1..).zip(burst) {
                sends.push(&wqe::send().inline_slice(&bytes[..]).signaled_if(n == burst.len(), WrId(n as u64)))?;
            }
            sends.ring_doorbell();
            near.sent(lab, "a burst of SENDs")?;
        }
        let mut next = 0;
        lab.until("the receives of SENDs", || {
            received.try_poll_with(16, |cqe| -> Result<(), Failure> {
                let message = rq.complete(&cqe)?;
                let (got, expected) = ((message.buffer, message.bytes as usize), (WrId(next as u64), len(round, next)));
                ensure(got == expected, || format!("received {got:?}, not {expected:?}"))?;
                next += 1;
                Ok(())
            })?;
            Ok((next == MESSAGES).then_some(()))
        })?;
        for (n, bytes) in data.iter().enumerate() {
            same("a SEND", bytes, &memory.to_vec(n * SLOT..n * SLOT + bytes.len()))?;
        }
    }
    Ok(Seen::new("960 messages in bursts of 16, each with its own length and index"))
}
