//! This crate in one program with `rdma-mummy-sys`, which other RDMA crates (`sideway`) stand on. That crate brings static
//! libraries by the names of libibverbs and libmlx5, with the functions that it needs itself, and the linker finds them first.
//!
//! Objects are made through its functions, and driven through this crate's: a WRITE to memory of this process.

use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};
use std::time::{Duration, Instant};

use blueflame::types::{Psn, Rkey, WrId};
use blueflame::verbs::{Device, Path, adopt_cq, adopt_qp};
use blueflame::{Remote, transport, wqe};
use rdma_mummy_sys as mummy;

fn main() {
    // SAFETY: each object is made of those before it, and all stay to the program's end.
    let (pd, raw_cq, raw_qp) = unsafe {
        let mut devices = 0;
        let list = mummy::ibv_get_device_list(&raw mut devices);
        assert!(!list.is_null() && devices > 0, "no RDMA device");
        let context = mummy::ibv_open_device(*list);
        let pd = mummy::ibv_alloc_pd(context);
        let cq = mummy::ibv_create_cq(context, 16, null_mut(), null_mut(), 0);
        let mut attr: mummy::ibv_qp_init_attr = std::mem::zeroed();
        (attr.send_cq, attr.recv_cq, attr.qp_type) = (cq, cq, mummy::ibv_qp_type::IBV_QPT_RC);
        (attr.cap.max_send_wr, attr.cap.max_send_sge, attr.cap.max_inline_data) = (16, 1, 64);
        (pd, cq, mummy::ibv_create_qp(pd, &raw mut attr))
    };
    let mut memory = [0_u8; 64];
    let access = mummy::ibv_access_flags::IBV_ACCESS_LOCAL_WRITE | mummy::ibv_access_flags::IBV_ACCESS_REMOTE_WRITE;
    let start: *mut c_void = (&raw mut memory).cast();
    // SAFETY: memory of this function, which does not return before the program ends.
    let mr = unsafe { mummy::ibv_reg_mr(pd, start, 64, access.0 as i32) };
    assert!(!mr.is_null(), "ibv_reg_mr");
    // SAFETY: just made.
    let remote = Remote { addr: start.expose_provenance() as u64, rkey: Rkey(unsafe { (*mr).rkey }) };

    let raw_cq = NonNull::new(raw_cq).expect("ibv_create_cq").cast();
    let raw_qp = NonNull::new(raw_qp).expect("ibv_create_qp").cast();
    // SAFETY: new, and driven by this crate alone from here on; the only queue pair of its context, so its register's only one.
    let (mut cq, mut pair) = unsafe { (adopt_cq(raw_cq).expect("adopt"), adopt_qp::<transport::Rc>(raw_qp).expect("adopt")) };
    let device = Device::open_first().expect("the same device");
    let port = device.port(1).expect("port 1");
    let path = Path::new(port, device.default_gid(&port).ok());
    let itself = pair.qp.endpoint_with(&path, Psn::truncate(7));
    pair.qp.to_init(&path).expect("INIT");
    pair.sq.connect(&path, &itself, &itself).expect("connect");

    pair.sq.post(&wqe::write(remote).inline(b"beside another crate").signaled(WrId(1))).expect("room");
    let begin = Instant::now();
    while cq.poll().map(|cqe| cqe.check().expect("a success")).is_none() {
        assert!(begin.elapsed() < Duration::from_secs(20), "no completion");
        std::thread::yield_now();
    }
    // SAFETY: the array, which the device has written.
    let written = unsafe { (&raw const memory).cast::<[u8; 20]>().read_volatile() };
    assert_eq!(&written, b"beside another crate");
    println!("written through both crates");
}
