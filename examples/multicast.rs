//! Multicast by frames, in the fewest lines: prints each frame that the groups get.
//!
//! Usage: `multicast INTERFACE GROUP:PORT...`; `docs/howto/market-data.md` explains it.

use std::net::SocketAddrV4;

use blueflame::flow::Flow;
use blueflame::packet;
use blueflame::queue::Received;
use blueflame::verbs::ethernet::{FrameReceiver, Interface};
use blueflame::verbs::{Access, Device, Pool};
use common::Failure;

/// Frames that may wait for this program.
const RECEIVES: u32 = 256;
/// Bytes of a buffer: more than a frame has.
const BUFFER: usize = 2048;

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().ok_or("usage: multicast INTERFACE GROUP:PORT...")?;
    // ANCHOR: receiver
    let device = Device::of_interface(&name)?;
    let pd = device.protection_domain()?;
    let mut cq = device.completion_queue(RECEIVES).build()?;
    let mut queue = pd.work_queue(&cq).receives(RECEIVES).build()?;
    let receiver = FrameReceiver::direct(&pd, queue.handle())?;
    let mut pool = Pool::new(&pd, RECEIVES as usize * BUFFER, Access::LOCAL_WRITE)?;
    for _ in 0..RECEIVES {
        queue.post(Box::new(pool.take(BUFFER)?))?;
    }
    // ANCHOR_END: receiver
    // ANCHOR: rules
    let interface = Interface::named(&name)?;
    let mut rules = Vec::new();
    for (line, tag) in arguments.zip(1..) {
        let line: SocketAddrV4 = line.parse()?;
        // The kernel has the network send the group here; the rule has the device give it to this program.
        let membership = interface.join((*line.ip()).into())?;
        rules.push((membership, receiver.steer(&Flow::udp(*line.ip(), line.port()).flow_tag(tag))?));
    }
    // ANCHOR_END: rules
    println!("{} rules", rules.len());
    // ANCHOR: receive
    let mut frame = [0; BUFFER];
    loop {
        cq.try_poll_with(64, |cqe| {
            let Received { buffer, bytes, .. } = queue.complete(&cqe)?;
            let (line, bytes) = (cqe.flow_tag(), bytes as usize);
            buffer.read(0, &mut frame[..bytes]);
            // The buffer goes back to the device, so that the queue never runs out of receives.
            queue.post(buffer)?;
            let payload = packet::parse(&frame[..bytes])?.payload;
            println!("line {line}: a frame of {bytes} bytes, {} of them payload", payload.len());
            Ok::<_, Failure>(())
        })?;
    }
    // ANCHOR_END: receive
}
