//! Sends an order when the feed gives the signal: from the frame of the feed to the frame of the order.
//!
//! ```text
//! order_entry --interface eth0                    # trade on the feed of `market_data --publish`
//! order_entry --local --evict 4096                # publish as well; between messages, other work uses the caches
//! ```
//!
//! ```text
//!   feed    --- 1 --- 2 --- 3 (signal) ---------->  device  -> program: poll, parse, decide
//!   orders  <------------------------- order ----   device  <- post the packet: four bytes of the payload, checksums
//! ```
//!
//! The order is a UDP datagram that is made once. Two times are measured. `decide` is by the CPU's clock, from
//! the parsed message until the doorbell is rung. `tick_to_trade` is by the device's clock, from the arrival of the
//! feed's frame to the departure of the order.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use blueflame::WrId;
use blueflame::packet::{Host, Packet, Udp4};
use blueflame::queue::send::RehearsalMemory;
use blueflame::queue::{PostError, SendQueue};
use blueflame::transport::RawPacket;
use clap::Parser;
use common::feed::{Arbiter, Verdict};
use common::{Failure, FeedOptions, Latencies, Lines, Percentiles, ReportOptions};
use serde::Serialize;

/// An order for each signal of the feed: tick to trade.
#[derive(Parser)]
#[command(version, max_term_width = 80)]
struct Options {
    #[command(flatten)]
    feed: FeedOptions,
    /// Orders go to this address and port
    #[arg(long, default_value = "239.9.9.9:7001")]
    venue: SocketAddrV4,
    /// A price from 0 to 1023: those above it are signals
    #[arg(long, default_value_t = 895)]
    above: u64,
    /// Touch EVICT KiB of other memory before each message, and warm the queue and rehearse before every second one
    #[arg(long, default_value_t = 0)]
    evict: usize,
    #[command(flatten)]
    report: ReportOptions,
}

/// Times of orders of one kind.
#[derive(Default)]
struct Times {
    decide: Latencies,
    tick_to_trade: Latencies,
}

/// The output with `--json`, a line for each kind: "warm" orders after `SendQueue::warm` and a rehearsal, "cold" ones
/// without.
#[derive(Serialize)]
struct Report {
    kind: &'static str,
    orders: u64,
    decide_us: Percentiles,
    tick_to_trade_us: Percentiles,
}

/// Bytes of an order's frame, and of its payload.
const FRAME: usize = 98;
const PAYLOAD: usize = 48;
type Order = Packet<Udp4, FRAME>;
/// Orders that may be on their way, and WQEBBs of each: 30 bytes of segments, then the frame, in blocks of 64.
const SENDS: u32 = 128;
const WQEBBS: u32 = (30 + FRAME as u32).div_ceil(64);
/// This program's address: one for documentation (RFC 5737).
const SOURCE: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 2), 5001);

fn main() -> ExitCode {
    let options = Options::parse();
    common::exit("order_entry", options.feed.run(|ready| trade(&options, ready)))
}

// ANCHOR: fire
/// The one function for orders and their rehearsals.
#[inline(never)]
fn fire(sq: &mut SendQueue<RawPacket>, order: &Order, wr_id: WrId) -> Result<(), PostError> {
    sq.post(&order.request().signaled(wr_id))
}
// ANCHOR_END: fire

fn trade(options: &Options, ready: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    let (device, interface) = options.feed.nic.open()?;
    let pd = device.protection_domain()?;
    let mut lines = Lines::new(&device, &pd, &interface, &options.feed)?;
    let mut cq = device.completion_queue(2 * SENDS + 1).free_running(true).build()?;
    // ANCHOR: queue
    // The length of a send queue counts WQEBBs.
    let mut pair = pd.queue_pair::<RawPacket>(&cq, &cq).sends(SENDS * WQEBBS).no_receives().build()?;
    // ANCHOR_END: queue
    pair.activate(&device.port(options.feed.nic.ib_port)?)?;
    // ANCHOR: order
    let here = Host { mac: interface.mac()?, socket: SOURCE };
    let mut order = Order::new(&here, &Host::group(options.venue)?);
    order.set_payload(&[b'.'; PAYLOAD])?;
    let mut rehearsal = pair.sq.rehearsal(Box::leak(Box::new(RehearsalMemory::new())));
    // ANCHOR_END: order
    ready()?;
    let (mut arbiter, mut orders) = (Arbiter::default(), 0_u32);
    let mut times = [Times::default(), Times::default()];
    let mut others = vec![1_u8; options.evict << 10];
    let (mut is_warm, mut fired) = (false, false);
    while lines.is_open() {
        let polled = lines.poll(|packet| {
            let begin = Instant::now();
            let new = arbiter.take(packet.line, packet.number, packet.time.nanoseconds) == Verdict::New;
            if !new || packet.price <= options.above {
                return Ok(());
            }
            // ANCHOR: shot
            order.set_part(0, &orders.to_be_bytes())?;
            // The request's identifier is the timestamp of the feed's frame.
            let wr_id = WrId(packet.stamp << 1 | u64::from(is_warm));
            fire(&mut pair.sq, &order, wr_id)?;
            // ANCHOR_END: shot
            times[usize::from(is_warm)].decide.record(begin.elapsed());
            (orders, fired) = (orders + 1, true);
            Ok(())
        })?;
        cq.try_poll_with(16, |cqe| {
            let WrId(tag) = pair.sq.complete(&cqe)?.wr_id;
            let [arrived, left] = [tag >> 1, cqe.timestamp()].map(|stamp| lines.time_of(stamp).nanoseconds);
            times[(tag & 1) as usize].tick_to_trade.record(Duration::from_nanos(left.saturating_sub(arrived)));
            Ok::<_, Failure>(())
        })?;
        if polled == 0 && fired {
            // Other work, as a program has it between two signals.
            others.iter_mut().step_by(64).for_each(|byte| *byte = std::hint::black_box(*byte).wrapping_add(1));
            (is_warm, fired) = (!is_warm, false);
        }
        // ANCHOR: warm
        if polled == 0 && is_warm {
            pair.sq.warm(&order.request());
            fire(&mut rehearsal, &order, WrId(0))?;
            rehearsal.end_rehearsal()?;
        }
        // ANCHOR_END: warm
    }
    for (kind, times) in ["cold", "warm"].into_iter().zip(&times) {
        let report = Report {
            kind,
            orders: times.decide.count(),
            decide_us: times.decide.percentiles(),
            tick_to_trade_us: times.tick_to_trade.percentiles(),
        };
        if options.report.json {
            println!("{}", serde_json::to_string(&report)?);
        } else {
            println!("{} {kind} orders; to decide and ring, in us: {}", report.orders, report.decide_us);
            println!("    from the tick to the trade, in us: {}", report.tick_to_trade_us);
        }
    }
    times[1].tick_to_trade.draw("orders, from the tick to the trade", &options.report)
}
