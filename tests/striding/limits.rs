//! Refusals, before anything is made.
//!
//! Refusals at creation belong here, errors in use in `states.rs`.

use blueflame::SetupError;
use blueflame::cq::compressed::{Checksum, ChecksumStride, Hash, Strided};
use blueflame::cq::setup::RoomError;
use blueflame::queue::striding::Strides;
use blueflame::verbs::{Access, Error};

use crate::frames::possible;
use crate::lab::{memory, port};
use crate::on_device::device;

#[test]
fn sizes_are_checked() {
    let _port = port();
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let limits = device.attr().striding.expect("striding queues");
    assert_eq!((limits.min_log_bytes, limits.max_log_bytes, limits.max_log_count), (6, 13, 16));
    let strides = Strides::new(9, 6).expect("on every device");
    let cq = device.completion_queue(4 * strides.count()).build().expect("a CQ");
    let room = cq.room();
    let strided = |buffers| memory(&pd, buffers, strides).strided(strides).expect("long enough");
    let refused = |buffers, receives: u32| {
        pd.work_queue(&cq).receives(receives).striding(strided(buffers)).build().expect_err("refused")
    };

    assert_eq!(
        refused(4, 1),
        Error::OutOfRange { what: "receives of a striding work queue", value: 1, min: 2, max: 1 << 15 }
    );
    let buffers = room / 512 + 1;
    let error = RoomError { room, reserved: 0, completions: buffers * 512 };
    assert_eq!(refused(buffers, 1 << 15), Error::CqRoom { cqn: cq.handle().cqn(), error });
    // Fewer buffers than receives count.
    drop(pd.work_queue(&cq).receives(1 << 10).striding(strided(2)).build().expect("two buffers' strides"));
    let two = pd.work_queue(&cq).recv_sge(2).striding(strided(2)).build();
    let what = "scatter entries of a striding work queue";
    assert_eq!(two.expect_err("refused"), Error::OutOfRange { what, value: 2, min: 1, max: 1 });

    let extended = Strides::new(limits.min_log_count.max(4) - 1, 13).expect("possible somewhere");
    let few = memory(&pd, 4, extended).strided(extended).expect("long enough");
    let few = pd.work_queue(&cq).striding(few).build();
    match limits.min_log_count {
        9 => {
            let what = "log2 of the strides of a WQE";
            let error = Error::Setup(SetupError::OutOfRange { what, value: 8, min: 9, max: 16 });
            assert_eq!(few.expect_err("not the extended range"), error);
            assert_eq!(error.to_string(), "log2 of the strides of a WQE: 8 asked for, 9 to 16 possible");
        }
        _ => drop(few.expect("the extended range")),
    }
}

#[test]
fn memory_is_checked() {
    let _port = port();
    let pd = device().protection_domain().expect("a PD");
    let strides = Strides::new(9, 6).expect("on every device");
    let short = pd.register(blueflame::verbs::memory::Pages::map(4096).expect("memory").0, Access::LOCAL_WRITE);
    let error = short.expect("registered").strided(strides).expect_err("too short");
    assert_eq!(error, Error::ShortMemory { bytes: 4096, wqe_bytes: 1 << 15 });
    assert_eq!(error.to_string(), "4096 bytes of memory for WQEs of 32768 bytes: one WQE at least");
    let (pages, _) = blueflame::verbs::memory::Pages::map(1 << 16).expect("memory");
    let error =
        pd.register(pages, Access::LOCAL_READ).expect("registered").strided(strides).expect_err("the device writes");
    assert_eq!(error, Error::AccessMissing { needs: Access::LOCAL_WRITE, has: Access::LOCAL_READ });
}

#[test]
fn compressed_completions_must_tell_the_strides() {
    let _port = port();
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let strides = possible()[0];
    macro_rules! made {
        ($format:ty) => {{
            let cq = device.completion_queue(2 * strides.count()).compressed::<$format>().build().expect("a CQ");
            let memory = memory(&pd, 2, strides).strided(strides).expect("long enough");
            let made = pd.work_queue(&cq).striding(memory).build();
            made.map(drop).map_err(|error| (error == Error::NoStrides { cqn: cq.cqn() }, error.to_string()))
        }};
    }
    for refused in [made!(Hash), made!(Checksum)] {
        let (is_it, text) = refused.expect_err("no strides");
        assert!(is_it && text.contains("Strided"), "{text}");
    }
    for accepted in
        [made!(Strided<Hash>), made!(Strided<Checksum>), made!(ChecksumStride), made!(Strided<ChecksumStride>)]
    {
        accepted.expect("the strides are told");
    }
}
