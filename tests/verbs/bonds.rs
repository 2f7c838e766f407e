//! Bonds (LAG): by which of its two ports a queue pair sends, and that its data arrives by either.
//!
//! Ports of a bond belong here, links that go down in `tests/async_events.rs`.

use blueflame::transport::{Rc, Uc};
use blueflame::types::WrId;
use blueflame::verbs::{Error, LagPort};
use blueflame::wqe;

use crate::end::{End, connected};
use crate::on_device::device;

/// WRITEs a message, and waits until it is there.
fn write(near: &mut End<Rc>, far: &End<Rc>, value: u8) {
    near.buffer.write(0, &[value; 100]);
    let from = near.buffer.sge_of(0..100);
    near.post(&wqe::write(far.buffer.remote()).gather([from]).signaled(WrId(value.into())));
    near.completion();
    assert_eq!(far.bytes(100), [value; 100]);
}

#[test]
fn a_queue_pair_sends_by_the_port_that_it_is_given() {
    let device = device();
    let pd = device.protection_domain().expect("a PD");
    let is_bonded = device.attr().lag_ports == 2;
    let (mut near, far) = connected::<Rc>(&device, &pd);
    let (datagrams, _) = connected::<Uc>(&device, &pd);
    if !is_bonded {
        assert_eq!(near.pair.qp.lag_port(), Err(Error::Unsupported { what: "a port of a bond" }));
        assert_eq!(near.pair.qp.set_lag_port(1), Err(Error::Unsupported { what: "another port of a bond" }));
        return;
    }
    // In turns.
    let given = |qp: &blueflame::verbs::Qp| qp.lag_port().expect("a port");
    assert_eq!(given(&near.pair.qp), LagPort { configured: 2, active: 2 });
    assert_eq!(given(&far.pair.qp), LagPort { configured: 1, active: 1 });
    assert_eq!(given(&datagrams.pair.qp), LagPort { configured: 2, active: 2 });
    for port in [1, 2] {
        near.pair.qp.set_lag_port(port).expect("a port of the bond");
        assert_eq!(given(&near.pair.qp), LagPort { configured: port, active: port });
        write(&mut near, &far, port);
    }
    assert!(matches!(near.pair.qp.set_lag_port(3), Err(Error::Call(_))), "{:?}", near.pair.qp.set_lag_port(3));
    assert_eq!(given(&near.pair.qp).configured, 2);
    // In RTS alone.
    let cq = device.completion_queue(16).build().expect("a completion queue");
    let fresh = pd.queue_pair::<Rc>(&cq, &cq).sends(4).receives::<WrId>(4).build().expect("a queue pair");
    assert_eq!(fresh.qp.lag_port(), Err(Error::Unsupported { what: "a port of a bond" }));
}
