//! How WQEs are copied to BlueFlame, chosen when the program starts: by argument, by `BLUEFLAME_COPY`, or by measuring.
//!
//! `cargo run --example copy_routines --no-default-features --features std -- [probe | 8x8 | sse | avx512 | …]` needs no NIC:
//! the device is a software mlx5 in this process. Everything after the choice is one generic function, compiled for each
//! routine, with no trace of the others in it.

use std::{env, error::Error, mem::MaybeUninit, ptr::NonNull, time::Instant};

use blueflame::arch::copy::{BlockCopy, CopyRoutine, CopyVisitor};
use blueflame::cq::{CompletionQueue, CqParts, Standard};
use blueflame::db::{ExclusiveRegister, RegisterParts};
use blueflame::queue::{SendQueue, SqParts, WqeRecord};
use blueflame::types::{CqCi, Cqn, Qpn, Rkey, SqPi, WrId};
use blueflame::wqe::{Rc, Remote, Write};
use softhca::embedded::{Buffer, ConnectOptions, CqOptions, EmbeddedDevice, QpOptions};

fn main() -> Result<(), Box<dyn Error>> {
    trade(choose(env::args().nth(1).as_deref())?)
}

fn choose(argument: Option<&str>) -> Result<CopyRoutine, Box<dyn Error>> {
    Ok(match argument {
        Some("probe") => probe()?,
        Some(name) => name.parse()?,
        None => CopyRoutine::from_env()?.unwrap_or_else(CopyRoutine::default_for_cpu),
    })
}

/// Sets up, and enters the main loop with the routine as a type.
fn trade(routine: CopyRoutine) -> Result<(), Box<dyn Error>> {
    println!("copying by {routine}");
    let mut hca = EmbeddedDevice::standalone()?;
    let cq = hca.create_cq(CqOptions::new(16))?;
    let (qp, peer) = (hca.create_qp(QpOptions::rc(cq.cqn))?, hca.create_qp(QpOptions::rc(cq.cqn))?);
    hca.connect_own(qp.qpn, peer.qpn, &ConnectOptions::default())?;
    let window = hca.buffer(4096)?;
    let mut shadow = [MaybeUninit::<WqeRecord>::uninit(); 64];
    let sq = SqParts {
        ring: qp.sq.buf,
        wqebbs: qp.sq.wqe_cnt,
        dbrec: qp.dbrec,
        qpn: Qpn::truncate(qp.qpn),
        max_inline: 64,
        max_sge: 4,
        signal_all: false,
        pi: SqPi(0),
        shadow: NonNull::from(&mut shadow).cast(),
    };
    let (buf, cqe_cnt, cqe_size, dbrec, cq_uar) = (cq.buf, cq.cqe_cnt, cq.cqe_size, cq.dbrec, cq.cq_uar);
    let cq = CqParts { buf, cqe_cnt, cqe_size, dbrec, cq_uar, cqn: Cqn::truncate(cq.cqn), ci: CqCi::truncate(0) };
    // SAFETY: a new queue pair's register, of which no other value is made, and a new completion queue's parts; `hca`
    // outlives both.
    let (register, cq) = unsafe {
        let register = ExclusiveRegister::from_parts(RegisterParts { reg: qp.bf_reg, size: qp.bf_size })?;
        (register, CompletionQueue::<Standard>::from_parts(cq)?)
    };
    routine.dispatch(Trading { hca, window, sq, register, cq })?
}

/// Measures the routines of this CPU on a page of this program. With a NIC it would be the queue pair's register, and the
/// block a NOP that the queue pair has executed.
fn probe() -> Result<CopyRoutine, Box<dyn Error>> {
    #[repr(align(4096))]
    struct Page([u8; 4096]);
    let mut page = Page([0; 4096]);
    let parts = RegisterParts { reg: NonNull::from(&mut page.0).cast(), size: 256 };
    // SAFETY: memory of this function, which nothing else uses.
    let mut register = unsafe { ExclusiveRegister::from_parts(parts)? };
    // On ordinary memory the one costs what it never costs on a register, and the other faults.
    let routines = CopyRoutine::available().filter(|r| !matches!(r, CopyRoutine::Movdir64b | CopyRoutine::St64b));
    let start = Instant::now();
    // SAFETY: no device looks at the page, and all these routines store to any memory.
    let probe = unsafe { register.probe(&[0; 8], routines, || start.elapsed().as_nanos() as u64)? };
    for (routine, nanoseconds) in probe.costs() {
        println!("{routine:<10} {nanoseconds:5.1} ns a doorbell");
    }
    Ok(probe.pick())
}

/// What the main loop works on.
struct Trading {
    hca: EmbeddedDevice,
    window: Buffer,
    sq: SqParts,
    register: ExclusiveRegister,
    cq: CompletionQueue,
}

impl CopyVisitor for Trading {
    type Output = Result<(), Box<dyn Error>>;

    /// The main loop: sends orders of 28 bytes into the peer's memory.
    fn run<C: BlockCopy>(self, copy: C) -> Self::Output {
        let Self { mut hca, window, sq, register, mut cq } = self;
        // SAFETY: parts of a new queue pair that nothing else posts to; they and the shadow outlive the queue.
        let mut sq = unsafe { SendQueue::<Rc, _>::from_parts(sq, register.with_copy(copy))? };
        let remote = Remote { addr: window.addr(), rkey: Rkey(window.rkey()) };
        for n in 0..1000_u64 {
            let order: [u8; 28] = std::array::from_fn(|i| (n as usize * 7 + i) as u8);
            sq.post(&Write::to(remote).inline(&order).signaled(WrId(n)))?;
            hca.run_until_idle();
            let cqe = cq.poll().ok_or("no completion")?;
            cqe.check()?;
            assert_eq!(sq.retire(&cqe)?.wr_id, WrId(n));
            assert_eq!(window.to_vec(0, order.len()), order);
        }
        println!("verified: 1000 orders written");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_routine_trades() {
        for routine in CopyRoutine::available().filter(|&routine| routine != CopyRoutine::St64b) {
            trade(choose(Some(routine.name())).expect("a name")).expect("1000 orders");
        }
    }

    #[test]
    fn what_is_measured_can_be_used() {
        choose(Some("probe")).expect("a probe").check().expect("available");
        assert!(choose(Some("fastest")).is_err());
    }
}
