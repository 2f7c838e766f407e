//! How WQEs are copied to BlueFlame, chosen when the program starts: by argument, by `BLUEFLAME_COPY`, or by measuring.
//!
//! `cargo run --example copy_routines --no-default-features --features std -- [probe | 8x8 | sse | avx512 | …]` needs
//! no NIC: the device is a software mlx5 in this process. Everything after the choice is one generic function, compiled
//! for each routine, with no trace of the others in it.

use std::{env, error::Error, mem::MaybeUninit, ptr::NonNull, time::Instant};

use blueflame::arch::copy::{BlockCopy, CopyRoutine, CopyVisitor};
use blueflame::cq::CompletionQueue;
use blueflame::cq::setup::CqParts;
use blueflame::db::{ExclusiveRegister, RegisterParts};
use blueflame::queue::SendQueue;
use blueflame::queue::send::{SqParts, WqeRecord};
use blueflame::types::{CqCi, Cqn, Qpn, Rkey, SqPi, WrId};
use blueflame::{Remote, transport, wqe};
use softhca::embedded::{Buffer, ConnectOptions, CqOptions, EmbeddedDevice, QpOptions};

fn main() -> Result<(), Box<dyn Error>> {
    trade(choose(env::args().nth(1).as_deref())?)
}

/// The routine that the argument or the environment names; none to measure.
fn choose(argument: Option<&str>) -> Result<Option<CopyRoutine>, Box<dyn Error>> {
    Ok(match argument {
        Some("probe") => None,
        Some(name) => Some(name.parse()?),
        None => Some(CopyRoutine::from_env()?.unwrap_or_else(CopyRoutine::default_for_cpu)),
    })
}

/// Sets up the device, and enters the main loop with the routine as a type.
fn trade(routine: Option<CopyRoutine>) -> Result<(), Box<dyn Error>> {
    let mut hca = EmbeddedDevice::standalone()?;
    let cq = hca.create_cq(CqOptions::new(16))?;
    let (qp, peer) = (hca.create_qp(QpOptions::rc(cq.cqn))?, hca.create_qp(QpOptions::rc(cq.cqn))?);
    hca.connect_own(qp.qpn, peer.qpn, &ConnectOptions::default())?;
    let inbox = hca.buffer(4096)?;
    let (buf, cqe_cnt, cqe_size, dbrec, cq_uar) = (cq.buf, cq.cqe_cnt, cq.cqe_size, cq.dbrec, cq.cq_uar);
    let cq = CqParts { buf, cqe_cnt, cqe_size, dbrec, cq_uar, cqn: Cqn::truncate(cq.cqn), ci: CqCi::truncate(0) };
    // SAFETY: a new completion queue's parts; `hca` outlives it.
    let mut cq = unsafe { CompletionQueue::from_parts(cq)? };
    let mut shadow = [MaybeUninit::<WqeRecord>::uninit(); 64];
    let mut sq = SqParts {
        ring: qp.sq.buf,
        wqebbs: qp.sq.wqe_cnt,
        dbrec: qp.dbrec,
        qpn: Qpn::truncate(qp.qpn),
        cq: cq.id(),
        max_inline: 64,
        max_sge: 4,
        signal_all: false,
        pi: SqPi(0),
        shadow: NonNull::from(&mut shadow).cast(),
    };
    // SAFETY: a new queue pair's register; whenever a value is made of it, the one before is gone. `hca` outlives it.
    let register = || unsafe { ExclusiveRegister::from_parts(RegisterParts { reg: qp.bf_reg, size: qp.bf_size }) };
    let routine = match routine {
        Some(routine) => routine,
        None => {
            // SAFETY: parts of a new queue pair; queue and register are gone before others are made of them.
            let mut queue = unsafe { SendQueue::<transport::Rc, _>::from_parts(sq, register()?)? };
            let routine = probe(&mut queue, &mut cq, &mut hca)?;
            sq.pi = queue.pi();
            routine
        }
    };
    println!("copying by {routine}");
    routine.dispatch(Trading { register: register()?, hca, inbox, sq, cq })?
}

/// Measures the routines of this CPU. The shares on a NIC say whether copies arrive in one piece. This device looks at
/// its registers only after a whole slice, and finds the last two copies.
fn probe(
    sq: &mut SendQueue<transport::Rc>,
    cq: &mut CompletionQueue,
    hca: &mut EmbeddedDevice,
) -> Result<CopyRoutine, Box<dyn Error>> {
    // The register here is ordinary memory. There MOVDIR64B has a cost that it never has on a register, and ST64B
    // faults.
    let routines = CopyRoutine::available().filter(|r| !matches!(r, CopyRoutine::Movdir64b | CopyRoutine::St64b));
    let start = Instant::now();
    let probe = sq.probe(cq, routines, || start.elapsed().as_nanos() as u64, || hca.run_until_idle())?;
    for ((routine, nanoseconds), (_, share)) in probe.costs().zip(probe.taken()) {
        println!("{routine:<10} {nanoseconds:5.1} ns a post, {:3.0} % of the copies taken", 100.0 * share);
    }
    Ok(probe.pick())
}

/// The objects of the main loop.
struct Trading {
    hca: EmbeddedDevice,
    inbox: Buffer,
    sq: SqParts,
    register: ExclusiveRegister,
    cq: CompletionQueue,
}

impl CopyVisitor for Trading {
    type Output = Result<(), Box<dyn Error>>;

    /// The main loop: sends orders of 28 bytes into the peer's memory.
    fn run<C: BlockCopy>(self, copy: C) -> Self::Output {
        let Self { mut hca, inbox, sq, register, mut cq } = self;
        // SAFETY: parts of a new queue pair that nothing else posts to; they and the shadow outlive the queue.
        let mut sq = unsafe { SendQueue::<transport::Rc, _>::from_parts(sq, register.with_copy(copy))? };
        let remote = Remote { addr: inbox.addr(), rkey: Rkey(inbox.rkey()) };
        for n in 0..1000_u64 {
            let order: [u8; 28] = std::array::from_fn(|i| (n as usize * 7 + i) as u8);
            sq.post(&wqe::write(remote).inline(&order).signaled(WrId(n)))?;
            hca.run_until_idle();
            let cqe = cq.poll().ok_or("no completion")?;
            assert_eq!(sq.complete(&cqe)?.wr_id, WrId(n));
            assert_eq!(inbox.to_vec(0, order.len()), order);
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
            assert_eq!(choose(Some(routine.name())).expect("a name"), Some(routine));
            trade(Some(routine)).expect("1000 orders");
        }
    }

    #[test]
    fn what_is_measured_can_be_used() {
        trade(choose(Some("probe")).expect("a choice")).expect("1000 orders");
        assert!(choose(Some("fastest")).is_err());
    }
}
