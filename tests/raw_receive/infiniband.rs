//! Ports that have no frames.
//!
//! Ports without frames belong here, ports with frames in the other files.

use blueflame::verbs::{CallError, Error};

use crate::on_device::device;

#[test]
fn infiniband_has_no_receivers_of_frames() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let cq = device.completion_queue(128).build().expect("a CQ");
    let error = pd.work_queue(&cq).build::<blueflame::WrId>().map(drop).expect_err("no frames");
    assert_eq!(error, Error::Call(CallError { call: "ibv_create_wq", errno: libc::EOPNOTSUPP }));
    assert!(error.to_string().contains("Ethernet"), "{error}");
    assert_eq!(device.interface(&device.port(1).expect("port 1")), Ok(None));
}
