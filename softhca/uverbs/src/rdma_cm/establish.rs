//! The program's calls to get a connection, and to end it (`rdma_bind_addr` to `rdma_disconnect` of the kernel's
//! `cma.c`).

use super::abi::{ConnParam, event};
use super::address::{Address, ip_header, service_id};
use super::conversation::{Conversation, Phase, ack_timeout};
use super::id::{Id, Local, Param, State, UDP_QKEY};
use super::mad::{Kind, Message, milliseconds, padded, reason, sidr};
use super::manager::{Manager, send, settings, sidr_refusal};
use super::peer::Peer;
use super::ports::{self, Wanted};
use super::requests::{Rep, Req, SidrRep, SidrReq};
use super::thread;
use crate::device::Hca;
use crate::device::limits::LOCAL_ACK_DELAY;
use crate::process::{Errno, route};
use softhca::wire::GSI_QPN;
use softhca::wire::cable::ip_of;
use softhca_settings::{self as settings, gid_of};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Instant;

/// The time limit for each side's answer: `CMA_CM_RESPONSE_TIMEOUT`, 4.3 s.
const RESPONSE_TIMEOUT: u8 = 20;
/// How often a message is sent again: `CMA_MAX_CM_RETRIES`.
const MAX_RETRIES: u8 = 15;
/// Packet life time on Ethernet: `CMA_IBOE_PACKET_LIFETIME`.
pub(super) const PACKET_LIFE_TIME: u8 = 16;

/// `enum ib_mtu` of a route: the network's (`cma_resolve_iboe_route`).
pub(super) fn route_mtu(local: &Local) -> u8 {
    // 256 is 1, 4096 is 5.
    settings::path_mtu(&local.hca.settings).ilog2().saturating_sub(7) as u8
}

/// The GUID of the device that an id uses.
fn ca_guid(local: &Local) -> u64 {
    settings::node_guid(local.hca.settings.number(local.hca.index))
}

fn expect(id: &Id, state: State) -> Result<(), Errno> {
    if id.state == state { Ok(()) } else { Err(Errno::EINVAL) }
}

/// The first bytes of a structure's private data, as many as it says.
fn private(param: &ConnParam) -> &[u8] {
    &param.private_data[..usize::from(param.private_data_len)]
}

/// `rdma_bind_addr`.
pub(super) fn bind(id: &mut Id, address: Address) -> Result<(), Errno> {
    expect(id, State::Idle)?;
    let settings = settings()?;
    match address {
        // No Ethernet port can be found by such an address; but the program may ask whether there is the family.
        Address::Ib(_) if !address.is_any() => return Err(Errno::ENODEV),
        Address::Ib(_) => {}
        Address::Ip(wanted) => {
            if !address.is_any() {
                id.local = Some(Local::with_ip(settings, wanted.ip())?);
            }
            lease(id, wanted).inspect_err(|_| id.local = None)?;
        }
    }
    if id.source.is_none() {
        id.source = Some(address);
    }
    id.state = State::Bound;
    Ok(())
}

/// Takes the port for the address, which is the id's source from then on.
fn lease(id: &mut Id, wanted: SocketAddr) -> Result<(), Errno> {
    let lease = ports::bind(
        &settings()?.fabric,
        Wanted {
            space: id.space,
            port: wanted.port(),
            ip: wanted.ip(),
            reuse: id.options.reuse,
            family_only: id.options.family_only,
        },
    )?;
    let mut source = wanted;
    source.set_port(lease.port);
    id.source = Some(Address::Ip(source));
    id.lease = Some(lease);
    Ok(())
}

