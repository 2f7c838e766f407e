//! Posts by libmlx5, against posts by this crate.
//!
//! Bytes of posts belong here, their effects in `frames.rs`.
//!
//! libmlx5 has no way to post to a striding queue: `ibv_post_wq_recv` writes the data segment at the start of the WQE
//! (rdma-core `providers/mlx5/qp.c`, `mlx5_post_wq_recv`), where the device expects the segment of a linked list. Users
//! of `mlx5dv_create_wq` write the WQEs themselves, 16 bytes further on (DPDK `drivers/common/mlx5/mlx5_prm.h`, `struct
//! mlx5_wqe_mprq`; ska-sa/spead2 `ibv_wq_mprq_t::post_recv`). The segment itself, and the doorbell record, are the
//! same.

use blueflame::queue::striding::Strides;
use blueflame_sys as sys;

use crate::lab::{memory, port};
use crate::on_device::device;

fn ring_of(wq: *mut sys::ibv_wq) -> sys::mlx5dv_rwq {
    let mut out = sys::mlx5dv_rwq::ZERO;
    let mut object = sys::mlx5dv_obj { rwq: sys::mlx5dv_pair { r#in: wq, out: &raw mut out }, ..sys::mlx5dv_obj::ZERO };
    // SAFETY: the queue is alive.
    assert_eq!(unsafe { sys::mlx5dv_init_obj(&raw mut object, sys::MLX5DV_OBJ_RWQ) }, 0);
    out
}

#[test]
fn the_segment_and_the_record_are_those_of_libmlx5() {
    let _port = port();
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let strides = Strides::new(9, 6).expect("on every device");
    let cq = device.completion_queue(2 * strides.count()).build().expect("a CQ");
    let buffer = memory(&pd, 2, strides);
    let (addr, lkey) = (buffer.addr(), buffer.lkey());
    let rq = pd.work_queue(&cq).striding(buffer.strided(strides).expect("long")).build().expect("a queue");
    let raw = rq.handle().as_raw();
    let ring = ring_of(raw);
    assert_eq!((ring.stride, ring.wqe_cnt), (32, 2));
    // SAFETY: two WQEs, and the record's first word.
    let (ours, record) = unsafe { (*ring.buf.cast::<[[[u8; 16]; 2]; 2]>(), *ring.dbrec.cast::<[u8; 4]>()) };
    assert_eq!((ours[0][0], ours[1][0], record), ([0; 16], [0; 16], 2_u32.to_be_bytes()));

    // Back to the start, for libmlx5.
    let state = |state| {
        let mut attr = sys::ibv_wq_attr::ZERO;
        (attr.attr_mask, attr.wq_state) = (sys::IBV_WQ_ATTR_STATE, state);
        // SAFETY: alive.
        assert_eq!(unsafe { sys::ibv_modify_wq(raw, &raw mut attr) }, 0);
    };
    state(sys::IBV_WQS_ERR);
    state(sys::IBV_WQS_RESET);
    // SAFETY: the device does not read the ring in this state.
    unsafe { ring.buf.cast::<[[[u8; 16]; 2]; 2]>().write([[[0xa5; 16]; 2]; 2]) };
    for place in 0..2 {
        let length = strides.wqe_bytes();
        let mut sge = sys::ibv_sge { addr: addr + u64::from(place * length), length, lkey: lkey.0 };
        let mut wr = sys::ibv_recv_wr::ZERO;
        (wr.sg_list, wr.num_sge) = (&raw mut sge, 1);
        let mut bad = core::ptr::null_mut();
        // SAFETY: the queue takes nothing in this state; the request lives until the call returns.
        let posted = unsafe { (*raw).post_recv.expect("libmlx5 posts")(raw, &raw mut wr, &raw mut bad) };
        assert_eq!(posted, 0);
    }
    // SAFETY: two WQEs, and the record's first word.
    let (theirs, record) = unsafe { (*ring.buf.cast::<[[[u8; 16]; 2]; 2]>(), *ring.dbrec.cast::<[u8; 4]>()) };
    assert_eq!(record, 2_u32.to_be_bytes());
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours[1], theirs[0], "the data segment");
    }
    drop(rq);
}
