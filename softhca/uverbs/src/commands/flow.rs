//! Flows: which frames a QP for raw packets gets (Linux `drivers/infiniband/core/uverbs_cmd.c`,
//! `ib_uverbs_ex_create_flow`, and `drivers/infiniband/hw/mlx5/fs.c`, `mlx5_ib_create_flow`).

use super::flow_spec::{self, Parsed, Spec};
use super::qp::Qp;
use super::request::Request;
use super::rss::RssQp;
use crate::abi::frames::{CreateFlow, CreateFlowResp, ExDestroy, MAX_FLOW_SPEC};
use crate::abi::{UHW_IN, mlx5, write};
use crate::context::{self, Context, Object, Rank};
use crate::device::{FlowDirection, FlowMatch, FlowPriority, FlowRule, Flows, Hca};
use crate::process::{Errno, capability, has_capability};
use std::sync::Arc;

/// `enum ib_flow_attr_type`.
const NORMAL: u32 = 0;
const ALL_DEFAULT: u32 = 1;
const MC_DEFAULT: u32 = 2;
/// `enum ib_flow_flags`: frames go on to rules of less priority; the flow is of frames that are sent.
const DONT_TRAP: u32 = 1 << 1;
const EGRESS: u32 = 1 << 2;
const RESERVED: u32 = 1 << 3;
/// Most specifications (`IB_FLOW_SPEC_SUPPORT_LAYERS`).
const MAX_SPECS: u8 = 10;
/// The least priority (`MLX5_IB_FLOW_LAST_PRIO`).
const LAST_PRIORITY: u16 = 15;

/// A flow.
pub(crate) struct Flow {
    rules: Flows,
    /// Kept busy.
    _qp: Arc<dyn Object>,
}

impl context::Object for Flow {
    fn rank(&self) -> Rank {
        Rank::Flow
    }

    fn release(&self, hca: &Hca) -> Result<(), Errno> {
        hca.remove_flows(&self.rules)
    }
}

/// The QP that is to get frames, and its TIR.
fn receiver(context: &Context, handle: u32) -> Result<(Arc<dyn Object>, u32), Errno> {
    let object = context.get_any(handle)?;
    if let Ok(qp) = context.get::<RssQp>(handle) {
        return Ok((object, qp.tirn));
    }
    let qp: Arc<Qp> = context.get(handle)?;
    // Also of raw packets, if it has no receive queue.
    let receiver = qp.receiver().ok_or(Errno::EINVAL)?;
    Ok((object, receiver.tirn))
}

/// Checks what every kernel checks of a request.
fn check(context: &Context, wanted: &CreateFlow) -> Result<(), Errno> {
    if wanted.comp_mask != 0 {
        return Err(Errno::EINVAL);
    }
    if !has_capability(capability::NET_RAW) {
        return Err(Errno::EPERM);
    }
    let default = matches!(wanted.flow_type, ALL_DEFAULT | MC_DEFAULT);
    if wanted.flags >= RESERVED
        || wanted.flags & DONT_TRAP != 0 && default
        || wanted.num_of_specs > MAX_SPECS
        || usize::from(wanted.size) > usize::from(wanted.num_of_specs) * MAX_FLOW_SPEC
        || wanted.reserved != [0; 2]
        || wanted.port == 0
        || u32::from(wanted.port) > context.hca.settings.ports
    {
        return Err(Errno::EINVAL);
    }
    Ok(())
}

/// Checks what mlx5_ib checks before it looks at specifications.
fn check_driver(wanted: &CreateFlow, request: &Request) -> Result<(), Errno> {
    let given = request.len(UHW_IN);
    if given != 0 {
        if given < size_of::<mlx5::CreateFlow>() {
            return Err(Errno::EOPNOTSUPP);
        }
        let driver: mlx5::CreateFlow = request.input(UHW_IN)?;
        // Nobody can have made counters.
        if driver.ncounters_data > 1 || driver.reserved != 0 {
            return Err(Errno::EINVAL);
        }
    }
    if wanted.priority > LAST_PRIORITY {
        return Err(Errno::ENOMEM);
    }
    // The first flag has no name any more.
    if wanted.flags & !(DONT_TRAP | EGRESS) != 0 {
        return Err(Errno::EINVAL);
    }
    if wanted.flags & EGRESS != 0 && matches!(wanted.flow_type, ALL_DEFAULT | MC_DEFAULT) {
        return Err(Errno::EINVAL);
    }
    Ok(())
}

