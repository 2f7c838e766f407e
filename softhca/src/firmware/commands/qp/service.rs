//! Transport services, a row each: which of a context's fields each of its transitions takes.
//!
//! Facts: Linux `drivers/infiniband/hw/mlx5/qp.c` (`opt_mask`, `to_mlx5_st`) and `include/linux/mlx5/qp.h`.

use super::layouts::qpc;
use crate::context::{QpContext, QpState, ReceiveSource, Transport};
use crate::firmware::layout::View;
use crate::firmware::status::Refusal;

/// Optional parameters (`opt_param_mask`, `MLX5_QP_OPTPAR_*`): their fields count only if their bit is set.
pub(super) mod optional {
    /// Peers may RDMA READ.
    pub(crate) const RRE: u32 = 1 << 1;
    /// Peers may do atomics.
    pub(crate) const RAE: u32 = 1 << 2;
    /// Peers may RDMA WRITE.
    pub(crate) const RWE: u32 = 1 << 3;
    /// Index of the P_Key.
    pub(crate) const PKEY_INDEX: u32 = 1 << 4;
    /// Q_Key.
    pub(crate) const Q_KEY: u32 = 1 << 5;
    /// RNR NAK timer.
    pub(crate) const RNR_TIMEOUT: u32 = 1 << 6;
    /// State of path migration.
    pub(crate) const PM_STATE: u32 = 1 << 10;
    /// Port of a bond (Linux `MLX5_QP_OPTPAR_LAG_TX_AFF`, rdma-core
    /// `MLX5_QPC_OPT_MASK_RTS2RTS_LAG_TX_PORT_AFFINITY`). The device must be bonded.
    pub(crate) const LAG_TX_AFFINITY: u32 = 1 << 15;
    /// Port.
    pub(crate) const PRI_PORT: u32 = 1 << 16;
    /// Set of counters.
    pub(crate) const COUNTER_SET_ID: u32 = 1 << 25;
}
use optional::{COUNTER_SET_ID, PKEY_INDEX, PM_STATE, PRI_PORT, Q_KEY, RAE, RNR_TIMEOUT, RRE, RWE};

/// A transition, by its states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transition {
    pub(super) from: QpState,
    pub(super) to: QpState,
}

/// The transitions that take a context.
pub(super) const RST2INIT: Transition = Transition { from: QpState::Reset, to: QpState::Init };
pub(super) const INIT2INIT: Transition = Transition { from: QpState::Init, to: QpState::Init };
pub(super) const INIT2RTR: Transition = Transition { from: QpState::Init, to: QpState::Rtr };
pub(super) const RTR2RTS: Transition = Transition { from: QpState::Rtr, to: QpState::Rts };
pub(super) const RTS2RTS: Transition = Transition { from: QpState::Rts, to: QpState::Rts };
pub(super) const SQERR2RTS: Transition = Transition { from: QpState::Sqe, to: QpState::Rts };
pub(super) const RTS2SQD: Transition = Transition { from: QpState::Rts, to: QpState::Sqd };
pub(super) const SQD2RTS: Transition = Transition { from: QpState::Sqd, to: QpState::Rts };

/// A transport service.
#[derive(Debug)]
pub(super) struct Service {
    /// `qpc.st` (`MLX5_QPC_ST_*`).
    pub(super) st: u8,
    pub(super) transport: Transport,
    /// It has a peer: a path, an MTU, a remote QPN and PSNs in both directions.
    pub(super) connected: bool,
    /// It has an MTU and no peer, as each of its requests names one; it receives nothing.
    pub(super) initiator: bool,
    /// It is acknowledged: timers, retries, READs and atomics.
    pub(super) reliable: bool,
    /// It sends requests.
    pub(super) requests: bool,
    /// It takes requests.
    pub(super) responds: bool,
    /// It has a Q_Key in place of access rights.
    pub(super) datagram: bool,
    /// It is QP 1 of its port.
    pub(super) qp1: bool,
    /// The optional parameters of each transition.
    optional: &'static [(Transition, u32)],
}

