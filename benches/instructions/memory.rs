//! Queues on memory of this process, with no device.
use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::ptr::NonNull;

use blueflame::cq::compressed::Checksum;
use blueflame::cq::mode::{Compressed, PollMode, Standard};
use blueflame::cq::setup::CqParts;
use blueflame::cq::{CollapsedQueue, CompletionQueue, CqId};
use blueflame::db::{ExclusiveRegister, RecordlessRegister, Register, RegisterParts, SharedRegister};
use blueflame::queue::owning::{FreeList, Slot, SlotPool};
use blueflame::queue::recv::RqParts;
use blueflame::queue::send::{SqParts, WqeRecord};
use blueflame::queue::{RecvQueue, SendQueue};
use blueflame::transport::Transport;
use blueflame::types::{CqCi, Cqn, Lkey, Qpn, Rkey, SqPi};

/// WQEBBs, receive WQEs or CQEs of a ring: more than is posted or polled while counting.
pub(crate) const ENTRIES: usize = 256;
const ENTRY_BYTES: usize = 64;
const PAGE_BYTES: usize = 4096;
pub(crate) const QPN: u32 = 0x0001_86a5;
/// Where in a UAR page the first register is, and the bytes in one half of it.
pub(crate) const REGISTER: (usize, u32) = (0x800, 256);

