//! Tag matching: the device compares messages with a list of tagged buffers, and puts each into the buffer with its
//! tag.

use blueflame::queue::tags::{TagEvent, TagListSizes};
use blueflame::tagged::TagHeader;
use blueflame::transport::Rc;
use blueflame::verbs::receive::OwnedTagMatching;
use blueflame::verbs::{Device, OwnedCq};
use blueflame::{WrId, wqe};
use howto::{End, Failure};

/// Bytes of a buffer.
const BYTES: usize = 1024;
/// Buffers for messages that match nothing. A NIC may need more than 32.
const UNEXPECTED: usize = 48;

/// Waits for the list's next event.
fn event(list: &mut OwnedTagMatching, cq: &mut OwnedCq) -> Result<TagEvent, Failure> {
    howto::until(|| {
        let mut event = None;
        // ANCHOR: event
        cq.try_poll_with(1, |cqe| -> Result<(), Failure> {
            // SAFETY: only the list's requests and receives complete here, and each completion is polled once.
            event = Some(unsafe { list.complete(&cqe)? });
            Ok(())
        })?;
        // ANCHOR_END: event
        Ok(event)
    })
}

fn main() -> Result<(), Failure> {
    let device = howto::open(Device::options())?;
    let path = device.path(1, None)?;
    let pd = device.protection_domain()?;
    let memory = howto::buffer(&pd, (UNEXPECTED + 1) * BYTES)?;
    let mut sender = End::new(&pd)?;

    // ANCHOR: list
    let mut cq = device.completion_queue(128).build()?;
    let sizes = TagListSizes { tags: 8, receives: UNEXPECTED as u32, ..TagListSizes::DEFAULT };
    let mut list = pd.tag_matching(&cq, &path, &sizes)?;
    let shared = list.shared_receives().handle();
    let mut receiver = pd.queue_pair::<Rc>(&cq, &cq).sends(1).shared_recv_queue(shared).build()?;
    // ANCHOR_END: list
    howto::connect(&path, &mut sender.pair, &mut receiver)?;
    let mut batch = list.receives();
    for n in 0..UNEXPECTED {
        // SAFETY: the memory is registered longer than the queues live, and read after the completion.
        unsafe { batch.push_unchecked(WrId(n as u64), &[memory.sge_of(n * BYTES..(n + 1) * BYTES)])? };
    }
    batch.ring_doorbell();

    // ANCHOR: append
    let place = UNEXPECTED * BYTES;
    let buffer = memory.sge_of(place..place + BYTES);
    // SAFETY: the memory is registered longer than the queues live, and read after the completion.
    let entry = unsafe { list.append_unchecked(7, u64::MAX, buffer, WrId(1000))? };
    let appended = event(&mut list, &mut cq)?;
    // ANCHOR_END: append
    assert_eq!(appended, TagEvent::Appended { wr_id: WrId(1000), entry, in_step: true });

    // ANCHOR: send
    for tag in [9, 7] {
        let message = [&TagHeader::eager(tag).to_bytes()[..], b"data"].concat();
        sender.pair.sq.post(&wqe::send().inline_slice(&message[..]).signaled(WrId(tag)))?;
    }
    // ANCHOR_END: send
    sender.sent()?;
    sender.sent()?;
    let mut matched = 0;
    // ANCHOR: receive
    for _ in 0..2 {
        match event(&mut list, &mut cq)? {
            // The data alone, in the buffer of this tag.
            TagEvent::Matched { wr_id: WrId(1000), header: Some(header), bytes, complete: true, .. } => {
                assert_eq!(memory.to_vec(place..place + bytes as usize), b"data");
                matched = header.tag;
            }
            // Header and data, in a buffer of the shared receive queue: for software to compare with later tags.
            TagEvent::Unexpected { wr_id: WrId(n), bytes } => {
                let message = memory.to_vec(n as usize * BYTES..n as usize * BYTES + bytes as usize);
                let (header, data) = TagHeader::split(&message).ok_or("shorter than a header")?;
                assert_eq!((header.tag, data), (9, &b"data"[..]));
            }
            other => return Err(format!("{other:?}").into()),
        }
    }
    // ANCHOR_END: receive
    println!("the device has matched tag {matched}, and left tag 9 to software");
    Ok(())
}
