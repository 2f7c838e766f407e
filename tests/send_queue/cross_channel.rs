//! Requests about other queues, the clock and a word of memory as literal bytes, in memory filled with 0xa5: opcodes,
//! modifiers and segments as in DPDK (`drivers/common/mlx5/mlx5_prm.h`, `struct mlx5_wqe_qseg`, `struct mlx5_wqe_wseg`,
//! `MLX5_OPC_MOD_WAIT_*`; `drivers/net/mlx5/mlx5_txpp.c`), DOCA (`doca_gpu_dev_verbs_wqe_prepare_wait`,
//! `_prepare_dump`), the libmlx5 of MLNX_OFED 4.3 (`src/qp.c`, `set_wait_en_seg`) and Linux
//! (`drivers/net/ethernet/mellanox/mlx5/core/en_accel/ktls_tx.c`, `struct mlx5e_dump_wqe`), UCC
//! (`src/components/tl/mlx5/tl_mlx5_wqe.c`, `ucc_tl_mlx5_post_wait_on_data`) and NVIDIA's post-wait-on-data-wqe
//! (`src/post_wod_wqe.c`). The libmlx5 of rdma-core has none.
//!
//! Requests about other queues belong here, the queues' work in `devx/tests/device/cross_channel.rs`.

use std::num::NonZeroU32;

use blueflame::cq::CqId;
use blueflame::db::Managed;
use blueflame::queue::recv::RqParts;
use blueflame::queue::{RecvQueue, SendQueue};
use blueflame::transport::{RawPacket, Rc};
use blueflame::types::{CqCi, Cqn, Lkey, Qpn, WrId};
use blueflame::wqe::cross_channel::{DeviceClock, WaitError, WordCondition};
use blueflame::wqe::{self, CompletionMode, Request};

use crate::golden::{check, every_way};
use crate::requests::{DATA, LOCAL, ctrl};
use crate::rig::{OLD, QPN, Rig, Setup};

/// A queue's index and number.
const CQE: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0xfe, 0xdc, 0xba, 0, 0xab, 0xcd, 0xef];
/// `MLX5_WAIT_COND_CYCLIC_SMALLER`.
const CONDITION: [u8; 16] = [0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
/// A time, and the mask of `drivers/net/mlx5/mlx5_txq.c`, `mlx5_txq_dynf_timestamp_set`: three bits of seconds, and
/// nanoseconds.
const TIME: [u8; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff];
/// A time and the mask of a free-running clock of 1 GHz: eight seconds are less than 2^33 ticks.
const TICKS: [u8; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff];
/// Unsignalled, both kinds of WAIT have `MLX5_COMP_ONLY_FIRST_ERR` (`drivers/net/mlx5/mlx5_tx.h`, `mlx5_tx_cseg_init`).
const QUIET: u8 = 1 << 2;

fn until_time() -> Request<'static, wqe::operations::WaitTime, wqe::data::Nothing> {
    DeviceClock::REAL_TIME.at(0x0102_0304_0000_0000).wait_until(0x0102_0304_0506_0708).expect("within four seconds")
}

fn until_tick() -> Request<'static, wqe::operations::WaitTime, wqe::data::Nothing> {
    let clock = DeviceClock::free_running(NonZeroU32::new(1_000_000).expect("not 0"));
    clock.at(0x0102_0304_0000_0000).wait_until(0x0102_0304_0506_0708).expect("within four seconds")
}

/// A managed queue over a rig at the index 0x1234.
fn managed(rig: &Rig) -> SendQueue<Rc, Managed> {
    // SAFETY: the rig outlives the queue, and nothing else writes its memory.
    unsafe { SendQueue::from_parts(rig.parts(), Managed) }.expect("a queue")
}

/// Memory for a receive queue.
#[repr(align(64))]
struct Memory([u64; 64]);

