//! Multicast groups (`rdma_join_multicast` of the kernel's `cma.c`). On Ethernet nobody is asked: the program's QP takes
//! the group's datagrams as soon as librdmacm has attached it.

use super::abi::{UdParam, event};
use super::address::Address;
use super::events::{Event, EventFile};
use super::id::{HOP_LIMIT, Membership, Param, State, UDP_QKEY};
use super::manager::Manager;
use crate::abi::AhAttr;
use crate::process::Errno;
use softhca::wire::MULTICAST_QPN;
use softhca_settings::gid_of;
use std::net::SocketAddr;
use std::sync::Arc;
use zerocopy::FromZeros;

/// `ENOTSUPP` of the kernel, which libc does not know.
const ENOTSUPP: Errno = Errno(524);

impl Manager {
    /// Joins a group for id `number`: the membership's number, and the event that it has begun. `uid` is the program's
    /// name for it.
    pub(super) fn join(&mut self, number: u32, uid: u64, group: Address) -> Result<(u32, Event), Errno> {
        let id = self.ids.get_mut(&number).ok_or(Errno::ENOENT)?;
        let (Some(local), true) = (id.local.clone(), id.datagram) else { return Err(Errno::EINVAL) };
        if !matches!(id.state, State::Bound | State::AddressResolved) || group.is_any() {
            return Err(Errno::EINVAL);
        }
        // A port's GIDs are RoCE v2's for IP addresses, and groups of such are IPv4's (`cma_iboe_join_multicast`).
        let Address::Ip(SocketAddr::V4(group)) = group else { return Err(ENOTSUPP) };
        if id.qkey == 0 {
            id.qkey = UDP_QKEY;
        }
        let mut ah_attr = AhAttr { is_global: 1, port_num: local.port, ..FromZeros::new_zeroed() };
        ah_attr.grh.dgid = gid_of((*group.ip()).into());
        ah_attr.grh.sgid_index = local.gid_index;
        ah_attr.grh.hop_limit = HOP_LIMIT;
        let param = UdParam { qp_num: MULTICAST_QPN, qkey: id.qkey, ah_attr, ..FromZeros::new_zeroed() };
        let membership = self.memberships.last_key_value().map_or(0, |(last, _)| last.wrapping_add(1));
        let mut event = id.event(membership, event::MULTICAST_JOIN, 0, &Param::Ud(param), [0; 2]);
        event.response.uid = uid;
        event.membership = Some(membership);
        self.memberships.insert(membership, Membership { id: number, events_reported: 0 });
        Ok((membership, event))
    }

    /// Ends a membership, of which `file` has been told. Gives the events reported for it.
    pub(super) fn leave(&mut self, file: &Arc<EventFile>, membership: u32) -> Result<u32, Errno> {
        let found = self.memberships.get(&membership).ok_or(Errno::ENOENT)?;
        let (id, events_reported) = (found.id, found.events_reported);
        self.id(file, id)?;
        self.memberships.remove(&membership);
        file.take_back(|event| event.membership == Some(membership));
        Ok(events_reported)
    }
}
