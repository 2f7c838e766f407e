//! How many Ethernet frames a second one core sends, receives or forwards, and at what cost each.
//!
//! ```text
//! packet_rate --local --striding --compress --session 8       # send and receive, on this machine
//! packet_rate --interface eth0 --run receive --striding       # receive
//! packet_rate --interface eth0 --run send -E 02:00:5e:00:53:01 --session 32 --gather
//! ```
//!
//! The sender posts frames in single WQEs, or in multi-packet WQEs (`--session`), inline or by pointer (`--gather`).
//! The receiver has a cyclic queue, with a buffer for each frame, or a striding one, whose completions may be
//! compressed. `--run forward` sends each frame back with its addresses exchanged.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use blueflame::CompletionQueue;
use blueflame::cq::compressed::{Hash, Strided};
use blueflame::cq::mode::PollMode;
use blueflame::flow::Flow;
use blueflame::verbs::{Cq, Owned, ProtectionDomain};
use clap::Parser;
use common::Failure;
use common::burst::FrameSender;
use common::frames::{BURST, Frames, completions};
use common::rate::{Effort, Options, Run};

/// The EtherType of the frames: one for experiments (IEEE Std 802).
const EXPERIMENT: u16 = 0x88b5;
/// Frames go from this address, at which nothing receives: one for documentation (RFC 7042).
const SOURCE: [u8; 6] = [2, 0, 0x5e, 0, 0x53, 9];
const PATIENCE: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    let options = Options::parse();
    common::exit("packet_rate", run(&options))
}

fn run(options: &Options) -> Result<(), Failure> {
    let (device, interface) = options.nic.open()?;
    let station = interface.mac()?;
    let pd = device.protection_domain()?;
    let mut frame = vec![0; options.size.into()];
    frame[..6].copy_from_slice(&options.dest_mac.unwrap_or(station));
    frame[6..12].copy_from_slice(&SOURCE);
    frame[12..14].copy_from_slice(&EXPERIMENT.to_be_bytes());
    let taken = AtomicU64::new(0);
    if options.run == Run::Send {
        return send(options, &pd, &frame, None);
    }
    let (ready, wait) = mpsc::channel();
    thread::scope(|scope| {
        let (pd, frame, taken) = (&pd, &frame, &taken);
        // Without a receiver, the channel ends, and nothing is sent.
        let sender = move || wait.recv().map_or(Ok(()), |()| send(options, pd, frame, Some(taken)));
        let sender = options.local.then(|| scope.spawn(sender));
        let cq = device.completion_queue(completions(options.rx_depth, options.striding));
        let flow = Flow::mac(station).ether_type(EXPERIMENT);
        let received = if options.compress {
            receive(options, (pd, cq.compressed::<Strided<Hash>>().build()?), (&flow, frame), taken, &ready)
        } else {
            receive(options, (pd, cq.build()?), (&flow, frame), taken, &ready)
        };
        drop(ready);
        sender.map_or(Ok(()), |sender| sender.join().map_err(|_| "the sender's thread has panicked")?).and(received)
    })
}

/// Sends all frames; with a receiver on this machine, not more than it has room for.
fn send(o: &Options, pd: &ProtectionDomain, frame: &[u8], taken: Option<&AtomicU64>) -> Result<(), Failure> {
    let mut sender = FrameSender::new(pd, o.nic.ib_port, o.layout, frame)?;
    let (mut effort, begin, frames) = (Effort::default(), Instant::now(), vec![frame; o.post_list.into()]);
    while sender.sent < o.iters {
        let burst = u64::from(o.post_list).min(o.iters - sender.sent);
        let window = taken.map_or(u64::MAX, |taken| taken.load(Ordering::Relaxed) + u64::from(o.rx_depth));
        if sender.sent + burst <= window {
            sender.wait(burst)?;
            effort.of(|| sender.send(&frames[..burst as usize]))?;
        } else if begin.elapsed() > PATIENCE * (1 + o.iters as u32 / 100_000) {
            return Err(Failure::Silence(PATIENCE));
        } else {
            thread::yield_now();
        }
    }
    sender.drain()?;
    o.report(Run::Send, &effort, begin.elapsed())
}

/// Receives, and forwards if asked to, until all frames have come, or none comes any more.
fn receive<M: PollMode>(
    o: &Options,
    (pd, cq): (&ProtectionDomain, Owned<CompletionQueue<M>, Cq>),
    (flow, frame): (&Flow, &[u8]),
    taken: &AtomicU64,
    ready: &mpsc::Sender<()>,
) -> Result<(), Failure> {
    let forward = o.run == Run::Forward;
    // A program that only receives reads the headers.
    let read = if forward { frame.len() } else { 64 };
    let mut frames = Frames::new(pd, cq, (o.rx_depth, o.striding), flow, read)?;
    let mut sender = if forward { Some(FrameSender::new(pd, o.nic.ib_port, o.layout, frame)?) } else { None };
    // Without a sender on this machine, nothing waits for it.
    let _ = ready.send(());
    let (mut effort, mut out) = (Effort::default(), Vec::new());
    let (mut begin, mut heard) = (Instant::now(), Instant::now());
    while effort.frames < o.iters {
        if effort.frames == 0 {
            begin = Instant::now();
        }
        if let Some(sender) = &mut sender {
            sender.wait(BURST as u64)?;
        }
        let polled = effort.of(|| {
            out.clear();
            // ANCHOR: forward
            let polled = frames.poll(|bytes, len| {
                // The addresses of the destination and the source are exchanged.
                if forward && len == frame.len() {
                    for part in [&bytes[6..12], &bytes[..6], &bytes[12..]] {
                        out.extend_from_slice(part);
                    }
                }
                std::hint::black_box(bytes);
            })?;
            if let Some(sender) = sender.as_mut().filter(|_| !out.is_empty()) {
                sender.send(&out.chunks(frame.len()).collect::<Vec<_>>())?;
            }
            // ANCHOR_END: forward
            Ok(polled)
        })?;
        if polled > 0 {
            taken.store(effort.frames, Ordering::Relaxed);
            heard = Instant::now();
        } else if heard.elapsed() > PATIENCE {
            break;
        } else {
            // A program that wants the highest rate spins here, on a CPU of its own.
            thread::yield_now();
        }
    }
    sender.map_or(Ok(()), |mut sender| sender.drain())?;
    if effort.frames == 0 {
        return Err(Failure::Silence(PATIENCE));
    }
    o.report(o.run, &effort, heard - begin)
}