/// The rules for frames that no other rule takes: those to groups, and those to single stations.
fn leftovers(tirn: u32, all: bool) -> Vec<FlowRule> {
    /// Of the destination's first byte.
    const GROUP: u8 = 1;
    const DMAC: usize = 0x8;
    let values: &[u8] = if all { &[GROUP, 0] } else { &[GROUP] };
    let rule = |&value: &u8| {
        let mut matching = FlowMatch::default();
        matching.add_bytes(DMAC, &[GROUP], &[value]);
        let priority = FlowPriority::Leftovers;
        FlowRule { priority, matching, tag: None, drops: false, goes_on: false, tirn: Some(tirn) }
    };
    values.iter().map(rule).collect()
}

/// The rules that are wanted, of frames in which direction.
fn rules(wanted: &CreateFlow, specs: &[Spec<'_>], tirn: u32) -> Result<(FlowDirection, Vec<FlowRule>), Errno> {
    let direction = if wanted.flags & EGRESS != 0 { FlowDirection::Sent } else { FlowDirection::Received };
    match wanted.flow_type {
        NORMAL => {
            let goes_on = wanted.flags & DONT_TRAP != 0;
            if goes_on && direction == FlowDirection::Sent {
                // A frame cannot both leave and go on.
                return Err(Errno::EINVAL);
            }
            let Parsed { matching, tag, drops } = flow_spec::parse(specs)?;
            let priority = if flow_spec::is_multicast_only(specs) && !goes_on {
                FlowPriority::Multicast
            } else {
                // At most 15.
                FlowPriority::Program(wanted.priority as u8)
            };
            let tirn = (direction == FlowDirection::Received).then_some(tirn);
            Ok((direction, vec![FlowRule { priority, matching, tag, drops, goes_on, tirn }]))
        }
        ALL_DEFAULT => Ok((direction, leftovers(tirn, true))),
        MC_DEFAULT => Ok((direction, leftovers(tirn, false))),
        // Nor sniffers, which are no capability: what sniffs and what receives would have to share TIRs.
        _ => Err(Errno::EOPNOTSUPP),
    }
}

/// `CREATE_FLOW`.
pub(crate) fn create(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let wanted: CreateFlow = request.core_in()?;
    check(context, &wanted)?;
    let bytes: Vec<u8> = request.array(write::CORE_IN)?;
    let first = size_of::<CreateFlow>();
    let size = if wanted.num_of_specs == 0 { 0 } else { usize::from(wanted.size) };
    let specs = bytes.get(first..first + size).ok_or(Errno::ENOSPC)?;
    if bytes[first + size..].iter().any(|&byte| byte != 0) {
        return Err(Errno::EOPNOTSUPP);
    }
    let (qp, tirn) = receiver(context, wanted.qp_handle)?;
    let specs = flow_spec::read(specs, wanted.num_of_specs)?;
    check_driver(&wanted, request)?;
    let (direction, rules) = rules(&wanted, &specs, tirn)?;
    let rules = context.hca.add_flows(direction, &rules)?;
    let flow_handle = context.insert(Arc::new(Flow { rules, _qp: qp }));
    request.core_out(&CreateFlowResp { comp_mask: 0, flow_handle })
}

/// `FLOW_DESTROY`: 0 handle.
pub(crate) fn destroy(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    context.destroy::<Flow>(request.handle(0)?).map(drop)
}

/// `DESTROY_FLOW`.
pub(crate) fn write_destroy(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let wanted: ExDestroy = request.core_in()?;
    if wanted.comp_mask != 0 {
        return Err(Errno::EINVAL);
    }
    context.destroy::<Flow>(wanted.handle).map(drop)
}
