//! A WRITE that leaves when all parts of its page have come: its queue waits for a counter in memory. The sender of the
//! parts counts them there, with no CPU on this side.
//!
//! ```text
//!   far ── WRITE of a part, FETCH_ADD ──> near: a page and a counter
//!          near's queue: WAIT until the counter is 2, then the WRITE of the page ──> far
//! ```

use blueflame::verbs::Device;
use blueflame::wqe::cross_channel::WordCondition;
use blueflame::wqe::{self, Fence};
use blueflame::{Remote, WrId};
use blueflame_devx::Context;
use howto::{End, Failure};

const PARTS: [&[u8]; 2] = [b"both parts ", b"have come"];
/// Places in both buffers.
const COUNTER: usize = 0;
const PAGE: usize = 64;

/// Sends a part to `page`, and then counts it.
fn deliver(far: &mut End, part: &[u8], page: Remote, counter: Remote) -> Result<(), Failure> {
    let old = far.buffer.sge_of(COUNTER..COUNTER + 8);
    let count = wqe::fetch_add(counter, 1).result(old.addr, old.lkey).signaled(WrId(1));
    let mut batch = far.pair.sq.batch();
    // The requests of a connection take effect in order: the part is there before it counts.
    batch.push(&wqe::write(page).inline_slice(part))?;
    // SAFETY: the buffer is registered longer than the queue lives, and nothing reads the old value.
    unsafe { batch.push_unchecked(&count)? };
    batch.ring_doorbell();
    far.sent()?;
    Ok(())
}

fn main() -> Result<(), Failure> {
    let context = Context::over(howto::open(Device::options().devx(true))?);
    let pd = context.device().protection_domain()?;
    let (mut near, mut far) = howto::connected(&pd)?;
    let bytes = PARTS.concat().len();

    // ANCHOR: post
    context.wait_on_data()?;
    near.buffer.write(COUNTER, &0_u64.to_ne_bytes());
    let counter = near.buffer.sge_of(COUNTER..COUNTER + 8);
    let page = near.buffer.sge_of(PAGE..PAGE + bytes);
    // The device compares big-endian numbers, and atomics count in the CPU's order.
    let complete = WordCondition::equals((PARTS.len() as u64).to_be());
    let wait = wqe::wait_for_word(counter.addr, counter.lkey, complete)?;
    // The fence has the device read the page after the counter.
    let write = wqe::write(far.buffer.remote().at(PAGE as u64)).gather([page]).fence(Fence::SmallAndReads);
    let mut batch = near.pair.sq.batch();
    // SAFETY: counter and page are registered longer than the queue lives, also if this function ends early.
    unsafe {
        batch.push_unchecked(&wait)?;
        batch.push_unchecked(&write.signaled(WrId(2)))?;
    }
    batch.ring_doorbell();
    // ANCHOR_END: post

    let memory = near.buffer.remote();
    let mut at = PAGE as u64;
    for part in PARTS {
        if let Some(cqe) = near.cq.poll() {
            near.pair.sq.complete(&cqe)?;
            return Err("the WRITE has not waited for all parts".into());
        }
        deliver(&mut far, part, memory.at(at), memory.at(COUNTER as u64))?;
        at += part.len() as u64;
    }
    near.sent()?;
    assert_eq!(far.buffer.to_vec(PAGE..PAGE + bytes), PARTS.concat());
    println!("a WRITE has waited until both parts of its page had come");
    Ok(())
}
