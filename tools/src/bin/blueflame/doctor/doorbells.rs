//! Doorbells: NOPs by each way to ring, write combining, and requests by each copy routine and fence mode.

use blueflame::arch::copy::{BlockCopy, CopyRoutine, CopyVisitor};
use blueflame::db::{FlushMode, OneFence, TwoFences};
use blueflame::transport::Rc;
use blueflame::{WrId, wqe};

use super::check::Check;
use super::found::{Failure, Seen, ensure, same};
use super::lab::{End, Lab, connect, geometry, pattern, queues};
use crate::need::Need;
use crate::nic::clock::Clock;
use crate::nic::measure::{CHECKS as COPIES, Found, Samples, Way, measure};
use crate::nic::queue::NopQueue;
use crate::nic::verdict::{Copies, Verdict};

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "doorbells.nop",
        title: "NOPs complete, one for each doorbell, by every way to ring it",
        fault: "The device does not see doorbells, or completes other requests than were posted. Nothing else can \
                work then: look at the kernel's log for mlx5_core.",
        needs: &[],
        run: nops,
    },
    Check {
        id: "doorbells.write_combining",
        title: "the device takes copies from the BlueFlame register (the kernel's NOP method)",
        fault: "Write combining does not work here, so each request is fetched over PCIe. 8-byte doorbells cost less: \
                MLX5_SHUT_UP_BF=1, or BlueFlamePolicy::Never.",
        needs: &[Need::BlueFlame, Need::DeviceRegister],
        run: write_combining,
    },
    Check {
        id: "doorbells.copies",
        title: "requests by BlueFlame arrive whole, by each copy routine and both fence modes",
        fault: "A copy routine of this CPU tears requests, or fences are too weak. Use BlueFlamePolicy::Never, and \
                report it with this file.",
        needs: &[Need::BlueFlame, Need::Link, Need::Address],
        run: copies,
    },
];

/// The routines that can be tried: ST64B faults if the memory does not take it.
fn routines() -> impl Iterator<Item = CopyRoutine> {
    CopyRoutine::available().filter(|&routine| routine != CopyRoutine::St64b)
}

/// What was measured.
struct Measured {
    /// Bytes of a half of the register.
    half_bytes: usize,
    /// Nanoseconds that reading the clock costs, which spans are shorter by.
    overhead_ns: f64,
    found: Vec<Found>,
}

/// Measures each way; all of their NOPs have completed then.
fn measured(lab: &Lab) -> Result<Measured, Failure> {
    let mut queue = NopQueue::new(lab.device(), lab.subject.port.number)?;
    let mut ways = vec![Way::EightBytes];
    if Need::BlueFlame.met(&lab.subject).is_ok() {
        ways.extend(routines().map(Way::Copy));
    }
    let clock = Clock::new();
    let found = measure(&mut queue, &clock, &ways, lab.measure)?;
    Ok(Measured { half_bytes: queue.half_bytes, overhead_ns: clock.overhead_ns(), found })
}

fn nops(lab: &Lab) -> Result<Seen, Failure> {
    let Measured { overhead_ns, found, .. } = measured(lab)?;
    let seen = Seen::new("8-byte doorbells, and each copy routine where there is BlueFlame");
    let mut seen = seen.figure("reading the clock, ns", format!("{overhead_ns:.1}"));
    for found in &found {
        let at = |samples: &Samples| format!("{:.0}", samples.percentile(50.0));
        seen = seen.figure(
            format!("{}, median ns", found.way.name()),
            format!(
                "{} with two fences, {} with one, {} the stores alone; {} to the completion ({} samples)",
                at(&found.two_fences),
                at(&found.one_fence),
                at(&found.stores),
                at(&found.latency),
                found.latency.count()
            ),
        );
    }
    Ok(seen)
}

fn write_combining(lab: &Lab) -> Result<Seen, Failure> {
    let Measured { half_bytes, found, .. } = measured(lab)?;
    let copies: Vec<_> = found
        .iter()
        .filter_map(|found| match (found.way, found.taken) {
            (Way::Copy(routine), Some(taken)) => {
                let needs_combining = found.way.needs_combining();
                Some(Copies { routine: routine.name(), needs_combining, taken, made: COPIES })
            }
            _ => None,
        })
        .collect();
    match Verdict::new(half_bytes, None, &copies) {
        Verdict::Works { because } => Ok(Seen::new("the device takes copies").figure("copies", because)),
        Verdict::DoesNotWork { because } | Verdict::Unknown { because } => Err(because.into()),
    }
}

/// WRITEs by one routine.
struct Writes<'a> {
    lab: &'a Lab,
}

impl CopyVisitor for Writes<'_> {
    type Output = Result<(), Failure>;

    fn run<C: BlockCopy>(self, copy: C) -> Self::Output {
        by_mode::<TwoFences, C>(self.lab, copy)?;
        by_mode::<OneFence, C>(self.lab, copy)
    }
}

/// Requests of one to three WQEBBs, each copied to the register by itself.
fn by_mode<F: FlushMode, C: BlockCopy>(lab: &Lab, copy: C) -> Result<(), Failure> {
    const ROUNDS: u32 = 64;
    let [sent, received] = queues(lab)?;
    let pair = geometry(lab.pd().queue_pair::<Rc>(&sent, &received)).build_with::<F, C>(copy)?;
    let mut near = End { pair, sent, received, memory: lab.memory(4096)? };
    let mut far = End::<Rc>::new(lab)?;
    connect(&lab.path()?, &mut near.pair, &mut far.pair)?;
    for round in 0..ROUNDS {
        let bytes = pattern(round, (1 + 2 * round + round % 2) as usize);
        let at = (round as usize % 16) * 256;
        let request =
            wqe::write(far.memory.remote().at(at as u64)).inline_slice(&bytes[..]).signaled(WrId(round.into()));
        near.run(lab, "a WRITE", &request)?;
        same("a WRITE", &bytes, &far.memory.to_vec(at..at + bytes.len()))?;
    }
    Ok(())
}

fn copies(lab: &Lab) -> Result<Seen, Failure> {
    let mut names = Vec::new();
    for routine in routines() {
        let result = routine.dispatch(Writes { lab })?;
        result.map_err(|error| format!("by the routine {routine}: {error}"))?;
        names.push(routine.name());
    }
    ensure(names.contains(&CopyRoutine::default_for_cpu().name()), || "the default routine was not tried".into())?;
    Ok(Seen::new("128 WRITEs of 1 to 128 bytes inline by each routine").figure("routines", names.join(", ")))
}
