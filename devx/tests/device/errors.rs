//! What goes wrong, and what is said of it.

use blueflame::transport;
use blueflame_devx::cmd::{Opcode, QpcState, QueryAdapterIn, QueryHcaCapIn, QueryHcaCapOut, Status};
use blueflame_devx::mailbox::Structure;
use blueflame_devx::object::Uar;
use blueflame_devx::{Error, cmd};

use crate::end::End;
use crate::ground::ground;

#[test]
fn a_refused_command_is_told_apart() {
    let ground = ground();
    let mut inbox = QueryHcaCapIn::new();
    inbox.set_op_mod(cmd::CapabilitySelector { set: cmd::CapabilitySet(0x7e), current: true });
    let Err(Error::Command(error)) = ground.context.execute(&inbox) else { panic!("there is no such set") };
    assert_eq!((error.opcode, error.status), (Opcode::QUERY_HCA_CAP, Status::BAD_PARAM_ERR), "{error}");
    assert!(
        error.to_string().starts_with("QUERY_HCA_CAP failed: BAD_PARAM_ERR, invalid parameter, syndrome"),
        "{error}"
    );
    let mut outbox = QueryHcaCapOut::zeroed();
    // SAFETY: the command only asks.
    assert!(unsafe { ground.context.execute_raw(inbox.as_bytes(), outbox.as_bytes_mut()) }.is_err());
}

#[test]
fn capabilities_are_checked_before_anything_is_sent() {
    let ground = ground();
    let uar = Uar::new(&ground.context).expect("a register");
    let most = ground.context.general().expect("capabilities").log_max_cq_sz();
    let error = ground.rings.completion_queue(uar.page(), 1 << (most + 1).min(23)).build().map(drop);
    if most < 23 {
        let needed = u64::from(most) + 1;
        let found = most.into();
        assert_eq!(error, Err(Error::Capability { name: "cmd_hca_cap.log_max_cq_sz", needed, found }));
    }
    let cq = ground.rings.completion_queue(uar.page(), 1).build().expect("a completion queue");
    let error = ground.pd.queue_pair::<transport::Rc>(&ground.rings, cq.handle(), cq.handle()).inline(961).build();
    let Err(Error::OutOfRange { what, value: 961, .. }) = error else { panic!("{error:?}") };
    assert_eq!(what, "bytes inline");
}

#[test]
fn a_wrong_state_is_named() {
    let ground = ground();
    let end = End::<transport::Rc>::new(&ground);
    let remote = end.pair.qp.endpoint(&ground.path);
    let error = end.pair.qp.to_rtr(&ground.path, &remote).expect_err("from RESET");
    assert_eq!(error, Error::WrongState { is: QpcState::RST, to: QpcState::RTR }, "{error}");
}

#[test]
fn the_adapter_says_what_it_is() {
    let ground = ground();
    let adapter = ground.context.execute(&QueryAdapterIn::new()).expect("QUERY_ADAPTER");
    assert_ne!(*adapter.query_adapter_struct().vsd_contd_psid(), [0; 16]);
}
