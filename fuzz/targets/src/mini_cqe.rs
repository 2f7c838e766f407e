//! Any bytes as a completion queue whose completions are compressed: polling ends, and every accessor gives a value.

use blueflame::cq::compressed::{BASIC, Checksum, ChecksumStride, ENHANCED, FlowTag, Hash, Headers, MiniFormat};
use blueflame::cq::setup::CqParts;
use blueflame::cq::{CompletionQueue, CqeError};
use blueflame::types::{CqCi, Cqn, Qpn};

use super::memory::Arena;

input_struct! {
    /// A queue, and its contents.
    Input {
        /// CQEs of 128 bytes, not 64.
        wide: bool,
        /// log2 of the number of CQEs; the low 3 bits count.
        log_cqes: u8,
        /// Format and layout of sessions.
        kind: u8,
        /// How many completions each call polls; 0: a queue pair's are forgotten.
        steps: Vec<u8>,
        /// The ring's first bytes; the rest is as the driver leaves it.
        cqes: Vec<[u8; 64]>,
    }
}

/// Polls everything there is.
pub fn run(input: &Input) {
    match input.kind % 10 {
        0 => poll::<Hash, BASIC>(input),
        1 => poll::<Checksum, BASIC>(input),
        2 => poll::<FlowTag, BASIC>(input),
        3 => poll::<ChecksumStride, BASIC>(input),
        4 => poll::<Headers, BASIC>(input),
        5 => poll::<Hash, ENHANCED>(input),
        6 => poll::<Checksum, ENHANCED>(input),
        7 => poll::<FlowTag, ENHANCED>(input),
        8 => poll::<ChecksumStride, ENHANCED>(input),
        _ => poll::<Headers, ENHANCED>(input),
    }
}

fn poll<F: MiniFormat, const ENHANCED: bool>(input: &Input) {
    let cqe_cnt = 1 << (input.log_cqes & 7);
    let cqe_size = if input.wide { 128 } else { 64 };
    let ring = Arena::new((cqe_cnt * cqe_size) as usize, 0xf0);
    let (record, uar) = (Arena::new(8, 0), Arena::new(0x28, 0));
    let parts = CqParts {
        buf: ring.ptr(),
        cqe_cnt,
        cqe_size,
        dbrec: record.ptr().cast(),
        cq_uar: uar.ptr(),
        cqn: Cqn::truncate(7),
        ci: CqCi::truncate(0),
    };
    // SAFETY: the arenas outlive the queue; nobody else uses them; the ring does not change, so nothing overruns.
    let mut cq = unsafe { CompletionQueue::from_parts(parts).expect("parts of a queue").compressed::<F, ENHANCED>() };
    for (i, bytes) in input.cqes.iter().enumerate().take(ring.len() / 64) {
        ring.scribble(i * 64, bytes);
    }
    let mut polled = 0;
    let mut look = |max| {
        let before = cq.consumer_index();
        let found = cq.poll_with(max, |cqe| {
            let copy = cqe.copy();
            assert_eq!(format!("{cqe:?}"), format!("{copy:?}"));
            let of_packet = (cqe.rx_hash(), cqe.packet_sum(), cqe.vlan(), cqe.l3_header(), cqe.l4_header());
            assert_eq!(of_packet, (copy.rx_hash(), copy.packet_sum(), copy.vlan(), copy.l3_header(), copy.l4_header()));
            assert_eq!(
                cqe.check().is_err_and(|error| error == CqeError::Compressed),
                cqe.check() == Err(CqeError::Compressed)
            );
        });
        assert!(found <= max);
        assert_eq!(cq.consumer_index(), before.add(found as u32));
        found
    };
    for &step in input.steps.iter().take(64) {
        polled += look(usize::from(step));
    }
    polled += look(1000);
    // Polling marks the polled CQEs of a session; in the next pass the rest belongs to an older session.
    assert!(polled <= 2 * cqe_cnt as usize, "{polled} completions in a ring of {cqe_cnt}");
    cq.forget(Qpn::truncate(1));
    cq.poll_with(1000, |_| ());
}
