//! Asking for an event: the arm word of the record, and the doorbell.
//!
//! Arming belongs here, waiting for the event in `tests/lifecycle/modes.rs`.

use blueflame::cq::Notify;
use blueflame::verbs::OwnedCq;
use blueflame::{Remote, transport};
use blueflame_sys as sys;
use blueflame_testkit::request::{Data, Kind, Wr};

use crate::compare::Window;
use crate::post::Way;
use crate::twin::Twins;
use crate::verbs::{Fabric, Geometry};

/// Offset of the doorbell in the UAR page (rdma-core `providers/mlx5/mlx5dv.h`, `MLX5_CQ_DOORBELL`).
const DOORBELL: usize = 0x20;

fn parts(cq: &OwnedCq) -> sys::mlx5dv_cq {
    // SAFETY: numbers and pointers, for which zero is a value; the queue is alive.
    unsafe {
        let mut parts = sys::mlx5dv_cq::ZERO;
        let pair = sys::mlx5dv_pair::<sys::ibv_cq, _> { r#in: cq.handle().as_raw(), out: &raw mut parts };
        let mut obj = sys::mlx5dv_obj { cq: pair, ..sys::mlx5dv_obj::ZERO };
        assert_eq!(sys::mlx5dv_init_obj(&raw mut obj, sys::MLX5DV_OBJ_CQ), 0);
        parts
    }
}

/// Both words of the record, and the doorbell's two if the page is open.
fn stored(parts: &sys::mlx5dv_cq, open: bool) -> ([u32; 2], Option<[u32; 2]>) {
    let doorbell = parts.cq_uar.cast::<u8>().wrapping_add(DOORBELL).cast::<u32>();
    // SAFETY: the queue's record, and its mapped UAR page if that does not trap.
    let words = |at: *mut u32| [0, 1].map(|n| u32::from_be(unsafe { at.add(n).read_volatile() }));
    (words(parts.dbrec), open.then(|| words(doorbell)))
}

#[test]
fn arming_stores_the_same() {
    let fabric = Fabric::new();
    let mut twins = Twins::<transport::Rc>::new(&fabric, &Geometry { inline: 32, ..Geometry::default() }, true);
    let (theirs, ours) = (twins.theirs.send_cq.parts, parts(&twins.ours.send_cq));
    let open = Window::is_open(theirs.cq_uar.addr());
    let remote = Remote { addr: fabric.buffer.addr(), rkey: fabric.buffer.rkey() };
    for round in 0..1100_u64 {
        let solicited = round % 3 == 1;
        twins.theirs.send_cq.arm(solicited);
        let (their_record, their_doorbell) = stored(&theirs, open);
        twins.ours.send_cq.arm(if solicited { Notify::Solicited } else { Notify::Any });
        let (our_record, our_doorbell) = stored(&ours, open);
        assert_eq!(their_record, our_record, "round {round}");
        if let (Some(theirs_rung), Some(ours_rung)) = (their_doorbell, our_doorbell) {
            assert_eq!(theirs_rung[0], ours_rung[0], "round {round}");
            assert_eq!([theirs_rung[1], ours_rung[1]], [theirs.cqn, ours.cqn]);
        }
        let wr = Wr::new(Kind::Write(remote), Data::Inline(vec![round as u8; 8]), round);
        twins.send(Way::PostSend, false, &[wr]).expect("equal");
        assert_eq!(twins.send_completion().expect("equal").status, 0);
    }
}
