//! The QP state machine: which transition needs and permits which attributes.
//!
//! IBTA vol. 1, 10.3.1 and table 91; the same table as the kernel's `qp_state_table` (drivers/infiniband/core/verbs.c)
//! without the attributes of alternate paths and path migration, which this device does not have. For DC, which is not
//! in the specification, that of the kernel's driver (mlx5_ib `qp.c`, `modify_dci_qp_is_ok`).

use crate::context::{QpAttr, QpContext, QpState, ReceiveSource, Transport};
use crate::error::Error;

/// A set of attributes: one bit per field of [`QpAttr`] that a transition can set.
type AttrSet = u32;

const PKEY_INDEX: AttrSet = 1 << 0;
const PORT: AttrSet = 1 << 1;
const ACCESS: AttrSet = 1 << 2;
const QKEY: AttrSet = 1 << 3;
const PATH: AttrSet = 1 << 4;
const PATH_MTU: AttrSet = 1 << 5;
const DEST_QPN: AttrSet = 1 << 6;
const RQ_PSN: AttrSet = 1 << 7;
const SQ_PSN: AttrSet = 1 << 8;
const MAX_DEST_RD_ATOMIC: AttrSet = 1 << 9;
const MAX_RD_ATOMIC: AttrSet = 1 << 10;
const MIN_RNR_TIMER: AttrSet = 1 << 11;
const TIMEOUT: AttrSet = 1 << 12;
const RETRY_CNT: AttrSet = 1 << 13;
const RNR_RETRY: AttrSet = 1 << 14;
const CUR_STATE: AttrSet = 1 << 15;
const SQD_EVENT: AttrSet = 1 << 16;
const OUT_OF_ORDER: AttrSet = 1 << 17;
const IN_ORDER: AttrSet = 1 << 18;
const ORDER: AttrSet = OUT_OF_ORDER | IN_ORDER;

/// Names of the attributes, in the order of their bits.
const NAMES: [&str; 19] = [
    "pkey_index",
    "port",
    "access",
    "qkey",
    "path",
    "path_mtu",
    "dest_qpn",
    "rq_psn",
    "sq_psn",
    "max_dest_rd_atomic",
    "max_rd_atomic",
    "min_rnr_timer",
    "timeout",
    "retry_cnt",
    "rnr_retry",
    "cur_state",
    "sqd_event",
    "out_of_order",
    "in_order",
];

/// The attributes that `a` sets.
fn given(a: &QpAttr) -> AttrSet {
    [
        a.pkey_index.is_some(),
        a.port.is_some(),
        a.access.is_some(),
        a.qkey.is_some(),
        a.path.is_some(),
        a.path_mtu.is_some(),
        a.dest_qpn.is_some(),
        a.rq_psn.is_some(),
        a.sq_psn.is_some(),
        a.max_dest_rd_atomic.is_some(),
        a.max_rd_atomic.is_some(),
        a.min_rnr_timer.is_some(),
        a.timeout.is_some(),
        a.retry_cnt.is_some(),
        a.rnr_retry.is_some(),
        a.cur_state.is_some(),
        a.sqd_event.is_some(),
        a.out_of_order.is_some(),
        a.in_order.is_some(),
    ]
    .iter()
    .enumerate()
    .fold(0, |set, (bit, &is_given)| set | AttrSet::from(is_given) << bit)
}

/// One row of the table: required and optional attributes.
struct Rule {
    required: AttrSet,
    optional: AttrSet,
}

/// The attributes that an end of XRC does not have: an initiator lacks a responder's attributes, a target a
/// requester's. Neither completes its receives in another order than they came in.
fn foreign_to_xrc(context: &QpContext) -> AttrSet {
    let other_end = match context.rq {
        ReceiveSource::Domain { .. } => MAX_RD_ATOMIC | RETRY_CNT | RNR_RETRY,
        _ => MAX_DEST_RD_ATOMIC | MIN_RNR_TIMER,
    };
    other_end | OUT_OF_ORDER
}

/// The row for a transition of a QP of this context, or `None` if there is no such transition.
fn rule_of(context: &QpContext, from: QpState, to: QpState) -> Option<Rule> {
    let Rule { required, optional } = rule(context.transport, from, to)?;
    let foreign = if context.transport == Transport::Xrc { foreign_to_xrc(context) } else { 0 };
    Some(Rule { required: required & !foreign, optional: optional & !foreign })
}

