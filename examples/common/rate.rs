//! The options of a program that sends, receives or forwards frames, and its report.

use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use serde::Serialize;

use crate::burst::Layout;
use crate::{Failure, Latencies, NicOptions, Percentiles, ReportOptions};

/// The sides of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Run {
    /// Sends.
    Send,
    /// Receives.
    Receive,
    /// Receives frames, and sends them back.
    Forward,
}

/// Rate and cost of Ethernet frames.
#[derive(Parser)]
#[command(version, max_term_width = 80)]
pub struct Options {
    /// What to do
    #[arg(long, value_enum, default_value_t = Run::Receive)]
    pub run: Run,
    /// Send as well, on this machine, as fast as the receiver takes frames
    #[arg(long)]
    pub local: bool,
    #[command(flatten)]
    #[expect(missing_docs, reason = "the text would be part of the help")]
    pub nic: NicOptions,
    /// MAC address to send to [default: the own one]
    #[arg(short = 'E', long, value_parser = mac)]
    pub dest_mac: Option<[u8; 6]>,
    /// Bytes of a frame
    #[arg(short, long, default_value_t = 60, value_parser = clap::value_parser!(u16).range(60..=1514))]
    pub size: u16,
    /// Frames
    #[arg(short = 'n', long, default_value_t = 1_000_000)]
    pub iters: u64,
    /// Frames that are sent by one doorbell
    #[arg(short = 'l', long, default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub post_list: u16,
    #[command(flatten)]
    #[expect(missing_docs, reason = "the text would be part of the help")]
    pub layout: Layout,
    /// Frames that the receive queue has room for
    #[arg(short, long, default_value_t = 512, value_parser = clap::value_parser!(u32).range(128..=1 << 14))]
    pub rx_depth: u32,
    /// Receive by a striding queue
    #[arg(long)]
    pub striding: bool,
    /// The device compresses completions of frames
    #[arg(long, requires = "striding")]
    pub compress: bool,
    #[command(flatten)]
    #[expect(missing_docs, reason = "the text would be part of the help")]
    pub output: ReportOptions,
}

/// The output with `--json`, a line for each side.
#[derive(Serialize)]
struct Report {
    run: Run,
    frames: u64,
    /// The rate between the first frame and the last.
    frames_per_second: f64,
    /// The CPU's part of a frame, without waiting: cycles of the time stamp counter, and time.
    cycles_per_frame: f64,
    frame_us: Percentiles,
}

fn mac(text: &str) -> Result<[u8; 6], String> {
    let bytes: Option<Vec<u8>> = text.split(':').map(|byte| u8::from_str_radix(byte, 16).ok()).collect();
    bytes
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or_else(|| format!("{text} is no MAC address: six numbers, xx:xx:…"))
}

impl Options {
    /// Prints the rate and the cost of a side, and draws the histogram of the program's own side.
    ///
    /// # Errors
    /// The histogram cannot be written.
    pub fn report(&self, run: Run, effort: &Effort, time: Duration) -> Result<(), Failure> {
        let frames = effort.frames;
        let report = Report {
            run,
            frames,
            frames_per_second: frames as f64 / time.as_secs_f64(),
            cycles_per_frame: effort.cycles as f64 / frames as f64,
            frame_us: effort.times.percentiles(),
        };
        if self.output.json {
            println!("{}", serde_json::to_string(&report)?);
        } else {
            let [rate, cycles] = [report.frames_per_second, report.cycles_per_frame];
            println!(
                "{run:?}: {frames} frames, {rate:.0} a second; {cycles:.0} cycles a frame, in us: {}",
                report.frame_us
            );
        }
        if run == self.run { effort.times.draw("frames: CPU time of each", &self.output) } else { Ok(()) }
    }
}

/// The time that each frame takes the CPU, apart from waiting.
#[derive(Clone, Debug, Default)]
pub struct Effort {
    /// Time of each frame, in its burst.
    pub times: Latencies,
    /// All bursts.
    pub busy: Duration,
    /// CPU cycles of all bursts, by the time stamp counter; 0 on CPUs without one.
    pub cycles: u64,
    /// Frames of all bursts.
    pub frames: u64,
}

impl Effort {
    /// Runs a burst, which returns how many frames it had. A burst of none does not count.
    ///
    /// # Errors
    /// That of the burst.
    pub fn of(&mut self, burst: impl FnOnce() -> Result<usize, Failure>) -> Result<usize, Failure> {
        let (begin, cycles) = (Instant::now(), counter());
        let frames = burst()?;
        if frames > 0 {
            let (took, cycles) = (begin.elapsed(), counter().wrapping_sub(cycles));
            self.times.record(took / frames as u32);
            (self.busy, self.cycles, self.frames) =
                (self.busy + took, self.cycles + cycles, self.frames + frames as u64);
        }
        Ok(frames)
    }

    /// Adds the bursts of another thread.
    pub fn add(&mut self, other: &Self) {
        self.times.add(&other.times);
        self.busy += other.busy;
        self.cycles += other.cycles;
        self.frames += other.frames;
    }
}

/// The CPU's time stamp counter.
fn counter() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 CPU has it.
    return unsafe { core::arch::x86_64::_rdtsc() };
    #[cfg(not(target_arch = "x86_64"))]
    0
}
