//! The table, the verdict, and the same as JSON.

use std::fmt;

use serde::Serialize;

use crate::measure::{BURST, CHECKS, Found, Samples, Way};
use crate::register::Mapping;
use crate::verdict::{Copies, Verdict};

/// All that was found.
#[derive(Serialize)]
pub(crate) struct Report {
    pub(crate) device: String,
    pub(crate) firmware: String,
    /// PCI vendor and device.
    pub(crate) pci: String,
    pub(crate) register: Register,
    /// The nanoseconds subtracted from every span.
    pub(crate) clock_overhead_ns: f64,
    pub(crate) ways: Vec<WayReport>,
    pub(crate) write_combining: Verdict,
}

/// The register.
#[derive(Serialize)]
pub(crate) struct Register {
    /// Bytes of a half; 0 without BlueFlame.
    pub(crate) half_bytes: usize,
    /// The file it is mapped from.
    pub(crate) mapped_from: String,
    /// Whether that is a device, and not memory.
    pub(crate) device_memory: bool,
}

/// The measurements of one way to ring.
#[derive(Serialize)]
pub(crate) struct WayReport {
    way: String,
    two_fences_ns: Percentiles,
    one_fence_ns: Percentiles,
    stores_ns: Percentiles,
    latency_ns: Percentiles,
    /// `None` for 8-byte doorbells, of which nothing can be taken.
    copies_taken: Option<u32>,
    copies_made: Option<u32>,
}

/// Of nanoseconds.
#[derive(Serialize)]
struct Percentiles {
    samples: u64,
    p50: f64,
    p90: f64,
    p99: f64,
    p999: f64,
}

impl Percentiles {
    fn new(samples: &Samples) -> Self {
        let [p50, p90, p99, p999] = [50.0, 90.0, 99.0, 99.9].map(|percent| samples.percentile(percent));
        Self { samples: samples.count(), p50, p90, p99, p999 }
    }
}

impl WayReport {
    fn new(found: &Found) -> Self {
        Self {
            way: found.way.name(),
            two_fences_ns: Percentiles::new(&found.two_fences),
            one_fence_ns: Percentiles::new(&found.one_fence),
            stores_ns: Percentiles::new(&found.stores),
            latency_ns: Percentiles::new(&found.latency),
            copies_taken: found.taken,
            copies_made: found.taken.map(|_| CHECKS),
        }
    }
}

impl Report {
    /// Puts the findings together, with the verdict that follows from them.
    pub(crate) fn new(
        device: &str,
        attr: &blueflame::verbs::device::DeviceAttr,
        half_bytes: usize,
        mapping: &Mapping,
        clock_overhead_ns: f64,
        found: &[Found],
    ) -> Self {
        let copies: Vec<_> = found
            .iter()
            .filter_map(|found| match (found.way, found.taken) {
                (Way::Copy(routine), Some(taken)) => {
                    let (routine, needs_combining) = (routine.name(), found.way.needs_combining());
                    Some(Copies { routine, needs_combining, taken, made: CHECKS })
                }
                _ => None,
            })
            .collect();
        let ordinary = (!mapping.device).then_some(match mapping.file.as_str() {
            "" => "mapped from no file",
            file => file,
        });
        Self {
            device: device.into(),
            firmware: attr.fw_ver.clone(),
            pci: format!("{:04x}:{:04x}", attr.vendor_id, attr.vendor_part_id),
            register: Register { half_bytes, mapped_from: mapping.file.clone(), device_memory: mapping.device },
            clock_overhead_ns,
            ways: found.iter().map(WayReport::new).collect(),
            write_combining: Verdict::new(half_bytes, ordinary, &copies),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Register { half_bytes, mapped_from, device_memory } = &self.register;
        writeln!(f, "{}: PCI {}, firmware {}", self.device, self.pci, self.firmware)?;
        let kind = if *device_memory { "device memory" } else { "ORDINARY MEMORY" };
        writeln!(f, "register: halves of {half_bytes} bytes, {kind}, mapped from {mapped_from:?}\n")?;
        writeln!(
            f,
            "One doorbell, of a NOP. Nanoseconds, median / 99 %, of means over {BURST} in a row; completions one by \
            one."
        )?;
        writeln!(f, "  two fences  doorbell record, barrier, store, flush: what this crate's queues do by default")?;
        writeln!(f, "  one fence   the same without the flush")?;
        writeln!(f, "  store       the stores to the register alone, no fence between them")?;
        writeln!(f, "  completion  from before the record until the CQE is seen")?;
        writeln!(f, "  taken       copies that the device executed in place of the WQE in the ring\n")?;
        writeln!(
            f,
            "{:<16}{:>18}{:>18}{:>18}{:>20}{:>10}",
            "", "two fences", "one fence", "store", "completion", "taken"
        )?;
        for way in &self.ways {
            let pair = |p: &Percentiles| format!("{:.1} / {:.1}", p.p50, p.p99);
            let taken = match (way.copies_taken, way.copies_made) {
                (Some(taken), Some(made)) => format!("{taken}/{made}"),
                _ => "-".into(),
            };
            let [two, one, stores] = [&way.two_fences_ns, &way.one_fence_ns, &way.stores_ns].map(pair);
            let latency = format!("{:.0} / {:.0}", way.latency_ns.p50, way.latency_ns.p99);
            writeln!(f, "{:<16}{two:>18}{one:>18}{stores:>18}{latency:>20}{taken:>10}", way.way)?;
        }
        let (word, because) = match &self.write_combining {
            Verdict::Works { because } => ("works", because),
            Verdict::DoesNotWork { because } => ("DOES NOT WORK", because),
            Verdict::Unknown { because } => ("could not be told", because),
        };
        writeln!(f, "\nwrite combining: {word}: {because}.")?;
        if *device_memory {
            self.hint(f)
        } else {
            writeln!(
                f,
                "All figures above are those of ordinary memory and of a program; they say nothing about a NIC."
            )
        }
    }
}

impl Report {
    /// A hint from the times. Stores that are not combined cross the bus one by one, and the flush waits for them.
    fn hint(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [eight, copies @ ..] = &self.ways[..] else { return Ok(()) };
        for copy in copies {
            let ratio = copy.two_fences_ns.p50 / eight.two_fences_ns.p50.max(f64::MIN_POSITIVE);
            let saved = eight.latency_ns.p50 - copy.latency_ns.p50;
            writeln!(
                f,
                "{}: {ratio:.1} times an 8-byte doorbell; its completion comes {saved:.0} ns earlier.",
                copy.way
            )?;
        }
        writeln!(
            f,
            "(A copy of combined stores is one write on the bus, as an 8-byte doorbell is; one that is not, eight or \
            fewer.)"
        )
    }
}
