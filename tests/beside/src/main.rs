//! This crate in one program with `rdma-mummy-sys`, which other RDMA crates (`sideway`) stand on. That crate brings static
//! libraries by the names of libibverbs and libmlx5, with the functions that it needs itself, and the linker finds them first.
//!
//! Objects are made through its functions, and driven through this crate's: a WRITE to memory of this process.

use std::ptr::{NonNull, null_mut};
use std::time::{Duration, Instant};

use blueflame::verbs::{Access, Pool, adopt_context, adopt_cq, adopt_pd, adopt_qp};
use blueflame::{WrId, transport, wqe};
use rdma_mummy_sys as mummy;

fn main() {
    // SAFETY: each object is made of those before it, and all stay to the program's end.
    let (context, pd, raw_cq, raw_qp) = unsafe {
        let mut devices = 0;
        let list = mummy::ibv_get_device_list(&raw mut devices);
        assert!(!list.is_null() && devices > 0, "no RDMA device");
        let context = mummy::ibv_open_device(*list);
        let pd = mummy::ibv_alloc_pd(context);
        let cq = mummy::ibv_create_cq(context, 16, null_mut(), null_mut(), 0);
        let mut attr: mummy::ibv_qp_init_attr = std::mem::zeroed();
        (attr.send_cq, attr.recv_cq, attr.qp_type) = (cq, cq, mummy::ibv_qp_type::IBV_QPT_RC);
        (attr.cap.max_send_wr, attr.cap.max_send_sge, attr.cap.max_inline_data) = (16, 1, 64);
        (context, pd, cq, mummy::ibv_create_qp(pd, &raw mut attr))
    };
    let raw_cq = NonNull::new(raw_cq).expect("ibv_create_cq").cast();
    let raw_qp = NonNull::new(raw_qp).expect("ibv_create_qp").cast();
    // SAFETY: new, and driven by this crate alone from here on; the only queue pair of its context, so its register's only one.
    let (mut cq, mut pair) = unsafe { (adopt_cq(raw_cq).expect("adopt"), adopt_qp::<transport::Rc>(raw_qp).expect("adopt")) };
    let (context, pd) = (NonNull::new(context).expect("a context").cast(), NonNull::new(pd).expect("a PD").cast());
    // SAFETY: they stay to the program's end.
    let (device, pd) = unsafe { (adopt_context(context).expect("adopt"), adopt_pd(pd).expect("adopt")) };
    let mut pool = Pool::new(&pd, 64, Access::REMOTE_WRITE).expect("a pool in the other crate's domain");
    let buffer = pool.take(64).expect("room");
    let path = device.path(1, None).expect("a path");
    let itself = pair.qp.endpoint(&path);
    pair.qp.to_init(&path).expect("INIT");
    pair.sq.connect(&path, &itself, &itself).expect("connect");

    pair.sq.post(&wqe::write(buffer.remote()).inline(b"beside another crate").signaled(WrId(1))).expect("room");
    let begin = Instant::now();
    while cq.poll().map(|cqe| cqe.check().expect("a success")).is_none() {
        assert!(begin.elapsed() < Duration::from_secs(20), "no completion");
        std::thread::yield_now();
    }
    let mut written = [0; 20];
    buffer.read(0, &mut written);
    assert_eq!(&written, b"beside another crate");
    println!("written through both crates");
}
