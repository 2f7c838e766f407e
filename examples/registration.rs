//! Shows why programs register memory before the I/O path: it compares the cost of a registration with that of a buffer
//! from memory registered at start.
//!
//! ```text
//! registration                    # a table, 4 KiB to 256 MiB
//! registration --max-bytes 1048576 --json
//! ```
//!
//! Registers and deregisters memory of each size, on base pages and on huge pages, touched before or not. The kernel
//! has to find and to clear untouched pages while it registers them. In the same rounds, the program takes a buffer of
//! that size from a [`Pool`], cut up into a `Vec` as its documentation says, and puts it back. Times are medians that
//! depend on the machine and its kernel. So compare the ratios; each comes from one round.
//!
//! It moves no data: any device of libibverbs will do. Under `softhca-run` no kernel pins pages, so that a registration
//! costs little there; in a guest (`./run guest`) and on a NIC it is Linux that registers.
//!
//! Exit code: 0 when all went well, 1 for a failure of setup, 2 for a wrong call.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use blueflame::verbs::{Access, Buffer, Device, Pool, ProtectionDomain};
use clap::Parser;
use common::Failure;
use memmap2::{Advice, MmapMut, MmapOptions};
use serde::Serialize;

/// Compares the cost of ibv_reg_mr with that of taking a buffer from a registered pool.
#[derive(Parser)]
#[command(version, max_term_width = 80)]
struct Options {
    /// RDMA device [default: the first mlx5 device]
    #[arg(short = 'd', long, visible_alias = "device")]
    ib_dev: Option<String>,
    /// The largest registration; the smallest has 4 KiB, and each is 16 times the one before
    #[arg(long, default_value_t = 256 << 20, value_parser = clap::value_parser!(u64).range(4096..=1 << 34))]
    max_bytes: u64,
    /// Rounds, in each of which every case has a turn
    #[arg(short, long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Print a line of JSON for each case, in place of the table
    #[arg(long)]
    json: bool,
}

/// log2 of a huge page, 2 MiB.
const HUGE_PAGE_BITS: u8 = 21;
/// Buffers taken and put back between two looks at the clock.
const TAKEN: u32 = 1000;

/// The pages that a registration covers.
#[derive(Clone, Copy, PartialEq)]
struct Pages {
    huge: bool,
    /// Present before the registration.
    touched: bool,
}

/// One row of the table.
struct Case {
    bytes: usize,
    pages: Pages,
    registered: Vec<Duration>,
    deregistered: Vec<Duration>,
    /// Seconds.
    pooled: Vec<f64>,
}

/// The line that `--json` prints.
#[derive(Serialize)]
struct Line {
    bytes: usize,
    huge_pages: bool,
    touched: bool,
    register_us: f64,
    deregister_us: f64,
    pool_us: f64,
    ratio: f64,
}

fn main() -> ExitCode {
    common::exit("registration", measure(&Options::parse()))
}

fn measure(options: &Options) -> Result<(), Failure> {
    let device = match &options.ib_dev {
        Some(name) => Device::options().open(name)?,
        None => Device::options().open_first()?,
    };
    let pd = device.protection_domain()?;
    let max = usize::try_from(options.max_bytes)?;
    let sizes = std::iter::successors(Some(4096), |bytes| Some(bytes * 16)).take_while(|&bytes| bytes <= max);
    if !options.json {
        println!(
            "| bytes | pages | touched before | `ibv_reg_mr` | `ibv_dereg_mr` | pool, take and put back | \
            registration / pool |"
        );
        println!("|---|---|---|---|---|---|---|");
    }
    for bytes in sizes {
        for case in cases_of(&pd, bytes, options.rounds)? {
            case.print(options.json)?;
        }
    }
    Ok(())
}

