//! Tag matching by the device.

use blueflame::queue::tags::{TagEvent, TagListSizes};
use blueflame::tagged::TagHeader;
use blueflame::transport::Rc;
use blueflame::verbs::OwnedCq;
use blueflame::verbs::receive::OwnedTagMatching;
use blueflame::{WrId, wqe};

use super::check::Check;
use super::found::{Failure, Seen, ensure, same};
use super::lab::{End, Lab, connect, pattern};
use crate::need::Need;

pub(crate) const CHECKS: &[Check] = &[Check {
    id: "tags.matching",
    title: "the device puts tagged messages into the buffers of their tags",
    fault: "Operations on the list fail, or messages arrive in the wrong buffers.",
    needs: &[Need::Link, Need::Address, Need::Tags],
    run: matching,
}];

/// Bytes of a buffer.
const BYTES: usize = 1024;
/// Buffers for messages that match nothing. A NIC may need more than 32 (`TagListSizes::receives`).
const UNEXPECTED: usize = 48;
const TAGS: usize = 8;

fn event(lab: &Lab, what: &str, list: &mut OwnedTagMatching, cq: &mut OwnedCq) -> Result<TagEvent, Failure> {
    lab.until(what, || {
        let mut event = None;
        cq.try_poll_with(1, |cqe| -> Result<(), Failure> {
            // SAFETY: only the list's requests and receives complete here, and each completion is polled once.
            event = Some(unsafe { list.complete(&cqe) }?);
            Ok(())
        })?;
        Ok(event)
    })
}

fn matching(lab: &Lab) -> Result<Seen, Failure> {
    let path = lab.path()?;
    let memory = lab.memory((UNEXPECTED + TAGS) * BYTES)?;
    let mut sender = End::<Rc>::new(lab)?;
    let mut cq = lab.device().completion_queue(128).build()?;
    let sizes = TagListSizes { tags: TAGS as u32, receives: UNEXPECTED as u32, ..TagListSizes::DEFAULT };
    let mut list = lab.pd().tag_matching(&cq, &path, &sizes)?;
    let shared = list.shared_receives().handle();
    let mut receiver = lab.pd().queue_pair::<Rc>(&cq, &cq).sends(1).shared_recv_queue(shared).build()?;
    connect(&path, &mut sender.pair, &mut receiver)?;
    let mut batch = list.receives();
    for n in 0..UNEXPECTED {
        // SAFETY: the memory is registered longer than the queues live, and read after completions; so below.
        unsafe { batch.push_unchecked(WrId(n as u64), &[memory.sge_of(n * BYTES..(n + 1) * BYTES)]) }?;
    }
    batch.ring_doorbell();
    let place = |n: usize| (UNEXPECTED + n) * BYTES;
    for n in 0..TAGS {
        let buffer = memory.sge_of(place(n)..place(n) + BYTES);
        // SAFETY: the memory is registered longer than the queues live, and read after completions.
        unsafe { list.append_unchecked(n as u64, u64::MAX, buffer, WrId(1000 + n as u64)) }?;
        match event(lab, "an entry of the list", &mut list, &mut cq)? {
            TagEvent::Appended { wr_id, in_step: true, .. } if wr_id == WrId(1000 + n as u64) => {}
            other => return Err(format!("appending tag {n}: {other:?}").into()),
        }
    }
    // In reverse, and one that nobody waits for in between.
    for n in (0..TAGS).rev() {
        let data = pattern(n as u32, 50);
        let tag = if n == 4 { 99 } else { n as u64 };
        let message = [&TagHeader::eager(tag).to_bytes()[..], &data].concat();
        sender.run(lab, "a tagged SEND", &wqe::send().inline_slice(&message[..]).signaled(WrId(1)))?;
        match event(lab, "a tagged message", &mut list, &mut cq)? {
            TagEvent::Matched { wr_id, header: Some(header), bytes, complete: true, .. } if n != 4 => {
                let expected = (WrId(1000 + n as u64), tag);
                let found = (wr_id, header.tag);
                ensure(found == expected, || format!("matched {found:?}, not {expected:?}"))?;
                same("a matched message", &data, &memory.to_vec(place(n)..place(n) + bytes as usize))?;
            }
            TagEvent::Unexpected { wr_id: WrId(slot), bytes } if n == 4 => {
                let arrived = memory.to_vec(slot as usize * BYTES..slot as usize * BYTES + bytes as usize);
                same("an unexpected message", &message, &arrived)?;
            }
            other => return Err(format!("tag {tag}: {other:?}").into()),
        }
    }
    Ok(Seen::new("seven messages matched, one left to software"))
}
