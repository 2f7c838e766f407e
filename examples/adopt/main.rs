//! This crate drives objects that other code made. Plain calls of libibverbs make a context, a protection domain, a completion
//! channel, a completion queue, a shared receive queue and queue pairs, as in a program that used libibverbs so far.
//!
//! `others/` does the same with `rdma-sys`, `sideway` and `ibverbs-sys`. It is a separate package, because building those
//! crates takes libclang and cmake. Their types are other names for the same C structures, so each pointer is cast.
//! Nothing else differs: all four programs share `traffic.rs`, the code after adoption.

mod traffic;

use std::process::ExitCode;
use std::ptr::{NonNull, null_mut};
use std::time::Duration;

use blueflame::cq::{Notify, Side};
use blueflame::verbs::adopt::{adopt_channel, adopt_context, adopt_cq, adopt_pd, adopt_qp, adopt_srq};
use blueflame::{WrId, transport, wqe};
use blueflame_sys as sys;
use clap::Parser;
use common::Failure;

/// Objects of libibverbs, driven by blueflame.
#[derive(Parser)]
#[command(version, max_term_width = 80)]
struct Options {
    /// RDMA device [default: the first]
    #[arg(short = 'd', long)]
    ib_dev: Option<String>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    common::exit("adopt", run(&options))
}

/// The objects of the other library. This crate destroys none of them.
struct Foreign {
    context: NonNull<sys::ibv_context>,
    pd: NonNull<sys::ibv_pd>,
    channel: NonNull<sys::ibv_comp_channel>,
    cq: NonNull<sys::ibv_cq>,
    srq: NonNull<sys::ibv_srq>,
    qp: NonNull<sys::ibv_qp>,
}

impl Foreign {
    /// Objects as any program makes them: plain verbs, no flags.
    fn new(options: &Options) -> Result<Self, Failure> {
        let context = open(options)?;
        // SAFETY: each is made of those before it; the attributes are integers and pointers, and live until the call
        // returns.
        unsafe {
            let pd = made("ibv_alloc_pd", sys::ibv_alloc_pd(context.as_ptr()))?;
            let channel = made("ibv_create_comp_channel", sys::ibv_create_comp_channel(context.as_ptr()))?;
            let cq = sys::ibv_create_cq(context.as_ptr(), 64, null_mut(), channel.as_ptr(), 0);
            let cq = made("ibv_create_cq", cq)?;
            let mut attr = sys::ibv_srq_init_attr::ZERO;
            (attr.attr.max_wr, attr.attr.max_sge) = (16, 1);
            let srq = made("ibv_create_srq", sys::ibv_create_srq(pd.as_ptr(), &raw mut attr))?;
            let mut attr = sys::ibv_qp_init_attr::ZERO;
            (attr.send_cq, attr.recv_cq, attr.srq) = (cq.as_ptr(), cq.as_ptr(), srq.as_ptr());
            attr.qp_type = sys::IBV_QPT_RC;
            (attr.cap.max_send_wr, attr.cap.max_send_sge, attr.cap.max_inline_data) = (16, 1, 64);
            let qp = made("ibv_create_qp", sys::ibv_create_qp(pd.as_ptr(), &raw mut attr))?;
            Ok(Self { context, pd, channel, cq, srq, qp })
        }
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        // SAFETY: in the order that verbs requires; this crate's values over these objects are gone.
        let returned = unsafe {
            [
                sys::ibv_destroy_qp(self.qp.as_ptr()),
                sys::ibv_destroy_srq(self.srq.as_ptr()),
                sys::ibv_destroy_cq(self.cq.as_ptr()),
                sys::ibv_destroy_comp_channel(self.channel.as_ptr()),
                sys::ibv_dealloc_pd(self.pd.as_ptr()),
                sys::ibv_close_device(self.context.as_ptr()),
            ]
        };
        assert_eq!(returned, [0; 6], "this crate still has something of it");
    }
}

fn open(options: &Options) -> Result<NonNull<sys::ibv_context>, Failure> {
    let mut count = 0;
    // SAFETY: a list of `count` devices, which is freed; a device that was opened stays.
    unsafe {
        let list = made("ibv_get_device_list", sys::ibv_get_device_list(&raw mut count))?;
        let wanted = |device: &&*mut sys::ibv_device| {
            let name = std::ffi::CStr::from_ptr(sys::ibv_get_device_name(**device));
            options.ib_dev.as_deref().is_none_or(|wanted| name.to_bytes() == wanted.as_bytes())
        };
        let devices = std::slice::from_raw_parts(list.as_ptr(), count.try_into()?);
        let context = devices.iter().find(wanted).map(|device| sys::ibv_open_device(*device));
        sys::ibv_free_device_list(list.as_ptr());
        made("ibv_open_device", context.ok_or("no such RDMA device")?)
    }
}

fn made<T>(call: &str, object: *mut T) -> Result<NonNull<T>, Failure> {
    NonNull::new(object).ok_or_else(|| format!("{call}: {}", std::io::Error::last_os_error()).into())
}

fn run(options: &Options) -> Result<(), Failure> {
    // Dropped last of all: it was made first.
    let foreign = Foreign::new(options)?;
    // ANCHOR: adopt
    // SAFETY: all of it outlives the values made here, and no other code posts, polls, arms or rings: `foreign` is only
    // dropped. The queue pair is the only one of its context, so its doorbell register is its own.
    let (device, pd, channel, mut cq, mut srq, mut pair) = unsafe {
        (
            adopt_context(foreign.context)?,
            adopt_pd(foreign.pd)?,
            adopt_channel(foreign.channel),
            adopt_cq(foreign.cq)?,
            adopt_srq(foreign.srq)?,
            adopt_qp::<transport::Rc>(foreign.qp)?,
        )
    };
    // ANCHOR_END: adopt
    traffic::run(&device, &pd, &mut pair, &mut cq).map_err(|error| error.to_string())?;

    // Send a message into a receive of the foreign shared queue, and wait for it on the foreign channel.
    let mut pool = blueflame::verbs::Pool::new(&pd, 4096, blueflame::verbs::Access::LOCAL_WRITE)?;
    let mailbox = pool.take(64)?;
    // SAFETY: the buffer is read when the receive has completed, and lives longer than the queue.
    unsafe { srq.post_unchecked(WrId(7), &[mailbox.sge()])? };
    cq.arm(Notify::Any);
    // More than 32 bytes: plain queue pairs let the device put up to 32 bytes into the completion instead of the
    // buffer.
    let message = b"to a shared receive queue of libibverbs, of 48 B";
    pair.sq.post(&wqe::send().inline(message).signaled(WrId(8)))?;
    let mut left = 2;
    while left > 0 {
        channel.wait_timeout(Duration::from_secs(20))?.ok_or("no event on the channel")?;
        cq.event_received();
        cq.arm(Notify::Any);
        left -= cq.try_poll_with(left, |cqe| {
            match cqe.side() {
                // SAFETY: the queue pair receives from there; polled once.
                Some(Side::Responder) => _ = unsafe { srq.complete(&cqe) }?,
                Some(Side::Requester) | None => _ = pair.sq.complete(&cqe)?,
            }
            Ok::<_, Failure>(())
        })?;
    }
    let mut arrived = [0; 48];
    mailbox.read(0, &mut arrived);
    if &arrived != message {
        return Err(Failure::Data("another message arrived".into()));
    }
    println!("received: {:?}", String::from_utf8_lossy(&arrived));
    Ok(())
}