/// All services.
const SERVICES: &[Service] = &[
    Service {
        st: 0,
        transport: Transport::Rc,
        connected: true,
        reliable: true,
        requests: true,
        responds: true,
        optional: &[
            (INIT2INIT, RRE | RAE | RWE | PKEY_INDEX | PRI_PORT),
            (INIT2RTR, RRE | RAE | RWE | PKEY_INDEX),
            (RTR2RTS, RRE | RAE | RWE | PM_STATE | RNR_TIMEOUT),
            (RTS2RTS, RRE | RAE | RWE | PM_STATE | RNR_TIMEOUT | COUNTER_SET_ID),
            (SQD2RTS, RRE | RAE | RWE | RNR_TIMEOUT),
        ],
        ..NONE
    },
    Service {
        st: 1,
        transport: Transport::Uc,
        connected: true,
        requests: true,
        responds: true,
        optional: &[
            (INIT2INIT, RWE | PKEY_INDEX | PRI_PORT),
            (INIT2RTR, RWE | PKEY_INDEX),
            (RTR2RTS, RWE | PM_STATE),
            (RTS2RTS, RWE | PM_STATE | COUNTER_SET_ID),
            (SQERR2RTS, RWE),
            (SQD2RTS, RWE),
        ],
        ..NONE
    },
    datagram(
        2,
        &[
            (INIT2INIT, PKEY_INDEX | Q_KEY | PRI_PORT),
            (INIT2RTR, PKEY_INDEX | Q_KEY),
            (RTR2RTS, Q_KEY),
            (RTS2RTS, Q_KEY | COUNTER_SET_ID),
            (SQERR2RTS, Q_KEY),
            (SQD2RTS, Q_KEY),
        ],
    ),
    // Linux has no row for DCIs; UCX sets the bit of atomics, which initiators do not answer.
    Service {
        st: 5,
        transport: Transport::Dc,
        initiator: true,
        reliable: true,
        requests: true,
        optional: &[
            (INIT2INIT, PKEY_INDEX | PRI_PORT),
            (INIT2RTR, RAE | PKEY_INDEX),
            (RTR2RTS, RNR_TIMEOUT),
            (RTS2RTS, RNR_TIMEOUT | COUNTER_SET_ID),
        ],
        ..NONE
    },
    xrc(true),
    xrc(false),
    // Linux sends whole contexts, and no optional parameters, for the next two.
    Service { qp1: true, ..datagram(8, &[(RTS2RTS, COUNTER_SET_ID)]) },
    Service { st: 0xc, transport: Transport::RegUmr, requests: true, optional: &[(RTS2RTS, COUNTER_SET_ID)], ..NONE },
];

/// Without any property.
const NONE: Service = Service {
    st: 0,
    transport: Transport::Rc,
    connected: false,
    initiator: false,
    reliable: false,
    requests: false,
    responds: false,
    datagram: false,
    qp1: false,
    optional: &[],
};

/// Of datagrams.
const fn datagram(st: u8, optional: &'static [(Transition, u32)]) -> Service {
    Service { st, transport: Transport::Ud, requests: true, responds: true, datagram: true, optional, ..NONE }
}

/// One end of XRC: an initiator, or a target. Linux has one row for both.
const fn xrc(initiator: bool) -> Service {
    Service {
        st: 3,
        transport: Transport::Xrc,
        connected: true,
        reliable: true,
        requests: initiator,
        responds: !initiator,
        optional: &[
            (INIT2INIT, RRE | RAE | RWE | PKEY_INDEX | PRI_PORT),
            (INIT2RTR, RRE | RAE | RWE | PKEY_INDEX),
            (RTR2RTS, RRE | RAE | RWE | PM_STATE | RNR_TIMEOUT),
            (RTS2RTS, RRE | RAE | RWE | PM_STATE | RNR_TIMEOUT | COUNTER_SET_ID),
        ],
        ..NONE
    }
}

impl Service {
    /// The service that a context names. The target of XRC is the end without a send queue.
    pub(super) fn of_context(view: View<'_>) -> Result<&'static Self, Refusal> {
        let (st, sends) = (view.get(qpc::ST), !view.flag(qpc::NO_SQ));
        let is_it = |service: &&Service| {
            u64::from(service.st) == st && (service.transport != Transport::Xrc || service.requests == sends)
        };
        let found = SERVICES.iter().find(is_it);
        found.ok_or_else(|| Refusal::parameter(format!("transport service {st:#x} is not a capability of this device")))
    }

    /// The service of a QP that is there.
    pub(super) fn of(context: &QpContext) -> Result<&'static Self, Refusal> {
        let QpContext { transport, privileges, .. } = *context;
        let is_target = matches!(context.rq, ReceiveSource::Domain { .. });
        let is_it = |service: &&Self| {
            service.transport == transport && service.qp1 == privileges.is_qp1 && service.requests != is_target
        };
        let found = SERVICES.iter().find(is_it);
        found.ok_or_else(|| Refusal::parameter(format!("{transport:?}: no QP of the commands")))
    }

    /// Only a kernel may make QPs of it: they speak for a port, or for all protection domains.
    pub(super) fn is_privileged(&self) -> bool {
        self.qp1 || self.transport == Transport::RegUmr
    }

    /// The optional parameters that a transition can have.
    pub(super) fn optional(&self, transition: Transition) -> u32 {
        self.optional.iter().find(|(of, _)| *of == transition).map_or(0, |(_, mask)| *mask)
    }
}
