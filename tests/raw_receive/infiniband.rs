//! Ports that have no frames.
//!
//! Ports without frames belong here, ports with frames in the other files.

use blueflame::WrId;
use blueflame::transport::RawPacket;
use blueflame::verbs::{CallError, Error};

use crate::on_device::device;

#[test]
fn infiniband_has_no_receivers_of_frames() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let cq = device.completion_queue(128).build().expect("a CQ");
    let error = pd.work_queue(&cq).build::<WrId>().map(drop).expect_err("no frames");
    assert_eq!(error, Error::Call(CallError { call: "ibv_create_wq", errno: libc::EOPNOTSUPP }));
    assert!(error.to_string().contains("Ethernet"), "{error}");
    assert_eq!(device.interface(&device.port(1).expect("port 1")), Ok(None));
    // It finds no headers of frames, so none inside of tunnels.
    let builder = pd.queue_pair::<RawPacket>(&cq, &cq).sends(16).receives::<WrId>(4).into_tunnels(true);
    assert_eq!(builder.build().map(drop), Err(Error::Unsupported { what: "headers inside of received tunnels" }));
}
