//! The commands that a program writes (`ucma.c` of the kernel): copied in, checked, carried out.

use super::abi::{
    Accept, Bind, BindIp, Connect, CreateId, EVENT_RESP_MIN, IdAndNumber, InitQpAttr, Join, JoinIp, MigrateId, Query,
    QueryRouteResp, Reject, ResolveAddr, ResolveIp, SetOption, WriteCmEvent, command, event, option, port_space,
};
use super::address::Address;
use super::events::EventFile;
use super::id::{Id, Param};
use super::manager::MANAGER;
use super::{establish, qp_attr, query};
use crate::abi::{Destroy, EventsReported};
use crate::process::{Errno, fds, lock, user};
use std::sync::Arc;
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// `RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER`: members that only send are as others, because their QPs are not attached.
const MAX_JOIN_FLAG: u16 = 1;
/// `IB_QPT_UD`.
const QPT_UD: u8 = 4;

/// A command: where it lies after its header, how long it is, and how much room there is for the response.
pub(super) struct Call<'a> {
    pub(super) file: &'a Arc<EventFile>,
    pub(super) address: u64,
    pub(super) len_in: usize,
    pub(super) len_out: usize,
}

impl Call<'_> {
    fn input<T: FromBytes + IntoBytes>(&self) -> Result<T, Errno> {
        user::read_prefix(self.address, self.len_in)
    }

    /// Checks that a response has room, before anything happens.
    fn room<T>(&self) -> Result<(), Errno> {
        if self.len_out < size_of::<T>() { Err(Errno::ENOSPC) } else { Ok(()) }
    }

    /// Has `run` work on id `number`.
    fn on<T>(&self, number: u32, run: impl FnOnce(&mut Id) -> Result<T, Errno>) -> Result<T, Errno> {
        run(lock(&MANAGER).id(self.file, number)?)
    }
}

fn put<T: IntoBytes + Immutable>(address: u64, response: &T) -> Result<(), Errno> {
    user::write(address, response.as_bytes())
}

