//! Events as the device says them, for programs that have asked: `MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD`.

use super::files;
use super::objects::DevxObject;
use crate::abi::mailbox::creator;
use crate::commands::request::Request;
use crate::context::Context;
use crate::device::{Hca, Receiver, RecordKind, Topic, queue_kind};
use crate::process::{Errno, EventFd};
use softhca::firmware::DRIVER;
use std::sync::Arc;

/// Most events that one request asks for.
const MAX_EVENTS: usize = 16;
/// A CQ has completions: no event of the device's own counting, so no mask has it.
const COMPLETION: u16 = 0;
/// The events of objects, and those without an object, of a device that does not list them (`is_legacy_obj_event_num`,
/// `is_legacy_unaffiliated_event_num`).
const OF_OBJECTS: [u16; 15] =
    [0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x07, 0x10, 0x11, 0x12, 0x13, 0x14, 0x18, 0x1c, 0x1d];
const OF_NONE: [u16; 1] = [0x09];

/// `DEVX_ASYNC_EVENT_FD_ALLOC`: 0x1000 descriptor, 0x1001 flags.
pub(crate) fn alloc(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    const OMIT_DATA: u64 = 1;
    let flags: u64 = request.input(0x1001)?;
    let kind = match flags {
        0 => RecordKind::Events,
        OMIT_DATA => RecordKind::BareEvents,
        _ => return Err(Errno::EINVAL),
    };
    files::alloc(context, request, kind)
}

/// Whether programs may ask for event `number` of an object, or of none.
fn may_ask(hca: &Hca, number: u16, of_object: bool) -> bool {
    match &hca.capabilities.events {
        Some(masks) => of_object && number == COMPLETION || masks.permit(number, of_object),
        None if of_object => OF_OBJECTS.contains(&number),
        None => OF_NONE.contains(&number),
    }
}

/// The kind of queue that what `creator` has made is in events (`get_legacy_obj_type`).
fn kind(creator: u16) -> u16 {
    match creator {
        creator::RQ | creator::RMP => queue_kind::RECEIVE,
        creator::SQ => queue_kind::SEND,
        creator::DCT => queue_kind::DC_TARGET,
        _ => queue_kind::OTHER,
    }
}

/// `DEVX_SUBSCRIBE_EVENT`: 0x1000 file for the events, 0x1001 object, 0x1002 events, 0x1003 an eventfd that counts them
/// instead, 0x1004 the program's name for them.
pub(crate) fn subscribe(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    if context.user() == DRIVER {
        return Err(Errno::EINVAL);
    }
    let object: Option<Arc<DevxObject>> =
        request.optional_handle(0x1001).map(|handle| context.get(handle)).transpose()?;
    let file = files::named(context, request, 0x1000, &[RecordKind::Events, RecordKind::BareEvents])?;
    let redirected: Option<i32> = request.optional(0x1003)?;
    let cookie: Option<u64> = request.optional(0x1004)?;
    if redirected.is_some() && cookie.is_some() {
        return Err(Errno::EINVAL);
    }
    let events: Vec<u16> = request.array(0x1002)?;
    let asked = |&number: &u16| may_ask(&context.hca, number, object.is_some());
    if events.is_empty() || events.len() > MAX_EVENTS || !events.iter().all(asked) {
        return Err(Errno::EINVAL);
    }
    let subscription = |event| {
        let topic = match &object {
            Some(object) => Topic { event, kind: kind(object.id.creator), object: Some(object.id.number) },
            None => Topic { event, kind: queue_kind::OTHER, object: None },
        };
        let receiver = match redirected {
            Some(fd) => Receiver::Redirected(EventFd::of(fd)?),
            None => Receiver::Record(cookie.unwrap_or(0)),
        };
        Ok((topic, receiver))
    };
    let topics = events.into_iter().map(subscription).collect::<Result<_, Errno>>()?;
    context.hca.subscribe(object.map_or(0, |object| object.subscriber), &file, topics);
    Ok(())
}