/// `rdma_resolve_addr`. An address that cannot be resolved is an event.
pub(super) fn resolve_address(id: &mut Id, source: Option<Address>, destination: Address) -> Result<(), Errno> {
    let Address::Ip(mut wanted) = destination else { return Err(Errno::ENODEV) };
    if id.state == State::Idle {
        let any = if wanted.is_ipv4() { IpAddr::V4(Ipv4Addr::UNSPECIFIED) } else { Ipv6Addr::UNSPECIFIED.into() };
        bind(id, source.unwrap_or(Address::Ip(SocketAddr::new(any, 0))))?;
    }
    expect(id, State::Bound)?;
    let bound = id.source_ip().ok_or(Errno::EINVAL)?;
    if bound.is_ipv4() != wanted.is_ipv4() {
        return Err(Errno::EINVAL);
    }
    if wanted.ip().is_unspecified() {
        wanted.set_ip(if wanted.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() });
    }
    id.destination = Some(wanted);
    let settings = settings()?;
    let found = match settings::find_gid(settings, &gid_of(wanted.ip())) {
        None if settings.link == settings::Link::Ethernet && wanted.ip().is_multicast() => {
            resolve_remote(id, wanted.ip(), bound.port())
        }
        None if settings.wire.leaves_the_host() => resolve_remote(id, wanted.ip(), bound.port()),
        None if settings.link == settings::Link::Infiniband => {
            log::warn!(
                "rdma_cm: {} is no address of these ports, which are InfiniBand and have no IP addresses: start \
                 softhca-run with --link ethernet",
                wanted.ip()
            );
            Err(Errno::ENODEV)
        }
        None => Err(Errno(libc::EHOSTUNREACH)),
        Some(_) if id.local.is_some() => Ok(()),
        // A port of this machine: the way to it begins at its own address.
        Some(_) => Local::with_ip(settings, wanted.ip()).map(|local| {
            id.local = Some(local);
            id.source = Some(Address::Ip(SocketAddr::new(wanted.ip(), bound.port())));
        }),
    };
    match found {
        Ok(()) => {
            id.state = State::AddressResolved;
            id.raise(event::ADDR_RESOLVED, 0, &Param::None, [0; 2]);
        }
        Err(error) => id.raise(event::ADDR_ERROR, -error.0, &Param::None, [0; 2]),
    }
    Ok(())
}

/// The way to another host: it begins at the address that the host's routes name, or, on a network that is not the
/// host's, at the device's own.
fn resolve_remote(id: &mut Id, to: IpAddr, port: u16) -> Result<(), Errno> {
    let settings = settings()?;
    let source = if settings.wire.has_host_addresses() {
        route::source_of(to)?
    } else {
        let own = settings::gids(settings, 0, 1).into_iter().map(|(gid, _)| ip_of(gid));
        own.into_iter().find(|ip| ip.is_ipv4() == to.is_ipv4()).ok_or(Errno(libc::EHOSTUNREACH))?
    };
    if id.local.is_none() {
        id.local = Some(Local::with_ip(settings, source)?);
        id.source = Some(Address::Ip(SocketAddr::new(source, port)));
    }
    Ok(())
}

/// `rdma_resolve_route`: there is nothing to be asked.
pub(super) fn resolve_route(id: &mut Id) -> Result<(), Errno> {
    expect(id, State::AddressResolved)?;
    id.state = State::RouteResolved;
    id.raise(event::ROUTE_RESOLVED, 0, &Param::None, [0; 2]);
    Ok(())
}

/// `rdma_listen`.
pub(super) fn listen(id: &mut Id, backlog: u32) -> Result<(), Errno> {
    /// `max_backlog`, the default of `net.rdma_ucm.max_backlog`.
    const MAX_BACKLOG: u32 = 1024;
    if id.state == State::Idle {
        bind(id, Address::Ip(SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), 0)))?;
    }
    expect(id, State::Bound)?;
    let settings = settings()?;
    let mut agents = vec![0; settings.devices as usize];
    for (device, agent) in (0..).zip(&mut agents) {
        if id.local.as_ref().is_none_or(|local| local.hca.index == device) {
            *agent = Hca::get(device, settings)?.gsi_qpn.ok_or(Errno::ENODEV)?;
        }
    }
    id.lease.as_mut().ok_or(Errno::EINVAL)?.listen(&agents)?;
    id.backlog = if (1..MAX_BACKLOG).contains(&backlog) { backlog } else { MAX_BACKLOG };
    id.state = State::Listening;
    Ok(())
}