/// The row for a transition, or `None` if there is no such transition. That of XRC has the attributes of both ends.
fn rule(transport: Transport, from: QpState, to: QpState) -> Option<Rule> {
    use QpState::{Err, Init, Reset, Rtr, Rts, Sqd, Sqe};
    use Transport::{Dc, RawPacket, Rc, RegUmr, Uc, Ud, Xrc};

    // Attributes that set up a connected QP, and those in their place for a datagram QP.
    let identity = match transport {
        Ud => PKEY_INDEX | PORT | QKEY,
        Rc | Xrc | Uc => PKEY_INDEX | PORT | ACCESS,
        Dc | RegUmr => PKEY_INDEX | PORT,
        RawPacket => PORT,
    };
    // Attributes that may change while the send queue is running or about to run.
    let running = match transport {
        Ud => CUR_STATE | QKEY,
        Uc => CUR_STATE | ACCESS,
        Rc | Xrc => CUR_STATE | ACCESS | MIN_RNR_TIMER,
        Dc => MIN_RNR_TIMER,
        RawPacket | RegUmr => 0,
    };
    let (required, optional) = match (from, to) {
        (Reset, Err) => return None,
        (_, Reset | Err) => (0, 0),
        (Reset, Init) if matches!(transport, RawPacket | RegUmr) => (identity, 0),
        (Reset, Init) => (identity, ORDER),
        (Init, Init) if matches!(transport, RawPacket | RegUmr) => (0, 0),
        (Init, Init) => (0, identity | ORDER),
        (Init, Rtr) => match transport {
            RawPacket | RegUmr => (0, 0),
            Ud => (0, PKEY_INDEX | QKEY | ORDER),
            Dc => (PATH_MTU, PATH | PKEY_INDEX),
            Uc => (PATH | PATH_MTU | DEST_QPN | RQ_PSN, ACCESS | PKEY_INDEX | ORDER),
            Rc | Xrc => {
                (PATH | PATH_MTU | DEST_QPN | RQ_PSN | MAX_DEST_RD_ATOMIC | MIN_RNR_TIMER, ACCESS | PKEY_INDEX | ORDER)
            }
        },
        (Rtr, Rts) => match transport {
            RawPacket | RegUmr => (0, 0),
            Ud | Uc => (SQ_PSN, running),
            Rc | Xrc | Dc => (SQ_PSN | TIMEOUT | RETRY_CNT | RNR_RETRY | MAX_RD_ATOMIC, running),
        },
        // The kernel restricts initiators this way (mlx5_ib, `modify_dci_qp_is_ok`).
        (_, Sqd) | (Sqd | Sqe, _) if matches!(transport, Dc | RegUmr) => return None,
        (Rts | Sqd, Rts) => (0, running),
        // RC and XRC have no SQE: their send errors end in Err.
        (Sqe, Rts) if !matches!(transport, Rc | Xrc) => (0, running),
        (Rts, Sqd) => (0, SQD_EVENT),
        (Sqd, Sqd) => match transport {
            RawPacket => (0, 0),
            Ud => (0, PKEY_INDEX | QKEY),
            Dc | RegUmr => return None,
            Uc => (0, PATH | ACCESS | PKEY_INDEX),
            Rc | Xrc => (
                0,
                PORT | PATH
                    | TIMEOUT
                    | RETRY_CNT
                    | RNR_RETRY
                    | MAX_RD_ATOMIC
                    | MAX_DEST_RD_ATOMIC
                    | ACCESS
                    | PKEY_INDEX
                    | MIN_RNR_TIMER,
            ),
        },
        _ => return None,
    };
    Some(Rule { required, optional })
}

/// Whether `a` may be applied to a QP in state `from`; returns the state it leads to.
pub(super) fn check(context: &QpContext, from: QpState, a: &QpAttr) -> Result<QpState, Error> {
    let to = a.state.unwrap_or(from);
    if let Some(claimed) = a.cur_state.filter(|&claimed| claimed != from) {
        return Err(Error::BadTransition { from: claimed, to });
    }
    let rule = rule_of(context, from, to).ok_or(Error::BadTransition { from, to })?;
    let given = given(a);
    let first = |set: AttrSet| NAMES[set.trailing_zeros() as usize];
    let missing = rule.required & !given;
    if missing != 0 {
        return Err(Error::MissingAttr { from, to, attr: first(missing) });
    }
    let extra = given & !(rule.required | rule.optional);
    if extra != 0 {
        return Err(Error::UnexpectedAttr { from, to, attr: first(extra) });
    }
    Ok(to)
}
