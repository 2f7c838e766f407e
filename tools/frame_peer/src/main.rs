//! The other end of the wire for programs that send, take and forward Ethernet frames: sends frames, and checks each
//! byte of those that come. `./run guest` runs it against DPDK.
//!
//! It needs a port of its own: the software device's, or a NIC's.

mod change;
mod frame;
mod port;
mod timed;

use std::collections::HashMap;
use std::time::Instant;

use anyhow::{Result, bail, ensure};
use change::{Change, Way};
use clap::{Parser, Subcommand};
use frame::{Kind, Recipe, Stream};
use port::{Patience, Port};
use timed::Bursts;

/// The other end of the wire for programs that send, take and forward Ethernet frames
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    /// RDMA device
    #[arg(short = 'd', long, default_value = "mlx5_0")]
    device: String,
    /// Ethernet address to send from, and to receive at
    #[arg(long, value_parser = mac)]
    station: [u8; 6],
    /// Seconds to wait for a frame
    #[arg(long, default_value_t = 10)]
    patience: u64,
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Sends frames to a forwarder, and compares each byte of the frames that come back
    Bounce {
        #[command(flatten)]
        traffic: Traffic,
        /// The forwarder's change of a frame
        #[arg(long, default_value = "macswap")]
        change: Change,
        /// A rule of the forwarder's rewrites IPv4 packets: to port 4000 of 192.0.2.9, with one hop less
        #[arg(long)]
        rewritten: bool,
        /// Frames come back with this VLAN tag
        #[arg(long)]
        vlan: Option<u16>,
        /// Send wrong checksums, and expect right ones
        #[arg(long)]
        checksums: bool,
        /// Expect TCP data in segments of SEGMENT bytes
        #[arg(long)]
        segment: Option<usize>,
        /// Most frames under way
        #[arg(long, default_value_t = 64)]
        window: usize,
        /// Frames may come back in another order: there are several queues
        #[arg(long)]
        any_order: bool,
    },
    /// Sends frames, and expects nothing
    Send {
        #[command(flatten)]
        traffic: Traffic,
    },
    /// Checks the frames that testpmd makes in its mode `txonly`
    Take {
        /// How many to wait for
        #[arg(short = 'n', long)]
        frames: u64,
        /// The address they come from
        #[arg(long, value_parser = mac)]
        from: [u8; 6],
        /// Bytes of a frame
        #[arg(long, default_value_t = 64)]
        bytes: usize,
        /// Bursts have times, GAP nanoseconds apart, and do not come sooner
        #[arg(long)]
        gap: Option<u64>,
    },
}

/// Frames to send.
#[derive(clap::Args, Debug)]
struct Traffic {
    /// Where to
    #[arg(long, value_parser = mac)]
    to: [u8; 6],
    /// How many
    #[arg(short = 'n', long)]
    frames: u64,
    /// Headers, in turn
    #[arg(long, value_delimiter = ',', default_value = "plain,udp4,tcp4,udp6,tcp6")]
    kinds: Vec<Kind>,
    /// Bytes of the shortest frame
    #[arg(long, default_value_t = 60)]
    least: usize,
    /// Bytes of the longest frame
    #[arg(long, default_value_t = 1514)]
    most: usize,
    /// TCP messages of STREAM segments, whatever the bytes of frames
    #[arg(long)]
    stream: Option<u64>,
    /// Bytes of data of such a segment
    #[arg(long, default_value_t = 1400)]
    data: usize,
}

impl Traffic {
    fn recipe(&self, from: [u8; 6]) -> Result<Recipe> {
        ensure!((60..=self.most).contains(&self.least), "not from {} to {} bytes", self.least, self.most);
        let tcp = self.kinds.iter().all(|kind| matches!(kind, Kind::Tcp4 | Kind::Tcp6));
        let is_stream = self.stream.is_none_or(|segments| tcp && segments > 0 && (8..=1440).contains(&self.data));
        ensure!(is_stream, "messages have segments of TCP alone, with 8 to 1440 bytes of data");
        let stream = self.stream.map(|segments| Stream { segments, data: self.data });
        Ok(Recipe { to: self.to, from, kinds: self.kinds.clone(), bytes: self.least..=self.most, stream })
    }
}

fn mac(text: &str) -> Result<[u8; 6], String> {
    let bytes: Option<Vec<u8>> = text.split(':').map(|byte| u8::from_str_radix(byte, 16).ok()).collect();
    bytes.and_then(|bytes| bytes.try_into().ok()).ok_or_else(|| "six bytes such as 02:00:00:00:00:01".to_owned())
}