/// A receive queue in which three requests are posted, up to the index 1.
fn receiving(Memory(memory): &mut Memory) -> RecvQueue {
    let start = std::ptr::NonNull::from(memory).cast::<u8>();
    // SAFETY: 64 words: 8 WQEs of 16 bytes, the record, and the shadow behind; they outlive the queue, and nothing else
    // uses them.
    unsafe {
        let parts = RqParts {
            buf: start,
            wqe_cnt: 8,
            stride: 16,
            dbrec: start.add(128).cast(),
            qpn: Qpn::truncate(QPN),
            cq: CqId::NONE,
            flow_tags: false,
            head: 0xfffe,
            shadow: start.add(192).cast(),
        };
        let mut rq = RecvQueue::from_parts(parts).expect("a queue");
        for n in 0..3 {
            rq.post_unchecked(WrId(n), &[LOCAL]).expect("room");
        }
        rq
    }
}

#[test]
fn on_reliable_connections() {
    let wait = wqe::wait_for_completion(Cqn::truncate(0x00ab_cdef), CqCi::truncate(0x00fe_dcba));
    check::<Rc, _, _>(wait.signaled(WrId(1)), &[ctrl(0, 0x0f, 2, 8), CQE], false);
    check::<Rc, _, _>(wait, &[ctrl(0, 0x0f, 2, QUIET), CQE], false);
    check::<Rc, _, _>(until_time(), &[ctrl(2, 0x0f, 3, QUIET), CONDITION, TIME], false);
    check::<Rc, _, _>(until_tick(), &[ctrl(2, 0x0f, 3, QUIET), CONDITION, TICKS], false);
    let always_told = until_tick().completion(CompletionMode::OnError);
    check::<Rc, _, _>(always_told, &[ctrl(2, 0x0f, 3, 0), CONDITION, TICKS], false);
    check::<Rc, _, _>(wqe::dump([LOCAL]).signaled(WrId(1)), &[ctrl(0, 0x23, 2, 8), DATA], false);
    check::<Rc, _, _>(wqe::dump_slice(&[LOCAL; 2]), &[ctrl(0, 0x23, 3, 0), DATA, DATA], false);

    let rig = Rig::new(Setup { pi: 0x1234, ..Setup::default() });
    let mut slave = managed(&rig);
    let enabled = |index: [u8; 2]| [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, index[0], index[1], 0, 0xc0, 0xff, 0xee];
    // SAFETY: no device acts on the requests.
    check::<Rc, _, _>(unsafe { slave.enable() }, &[ctrl(0, 0x17, 2, 0), enabled([0x12, 0x34])], false);
    slave.post(&wqe::send().inline(&[7; 100])).expect("room for two WQEBBs");
    // SAFETY: no device acts on the requests.
    check::<Rc, _, _>(
        unsafe { slave.enable() }.signaled(WrId(1)),
        &[ctrl(0, 0x17, 2, 8), enabled([0x12, 0x36])],
        false,
    );

    let mut memory = Memory([0; 64]);
    let rq = receiving(&mut memory);
    // SAFETY: no device acts on the requests.
    check::<Rc, _, _>(unsafe { rq.enable() }, &[ctrl(0, 0x16, 2, 0), enabled([0, 1])], false);
}

/// Without an Ethernet segment.
#[test]
fn on_raw_packets() {
    let wait = wqe::wait_for_completion(Cqn::truncate(0x00ab_cdef), CqCi::truncate(0x00fe_dcba));
    check::<RawPacket, _, _>(wait, &[ctrl(0, 0x0f, 2, QUIET), CQE], false);
    check::<RawPacket<0>, _, _>(until_time().signaled(WrId(1)), &[ctrl(2, 0x0f, 3, 8), CONDITION, TIME], false);
    check::<RawPacket, _, _>(wqe::dump([LOCAL]), &[ctrl(0, 0x23, 2, 0), DATA], false);
    let rig = Rig::new(Setup { pi: 0x00ab, ..Setup::default() });
    let mut enabled = [0; 16];
    enabled[10..].copy_from_slice(&[0, 0xab, 0, 0xc0, 0xff, 0xee]);
    // SAFETY: no device acts on the requests.
    check::<RawPacket, _, _>(unsafe { managed(&rig).enable() }, &[ctrl(0, 0x17, 2, 0), enabled], false);
    let mut memory = Memory([0; 64]);
    let receives = receiving(&mut memory);
    enabled[11] = 1;
    // SAFETY: no device acts on the requests.
    check::<RawPacket, _, _>(unsafe { receives.enable() }, &[ctrl(0, 0x16, 2, 0), enabled], false);
}