/// Carries out a command other than `GET_EVENT`.
pub(super) fn run(number: u32, call: &Call<'_>) -> Result<(), Errno> {
    match number {
        command::CREATE_ID => create(call),
        command::DESTROY_ID => destroy(call),
        command::BIND_IP => {
            let wanted: BindIp = call.input()?;
            let address = Address::parse(&wanted.addr).filter(|address| address.len() <= wanted.addr.len());
            call.on(wanted.id, |id| establish::bind(id, address.ok_or(Errno::EINVAL)?))
        }
        command::BIND => {
            let wanted: Bind = call.input()?;
            let address = sized(&wanted.addr, wanted.addr_size)?;
            if wanted.reserved != 0 {
                return Err(Errno::EINVAL);
            }
            call.on(wanted.id, |id| establish::bind(id, address))
        }
        command::RESOLVE_IP => {
            let wanted: ResolveIp = call.input()?;
            let source = Address::parse(&wanted.src_addr);
            let destination = Address::parse(&wanted.dst_addr).ok_or(Errno::EINVAL)?;
            call.on(wanted.id, |id| establish::resolve_address(id, source, destination))
        }
        command::RESOLVE_ADDR => {
            let wanted: ResolveAddr = call.input()?;
            let source = if wanted.src_size == 0 { None } else { Some(sized(&wanted.src_addr, wanted.src_size)?) };
            let destination = sized(&wanted.dst_addr, wanted.dst_size)?;
            if wanted.reserved != 0 {
                return Err(Errno::EINVAL);
            }
            call.on(wanted.id, |id| establish::resolve_address(id, source, destination))
        }
        command::RESOLVE_ROUTE => call.on(call.input::<IdAndNumber>()?.id, establish::resolve_route),
        command::QUERY_ROUTE => {
            call.room::<QueryRouteResp>()?;
            let asked: Query = call.input()?;
            let response = call.on(asked.id, |id| Ok(query::route(id)))?;
            put(asked.response, &response)
        }
        command::QUERY => {
            let asked: Query = call.input()?;
            let response = call.on(asked.id, |id| query::query(id, asked.option))?;
            if call.len_out < response.len() {
                return Err(Errno::ENOSPC);
            }
            user::write(asked.response, &response)
        }
        command::CONNECT => {
            let wanted: Connect = call.input()?;
            if wanted.conn_param.valid == 0 {
                return Err(Errno::EINVAL);
            }
            let mut manager = lock(&MANAGER);
            manager.id(call.file, wanted.id)?;
            manager.connect(wanted.id, &wanted.conn_param, [wanted.ece.vendor_id, wanted.ece.attr_mod])
        }
        command::LISTEN => {
            let wanted: IdAndNumber = call.input()?;
            call.on(wanted.id, |id| establish::listen(id, wanted.number))
        }
        command::ACCEPT => {
            let wanted: Accept = call.input()?;
            let mut manager = lock(&MANAGER);
            let id = manager.id(call.file, wanted.id)?;
            if wanted.conn_param.valid == 0 {
                return establish::establish(id);
            }
            let ece = [wanted.ece.vendor_id, wanted.ece.attr_mod];
            manager.accept(wanted.id, wanted.uid, &wanted.conn_param, ece)
        }
        command::REJECT => {
            let wanted: Reject = call.input()?;
            let private = &wanted.private_data[..usize::from(wanted.private_data_len)];
            call.on(wanted.id, |id| establish::reject(id, wanted.reason, private))
        }
        command::DISCONNECT => call.on(call.input()?, establish::disconnect),
        command::INIT_QP_ATTR => {
            call.room::<super::abi::QpAttr>()?;
            let wanted: InitQpAttr = call.input()?;
            let attr = call.on(wanted.id, |id| qp_attr::init(id, wanted.qp_state))?;
            put(wanted.response, &attr)
        }
        command::SET_OPTION => set_option(call),
        command::NOTIFY => {
            let wanted: IdAndNumber = call.input()?;
            call.on(wanted.id, |id| establish::notify(id, wanted.number))
        }
        command::JOIN_IP_MCAST => {
            let wanted: JoinIp = call.input()?;
            let group = Address::parse(&wanted.addr).filter(|address| address.len() <= wanted.addr.len());
            join(call, wanted.id, wanted.uid, group.ok_or(Errno::EINVAL)?, wanted.response)
        }
        command::JOIN_MCAST => {
            let wanted: Join = call.input()?;
            let group = sized(&wanted.addr, wanted.addr_size)?;
            if wanted.join_flags > MAX_JOIN_FLAG {
                return Err(Errno::EINVAL);
            }
            join(call, wanted.id, wanted.uid, group, wanted.response)
        }
        command::LEAVE_MCAST => leave(call),
        command::MIGRATE_ID => migrate(call),
        command::WRITE_CM_EVENT => {
            let wanted: WriteCmEvent = call.input()?;
            if !matches!(wanted.event, event::USER | event::INTERNAL) {
                return Err(Errno::EINVAL);
            }
            call.on(wanted.id, |id| {
                call.file.push(id.event(wanted.id, wanted.event, wanted.status, &Param::Own(wanted.arg), [0; 2]));
                Ok(())
            })
        }
        _ => Err(if number > command::LAST { Errno::EINVAL } else { Errno(libc::ENOSYS) }),
    }
}

/// The address in `bytes`, which says itself that it is `len` bytes long.
fn sized(bytes: &[u8], len: u16) -> Result<Address, Errno> {
    Address::parse(bytes).filter(|address| address.len() == usize::from(len)).ok_or(Errno::EINVAL)
}

fn create(call: &Call<'_>) -> Result<(), Errno> {
    call.room::<u32>()?;
    let wanted: CreateId = call.input()?;
    let datagram = match wanted.ps {
        port_space::TCP => false,
        port_space::UDP | port_space::IPOIB => true,
        port_space::IB => wanted.qp_type == QPT_UD,
        _ => return Err(Errno::EINVAL),
    };
    let mut manager = lock(&MANAGER);
    let number = manager.new_number();
    put(wanted.response, &number)?;
    manager.ids.insert(number, Id::new(number, wanted.uid, call.file, wanted.ps, datagram));
    Ok(())
}

fn destroy(call: &Call<'_>) -> Result<(), Errno> {
    call.room::<EventsReported>()?;
    let wanted: Destroy = call.input()?;
    let mut manager = lock(&MANAGER);
    manager.id(call.file, wanted.handle)?;
    let events_reported = manager.destroy(wanted.handle);
    put(wanted.response, &EventsReported { events_reported })
}

