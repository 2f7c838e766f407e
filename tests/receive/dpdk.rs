//! Receive WQEs of striding queues that DPDK itself made, in `dpdk.wqes`: this crate posts the same bytes.
//!
//! Recorded WQEs belong here, literal ones in `own.rs`.

use core::ptr::NonNull;

use blueflame::cq::CqId;
use blueflame::queue::striding::{
    BufferState, Slab, SlabParts, StridedMemory, Strides, StridingParts, StridingRecvQueue,
};
use blueflame::types::{Lkey, Qpn};

/// Bytes of a WQE, and the place of the buffer's address in it (DPDK `drivers/common/mlx5/mlx5_prm.h`,
/// `struct mlx5_wqe_mprq`).
const WQE_BYTES: usize = 32;
const ADDRESS: usize = 24;
/// WQEs of a ring, at least as many as are recorded of a queue.
const WQES: usize = 4;

#[derive(Clone)]
#[repr(C, align(4096))]
struct Page([u8; 4096]);

fn pages(bytes: usize) -> Vec<Page> {
    vec![Page([0xa5; 4096]); bytes.div_ceil(4096)]
}

fn start<T>(pages: &mut [Page]) -> NonNull<T> {
    NonNull::from(pages).cast()
}

/// The queues of the record: log2 of the strides of a WQE, log2 of the bytes of a stride, and the first WQEs
/// that the device took.
fn recorded() -> Vec<(u8, u8, Vec<[u8; WQE_BYTES]>)> {
    let mut queues = Vec::new();
    for line in include_str!("dpdk.wqes").lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(strides) = line.strip_prefix("strides ") {
            let (count, bytes) = strides.split_once(' ').expect("two numbers");
            queues.push((count.parse().expect("a number"), bytes.parse().expect("a number"), Vec::new()));
            continue;
        }
        let byte = |n: usize| u8::from_str_radix(&line[2 * n..2 * n + 2], 16).expect("hexadecimal");
        queues.last_mut().expect("strides come first").2.push(core::array::from_fn(byte));
    }
    queues
}

/// DPDK keeps a header of its own between the buffers, so that their addresses are others. All else is the same.
#[test]
fn posts_are_the_bytes_that_dpdk_made() {
    unsafe fn stays(_: NonNull<Slab>) {}
    let queues = recorded();
    assert!(queues.len() >= 2 && queues.iter().any(|(.., wqes)| wqes.len() > 1));
    for (log_count, log_bytes, wqes) in queues {
        let [first, ..] = &wqes[..] else { panic!("no WQE") };
        let lkey = Lkey(u32::from_be_bytes(first[20..24].try_into().expect("four")));
        let strides = Strides::new(log_count, log_bytes).expect("possible");
        let bytes = strides.wqe_bytes() as usize;
        let (mut ring, mut record, mut shadow) = (pages(WQES * WQE_BYTES), pages(4), pages(WQES * 8));
        let (mut slab, mut states) = (pages(size_of::<Slab>()), pages(WQES * size_of::<BufferState>()));
        let mut buffers = pages(WQES * bytes);
        let begin = start::<u8>(&mut buffers);
        let parts = SlabParts {
            slab: start(&mut slab),
            states: start(&mut states),
            buffers: WQES as u32,
            start: begin,
            lkey,
            strides,
            release: stays,
        };
        // SAFETY: memory of its own, large enough, which lives longer than the queue; no device looks, nor below.
        let memory = unsafe { StridedMemory::from_parts(parts) };
        let ring = start::<[u8; WQE_BYTES]>(&mut ring);
        let record = start::<u32>(&mut record);
        let parts = StridingParts {
            buf: ring.cast(),
            wqe_cnt: WQES as u32,
            stride: WQE_BYTES as u32,
            dbrec: record,
            qpn: Qpn::truncate(7),
            cq: CqId::NONE,
            shadow: start(&mut shadow),
        };
        // SAFETY: memory of its own, large enough, which lives longer than the queue; no device looks.
        let mut rq = unsafe { StridingRecvQueue::from_parts(parts, memory) }.expect("a queue");
        assert_eq!(rq.refill(), WQES as u32);
        for (n, mut expected) in wqes.into_iter().enumerate() {
            let address = begin.as_ptr().expose_provenance() as u64 + (n * bytes) as u64;
            expected[ADDRESS..].copy_from_slice(&address.to_be_bytes());
            // SAFETY: a WQE of the ring.
            assert_eq!(unsafe { ring.add(n).read() }, expected, "WQE {n} of 2^{log_count} strides");
        }
        // SAFETY: the record's word.
        assert_eq!(unsafe { record.read() }, (WQES as u32).to_be());
        drop(rq);
    }
}