impl Manager {
    /// `rdma_connect`.
    pub(super) fn connect(&mut self, number: u32, param: &ConnParam, ece: [u32; 2]) -> Result<(), Errno> {
        let local_id = self.new_conversation();
        let id = self.ids.get_mut(&number).ok_or(Errno::ENOENT)?;
        expect(id, State::RouteResolved)?;
        let (Some(local), Some(source), Some(destination)) = (id.local.clone(), id.source_ip(), id.destination) else {
            return Err(Errno::EINVAL);
        };
        let settings = settings()?;
        let header = ip_header(source, destination.ip());
        let gid = gid_of(destination.ip());
        let device = settings::find_gid(settings, &gid).map_or(0, |(device, ..)| device);
        let agent = if settings.wire.leaves_the_host() {
            // Every host has one, with the well-known number.
            Some(GSI_QPN)
        } else {
            ports::listener(&settings.fabric, id.space, destination.ip(), destination.port(), device)
        };
        let peer = Peer { qpn: agent.unwrap_or(0), gid, own_gid: local.gid };
        let phase = if id.datagram { Phase::SidrReqSent } else { Phase::ReqSent };
        let mut talk = Conversation::new(phase, peer, peer.life(), local_id);
        talk.service_id = service_id(id.space, destination.port());
        talk.local_qpn = param.qp_num;
        talk.mtu = route_mtu(&local);
        talk.responder_resources = param.responder_resources;
        talk.initiator_depth = param.initiator_depth;
        talk.retry_count = param.retry_count.min(7);
        talk.max_retries = MAX_RETRIES;
        talk.ack_timeout = PACKET_LIFE_TIME + 1;
        let data: [&[u8]; 2] = [&header, private(param)];
        let request = if id.datagram {
            talk.response_ms = milliseconds(RESPONSE_TIMEOUT);
            let private = padded(&data).ok_or(Errno::EINVAL)?;
            SidrReq { request_id: local_id, service_id: talk.service_id, private }.encode(talk.transaction)
        } else {
            talk.response_ms = milliseconds(PACKET_LIFE_TIME) * 2 + milliseconds(RESPONSE_TIMEOUT);
            Req {
                local_id,
                service_id: talk.service_id,
                ca_guid: ca_guid(&local),
                local_qpn: param.qp_num,
                responder_resources: param.responder_resources,
                initiator_depth: param.initiator_depth,
                flow_control: param.flow_control,
                starting_psn: id.psn,
                response_timeouts: [RESPONSE_TIMEOUT; 2],
                retry_count: talk.retry_count,
                rnr_retry_count: param.rnr_retry_count.min(7),
                max_cm_retries: MAX_RETRIES,
                srq: param.srq,
                mtu: talk.mtu,
                local_gid: local.gid,
                remote_gid: gid,
                traffic_class: id.options.traffic_class,
                hop_limit: super::id::HOP_LIMIT,
                sl: 0,
                ack_timeout: ack_timeout(LOCAL_ACK_DELAY, PACKET_LIFE_TIME),
                ece,
                private: padded(&data).ok_or(Errno::EINVAL)?,
            }
            .encode(talk.transaction)
        };
        id.state = State::Connecting;
        match agent {
            Some(_) => send(&local, &peer, &request),
            // The port's agent is all processes together, and none of them has such a service.
            None if id.datagram => {
                let refusal = sidr_refusal(local_id, talk.service_id, sidr::UNSUPPORTED, talk.transaction);
                thread::put_message(refusal, peer);
            }
            None => {
                let reason = reason::INVALID_SERVICE_ID;
                thread::put_message(Message::rej(Kind::Req, talk.transaction, [0, local_id], reason, &[]), peer);
            }
        }
        // An absent peer can neither answer nor die.
        talk.life = talk.life.or(agent.is_none().then_some(0));
        talk.expect_answer(phase, request, Instant::now());
        self.begin(number, talk);
        Ok(())
    }

    /// `rdma_accept` with parameters: the answer to a request.
    pub(super) fn accept(&mut self, number: u32, uid: u64, param: &ConnParam, ece: [u32; 2]) -> Result<(), Errno> {
        let id = self.ids.get_mut(&number).ok_or(Errno::ENOENT)?;
        expect(id, State::Connecting)?;
        let qkey = if id.qkey == 0 { UDP_QKEY } else { id.qkey };
        let (Some(talk), Some(local)) = (&mut id.conversation, &id.local) else { return Err(Errno::EINVAL) };
        let message = match talk.phase {
            Phase::SidrReqReceived => {
                let private = padded(&[private(param)]).ok_or(Errno::EINVAL)?;
                let (request_id, service_id, qpn) = (talk.remote_id, talk.service_id, param.qp_num);
                let reply = SidrRep { request_id, status: sidr::SUCCESS, qpn, service_id, qkey, private };
                let message = reply.encode(talk.transaction);
                talk.settle(Phase::Over);
                talk.answer = Some(message.clone());
                message
            }
            Phase::ReqReceived => {
                talk.local_qpn = param.qp_num;
                talk.responder_resources = param.responder_resources;
                talk.initiator_depth = param.initiator_depth;
                let reply = Rep {
                    local_id: talk.local_id,
                    remote_id: talk.remote_id,
                    local_qpn: param.qp_num,
                    starting_psn: id.psn,
                    responder_resources: param.responder_resources,
                    initiator_depth: param.initiator_depth,
                    target_ack_delay: LOCAL_ACK_DELAY,
                    flow_control: param.flow_control,
                    rnr_retry_count: param.rnr_retry_count.min(7),
                    srq: param.srq,
                    ca_guid: ca_guid(local),
                    ece,
                    private: padded(&[private(param)]).ok_or(Errno::EINVAL)?,
                };
                let message = reply.encode(talk.transaction);
                talk.expect_answer(Phase::RepSent, message.clone(), Instant::now());
                message
            }
            _ => return Err(Errno::EINVAL),
        };
        send(local, &talk.peer, &message);
        id.uid = uid;
        Ok(())
    }
}

