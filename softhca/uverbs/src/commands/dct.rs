//! Targets of dynamic connections, which are QPs to a program. The device makes a target in the move to RTR, when all
//! its parameters are known (mlx5_ib `qp.c`, `create_dct`, `mlx5_ib_modify_dct`).

use super::access as rights;
use super::cq::Cq;
use super::event_file;
use super::mtu;
use super::pd::Pd;
use super::request::Request;
use super::srq::Srq;
use crate::abi::mailbox::creator;
use crate::abi::mlx5::{CreateQp, CreateQpResp, ModifyQpResp, qp_flag};
use crate::abi::qp_attr as mask;
use crate::abi::{EventsReported, ModifyQp, QpCap, QueryQpResp, UHW_IN, UHW_OUT};
use crate::context::{self, CommandId, Context, Rank};
use crate::device::{Hca, Source};
use crate::process::{Errno, lock};
use softhca::context::{Access, DctContext, EXTENDED_ATOMICS};
use softhca::error::Object;
use softhca::firmware::Uid;
use std::sync::{Arc, Mutex};
use zerocopy::FromZeros;

/// `enum ib_qp_state`.
const RESET: u8 = 0;
const INIT: u8 = 1;
const RTR: u8 = 2;

/// The attributes that `mlx5_ib` requires, no more and no less: to INIT, and to RTR.
const TO_INIT: u32 = mask::STATE | mask::ACCESS_FLAGS | mask::PKEY_INDEX | mask::PORT;
const TO_RTR: u32 = mask::STATE | mask::MIN_RNR_TIMER | mask::AV | mask::PATH_MTU;
/// What it tells.
const QUERIED: u32 = TO_INIT | TO_RTR;

/// Bytes of a message that go into a CQE of 128 bytes; into shorter ones none go.
const SCATTERED: u32 = 64;

/// A target.
pub(crate) struct Dct {
    state: Mutex<State>,
    user: Uid,
    events: Arc<Source>,
    /// Kept busy.
    _pd: Arc<Pd>,
    _cq: Arc<Cq>,
    _srq: Arc<Srq>,
}

/// Its attributes so far.
struct State {
    /// `enum ib_qp_state`.
    state: u8,
    context: DctContext,
    /// The device's number, once it has made it.
    number: Option<u32>,
}

impl context::Object for Dct {
    fn rank(&self) -> Rank {
        Rank::Qp
    }

    fn release(&self, hca: &Hca) -> Result<(), Errno> {
        let Some(number) = lock(&self.state).number.take() else { return Ok(()) };
        hca.drain_dct(number);
        hca.destroy(Object::Dct, number, |device| device.destroy_dct(number))
    }

    fn is_named(&self, id: CommandId) -> bool {
        lock(&self.state).number.is_some_and(|number| id == CommandId::new(creator::DCT, number))
    }
}

impl Dct {
    pub(crate) fn reported(&self) -> EventsReported {
        EventsReported { events_reported: self.events.retire() }
    }
}

/// `QP_CREATE` with the flag that says so; attributes as of other QPs.
pub(crate) fn create(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let driver: CreateQp = request.input(UHW_IN)?;
    if driver.flags & !(qp_flag::TYPE_DCT | qp_flag::SCATTER_CQE | qp_flag::SIGNATURE) != 0 {
        return Err(Errno::EINVAL);
    }
    let pd: Arc<Pd> = context.get(request.handle(2)?)?;
    let cq: Arc<Cq> = context.get(request.handle(5)?)?;
    let srq: Arc<Srq> = context.get(request.optional_handle(3).ok_or(Errno::EINVAL)?)?;
    let cap: QpCap = request.input(8)?;
    let user_handle: u64 = request.input(7)?;
    let events = Source::new(context.async_events(event_file::named(context, request, 12)?), user_handle);
    let scatter = driver.flags & qp_flag::SCATTER_CQE != 0 && cq.cqe_bytes == 128;
    let given = DctContext {
        pd: pd.number,
        srqn: srq.number,
        cqn: cq.number,
        // The field has two names.
        access_key: driver.sq_buf_addr,
        uidx: driver.uidx & 0xff_ffff,
        scatter_to_cqe_res: if scatter { SCATTERED } else { 0 },
        ece: driver.ece_options,
        ..DctContext::default()
    };
    let dct = Dct {
        state: Mutex::new(State { state: RESET, context: given, number: None }),
        user: context.user(),
        events,
        _pd: pd,
        _cq: cq,
        _srq: srq,
    };
    request.put_handle(0, context.insert(Arc::new(dct)))?;
    request.put(13, &cap)?;
    request.put(14, &0_u32)?;
    request.put_optional(UHW_OUT, &CreateQpResp::new_zeroed())
}

