//! Rules by the driver's own commands: a matcher says which bits of frames count, each flow has their values (Linux
//! `drivers/infiniband/hw/mlx5/fs.c`, `MLX5_IB_METHOD_FLOW_MATCHER_CREATE` and `MLX5_IB_METHOD_CREATE_FLOW`).

use super::devx::objects;
use super::flow::{self, Flow};
use super::flow_action::FlowAction;
use super::request::Request;
use crate::context::{self, Context, Object, Rank};
use crate::device::{FlowDirection, FlowMatch, FlowPriority, FlowRule, Hca, MATCH_BYTES};
use crate::process::{Errno, capability, has_capability};
use std::sync::Arc;

/// Attributes of the matcher. The type of the flow has the priority as its value.
const HANDLE: u16 = 0x1000;
const MASK: u16 = 0x1001;
const TYPE: u16 = 0x1002;
const CRITERIA: u16 = 0x1003;
const FLAGS: u16 = 0x1004;
const TABLE: u16 = 0x1005;
/// Attributes of a flow.
const VALUE: u16 = 0x1001;
const TO_QP: u16 = 0x1002;
const TO_DEVX: u16 = 0x1003;
const MATCHER: u16 = 0x1004;
const ACTIONS: u16 = 0x1005;
const TAG: u16 = 0x1006;
const COUNTERS: u16 = 0x1007;
const COUNTER_OFFSETS: u16 = 0x1008;
const FLOW_FLAGS: u16 = 0x1009;

/// `MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP`.
const DROP: u32 = 1 << 1;
/// `IB_FLOW_ATTR_FLAGS_EGRESS`.
const EGRESS: u64 = 1 << 2;
/// `MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX` and `_TX`.
const NIC_RX: u64 = 0;
const NIC_TX: u64 = 1;
/// The least priority.
const LAST_PRIORITY: u16 = 15;
/// Destination addresses in the outer headers: of Ethernet, and of IPv4.
const DMAC: usize = 8;
const IPV4: usize = 60;

/// A matcher.
pub(crate) struct Matcher {
    mask: Box<[u8; MATCH_BYTES]>,
    direction: FlowDirection,
    priority: u8,
}

impl context::Object for Matcher {
    fn rank(&self) -> Rank {
        Rank::Matcher
    }

    fn release(&self, _hca: &Hca) -> Result<(), Errno> {
        Ok(())
    }
}

impl Matcher {
    /// The fields of a flow. Rules for groups of stations have a table of their own (`raw_fs_is_multicast`).
    fn fields(&self, value: Box<[u8; MATCH_BYTES]>) -> (FlowMatch, FlowPriority) {
        let both = |at: usize, bits: u8| self.mask[at] & bits == bits && value[at] & bits == bits;
        let priority = if both(DMAC, 1) || both(IPV4, 0xe0) {
            FlowPriority::Multicast
        } else {
            FlowPriority::Program(self.priority)
        };
        (FlowMatch { mask: self.mask.clone(), value }, priority)
    }
}

/// Match parameters; shorter ones are filled up with zeros.
fn parameters(request: &Request, id: u16) -> Result<Box<[u8; MATCH_BYTES]>, Errno> {
    if !(1..=MATCH_BYTES).contains(&request.len(id)) {
        return Err(Errno::EINVAL);
    }
    let given: Vec<u8> = request.array(id)?;
    let mut all = Box::new([0; MATCH_BYTES]);
    all[..given.len()].copy_from_slice(&given);
    Ok(all)
}

/// `FLOW_MATCHER_CREATE`: 0x1000 handle, 0x1001 mask, 0x1002 type and priority, 0x1003 sets of fields that count,
/// 0x1004 flags or 0x1005 type of table.
pub(crate) fn create(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    if !has_capability(capability::NET_RAW) {
        return Err(Errno::EPERM);
    }
    let (mask, priority) = (parameters(request, MASK)?, request.input::<u16>(TYPE)?);
    if priority > LAST_PRIORITY {
        return Err(Errno::ENOMEM);
    }
    let direction = match (request.optional::<u64>(FLAGS)?, request.optional::<u64>(TABLE)?) {
        (None | Some(0), None) | (None, Some(NIC_RX)) => FlowDirection::Received,
        (Some(EGRESS), None) | (None, Some(NIC_TX)) => FlowDirection::Sent,
        // The device has no eSwitch, and no tables of RDMA.
        (None, Some(_)) => return Err(Errno::EOPNOTSUPP),
        _ => return Err(Errno::EINVAL),
    };
    let fields = FlowMatch { mask: mask.clone(), value: mask.clone() };
    // Firmware refuses bits in sets that do not count.
    if fields.sets() & !u64::from(request.input::<u8>(CRITERIA)?) != 0 {
        return Err(Errno::EINVAL);
    }
    let handle = context.insert(Arc::new(Matcher { mask, direction, priority: priority as u8 }));
    request.put_handle(HANDLE, handle)
}

