//! Texts of errors: the value, the limit, the way out.
//!
//! Texts belong here, the conditions of errors in the file of their object.

use blueflame::transport;
use blueflame::types::Psn;
use blueflame::verbs::device::{Gid, LinkLayer, PortState};
use blueflame::verbs::{Access, Error, Path, Pool};

use crate::end::End;
use crate::on_device::device;

#[test]
fn a_pool_larger_than_the_machine() {
    let pd = device().protection_domain().expect("a PD");
    let error = Pool::new(&pd, 1 << 46, Access::ALL).expect_err("64 TiB");
    let Error::OutOfRange { what: "bytes of a pool (this machine's memory)", value, min: 1, max } = error else {
        panic!("{error}");
    };
    assert!(value == 1 << 46 && max < value && max >= 1 << 20, "{max}");
    let text = Pool::new(&pd, usize::MAX, Access::ALL | Access::ON_DEMAND).expect_err("too much").to_string();
    assert!(!text.contains("queues"), "{text}");
}

#[test]
fn sizes_of_cqes() {
    let device = device();
    for bytes in [0, 32, 96, 256] {
        let error = device.completion_queue(1).cqe_bytes(bytes).build().expect_err("no such CQE");
        assert_eq!(error, Error::CqeBytes { bytes });
        assert_eq!(error.to_string(), format!("CQEs of {bytes} bytes: a CQE has 64 or 128"));
    }
}

#[test]
fn more_inline_data_than_a_request_carries() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let most = device.attr().max_qp_wr;
    let cq = device.completion_queue(2 * most).build().expect("a CQ");
    let build = |inline| pd.queue_pair::<transport::Rc>(&cq, &cq).sends(4).inline(inline).build();
    let error = build(2000).expect_err("more than a WQE can be");
    let Error::OutOfRange { what: "bytes inline", value: 2000, min: 0, max } = error else { panic!("{error}") };
    assert!((200..=1008).contains(&max), "{max}");
    build(max as u32).expect("as much as it says");
    assert!(build(max as u32 + 1).is_err(), "and no more");
    // A ring longer than the device has.
    let long = pd.queue_pair::<transport::Rc>(&cq, &cq).sends(most).inline(max as u32).build();
    let error = long.expect_err("such long requests");
    let Error::OutOfRange { what: "requests of a send queue, so large", value, min: 1, max } = error else {
        panic!("{error}");
    };
    assert!(value == u64::from(most) && max < value, "{max}");
}

#[test]
fn paths_without_an_address() {
    let device = device();
    let port = device.port(1).expect("port 1");
    let pd = device.protection_domain().expect("a PD");
    let mut a = End::<transport::Rc>::new(&device, &pd);
    let mut blind = Path::new(port, None);
    blind.port.link_layer = LinkLayer::Ethernet;
    let mut remote = a.pair.qp.endpoint_with(&device.path(1, None).expect("a path"), Psn::truncate(1));
    remote.gid = Gid([1; 16]);
    a.pair.qp.to_init(&blind).expect("INIT");
    let error = a.pair.connect(&blind, &remote, &remote).expect_err("no GID");
    assert_eq!(error, Error::PathWithoutGid { port: 1 });
    assert!(error.to_string().contains("Device::default_gid"), "{error}");
}

#[test]
fn a_port_that_is_down() {
    let text = Error::PortNotActive { port: 1, state: PortState::Down }.to_string();
    assert_eq!(text, "port 1 carries no data (its state is Down): is its cable in, its interface up?");
}