/// `wait_on_data_seg` of UCC, whose request is signalled: it waits for an equal value under a mask of the low half, both
/// in the CPU's order. post-wait-on-data-wqe gives both in big-endian order, and names the other comparisons. NVIDIA's
/// ldo inverts them (`format_wod_wqe`), and gives unsignalled requests `MLX5_CTRL_SEG_CE_CQE_ON_FIRST_CQE_ERROR`.
#[test]
fn for_a_word_of_memory() {
    let (addr, lkey) = (0x0102_0304_0506_0708, Lkey(0x2122_2324));
    let of_ucc = WordCondition::equals(0x0403_u64.swap_bytes()).bits(0xffff_ffff_u64.swap_bytes());
    let segment = |operation| [0, 0, 0, operation, 0x21, 0x22, 0x23, 0x24, 1, 2, 3, 4, 5, 6, 7, 8];
    let operands = [3, 4, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];
    let request = wqe::wait_for_word(addr, lkey, of_ucc).expect("aligned");
    check::<Rc, _, _>(request.signaled(WrId(1)), &[ctrl(1, 0x0f, 3, 8), segment(1), operands], false);
    let operands = [0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 255, 255, 255, 255, 255, 255, 255, 255];
    for (condition, operation) in [
        (WordCondition::equals as fn(u64) -> WordCondition, 1),
        (WordCondition::differs, 0x11),
        // The request's value comes first: it is bigger than the word.
        (WordCondition::is_less_than, 2),
        (WordCondition::is_at_least, 0x12),
        (WordCondition::is_more_than, 3),
        (WordCondition::is_at_most, 0x13),
    ] {
        let request = wqe::wait_for_word(addr, lkey, condition(0x1112_1314_1516_1718)).expect("aligned");
        check::<Rc, _, _>(request, &[ctrl(1, 0x0f, 3, QUIET), segment(operation), operands], false);
    }
}

/// Both sources refuse such an address: its lowest bits are the action while the condition does not hold.
#[test]
fn a_word_begins_at_a_multiple_of_8() {
    for addr in (1..8).map(|bits| 0x1000 | bits) {
        let refused = wqe::wait_for_word(addr, Lkey(1), WordCondition::equals(1)).expect_err("refused");
        assert_eq!(refused, WaitError::Misaligned { addr, alignment: 8 });
        assert!(refused.to_string().contains(&format!("{addr:#x}")), "{refused}");
    }
}

#[test]
fn every_way_has_the_modifier() {
    let wait = until_time().signaled(WrId(1));
    every_way!(Rc, wait, 0, 0, |wait| wait);
}

/// DPDK and MLNX_OFED's libmlx5 write neither the record nor a register of such a queue.
#[test]
fn a_managed_queue_has_no_doorbell() {
    let rig = Rig::new(Setup { pi: 0x1234, ..Setup::default() });
    let mut slave = managed(&rig);
    slave.post(&wqe::nop()).expect("room");
    slave.post(&wqe::send().inline(&[7; 100])).expect("room");
    let mut batch = slave.batch();
    batch.push(&wqe::nop()).expect("room");
    batch.push(&wqe::nop()).expect("room");
    batch.ring_doorbell();
    slave.stage(&wqe::nop()).expect("room").ring_doorbell();
    assert_eq!(slave.pi().0, 0x123a);
    assert_eq!(rig.ring()[4 * 64..][..8], [0, 0x12, 0x34, 0, 0xc0, 0xff, 0xee, 1]);
    assert_eq!(rig.ring()[64..][..8], [0, 0x12, 0x39, 0, 0xc0, 0xff, 0xee, 1]);
    assert_eq!(rig.dbrec(), [[OLD; 4]; 2]);
    assert_eq!(rig.page(), [OLD; 4096]);
}
