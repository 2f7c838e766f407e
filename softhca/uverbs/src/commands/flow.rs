//! Flows: which frames a QP for raw packets gets (Linux `drivers/infiniband/core/uverbs_cmd.c`,
//! `ib_uverbs_ex_create_flow`, and `drivers/infiniband/hw/mlx5/fs.c`, `mlx5_ib_create_flow`).

use super::counters::Counters;
use super::flow_spec::{self, Parsed, Spec};
use super::qp::Qp;
use super::request::Request;
use super::rss::RssQp;
use crate::abi::frames::{CreateFlow, CreateFlowResp, MAX_FLOW_SPEC};
use crate::abi::mlx5::{self, FlowCountersData, FlowCountersDesc};
use crate::abi::{UHW_IN, write};
use crate::context::{self, Context, Object, Rank};
use crate::device::{FlowDirection, FlowMatch, FlowPriority, FlowRule, Flows, Hca};
use crate::process::{Errno, capability, has_capability, user};
use std::sync::Arc;
use zerocopy::{FromBytes, FromZeros, IntoBytes};

/// `enum ib_flow_attr_type`.
const NORMAL: u32 = 0;
const ALL_DEFAULT: u32 = 1;
const MC_DEFAULT: u32 = 2;
const SNIFFER: u32 = 3;
/// `enum ib_flow_flags`: frames go on to rules of less priority; the flow matches egress frames.
const DONT_TRAP: u32 = 1 << 1;
const EGRESS: u32 = 1 << 2;
const RESERVED: u32 = 1 << 3;
/// Most specifications (`IB_FLOW_SPEC_SUPPORT_LAYERS`).
const MAX_SPECS: u8 = 10;
/// The least priority (`MLX5_IB_FLOW_LAST_PRIO`).
const LAST_PRIORITY: u16 = 15;

/// Most places of counts that a flow can say (`MAX_COUNTERS_NUM`).
const MAX_COUNTS: u32 = 0xffff / 8;

/// A flow.
pub(crate) struct Flow {
    rules: Flows,
    /// Those that count its frames.
    counters: Option<Arc<Counters>>,
    /// Kept busy.
    _under: Vec<Arc<dyn Object>>,
}

impl Flow {
    /// A flow of these rules, which keeps objects busy, and which nothing counts.
    pub(super) fn over(rules: Flows, under: Vec<Arc<dyn Object>>) -> Self {
        Self { rules, counters: None, _under: under }
    }
}

impl context::Object for Flow {
    fn rank(&self) -> Rank {
        Rank::Flow
    }

    fn release(&self, hca: &Hca) -> Result<(), Errno> {
        hca.remove_flows(&self.rules)?;
        if let Some(counters) = &self.counters {
            counters.leave();
        }
        Ok(())
    }
}

