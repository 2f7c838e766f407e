//! Raw Ethernet: a queue pair that sends frames, and a work queue that receives those that a flow rule gives it. Here a
//! frame goes to the port's own address.
//!
//! It needs an Ethernet port, and `CAP_NET_RAW`.

use blueflame::flow::Flow;
use blueflame::queue::Received;
use blueflame::transport::RawPacket;
use blueflame::verbs::Device;
use blueflame::verbs::device::RateLimit;
use blueflame::verbs::ethernet::FrameReceiver;
use blueflame::wqe::operations::{HeaderOffsets, HeadersAt, Ip, L4};
use blueflame::{WrId, wqe};
use howto::{EXPERIMENT, Failure};

fn main() -> Result<(), Failure> {
    let device = howto::open(Device::options())?;
    let pd = device.protection_domain()?;
    let station = howto::own_address(&device)?;

    // ANCHOR: receiver
    // No other queue may receive on `receives`: completions of frames do not name their queue.
    let mut receives = device.completion_queue(16).build()?;
    let mut queue = pd.work_queue(&receives).receives(16).build()?;
    let receiver = FrameReceiver::direct(&pd, queue.handle())?;
    queue.post(Box::new(howto::buffer(&pd, 2048)?))?;
    // ANCHOR_END: receiver
    // ANCHOR: rule
    let _rule = receiver.steer(&Flow::mac(station).ether_type(EXPERIMENT))?;
    // ANCHOR_END: rule

    // ANCHOR: sender
    let mut sends = device.completion_queue(64).build()?;
    let mut pair = pd.queue_pair::<RawPacket>(&sends, &sends).sends(16).no_receives().inline(64).build()?;
    pair.activate(&device.port(1)?)?;
    // ANCHOR_END: sender
    // ANCHOR: send
    // Destination, source, EtherType, data: as many bytes as Ethernet wants at least.
    let mut frame = [0x5a; 60];
    frame[..6].copy_from_slice(&station);
    frame[6..12].copy_from_slice(&station);
    frame[12..14].copy_from_slice(&EXPERIMENT.to_be_bytes());
    // Older devices need the first 18 bytes in the Ethernet segment; the rest is inline data like any other.
    let (headers, rest) = frame.split_first_chunk::<18>().ok_or("too short a frame")?;
    pair.sq.post(&wqe::frame().inline_headers(headers).inline_slice(rest).signaled(WrId(2)))?;
    // ANCHOR_END: send
    howto::completion(&mut sends, |cqe| pair.sq.complete(cqe))?;
    // ANCHOR: receive
    let Received { buffer, bytes, .. } = howto::completion(&mut receives, |cqe| queue.complete(cqe))?;
    // ANCHOR_END: receive
    assert_eq!(buffer.to_vec(0..bytes as usize), frame);
    println!("a frame of {bytes} bytes has left and arrived");
    let tunnel = howto::tunnel(station);

    if device.attr().rate_limits.is_some() {
        // ANCHOR: rate
        // 500 Mbit/s, in bursts of at most three frames of 1514 bytes.
        pair.set_rate_limit(Some(RateLimit::kilobits(500_000).burst(3 * 1514).typical_frame(1514)))?;
        // ANCHOR_END: rate
        println!("frames leave at 500 Mbit/s now");
    }

    if device.attr().software_parser.checksums {
        // ANCHOR: tunnel
        // Ethernet, IPv4, UDP, four bytes of your own, IPv4, UDP. Offsets are even, in bytes from the frame's start.
        let outer = HeadersAt { ip: Ip::V4, l3: 14, l4: Some((L4::Udp, 34)) };
        let inner = HeadersAt { ip: Ip::V4, l3: 46, l4: Some((L4::Udp, 66)) };
        let offsets = HeaderOffsets::new(outer, Some(inner))?;
        let (headers, rest) = tunnel.split_first_chunk::<42>().ok_or("too short a frame")?;
        let request = wqe::frame().inline_headers(headers).l3_checksum().inner_l3_checksum().inner_l4_checksum();
        pair.sq.post(&request.header_offsets(offsets).inline_slice(rest).signaled(WrId(3)))?;
        // ANCHOR_END: tunnel
        howto::completion(&mut sends, |cqe| pair.sq.complete(cqe))?;
        println!("a frame of a tunnel has left");
    }

    if device.attr().multi_packet {
        // ANCHOR: session
        let mut pair = pd.queue_pair::<RawPacket<0>>(&sends, &sends).sends(16).no_receives().build()?;
        pair.activate(&device.port(1)?)?;
        let mut batch = pair.sq.batch();
        // The `wr_id`s of the frames are 100, 101, 102, ...
        let mut session = batch.session(&wqe::frame().signaled(WrId(100)))?;
        for _ in 0..4 {
            session.inline(&frame)?;
        }
        session.close();
        batch.ring_doorbell();
        // ANCHOR_END: session
        let sent = howto::completion(&mut sends, |cqe| pair.sq.complete(cqe))?;
        println!("{} frames have left from one WQE", sent.wr_ids().len());
    }
    Ok(())
}