fn main() -> Result<()> {
    let options = Options::parse();
    let mut port = Port::open(&options.device, options.station)?;
    let begin = Instant::now();
    let (frames, bytes) = match &options.task {
        Task::Bounce { traffic, change, rewritten, vlan, checksums, segment, window, any_order } => {
            let (change, rewritten, vlan) = (*change, *rewritten, *vlan);
            let way = Way { change, rewritten, vlan, checksums: *checksums, segment: *segment };
            let recipe = traffic.recipe(options.station)?;
            bounce(&mut port, &recipe, way, traffic.frames, (*window, *any_order, options.patience))?
        }
        Task::Send { traffic } => {
            let recipe = traffic.recipe(options.station)?;
            let mut bytes = 0;
            for number in 0..traffic.frames {
                let frame = recipe.frame(number);
                port.send(&frame)?;
                bytes += frame.len() as u64;
            }
            (traffic.frames, bytes)
        }
        Task::Take { frames, from, bytes, gap } => {
            let frame = made_by_testpmd(options.station, *from, *bytes);
            take(&mut port, *frames, &frame, options.patience, gap.map(Bursts::new))?
        }
    };
    println!("{frames} frames, {bytes} bytes, {} ms", begin.elapsed().as_millis());
    Ok(())
}

/// Sends `count` frames, and waits for all that come back, `seconds` for each. Returns how many those were, and their
/// bytes.
fn bounce(
    port: &mut Port,
    recipe: &Recipe,
    way: Way,
    count: u64,
    (window, any_order, seconds): (usize, bool, u64),
) -> Result<(u64, u64)> {
    ensure!((1..=port::ROOM as usize).contains(&window), "a window of {window}: at most {}", port::ROOM);
    // The frames that are under way, each with its place among those that are expected.
    let mut expected: HashMap<Vec<u8>, u64> = HashMap::new();
    let (mut sent, mut places, mut arrived, mut bytes) = (0, 0, 0, 0);
    let mut patience = Patience::new(seconds);
    while arrived < places || sent < count {
        while sent < count && expected.len() < window {
            let (frame, kind) = (recipe.frame(sent), recipe.kind(sent));
            for frame in way.expected(frame.clone(), kind) {
                ensure!(expected.insert(frame, places).is_none(), "two frames are the same: give them more bytes");
                places += 1;
            }
            port.send(&way.sent(frame, kind))?;
            sent += 1;
        }
        let Some(frame) = port.receive()? else {
            patience.check(&format!("{} frames are missing of {sent}", expected.len()))?;
            continue;
        };
        patience = Patience::new(seconds);
        match expected.remove(&frame) {
            Some(place) if any_order || place == arrived => {}
            Some(place) => bail!("frame {place} comes when {arrived} should"),
            None => bail!("frame {arrived} should be\n{:02x?}, is\n{frame:02x?}", next(&expected)),
        }
        arrived += 1;
        bytes += frame.len() as u64;
    }
    Ok((arrived, bytes))
}

/// The frame that should come next.
fn next(expected: &HashMap<Vec<u8>, u64>) -> Option<&[u8]> {
    expected.iter().min_by_key(|(_, place)| **place).map(|(frame, _)| &frame[..])
}

/// Waits for `count` frames, all of which must be `frame`, besides the marks of `bursts`. Returns how many those were,
/// and their bytes.
fn take(port: &mut Port, count: u64, frame: &[u8], seconds: u64, mut bursts: Option<Bursts>) -> Result<(u64, u64)> {
    let mut arrived = 0;
    let mut patience = Patience::new(seconds);
    println!("ready");
    while arrived < count {
        let Some(mut got) = port.receive()? else {
            patience.check(&format!("{arrived} frames of {count} have come"))?;
            continue;
        };
        patience = Patience::new(seconds);
        if let Some(bursts) = &mut bursts {
            bursts.take(&mut got, Instant::now())?;
        }
        ensure!(got == frame, "frame {arrived} should be\n{frame:02x?}, is\n{got:02x?}");
        arrived += 1;
    }
    if let Some(bursts) = bursts {
        println!("{}", bursts.check()?);
    }
    Ok((arrived, arrived * frame.len() as u64))
}

/// The frame that testpmd sends in its mode `txonly`: UDP from 198.18.0.1 to 198.18.0.2 (RFC 2544's addresses), port 9,
/// without a checksum of UDP, and zeros.
fn made_by_testpmd(to: [u8; 6], from: [u8; 6], bytes: usize) -> Vec<u8> {
    let mut frame = [to, from].concat();
    frame.extend([0x08, 0x00, 0x45, 0]);
    frame.extend(((bytes - 14) as u16).to_be_bytes());
    frame.extend([0, 0, 0, 0, 64, 17, 0, 0, 198, 18, 0, 1, 198, 18, 0, 2, 0, 9, 0, 9]);
    frame.extend(((bytes - 34) as u16).to_be_bytes());
    frame.resize(bytes, 0);
    frame::sum_up(&mut frame, Kind::Udp4);
    frame[40..42].fill(0);
    frame
}
