//! The publisher of a feed: each message goes out on two lines.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use blueflame::packet::{Host, Packet, Udp4};
use blueflame::transport::RawPacket;
use blueflame::{PostError, SendQueue, WrId};
use clap::Args;

use crate::{Failure, NicOptions, feed};

/// The options of programs with a feed. The letters are perftest's where it has such options.
#[derive(Args, Clone, Debug)]
pub struct FeedOptions {
    /// Receive and publish, on this machine
    #[arg(long, conflicts_with = "publish")]
    pub local: bool,
    /// Publish the feed in place of receiving it
    #[arg(long)]
    pub publish: bool,
    #[command(flatten)]
    #[expect(missing_docs, reason = "the text would be part of the help")]
    pub nic: NicOptions,
    /// Group and port of line A
    #[arg(short = 'A', long, default_value = "239.1.1.1:5001")]
    pub line_a: SocketAddrV4,
    /// Group and port of line B
    #[arg(short = 'B', long, default_value = "239.1.2.1:5001")]
    pub line_b: SocketAddrV4,
    /// Receives that are posted at a time
    #[arg(short, long, default_value_t = 512, value_parser = clap::value_parser!(u32).range(2..=1 << 15))]
    pub rx_depth: u32,
    /// Messages to publish
    #[arg(short = 'n', long, default_value_t = 10_000)]
    pub iters: u64,
    /// Seconds to receive [default: until the publisher ends the session]
    #[arg(short = 'D', long)]
    pub duration: Option<f64>,
    /// Microseconds from one published message to the next
    #[arg(long, default_value_t = 50)]
    pub every: u64,
    /// Leave out one of LOSE messages on line A; every second one of these is left out on line B as well
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub lose: Option<u64>,
}

/// Bytes of a frame.
const FRAME: usize = 98;
/// Frames that may be outstanding. Each takes two WQEBBs.
const SENDS: u32 = 128;
/// How often the end of the session is said, as frames get lost.
const FAREWELLS: u64 = 20;
const FAREWELL_EVERY: Duration = Duration::from_millis(10);
/// The publisher's address: one for documentation (RFC 5737).
const SOURCE: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 1), 5000);
/// How long the device may take.
const PATIENCE: Duration = Duration::from_secs(10);

impl FeedOptions {
    /// The groups of A and B.
    #[must_use]
    pub const fn lines(&self) -> [SocketAddrV4; 2] {
        [self.line_a, self.line_b]
    }

    /// Runs `receive`, or publishes the feed, or both in two threads: `receive` calls its argument when it is ready.
    ///
    /// # Errors
    /// That of either side; if both fail, the publisher's.
    pub fn run(
        &self,
        receive: impl FnOnce(&dyn Fn() -> Result<(), Failure>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if !self.local {
            return if self.publish { self.publish() } else { receive(&|| Ok(())) };
        }
        let (ready, wait) = mpsc::channel();
        thread::scope(|scope| {
            // Without a receiver, the channel ends, and nothing is published.
            let publisher = scope.spawn(move || wait.recv().map_or(Ok(()), |()| self.publish()));
            let received = receive(&|| Ok(ready.send(())?));
            drop(ready);
            publisher.join().map_err(|_| "the publisher's thread has panicked")?.and(received)
        })
    }

    /// Publishes the feed.
    ///
    /// # Errors
    /// A failed call, or a request that fails.
    pub fn publish(&self) -> Result<(), Failure> {
        let (device, interface) = self.nic.open()?;
        let pd = device.protection_domain()?;
        let mut cq = device.completion_queue(2 * SENDS + 1).build()?;
        let mut pair = pd.queue_pair::<RawPacket>(&cq, &cq).sends(2 * SENDS).no_receives().build()?;
        pair.activate(&device.port(self.nic.ib_port)?)?;
        let here = Host { mac: interface.mac()?, socket: SOURCE };
        // ANCHOR: packets
        let mut lines = Vec::new();
        for line in self.lines() {
            let mut packet = Packet::<Udp4, FRAME>::new(&here, &Host::group(line)?);
            packet.set_payload(&[0; feed::HEADER + feed::MESSAGE])?;
            lines.push(packet);
        }
        // ANCHOR_END: packets
        let mut complete = |sq: &mut SendQueue<RawPacket>| {
            cq.try_poll_with(16, |cqe| {
                sq.complete(&cqe)?;
                Ok::<_, Failure>(())
            })?;
            Ok::<_, Failure>(())
        };
        let mut send = |packet: &Packet<Udp4, FRAME>| {
            let begin = Instant::now();
            while let Err(error) = pair.sq.post(&packet.request().signaled(WrId(0))) {
                if !matches!(error, PostError::Full { .. }) || begin.elapsed() > PATIENCE {
                    return Err(error.into());
                }
                complete(&mut pair.sq)?;
            }
            complete(&mut pair.sq)
        };
        let begin = Instant::now();
        // ANCHOR: publish
        for number in 1..=self.iters {
            while begin.elapsed() < Duration::from_micros(self.every * number) {
                thread::yield_now();
            }
            for (line, packet) in (0..).zip(&mut lines) {
                packet.set_part(0, &feed::header(number, 1))?;
                packet.set_part(feed::HEADER, &feed::price(number).to_be_bytes())?;
                if !self.loses(line, number) {
                    send(packet)?;
                }
            }
        }
        // ANCHOR_END: publish
        for _ in 0..FAREWELLS {
            thread::sleep(FAREWELL_EVERY);
            for packet in &mut lines {
                packet.set_part(0, &feed::header(self.iters + 1, feed::END_OF_SESSION))?;
                send(packet)?;
            }
        }
        Ok(())
    }

    /// Whether a line goes without a message.
    fn loses(&self, line: usize, number: u64) -> bool {
        let Some(lose) = self.lose else { return false };
        number.is_multiple_of(lose) && (line == 0 || number.is_multiple_of(2 * lose))
    }
}
