//! Errors and their texts.
//!
//! Wrong arguments belong here, failing steps of a whole tree in `failing_steps`.

use blueflame::transport;
use blueflame_devx::cmd::{
    AllocQCounterIn, AllocQCounterOut, Opcode, Qp2ErrIn, QpcState, QueryAdapterIn, QueryHcaCapIn, QueryHcaCapOut,
    QueryQCounterIn, QueryQCounterOut, QueryQpIn, Status,
};
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

/// Commands that this crate does not describe go as bytes.
#[test]
fn raw_bytes_make_ask_and_change_objects() {
    let ground = ground();
    let (mut made, mut asked) =
        ([0; <AllocQCounterOut as Structure>::BYTES], [0; <QueryQCounterOut as Structure>::BYTES]);
    // SAFETY: counters are in the device's own memory.
    let counters = unsafe { ground.context.create_raw(AllocQCounterIn::new().as_bytes(), &mut made) }.expect("made");
    let mut question = QueryQCounterIn::new();
    question.set_counter_set_id(AllocQCounterOut::copied(&made).counter_set_id());
    // SAFETY: the command only asks.
    unsafe { counters.query_raw(question.as_bytes(), &mut asked) }.expect("asked");
    // SAFETY: as above.
    let short = unsafe { counters.query_raw(&question.as_bytes()[..15], &mut asked) };
    assert_eq!(short, Err(Error::OutOfRange { what: "bytes of an inbox", value: 15, min: 16, max: u64::MAX }));
    // SAFETY: as above.
    let short = unsafe { counters.query_raw(question.as_bytes(), &mut asked[..15]) };
    assert_eq!(short, Err(Error::OutOfRange { what: "bytes of an outbox", value: 15, min: 16, max: u64::MAX }));

    let end = End::<transport::Rc>::new(&ground);
    end.pair.qp.to_init(&ground.path).expect("INIT");
    let mut change = Qp2ErrIn::new();
    change.set_qpn(end.pair.qp.qpn());
    // SAFETY: neither to RESET nor to RTS.
    unsafe { end.pair.qp.object().modify_raw(change.as_bytes(), &mut [0; 16]) }.expect("changed");
    assert_eq!(end.pair.qp.state(), Ok(QpcState::ERR));
}

/// The type of a safe call's mailbox decides, and not its bytes.
#[test]
fn an_opcode_that_is_not_the_types_is_refused() {
    let ground = ground();
    let mut inbox = QueryAdapterIn::new();
    inbox.set_opcode(Opcode::CREATE_MKEY);
    let error = ground.context.execute(&inbox).expect_err("no question");
    assert_eq!(error, Error::Opcode { of: Opcode::QUERY_ADAPTER, is: Opcode::CREATE_MKEY });
    let end = End::<transport::Rc>::new(&ground);
    let mut question = QueryQpIn::new();
    question.set_qpn(end.pair.qp.qpn()).set_opcode(Opcode::QP_2RST);
    let error = end.pair.qp.object().query(&question).expect_err("no question");
    assert_eq!(error, Error::Opcode { of: Opcode::QUERY_QP, is: Opcode::QP_2RST });
}

#[test]
fn capabilities_are_checked_before_anything_is_sent() {
    let ground = ground();
    let uar = Uar::new(&ground.context).expect("a register");
    let most = ground.context.general().expect("capabilities").log_max_cq_sz();
    let error = ground.rings.completion_queue(uar.page(), (1 << (most + 1).min(23)) - 1).build().map(drop);
    if most < 23 {
        let needed = u64::from(most) + 1;
        let found = most.into();
        assert_eq!(error, Err(Error::Capability { name: "cmd_hca_cap.log_max_cq_sz", needed, found }));
    }
    let cq = ground.rings.completion_queue(uar.page(), 1).build().expect("a completion queue");
    let error = ground.pd.queue_pair::<transport::Rc>(&ground.rings, &cq, &cq).inline(961).build();
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
