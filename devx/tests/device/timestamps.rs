//! Timestamps of queues come from a clock that the device has. With `softhca-run --clock real-time` it has one alone.
//!
//! Clocks belong here, the values of CQEs in `tests/completion/fields.rs`.

use blueflame::transport;
use blueflame_devx::CapMode;
use blueflame_devx::cmd::{RoceCap, TimestampFormat};
use blueflame_devx::object::{Tis, TransportDomain, Uar};

use crate::end::End;
use crate::ground::ground;

/// After DPDK (`mlx5_ts_format_conv`).
fn expected(capability: u8) -> TimestampFormat {
    TimestampFormat(u8::from(capability != 0))
}

#[test]
fn each_queue_has_a_format_of_the_device() {
    let ground = ground();
    let general = ground.context.general().expect("capabilities");
    let of_qps = match general.roce() {
        true => ground.context.capabilities::<RoceCap>(CapMode::Current).expect("those of RoCE").qp_ts_format(),
        false => 0,
    };
    let end = End::<transport::Rc>::new(&ground);
    assert_eq!(end.pair.qp.query().expect("QUERY_QP").ts_format(), expected(of_qps));
    if general.port_type() != 1 {
        return;
    }
    let domain = TransportDomain::new(&ground.context).expect("ALLOC_TRANSPORT_DOMAIN");
    let tis = Tis::new(&domain, 0).expect("CREATE_TIS");
    let uar = Uar::new(&ground.context).expect("a register");
    let sq = ground.pd.send_queue::<0>(&ground.rings, &end.cq, &tis, uar, 16).expect("a send queue");
    assert_eq!(sq.handle().query().expect("QUERY_SQ").ts_format(), expected(general.sq_ts_format()));
    let page = Uar::new(&ground.context).expect("a register");
    let cq = ground.rings.completion_queue(page.page(), 64).build().expect("a completion queue");
    let rq = ground.pd.recv_queue::<blueflame::WrId>(&ground.rings, &cq, 16, 1).expect("a receive queue");
    assert_eq!(rq.handle().query().expect("QUERY_RQ").ts_format(), expected(general.rq_ts_format()));
}