/// Changes its state; `ece` are the options of enhanced connection establishment that it has then, if not 0. The
/// response has its number once it has one, and the options that the device accepted.
pub(crate) fn modify(context: &Context, dct: &Dct, wanted: &ModifyQp, ece: u32) -> Result<ModifyQpResp, Errno> {
    let hca = &context.hca;
    let mut state = lock(&dct.state);
    // As the kernel, which makes the target only in the move to RTR.
    if ece != 0 {
        state.context.ece = ece;
    }
    let mut response = ModifyQpResp::new_zeroed();
    match (state.state, wanted.qp_state) {
        (RESET, INIT) if wanted.attr_mask == TO_INIT => {
            if wanted.port_num == 0 || u32::from(wanted.port_num) > hca.settings.ports {
                return Err(Errno::EINVAL);
            }
            let access = rights::of_peer(wanted.qp_access_flags);
            let (port, pkey_index) = (wanted.port_num, wanted.pkey_index);
            let (extended_atomics, lag_port) = (EXTENDED_ATOMICS, context.next_lag_port());
            state.context = DctContext { access, extended_atomics, port, lag_port, pkey_index, ..state.context };
        }
        (INIT, RTR) if wanted.attr_mask == TO_RTR => {
            let context = DctContext {
                mtu: mtu::from_abi(wanted.path_mtu)?,
                min_rnr_timer: wanted.min_rnr_timer,
                // As the kernel, whether the path is global or not.
                sgid_index: wanted.dest.sgid_index,
                traffic_class: wanted.dest.traffic_class,
                flow_label: wanted.dest.flow_label & 0xf_ffff,
                hop_limit: wanted.dest.hop_limit,
                ..state.context
            };
            let number = hca.create(dct.user, Object::Dct, |device| device.create_dct(context))?;
            state.number = Some(number);
            state.context = context;
            let accepted = hca.command(|device| device.query_dct(number))?.context.ece;
            let response_length = size_of::<ModifyQpResp>() as u32;
            response = ModifyQpResp { response_length, dctn: number, ece_options: accepted, ..response };
        }
        _ => return Err(Errno::EINVAL),
    }
    state.state = wanted.qp_state;
    Ok(response)
}

/// The attributes that `mlx5_ib` reports of a target: none before it exists.
pub(crate) fn query(dct: &Dct, attr_mask: u32) -> Result<QueryQpResp, Errno> {
    let state = lock(&dct.state);
    if attr_mask & !QUERIED != 0 || state.state != RTR {
        return Err(Errno::EINVAL);
    }
    let c = &state.context;
    Ok(QueryQpResp {
        // No path: the kernel does not mark it as global, and so leaves it out.
        qp_access_flags: rights::to_abi(Access { local_write: false, ..c.access }),
        pkey_index: c.pkey_index,
        qp_state: RTR,
        path_mtu: mtu::to_abi(c.mtu),
        min_rnr_timer: c.min_rnr_timer,
        port_num: c.port,
        // As the kernel leaves a field that it has not filled in (`IB_SIGNAL_ALL_WR` is 0).
        sq_sig_all: 1,
        ..FromZeros::new_zeroed()
    })
}