/// Measures the cases of one size, in turns.
fn cases_of(pd: &ProtectionDomain, bytes: usize, rounds: u32) -> Result<Vec<Case>, Failure> {
    let mut free = vec![Pool::new(pd, bytes, Access::ALL)?.take(bytes)?];
    let mut cases = Vec::new();
    for huge in [false, true] {
        for touched in [true, false] {
            let pages = Pages { huge, touched };
            // A machine need not have set huge pages aside.
            if !huge || pages.map(bytes).is_ok() {
                let (registered, deregistered, pooled) = Default::default();
                cases.push(Case { bytes, pages, registered, deregistered, pooled });
            }
        }
    }
    for _ in 0..rounds {
        for case in &mut cases {
            let memory = case.pages.map(bytes)?;
            let start = Instant::now();
            let buffer = pd.register(memory, Access::ALL)?;
            case.registered.push(start.elapsed());
            case.deregistered.push(deregister(buffer));
            case.pooled.push(take_and_put_back(&mut free)?);
        }
    }
    Ok(cases)
}

/// Deregisters memory and unmaps its pages: the I/O path would pay for both.
fn deregister(buffer: Buffer) -> Duration {
    let start = Instant::now();
    drop(buffer);
    start.elapsed()
}

/// Seconds that it takes to have a buffer and to be done with it, when memory has been registered.
fn take_and_put_back(free: &mut Vec<Buffer>) -> Result<f64, Failure> {
    let start = Instant::now();
    for _ in 0..TAKEN {
        let buffer = black_box(&mut *free).pop().ok_or("the pool is empty")?;
        black_box(buffer.sge());
        free.push(buffer);
    }
    Ok(start.elapsed().as_secs_f64() / f64::from(TAKEN))
}

impl Pages {
    fn map(self, bytes: usize) -> Result<MmapMut, Failure> {
        let mut options = MmapOptions::new();
        if self.huge {
            options.huge(Some(HUGE_PAGE_BITS)).len(bytes.next_multiple_of(1 << HUGE_PAGE_BITS));
        } else {
            options.len(bytes);
        }
        let mut memory = options.map_anon()?;
        if !self.huge {
            // Otherwise the kernel may put huge pages underneath.
            memory.advise(Advice::NoHugePage)?;
        }
        if self.touched {
            let page = if self.huge { 1 << HUGE_PAGE_BITS } else { 4096 };
            memory.iter_mut().step_by(page).for_each(|byte| *byte = 1);
        }
        Ok(memory)
    }

    fn name(self) -> &'static str {
        if self.huge { "2 MiB" } else { "4 KiB" }
    }
}

impl Case {
    fn print(&self, json: bool) -> Result<(), Failure> {
        let registrations: Vec<_> = self.registered.iter().map(Duration::as_secs_f64).collect();
        let deregistrations: Vec<_> = self.deregistered.iter().map(Duration::as_secs_f64).collect();
        let ratios = (0..self.pooled.len()).map(|i| (registrations[i] + deregistrations[i]) / self.pooled[i]);
        let ratio = median(ratios.collect());
        let [register_us, deregister_us, pool_us] =
            [&registrations, &deregistrations, &self.pooled].map(|seconds| median(seconds.clone()) * 1e6);
        let Pages { huge, touched } = self.pages;
        if json {
            let bytes = self.bytes;
            let line = Line { bytes, huge_pages: huge, touched, register_us, deregister_us, pool_us, ratio };
            println!("{}", serde_json::to_string(&line)?);
        } else {
            let (size, pages, touched) = (binary(self.bytes), self.pages.name(), if touched { "yes" } else { "no" });
            let [register, deregister, pool] = [register_us, deregister_us, pool_us].map(time);
            println!("| {size} | {pages} | {touched} | {register} | {deregister} | {pool} | {ratio:.0} |");
        }
        Ok(())
    }
}

/// The middle one of at least one value.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Bytes in the largest unit that gives a whole number.
fn binary(bytes: usize) -> String {
    match bytes {
        _ if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ => format!("{} KiB", bytes >> 10),
    }
}

/// Microseconds, to three digits, in the unit that suits.
fn time(us: f64) -> String {
    let (value, unit) = match us {
        _ if us < 1.0 => (us * 1e3, "ns"),
        _ if us < 1e3 => (us, "µs"),
        _ => (us / 1e3, "ms"),
    };
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {unit}")
}