/// `rdma_accept` without parameters: the answer to a reply. The QP is ready.
pub(super) fn establish(id: &mut Id) -> Result<(), Errno> {
    expect(id, State::Connecting)?;
    let (Some(talk), Some(local)) = (&mut id.conversation, &id.local) else { return Err(Errno::EINVAL) };
    if talk.phase != Phase::RepReceived {
        return Err(Errno::EINVAL);
    }
    let rtu = Message::plain(Kind::Rtu, talk.transaction, talk.local_id, talk.remote_id);
    send(local, &talk.peer, &rtu);
    talk.settle(Phase::Established);
    talk.answer = Some(rtu);
    Ok(())
}

/// `rdma_reject`.
pub(super) fn reject(id: &mut Id, reason: u8, private: &[u8]) -> Result<(), Errno> {
    let reason = match u16::from(reason) {
        0 | reason::CONSUMER => reason::CONSUMER,
        reason::VENDOR_OPTION => reason::VENDOR_OPTION,
        _ => return Err(Errno::EINVAL),
    };
    let (Some(talk), Some(local)) = (&mut id.conversation, &id.local) else { return Err(Errno::EINVAL) };
    let of = match talk.phase {
        Phase::SidrReqReceived => {
            let private = padded(&[private]).ok_or(Errno::EINVAL)?;
            let (request_id, service_id) = (talk.remote_id, talk.service_id);
            let reply = SidrRep { request_id, status: sidr::REJECT, qpn: 0, service_id, qkey: 0, private };
            send(local, &talk.peer, &reply.encode(talk.transaction));
            talk.settle(Phase::Over);
            return Ok(());
        }
        Phase::ReqSent | Phase::ReqReceived => Kind::Req,
        Phase::RepSent | Phase::RepReceived => Kind::Rep,
        _ => return Err(Errno::EINVAL),
    };
    if private.len() > super::mad::REJ_PRIVATE {
        return Err(Errno::EINVAL);
    }
    let message = Message::rej(of, talk.transaction, [talk.local_id, talk.remote_id], reason, private);
    send(local, &talk.peer, &message);
    talk.settle(Phase::Over);
    Ok(())
}

/// `rdma_disconnect`: asks for the end, or agrees to it.
pub(super) fn disconnect(id: &mut Id) -> Result<(), Errno> {
    let (Some(talk), Some(local)) = (&mut id.conversation, &id.local) else { return Err(Errno::EINVAL) };
    let now = Instant::now();
    match talk.phase {
        Phase::Established => {
            let message = Message::dreq(talk.transaction, talk.local_id, talk.remote_id, talk.remote_qpn);
            send(local, &talk.peer, &message);
            talk.expect_answer(Phase::DreqSent, message, now);
        }
        Phase::DreqReceived => {
            let message = Message::plain(Kind::Drep, talk.transaction, talk.local_id, talk.remote_id);
            send(local, &talk.peer, &message);
            talk.answer = Some(message);
            talk.wait_out(now);
        }
        // Over already: the kernel says nothing either.
        _ => {}
    }
    Ok(())
}

/// `rdma_notify`: the program has learnt of something that the manager has not.
pub(super) fn notify(id: &mut Id, event_type: u32) -> Result<(), Errno> {
    let talk = id.conversation.as_mut().ok_or(Errno::EINVAL)?;
    match event_type {
        // The QP has had a packet, so the peer is ready, though its word got lost.
        crate::abi::async_event::COMM_EST => match talk.phase {
            Phase::RepSent => {
                talk.settle(Phase::Established);
                id.raise(event::ESTABLISHED, 0, &Param::None, [0; 2]);
                Ok(())
            }
            Phase::Established => Err(Errno(libc::EISCONN)),
            _ => Err(Errno::EINVAL),
        },
        _ => Err(Errno::EINVAL),
    }
}