/// Joins a multicast group.
fn join(call: &Call<'_>, number: u32, uid: u64, group: Address, response: u64) -> Result<(), Errno> {
    call.room::<u32>()?;
    let mut manager = lock(&MANAGER);
    manager.id(call.file, number)?;
    let (membership, joined) = manager.join(number, uid, group)?;
    if let Err(error) = put(response, &membership) {
        manager.memberships.remove(&membership);
        return Err(error);
    }
    call.file.push(joined);
    Ok(())
}

fn leave(call: &Call<'_>) -> Result<(), Errno> {
    call.room::<EventsReported>()?;
    let wanted: Destroy = call.input()?;
    let events_reported = lock(&MANAGER).leave(call.file, wanted.handle)?;
    put(wanted.response, &EventsReported { events_reported })
}

fn set_option(call: &Call<'_>) -> Result<(), Errno> {
    /// Longer values than a path are no options.
    const MAX_BYTES: u32 = 4096;
    let wanted: SetOption = call.input()?;
    if wanted.optlen > MAX_BYTES {
        return Err(Errno::EINVAL);
    }
    let mut value = vec![0; wanted.optlen as usize];
    user::read(wanted.optval, &mut value)?;
    let byte = || <[u8; 1]>::try_from(&value[..]).map(|[byte]| byte).map_err(|_| Errno::EINVAL);
    let switch = || <[u8; 4]>::try_from(&value[..]).map(|word| word != [0; 4]).map_err(|_| Errno::EINVAL);
    call.on(wanted.id, |id| {
        match (wanted.level, wanted.optname) {
            (option::LEVEL_ID, option::ID_TOS) => id.options.traffic_class = byte()?,
            (option::LEVEL_ID, option::ID_REUSEADDR) => id.options.reuse = switch()?,
            (option::LEVEL_ID, option::ID_AFONLY) => id.options.family_only = switch()?,
            (option::LEVEL_ID, option::ID_ACK_TIMEOUT) => {
                id.options.ack_timeout = Some(byte().ok().filter(|code| *code < 32).ok_or(Errno::EINVAL)?);
            }
            // Paths of InfiniBand's subnet administration: on Ethernet there is one only, which is known.
            (option::LEVEL_IB, option::IB_PATH) => establish::resolve_route(id)?,
            _ => return Err(Errno(libc::ENOSYS)),
        }
        Ok(())
    })
}

fn migrate(call: &Call<'_>) -> Result<(), Errno> {
    call.room::<EventsReported>()?;
    let wanted: MigrateId = call.input()?;
    let from: Arc<EventFile> = fds::get_as(wanted.fd).ok_or(Errno::EINVAL)?;
    let mut manager = lock(&MANAGER);
    let id = manager.id(&from, wanted.id)?;
    if !Arc::ptr_eq(&from, call.file) {
        id.file = call.file.clone();
        from.take_back(|event| event.owner == wanted.id).into_iter().for_each(|event| call.file.push(event));
    }
    put(wanted.response, &EventsReported { events_reported: id.events_reported })
}

/// Gives the program the oldest event of its file; `None` if there is none, though one had been counted.
pub(super) fn next_event(call: &Call<'_>) -> Option<Result<(), Errno>> {
    let mut manager = lock(&MANAGER);
    let taken = call.file.pop(|event| {
        let response: u64 = call.input()?;
        let bytes = event.response.as_bytes();
        user::write(response, &bytes[..call.len_out.min(bytes.len())])
    })?;
    Some(taken.map(|event| {
        if let Some(membership) = event.membership {
            if let Some(membership) = manager.memberships.get_mut(&membership) {
                membership.events_reported += 1;
            }
        } else if let Some(owner) = manager.ids.get_mut(&event.owner) {
            owner.events_reported += 1;
            owner.backlog += u32::from(event.response.event == event::CONNECT_REQUEST);
        }
    }))
}

/// Whether `GET_EVENT` has room for an event.
pub(super) fn event_fits(call: &Call<'_>) -> Result<(), Errno> {
    if call.len_out < EVENT_RESP_MIN { Err(Errno::ENOSPC) } else { Ok(()) }
}
