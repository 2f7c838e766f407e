//! Targets of XRC domains: queue pairs that only receive. Each process with the domain can open them.

use super::event_file;
use super::qp::{FLAG_SQ_SIG_ALL, Needs, Qp};
use super::request::Request;
use super::xrc_domain::Xrcd;
use crate::abi::mlx5::{CreateQp, CreateQpResp, qp_flag};
use crate::abi::{OpenQp, OpenQpResp, QpCap, UHW_IN, UHW_OUT};
use crate::context::Context;
use crate::device::{Origin, Source};
use crate::process::{Errno, lock};
use softhca::context::{QpContext, ReceiveSource, Transport};
use softhca::error::Object;
use softhca::firmware::DRIVER;
use std::sync::Arc;
use zerocopy::FromZeros;

/// `IB_QPT_XRC_TGT`.
pub(super) const TARGET: u64 = 10;

/// `QP_CREATE` of a target: 1 XRC domain; the others as of other QPs, but of its own it has neither PD nor CQs nor
/// memory. `mlx5_ib` ignores most of the driver's part.
pub(super) fn create_target(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let hca = &context.hca;
    // As the kernel (`UVERBS_METHOD_QP_CREATE`).
    if [2, 4, 5].into_iter().any(|id| request.optional_handle(id).is_some()) {
        return Err(Errno::EINVAL);
    }
    let driver: CreateQp = request.input(UHW_IN)?;
    let flags: u32 = request.optional(10)?.unwrap_or(0);
    if flags & !FLAG_SQ_SIG_ALL != 0 || driver.flags & !qp_flag::SUPPORTED != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    let cap: QpCap = request.input(8)?;
    let user_handle: u64 = request.input(7)?;
    let xrcd: Arc<Xrcd> = context.get(request.handle(1)?)?;
    let events = Source::new(context.async_events(event_file::named(context, request, 12)?), user_handle);
    let number = {
        // Nobody opens it before it is there whole.
        let mut targets = lock(&xrcd.domain.targets);
        let number = hca.create(DRIVER, Object::Qp, |device| {
            device.create_qp(QpContext {
                rq: ReceiveSource::Domain { xrcd: xrcd.domain.number },
                uidx: driver.uidx & 0xff_ffff,
                signed: driver.flags & qp_flag::SIGNATURE != 0,
                ece: driver.ece_options,
                // As Linux (`create_xrc_tgt_qp`).
                timestamps: hca.capabilities.default_timestamps(),
                ..QpContext::new(Transport::Xrc)
            })
        })?;
        targets.insert(number, 1);
        number
    };
    let handle = add(context, xrcd, number, events);
    request.put_handle(0, handle)?;
    request.put(13, &cap)?;
    request.put(14, &number)?;
    // Linux does not tell the options that the target has: `./run guest`, "calls, object".
    request.put_optional(UHW_OUT, &CreateQpResp::new_zeroed())
}

/// `OPEN_QP`: a target that somebody has made in the domain.
pub(crate) fn open_target(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let wanted: OpenQp = request.core_in()?;
    let xrcd: Arc<Xrcd> = context.get(wanted.xrcd_handle).map_err(|_| Errno::EINVAL)?;
    if u64::from(wanted.qp_type) != TARGET {
        return Err(Errno::EINVAL);
    }
    {
        let mut targets = lock(&xrcd.domain.targets);
        let opened = targets.get_mut(&wanted.qpn).ok_or_else(|| {
            log::info!("no target {:#x} in the XRC domain: targets of other processes cannot be opened", wanted.qpn);
            Errno::EINVAL
        })?;
        *opened += 1;
    }
    // Linux reports events of a target to its maker alone (`ib_uverbs_open_qp` names no event file).
    let events = Source::new(None, wanted.user_handle);
    let qp_handle = add(context, xrcd, wanted.qpn, events);
    request.core_out(&OpenQpResp { qp_handle, qpn: wanted.qpn, ..FromZeros::new_zeroed() })
}

/// A handle of target `number`.
fn add(context: &Context, xrcd: Arc<Xrcd>, number: u32, events: Arc<Source>) -> u32 {
    let qp = Arc::new(Qp::of_target(number, events, Needs::Domain(xrcd)));
    context.hca.know(Origin::Qp(number), &qp.events);
    context.insert(qp)
}
