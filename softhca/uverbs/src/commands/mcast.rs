//! Multicast groups of queue pairs (`ib_uverbs_attach_mcast` and `ib_attach_mcast` of the kernel).

use super::qp::{Group, Qp};
use super::request::Request;
use crate::abi::GroupMember;
use crate::context::Context;
use crate::process::{Errno, lock};
use softhca::context::Transport;
use softhca::wire::is_group;
use softhca_settings::Link;
use std::sync::Arc;

/// LIDs of multicast groups: from `IB_MULTICAST_LID_BASE`, below `IB_LID_PERMISSIVE`.
pub(crate) const GROUP_LIDS: std::ops::Range<u16> = 0xc000..0xffff;

/// The queue pair and the group of a command.
fn wanted(context: &Context, request: &Request) -> Result<(Arc<Qp>, Group), Errno> {
    let wanted: GroupMember = request.core_in()?;
    let qp: Arc<Qp> = context.get(wanted.qp_handle).map_err(|_| Errno::EINVAL)?;
    Ok((qp, (wanted.gid, wanted.mlid)))
}

/// Whether a QP can be in the group.
fn fits(context: &Context, qp: &Qp, (gid, lid): &Group) -> bool {
    let has_lid = context.hca.settings.link == Link::Ethernet || GROUP_LIDS.contains(lid);
    qp.transport == Transport::Ud && is_group(gid) && has_lid
}

/// `ATTACH_MCAST`. A group that the QP is in already is no error.
pub(crate) fn attach(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let (qp, group) = wanted(context, request)?;
    let mut groups = lock(&qp.groups);
    if groups.contains(&group) {
        return Ok(());
    }
    if !fits(context, &qp, &group) {
        return Err(Errno::EINVAL);
    }
    context.hca.command(|device| device.attach_to_group(qp.number, group.0))?;
    groups.push(group);
    Ok(())
}

/// `DETACH_MCAST`.
pub(crate) fn detach(context: &Arc<Context>, request: &Request) -> Result<(), Errno> {
    let (qp, group) = wanted(context, request)?;
    let mut groups = lock(&qp.groups);
    let place = groups.iter().position(|known| *known == group).ok_or(Errno::EINVAL)?;
    groups.remove(place);
    // The device knows groups by GID alone.
    if groups.iter().any(|(gid, _)| *gid == group.0) {
        return Ok(());
    }
    context.hca.command(|device| device.detach_from_group(qp.number, group.0))
}
