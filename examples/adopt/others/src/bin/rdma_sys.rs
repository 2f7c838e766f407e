//! Objects of `rdma-sys`, driven by blueflame. The feature `rdma-sys` converts each pointer to the crate's type of the
//! same structure; the rest is as in `examples/adopt/main.rs`.

#[path = "../../../traffic.rs"]
mod traffic;

use std::error::Error;
use std::ptr::{NonNull, null_mut};

use blueflame::transport;
use blueflame::verbs::adopt::{adopt_context, adopt_cq, adopt_pd, adopt_qp};
use blueflame::verbs::sys::rdma_sys as convert;

fn main() -> Result<(), Box<dyn Error>> {
    // SAFETY: each is made of those before it, and all stay to the program's end.
    let (context, pd, cq, qp) = unsafe {
        let mut devices = 0;
        let list = rdma_sys::ibv_get_device_list(&raw mut devices);
        assert!(!list.is_null() && devices > 0, "no RDMA device");
        let context = rdma_sys::ibv_open_device(*list);
        let pd = rdma_sys::ibv_alloc_pd(context);
        let cq = rdma_sys::ibv_create_cq(context, 64, null_mut(), null_mut(), 0);
        let mut attr: rdma_sys::ibv_qp_init_attr = std::mem::zeroed();
        (attr.send_cq, attr.recv_cq, attr.qp_type) = (cq, cq, rdma_sys::ibv_qp_type::IBV_QPT_RC);
        (attr.cap.max_send_wr, attr.cap.max_send_sge, attr.cap.max_inline_data) = (16, 1, 64);
        (context, pd, cq, rdma_sys::ibv_create_qp(pd, &raw mut attr))
    };
    // SAFETY: they stay, nobody else posts, polls or arms, and the queue pair is the only one of its context.
    let (device, domain, mut queue, mut pair) = unsafe {
        (
            adopt_context(NonNull::new(convert::from(context)).ok_or("ibv_open_device")?)?,
            adopt_pd(NonNull::new(convert::from(pd)).ok_or("ibv_alloc_pd")?)?,
            adopt_cq(NonNull::new(convert::from(cq)).ok_or("ibv_create_cq")?)?,
            adopt_qp::<transport::Rc>(NonNull::new(convert::from(qp)).ok_or("ibv_create_qp")?)?,
        )
    };
    traffic::run(&device, &domain, &mut pair, &mut queue)
}