/// Zeroed pages that stay.
pub(crate) fn pages(bytes: usize) -> NonNull<u8> {
    let layout = Layout::from_size_align(bytes.next_multiple_of(PAGE_BYTES), PAGE_BYTES).expect("a size");
    // SAFETY: nobody asks for zero bytes.
    NonNull::new(unsafe { alloc_zeroed(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
}

fn register_parts() -> RegisterParts {
    let (offset, size) = REGISTER;
    // SAFETY: inside of the page.
    RegisterParts { reg: unsafe { pages(PAGE_BYTES).add(offset) }, size }
}

/// A register for one queue.
pub(crate) fn exclusive() -> ExclusiveRegister {
    // SAFETY: a page of its own, which stays.
    unsafe { ExclusiveRegister::from_parts(register_parts()) }.expect("a register")
}

/// A register without BlueFlame, for one queue.
pub(crate) fn without_blueflame() -> ExclusiveRegister {
    // SAFETY: a page of its own, which stays.
    unsafe { ExclusiveRegister::from_parts(RegisterParts { size: 0, ..register_parts() }) }.expect("a register")
}

/// The register of a queue without a doorbell record.
pub(crate) fn recordless() -> RecordlessRegister {
    // SAFETY: a page of its own, which stays; the register is inside.
    unsafe { RecordlessRegister::from_raw(pages(PAGE_BYTES).add(RecordlessRegister::OFFSET)) }.expect("a register")
}

/// A register for several queues.
pub(crate) fn shared() -> &'static SharedRegister {
    // SAFETY: a page of its own, which stays.
    Box::leak(Box::new(unsafe { SharedRegister::from_parts(register_parts()) }.expect("a register")))
}

/// An empty send queue.
pub(crate) fn send_queue<T: Transport, R: Register>(register: R) -> SendQueue<T, R> {
    send_queue_on(CqId::NONE, register)
}

/// An empty send queue that completes to `cq`.
pub(crate) fn send_queue_on<T: Transport, R: Register>(cq: CqId, register: R) -> SendQueue<T, R> {
    let parts = SqParts {
        ring: pages(ENTRIES * ENTRY_BYTES).cast(),
        wqebbs: ENTRIES as u32,
        dbrec: pages(PAGE_BYTES).cast(),
        qpn: Qpn::new(QPN).expect("24 bits"),
        cq,
        max_inline: 220,
        max_sge: 16,
        signal_all: false,
        pi: SqPi(0),
        shadow: pages(ENTRIES * size_of::<WqeRecord>()).cast(),
    };
    // SAFETY: pages of its own, large enough, which stay; and there is no device.
    unsafe { SendQueue::from_parts(parts, register) }.expect("a queue")
}

/// An empty receive queue.
pub(crate) fn receive_queue(cq: CqId) -> RecvQueue {
    let parts = RqParts {
        buf: pages(ENTRIES * ENTRY_BYTES),
        wqe_cnt: ENTRIES as u32,
        stride: ENTRY_BYTES as u32,
        dbrec: pages(PAGE_BYTES).cast(),
        qpn: Qpn::new(QPN).expect("24 bits"),
        cq,
        flow_tags: false,
        head: 0,
        shadow: pages(RqParts::shadow_words(ENTRIES as u32) as usize * size_of::<u64>()).cast(),
    };
    // SAFETY: pages of its own, large enough, which stay; and there is no device.
    unsafe { RecvQueue::from_parts(parts) }.expect("a queue")
}

/// A queue of [`ENTRIES`] completions, of the sends that a queue of this file posts, one WQEBB each.
pub(crate) fn full_queue<M: PollMode<Compression = ()>>() -> CompletionQueue<M> {
    completion_queue(|n, cqe| {
        // The bytes of `struct mlx5_cqe64` that polling looks at; requester (opcode 0), of owner bit 0.
        cqe[44..48].copy_from_slice(&(8 + n as u32).to_be_bytes());
        cqe[56..60].copy_from_slice(&(0x08 << 24 | QPN).to_be_bytes());
        cqe[60..62].copy_from_slice(&(n as u16).to_be_bytes());
    })
}

/// A collapsed queue, and where the completion of the `n`th send of a queue of this file is to be written: as
/// [`tail_of_send`].
pub(crate) fn collapsed_queue() -> (CollapsedQueue, NonNull<u32>) {
    let buf = pages(PAGE_BYTES);
    // SAFETY: in the page, which stays, and of which no reference lives: the number of the queue pair, and the last byte
    // of a CQE never written.
    let tail = unsafe {
        buf.add(56).cast::<u32>().write((0x08 << 24 | QPN).to_be());
        buf.add(63).write(0xf0);
        buf.add(60).cast()
    };
    let parts = CqParts {
        buf,
        cqe_cnt: 1,
        cqe_size: ENTRY_BYTES as u32,
        dbrec: pages(PAGE_BYTES).cast(),
        cq_uar: pages(PAGE_BYTES),
        cqn: Cqn::new(1).expect("24 bits"),
        ci: CqCi::new(0).expect("24 bits"),
    };
    // SAFETY: a page of its own, which stays; and there is no device.
    (unsafe { CollapsedQueue::from_parts(parts) }.expect("a queue"), tail)
}

/// The last four bytes of the completion of the `n`th send, of one WQEBB.
pub(crate) fn tail_of_send(n: u64) -> u32 {
    ((n as u32) << 16).to_be()
}

/// A queue of [`ENTRIES`] completions of receives, in the order of a receive queue.
pub(crate) fn received_queue() -> CompletionQueue {
    completion_queue(|n, cqe| {
        cqe[44..48].copy_from_slice(&(8 + n as u32).to_be_bytes());
        cqe[56..60].copy_from_slice(&QPN.to_be_bytes());
        cqe[60..62].copy_from_slice(&(n as u16).to_be_bytes());
        // A SEND that was received (opcode 2), of owner bit 0.
        cqe[63] = 0x20;
    })
}

/// A queue of [`ENTRIES`] receives in sessions of 16.
pub(crate) fn compressed_queue() -> CompletionQueue<Compressed<Checksum>> {
    let queue = completion_queue::<Standard>(|n, cqe| match n % 16 {
        0 => {
            cqe[44..48].copy_from_slice(&16u32.to_be_bytes());
            cqe[56..60].copy_from_slice(&QPN.to_be_bytes());
            cqe[63] = 0x2c;
        }
        1 | 8 => (0..8).for_each(|mini| cqe[mini * 8 + 7] = 8),
        _ => cqe[63] = 0xf0,
    });
    // SAFETY: its completions are of this format, and none has been polled.
    unsafe { queue.compressed() }
}

/// A queue where nothing has completed.
pub(crate) fn empty_queue<M: PollMode<Compression = ()>>() -> CompletionQueue<M> {
    completion_queue(|_, cqe| cqe[63] = 0xf0)
}

fn completion_queue<M: PollMode<Compression = ()>>(fill: impl Fn(usize, &mut [u8; ENTRY_BYTES])) -> CompletionQueue<M> {
    let buf = pages(ENTRIES * ENTRY_BYTES);
    // SAFETY: the pages, which nobody else knows yet.
    let write = |n: usize, cqe| unsafe { buf.cast::<[u8; ENTRY_BYTES]>().add(n).write(cqe) };
    (0..ENTRIES).for_each(|n| write(n, [0xf0; ENTRY_BYTES]));
    let parts = CqParts {
        buf,
        cqe_cnt: ENTRIES as u32,
        cqe_size: ENTRY_BYTES as u32,
        dbrec: pages(PAGE_BYTES).cast(),
        cq_uar: pages(PAGE_BYTES),
        cqn: Cqn::new(1).expect("24 bits"),
        ci: CqCi::truncate(0),
    };
    // SAFETY: pages of its own, large enough, which stay; there is no device, so that nothing overruns the queue.
    let queue = unsafe { CompletionQueue::from_parts(parts).expect("a queue").with_mode_unchecked() };
    for n in 0..ENTRIES {
        let mut cqe = [0; ENTRY_BYTES];
        fill(n, &mut cqe);
        write(n, cqe);
    }
    queue
}

/// A pool of buffers, none of which is taken.
pub(crate) fn slot_pool() -> SlotPool {
    // SAFETY: does nothing.
    unsafe fn stay(_: NonNull<FreeList>) {}
    let list = NonNull::from(Box::leak(Box::new(FreeList::new(stay))));
    // SAFETY: all of it stays.
    let pool = unsafe { SlotPool::from_parts(list) };
    for _ in 0..ENTRIES {
        let slot = Slot::new(list, pages(PAGE_BYTES), PAGE_BYTES as u32, Lkey(1), Rkey(1));
        // SAFETY: all of it stays, and the slot is added once.
        unsafe { pool.add(NonNull::from(Box::leak(Box::new(slot)))) };
    }
    pool
}
