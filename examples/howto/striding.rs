//! A striding receive queue: each posted buffer receives hundreds of frames. Some frames are kept, and another thread
//! reads them. Here the frames go to the port's own address.
//!
//! It needs an Ethernet port, and `CAP_NET_RAW`.

use std::sync::mpsc;
use std::thread;

use blueflame::flow::Flow;
use blueflame::queue::striding::{Frame, FrameBytes, Strides};
use blueflame::transport::RawPacket;
use blueflame::verbs::Device;
use blueflame::verbs::ethernet::FrameReceiver;
use blueflame::{WrId, wqe};
use howto::{EXPERIMENT, Failure};

const FRAMES: u32 = 2000;
/// Frames that are sent by one doorbell.
const BURST: u32 = 16;
/// Each hundredth frame is kept.
const KEEP_EVERY: u32 = 100;

fn main() -> Result<(), Failure> {
    let device = howto::open(Device::options())?;
    let pd = device.protection_domain()?;
    let station = howto::own_address(&device)?;

    // ANCHOR: queue
    // 4 receives of 512 strides, each of 2 KiB. A kept frame keeps its whole buffer, so there are more buffers.
    let strides = Strides::new(9, 11)?;
    let memory = howto::buffer(&pd, 8 * strides.wqe_bytes() as usize)?;
    let start = memory.addr();
    // Room for a completion of each posted stride.
    let mut receives = device.completion_queue(4 * strides.count()).build()?;
    let mut queue = pd.work_queue(&receives).receives(4).striding(memory.strided(strides)?).build()?;
    let receiver = FrameReceiver::direct(&pd, queue.handle())?;
    let _rule = receiver.steer(&Flow::mac(station).ether_type(EXPERIMENT))?;
    // ANCHOR_END: queue

    let mut sends = device.completion_queue(2 * BURST + 1).build()?;
    let mut pair = pd.queue_pair::<RawPacket>(&sends, &sends).sends(2 * BURST).no_receives().inline(64).build()?;
    pair.activate(&device.port(1)?)?;
    let mut frame = [0; 60];
    frame[..6].copy_from_slice(&station);
    frame[6..12].copy_from_slice(&station);
    frame[12..14].copy_from_slice(&EXPERIMENT.to_be_bytes());

    // ANCHOR: worker
    let (give, take) = mpsc::channel::<Frame>();
    let worker = thread::spawn(move || {
        // Dropping the last frame of a buffer frees the buffer, on any thread.
        take.iter().filter(|frame| number(frame).is_multiple_of(KEEP_EVERY)).count()
    });
    // ANCHOR_END: worker
    let mut received = 0;
    let mut buffers = std::collections::BTreeSet::new();
    for first in (0..FRAMES).step_by(BURST as usize) {
        let mut batch = pair.sq.batch();
        for n in first..first + BURST {
            frame[14..18].copy_from_slice(&n.to_be_bytes());
            let (headers, rest) = frame.split_first_chunk::<18>().ok_or("too short a frame")?;
            let request = wqe::frame().inline_headers(headers).inline_slice(rest);
            batch.push(&request.signaled_if(n + 1 == first + BURST, WrId(n.into())))?;
        }
        batch.ring_doorbell();
        howto::completion(&mut sends, |cqe| pair.sq.complete(cqe))?;
        howto::until(|| {
            // ANCHOR: receive
            receives.try_poll_with(64, |cqe| -> Result<(), Failure> {
                let frame = queue.receive(&cqe)?;
                cqe.check()?;
                // A completion without a frame is about strides at the end of a buffer: the next frame was too long.
                let Some(frame) = frame else { return Ok(()) };
                // The frame is read in place.
                assert_eq!(number(&frame), received);
                buffers.insert((frame.as_ptr().addr().get() as u64 - start) / u64::from(strides.wqe_bytes()));
                if received.is_multiple_of(KEEP_EVERY) {
                    // It stays as it is until the handle is dropped.
                    give.send(frame.keep())?;
                }
                received += 1;
                Ok(())
            })?;
            // Posts the buffers of which no frame is left.
            queue.refill();
            // ANCHOR_END: receive
            Ok((received == first + BURST).then_some(()))
        })?;
    }
    drop(give);
    let read = worker.join().map_err(|_| "the thread has panicked")?;
    println!("{received} frames have arrived in {} buffers; another thread has read {read} of them", buffers.len());
    Ok(())
}

/// The number of a frame, behind Ethernet's header.
fn number(frame: &FrameBytes) -> u32 {
    let mut out = [0; 4];
    frame.read(14, &mut out);
    u32::from_be_bytes(out)
}
