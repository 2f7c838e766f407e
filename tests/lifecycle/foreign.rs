//! Contexts, protection domains, channels and shared receive queues of another library, under queues of this crate.
//!
//! Objects under a queue belong here, adopted queues in `adopted.rs`.

use std::ptr::{NonNull, null_mut};
use std::time::Duration;

use blueflame::cq::{Notify, Side};
use blueflame::verbs::adopt::{adopt_channel, adopt_context, adopt_pd, adopt_srq};
use blueflame::verbs::async_event::{AsyncEvent, SrqEvent};
use blueflame::verbs::{Access, Error, OwnedSrq, Pool};
use blueflame::{WrId, transport, wqe};
use blueflame_sys as sys;

use crate::on_device::wait_for;

/// How long an event may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// As another library makes them. Objects that are left at its drop must be destroyed without a complaint: they still
/// exist, and no object made of them is left.
struct Foreign {
    context: NonNull<sys::ibv_context>,
    pd: NonNull<sys::ibv_pd>,
    channel: NonNull<sys::ibv_comp_channel>,
    srq: NonNull<sys::ibv_srq>,
}

impl Foreign {
    fn new() -> Self {
        let mut attr = sys::ibv_srq_init_attr {
            srq_context: null_mut(),
            attr: sys::ibv_srq_attr { max_wr: 16, max_sge: 1, srq_limit: 0 },
        };
        // SAFETY: each object is made of those before it.
        unsafe {
            let list = sys::ibv_get_device_list(null_mut());
            let context = NonNull::new(sys::ibv_open_device(*list)).expect("a device");
            sys::ibv_free_device_list(list);
            let pd = NonNull::new(sys::ibv_alloc_pd(context.as_ptr())).expect("a PD");
            let channel = NonNull::new(sys::ibv_create_comp_channel(context.as_ptr())).expect("a channel");
            let srq = NonNull::new(sys::ibv_create_srq(pd.as_ptr(), &raw mut attr)).expect("an SRQ");
            Self { context, pd, channel, srq }
        }
    }

    /// The shared receive queue, posted to by this crate alone.
    fn srq(&self) -> Result<OwnedSrq, Error> {
        // SAFETY: alive as long as `self`; the test alone posts to it.
        unsafe { adopt_srq(self.srq) }
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        // SAFETY: the objects made of them are gone.
        unsafe {
            assert_eq!(sys::ibv_destroy_srq(self.srq.as_ptr()), 0);
            assert_eq!(sys::ibv_destroy_comp_channel(self.channel.as_ptr()), 0);
            assert_eq!(sys::ibv_dealloc_pd(self.pd.as_ptr()), 0);
            assert_eq!(sys::ibv_close_device(self.context.as_ptr()), 0);
        }
    }
}

#[test]
fn queues_and_memory_are_made_of_foreign_objects() {
    let foreign = Foreign::new();
    // SAFETY: alive to the end of the test, after everything made of them.
    let (device, pd, channel) = unsafe {
        (adopt_context(foreign.context).unwrap(), adopt_pd(foreign.pd).unwrap(), adopt_channel(foreign.channel))
    };
    assert_eq!((device.as_raw(), pd.as_raw()), (foreign.context.as_ptr(), foreign.pd.as_ptr()));
    assert_eq!((pd.device().name(), pd.device().as_raw()), (device.name(), device.as_raw()));
    let mut srq = foreign.srq().expect("adopt");
    let mut cq = device.completion_queue(64).channel(&channel).context(7).build().expect("a completion queue");
    // A thread domain of one handle of the domain, a queue pair of another: they are one domain.
    // SAFETY: alive to the end of the test, after everything made of it.
    let thread = unsafe { adopt_pd(foreign.pd) }.expect("adopt").thread_domain().expect("a thread domain");
    let builder = pd.queue_pair::<transport::Rc>(&cq, &cq).sends(16).inline(32);
    let mut pair = builder.shared_recv_queue(srq.handle()).build_in(&thread).expect("a queue pair");
    let path = device.path(1, None).expect("a path");
    let itself = pair.qp.endpoint(&path);
    pair.qp.to_init(&path).expect("INIT");
    pair.connect(&path, &itself, &itself).expect("connect");
    let mut pool = Pool::new(&pd, 4096, Access::ALL).expect("a pool");
    let buffer = pool.take(64).expect("room");

    cq.arm(Notify::Any);
    // SAFETY: the buffer is looked at when the receive has completed.
    unsafe { srq.post_unchecked(WrId(3), &[buffer.sge()]) }.expect("room");
    srq.handle().arm_limit(1).expect("a limit");
    pair.sq.post(&wqe::send().inline(b"through foreign objects").signaled(WrId(4))).expect("room");
    assert_eq!(channel.wait_timeout(PATIENCE).expect("a channel").expect("an event").context, 7);
    cq.event_received();
    let mut sides = Vec::new();
    wait_for("both completions", || {
        cq.poll_with(2, |cqe| {
            sides.push(cqe.check().expect("a success"));
            match cqe.side() {
                // SAFETY: the queue pair receives from there; polled once.
                Some(Side::Responder) => assert_eq!(unsafe { srq.retire(&cqe) }, Ok(WrId(3))),
                _ => assert_eq!(pair.sq.retire(&cqe).expect("outstanding").wr_id, WrId(4)),
            }
        });
        (sides.len() == 2).then_some(())
    });
    let mut bytes = [0; 23];
    buffer.read(0, &mut bytes);
    assert_eq!(&bytes, b"through foreign objects");
    // The receive was the last one; the event tells the number of the queue.
    let limit = AsyncEvent::Srq { srqn: srq.handle().srqn(), kind: SrqEvent::LimitReached };
    let events = device.async_events();
    wait_for("the limit", || (events.wait_timeout(PATIENCE).expect("events") == Some(limit)).then_some(()));
}

#[test]
fn a_shared_receive_queue_is_adopted_once_and_empty() {
    let foreign = Foreign::new();
    let first = foreign.srq().expect("adopt");
    let number = first.handle().srqn().get();
    assert_eq!(foreign.srq().expect_err("twice"), Error::Taken { object: "shared receive queue", number });
    drop(first);
    drop(foreign.srq().expect("free again"));
    let (mut receive, mut bad) =
        (sys::ibv_recv_wr { wr_id: 1, next: null_mut(), sg_list: null_mut(), num_sge: 0 }, null_mut());
    // SAFETY: a receive of no bytes.
    assert_eq!(unsafe { sys::ibv_post_srq_recv(foreign.srq.as_ptr(), &raw mut receive, &raw mut bad) }, 0);
    let error = foreign.srq().expect_err("the other library has posted to it");
    assert!(error.to_string().contains("receives were posted to it"), "{error}");
}