/// The QP that is to get frames, and its TIR.
pub(super) fn receiver(context: &Context, handle: u32) -> Result<(Arc<dyn Object>, u32), Errno> {
    let object = context.get_any(handle)?;
    if let Ok(qp) = context.get::<RssQp>(handle) {
        return Ok((object, qp.tirn));
    }
    let qp: Arc<Qp> = context.get(handle)?;
    // This error is also returned for a raw packet QP without a receive queue.
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

/// The places of counts that come with a request, if any (`mlx5_ib_create_flow`).
fn count_places(request: &Request) -> Result<Option<FlowCountersData>, Errno> {
    let given: Vec<u8> = if request.len(UHW_IN) == 0 { return Ok(None) } else { request.array(UHW_IN)? };
    let (driver, rest) = mlx5::CreateFlow::read_from_prefix(&given).map_err(|_| Errno::EOPNOTSUPP)?;
    // Of one object at most.
    if driver.ncounters_data > 1 {
        return Err(Errno::EINVAL);
    }
    let (places, rest) = match driver.ncounters_data {
        0 => (None, rest),
        _ => FlowCountersData::read_from_prefix(rest)
            .map(|(data, rest)| (Some(data), rest))
            .map_err(|_| Errno::EFAULT)?,
    };
    if rest.iter().any(|&byte| byte != 0) { Err(Errno::EOPNOTSUPP) } else { Ok(places) }
}

/// The places themselves, in the program's memory.
fn read_places(data: &FlowCountersData) -> Result<Vec<FlowCountersDesc>, Errno> {
    if data.ncounters > MAX_COUNTS {
        return Err(Errno::EINVAL);
    }
    let mut places = vec![FlowCountersDesc::new_zeroed(); data.ncounters as usize];
    user::read(data.counters_data, places.as_mut_bytes())?;
    Ok(places)
}

/// Checks what mlx5_ib checks before it looks at specifications.
fn check_driver(wanted: &CreateFlow) -> Result<(), Errno> {
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

/// A rule for all frames.
fn everything(priority: FlowPriority, tirn: u32) -> FlowRule {
    let matching = FlowMatch::default();
    FlowRule {
        priority,
        matching,
        tag: None,
        modification: None,
        drops: false,
        goes_on: false,
        tirn: Some(tirn),
        counter: None,
    }
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
        FlowRule { matching, ..everything(FlowPriority::Leftovers, tirn) }
    };
    values.iter().map(rule).collect()
}

/// The rules that are wanted, of frames in which direction. `counter` makes the flow counter for a rule that counts.
fn rules(
    context: &Context,
    wanted: &CreateFlow,
    specs: &[Spec<'_>],
    tirn: u32,
    counter: impl FnOnce() -> Result<u32, Errno>,
) -> Result<Vec<(FlowDirection, FlowRule)>, Errno> {
    let received = |rules: Vec<FlowRule>| rules.into_iter().map(|rule| (FlowDirection::Received, rule)).collect();
    match wanted.flow_type {
        NORMAL => {
            let sent = wanted.flags & EGRESS != 0;
            let direction = if sent { FlowDirection::Sent } else { FlowDirection::Received };
            let goes_on = wanted.flags & DONT_TRAP != 0;
            if goes_on && sent {
                // A frame cannot both leave and go on.
                return Err(Errno::EINVAL);
            }
            let Parsed { matching, tag, drops, counts } = flow_spec::parse(specs)?;
            let priority = if flow_spec::is_multicast_only(specs) && !goes_on {
                FlowPriority::Multicast
            } else {
                // At most 15.
                FlowPriority::Program(wanted.priority as u8)
            };
            let counter = if counts { Some(counter()?) } else { None };
            let tirn = (!sent).then_some(tirn);
            let modification = None;
            Ok(vec![(direction, FlowRule { priority, matching, tag, modification, drops, goes_on, tirn, counter })])
        }
        ALL_DEFAULT => Ok(received(leftovers(tirn, true))),
        MC_DEFAULT => Ok(received(leftovers(tirn, false))),
        // `create_sniffer_rule`.
        SNIFFER if context.hca.capabilities.frames.sniffs && wanted.flags & EGRESS == 0 => {
            let directions = [FlowDirection::SniffedReceived, FlowDirection::SniffedSent];
            Ok(directions.map(|direction| (direction, everything(FlowPriority::Sniffer, tirn))).into())
        }
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
    let named = specs.iter().filter_map(Spec::counters).map(|handle| context.get(handle));
    let named: Vec<Arc<Counters>> = named.collect::<Result<_, _>>()?;
    let places = count_places(request)?;
    check_driver(&wanted)?;
    let mut counters = None;
    let counter = || {
        let found = named.first().ok_or(Errno::EINVAL)?;
        let number = found.join(&context.hca, places.as_ref().map(read_places).transpose()?)?;
        counters = Some(Arc::clone(found));
        Ok(number)
    };
    let rules = rules(context, &wanted, &specs, tirn, counter)?;
    let rules = context.hca.add_flows(&rules).inspect_err(|_| counters.iter().for_each(|counters| counters.leave()))?;
    let flow_handle = context.insert(Arc::new(Flow { rules, counters, _under: vec![qp] }));
    request.core_out(&CreateFlowResp { comp_mask: 0, flow_handle })
}
