//! An initiator: writes blocks, reads them back, and compares.

use std::fmt;
use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use blueflame::cq::Side;
use blueflame::types::Wqebbs;
use blueflame::verbs::{Access, Buffer, Owned, OwnedCq, Pool, Qp, QueuePair};
use blueflame::{SendQueue, WrId, transport, wqe};
use common::{Failure, Latencies, Percentiles, limited};
use serde::{Deserialize, Serialize};

use crate::command::{BLOCKS, Command};
use crate::options::Options;

/// How long the target may be silent.
const PATIENCE: Duration = Duration::from_secs(20);

/// The result of an initiator's run.
#[derive(Serialize, Deserialize)]
pub(crate) struct Outcome {
    number: u32,
    commands: u64,
    bytes_verified: u64,
    latency_us: Percentiles,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, commands, bytes_verified, latency_us } = self;
        write!(f, "initiator {number}: {commands} commands, {bytes_verified} bytes verified, in us: {latency_us}")
    }
}

/// A command on its way, and its memory.
struct Slot {
    buffer: Buffer,
    command: Command,
    /// The byte with which the last write filled the block.
    fill: u8,
    begin: Instant,
}

pub(crate) fn run(options: &Options, mut stream: TcpStream) -> Result<(), Failure> {
    let (device, path) = options.setup.open()?;
    let pd = device.protection_domain()?;
    let (depth, size) = (options.tx_depth, options.size as usize);
    let mut pool = Pool::new(&pd, depth as usize * (size + 4096), Access::REMOTE_READ | Access::REMOTE_WRITE)?;
    let mut cq: OwnedCq = device.completion_queue(2 * depth + 2).build()?;
    let mut pair = pd.queue_pair::<transport::Rc>(&cq, &cq).sends(depth).receives(depth).build()?;
    pair.qp.to_init(&path)?;
    let rq = &mut pair.rq;
    for _ in 0..depth {
        // SAFETY: answers have no bytes, so no memory is named.
        unsafe { rq.post_unchecked(WrId(0), &[])? };
    }
    pair.connect_over(&mut limited(&mut stream), &path, &options.number.to_be_bytes())?;
    let QueuePair { mut sq, mut rq, .. } = pair;

    let mut slots: Vec<Slot> = (0..depth)
        .map(|n| {
            let buffer = pool.take(size)?;
            let memory = buffer.remote();
            // Each initiator has its own blocks, one for each slot, so a read must return the bytes of the last write.
            let command = Command { write: false, block: options.number * BLOCKS + n, tag: n as u16, memory };
            Ok(Slot { buffer, command, fill: 0, begin: Instant::now() })
        })
        .collect::<Result<_, Failure>>()?;
    let end = Instant::now() + Duration::from_secs_f64(options.duration);
    let (mut latencies, mut bytes_verified, mut round, mut last) = (Latencies::default(), 0, 0_u64, Instant::now());
    // Slots whose command is answered.
    let mut free: Vec<usize> = (0..slots.len()).collect();
    let mut answered = Vec::new();
    while free.len() < slots.len() || Instant::now() < end {
        // A send's completion may lag behind the answer to it, so a slot can be free while the queue has no room.
        while sq.free() > Wqebbs(0) && Instant::now() < end {
            let Some(slot) = free.pop() else { break };
            next(&mut sq, &mut slots[slot], round)?;
            round += 1;
        }
        cq.try_poll_with(16, |cqe| {
            if cqe.side() != Some(Side::Responder) {
                sq.complete(&cqe)?;
                return Ok(());
            }
            let answer = rq.complete(&cqe)?;
            // SAFETY: answers have no bytes, so no memory is named.
            unsafe { rq.post_unchecked(WrId(0), &[])? };
            answered.push(answer.imm.ok_or("an answer without a tag")? as usize);
            Ok::<_, Failure>(())
        })?;
        if answered.is_empty() {
            if last.elapsed() > PATIENCE {
                return Err(Failure::Silence(PATIENCE));
            }
            std::thread::yield_now();
            continue;
        }
        last = Instant::now();
        for tag in answered.drain(..) {
            let slot = slots.get_mut(tag).filter(|_| !free.contains(&tag)).ok_or("an answer to nothing")?;
            latencies.record(slot.begin.elapsed());
            bytes_verified += if slot.command.write { 0 } else { compare(slot)? };
            free.push(tag);
        }
    }
    // Good-bye; without it this one counts as dead.
    stream.write_all(&[0])?;
    let (number, commands, latency_us) = (options.number, latencies.count(), latencies.percentiles());
    let outcome = Outcome { number, commands, bytes_verified, latency_us };
    match options.report.json {
        true => println!("{}", serde_json::to_string(&outcome)?),
        false => println!("{outcome}"),
    }
    latencies.draw(&format!("initiator {number}: commands of {size} bytes"), &options.report)
}

/// Sends a slot's next command: a write, a read, and so on.
fn next(sq: &mut Owned<SendQueue<transport::Rc>, Qp>, slot: &mut Slot, round: u64) -> Result<(), Failure> {
    slot.command.write = !slot.command.write;
    if slot.command.write {
        slot.fill = round as u8;
    }
    // Before a read, fill the buffer with a wrong byte, so that right bytes can only come from the target.
    slot.buffer.fill(if slot.command.write { slot.fill } else { !slot.fill });
    slot.begin = Instant::now();
    Ok(sq.post(&wqe::send().inline(&slot.command.to_bytes()).signaled(WrId(0)))?)
}

/// Checks that a read brought the bytes of the last write, and returns their count.
fn compare(slot: &Slot) -> Result<u64, Failure> {
    let mut bytes = vec![0; slot.buffer.len()];
    slot.buffer.read(0, &mut bytes);
    match bytes.iter().position(|&byte| byte != slot.fill) {
        None => Ok(bytes.len() as u64),
        Some(place) => {
            let (block, is, should) = (slot.command.block, bytes[place], slot.fill);
            Err(Failure::Data(format!("block {block}, byte {place}: {is:#04x} in place of {should:#04x}")))
        }
    }
}