/// An object and its number.
type Numbered = (Arc<dyn Object>, u32);

/// The numbers in an array, if the request has it.
fn numbers(request: &Request, id: u16) -> Result<Option<Vec<u32>>, Errno> {
    request.optional_handle(id).map(|_| request.array(id)).transpose()
}

/// The counter, made by a command, that a flow counts with.
fn counter(context: &Context, request: &Request) -> Result<Option<Numbered>, Errno> {
    let Some(handles) = numbers(request, COUNTERS)? else { return Ok(None) };
    let offsets = numbers(request, COUNTER_OFFSETS)?.unwrap_or_else(|| vec![0]);
    match (&handles[..], &offsets[..]) {
        (&[handle], &[offset]) => objects::flow_counter(context, handle, offset).map(Some),
        _ => Err(Errno::EINVAL),
    }
}

/// The modification of headers that a flow has; there cannot be two (`parse_flow_flow_action`).
fn action(context: &Context, request: &Request) -> Result<Option<Arc<FlowAction>>, Errno> {
    match numbers(request, ACTIONS)?.as_deref() {
        None => Ok(None),
        Some(&[handle]) => context.get(handle).map(Some),
        Some(_) => Err(Errno::EINVAL),
    }
}

/// `CREATE_FLOW`: 0x1000 handle, 0x1001 values, 0x1002 queue pair, 0x1003 interface made by a command, 0x1004 matcher,
/// 0x1005 actions, 0x1006 flow tag, 0x1007 counter made by a command, 0x1008 its offset, 0x1009 flags.
pub(crate) fn create_flow(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    if !has_capability(capability::NET_RAW) {
        return Err(Errno::EPERM);
    }
    let matcher: Arc<Matcher> = context.get(request.handle(MATCHER)?)?;
    let drops = match request.optional::<u32>(FLOW_FLAGS)?.unwrap_or(0) {
        0 => false,
        DROP => true,
        // To go on as if no rule matched.
        _ => return Err(Errno::EOPNOTSUPP),
    };
    let receiver = match (request.optional_handle(TO_QP), request.optional_handle(TO_DEVX)) {
        (Some(handle), None) => Some(flow::receiver(context, handle)?),
        (None, Some(handle)) => Some(objects::interface(context, handle)?),
        (None, None) => None,
        (Some(_), Some(_)) => return Err(Errno::EINVAL),
    };
    let received = matcher.direction == FlowDirection::Received;
    // `get_dests`: received frames go to one place; sent ones go on, or are dropped.
    let is_one_place = if received { receiver.is_some() != drops } else { receiver.is_none() };
    if !is_one_place {
        return Err(Errno::EINVAL);
    }
    let (matching, priority) = matcher.fields(parameters(request, VALUE)?);
    let tag = request.optional::<u32>(TAG)?;
    if tag.is_some_and(|tag| !received || tag >> 24 != 0) {
        return Err(Errno::EINVAL);
    }
    let action = action(context, request)?;
    let modification = action.as_ref().map(|action| action.modification);
    let counted = counter(context, request)?;
    let number = |of: &Option<Numbered>| of.as_ref().map(|(_, number)| *number);
    let (tirn, counter) = (number(&receiver), number(&counted));
    let rule = FlowRule { priority, matching, tag, modification, drops, goes_on: false, tirn, counter };
    let rules = context.hca.add_flows(&[(matcher.direction, rule)])?;
    let mut under: Vec<Arc<dyn Object>> = vec![matcher];
    under.extend([receiver, counted].into_iter().flatten().map(|(object, _)| object));
    under.extend(action.map(|action| action as Arc<dyn Object>));
    let handle = context.insert(Arc::new(Flow::over(rules, under)));
    request.put_handle(HANDLE, handle)
}
