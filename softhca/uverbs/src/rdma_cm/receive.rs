//! The manager's treatment of messages from peers (`cm_work_handler` of the kernel's `cm.c`, and the events of its
//! `cma.c`). They can have any content: messages that do not fit are dropped.

use super::abi::{ConnParam, MAX_PRIVATE_DATA, UdParam, event};
use super::address::{Address, IP_HEADER_BYTES, is_any, parse_ip_header, service};
use super::conversation::{Conversation, Phase, ack_timeout};
use super::id::{Id, Local, Param, State};
use super::mad::{Kind, Message, milliseconds, reason, sidr};
use super::manager::{Manager, send, settings, sidr_refusal};
use super::peer::Peer;
use super::requests::{Rep, Req, SidrRep, SidrReq};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};
use zerocopy::FromZeros;

/// How long the program may take to answer a request: `CMA_CM_MRA_SETTING`.
const SERVICE_TIMEOUT: u8 = 24;

/// A request that has arrived, of either kind.
struct Request<'a> {
    transaction: u64,
    remote_id: u32,
    service_id: u64,
    private: &'a [u8],
}

/// As an event states private data: room, of which some is used.
fn room(private: &[u8]) -> ([u8; MAX_PRIVATE_DATA], u8) {
    let mut all = [0; MAX_PRIVATE_DATA];
    all[..private.len()].copy_from_slice(private);
    // No message has as much as 256 bytes.
    (all, private.len() as u8)
}

fn conn_param(private: &[u8]) -> ConnParam {
    let (private_data, private_data_len) = room(private);
    ConnParam { private_data, private_data_len, ..FromZeros::new_zeroed() }
}

fn ud_param(private: &[u8]) -> UdParam {
    let (private_data, private_data_len) = room(private);
    UdParam { private_data, private_data_len, ..FromZeros::new_zeroed() }
}

impl Manager {
    /// Takes a message.
    pub(super) fn receive(&mut self, message: &Message, from: Peer) {
        log::debug!("from QP {:#x}: {:?}", from.qpn, message.kind);
        match message.kind {
            Kind::Req => self.req(message, from),
            Kind::SidrReq => self.sidr_req(message, from),
            _ => self.answer(message, from),
        }
    }

    fn req(&mut self, message: &Message, from: Peer) {
        let Some(req) = Req::decode(message) else { return };
        if self.is_again(req.local_id, &from) {
            return;
        }
        let request = Request {
            transaction: message.transaction(),
            remote_id: req.local_id,
            service_id: req.service_id,
            private: &req.private,
        };
        let refused = self.request(&request, from, |id, talk, private| {
            id.options.traffic_class = req.traffic_class;
            talk.remote_qpn = req.local_qpn;
            talk.sq_psn = req.starting_psn;
            talk.responder_resources = req.initiator_depth;
            talk.initiator_depth = req.responder_resources;
            talk.retry_count = req.retry_count;
            talk.rnr_retry_count = req.rnr_retry_count;
            talk.mtu = req.mtu;
            talk.ack_timeout = req.ack_timeout;
            talk.response_ms = milliseconds(req.response_timeouts[1]);
            talk.max_retries = req.max_cm_retries;
            let param = ConnParam {
                qp_num: req.local_qpn,
                srq: req.srq,
                responder_resources: req.initiator_depth,
                initiator_depth: req.responder_resources,
                flow_control: req.flow_control,
                retry_count: req.retry_count,
                rnr_retry_count: req.rnr_retry_count,
                ..conn_param(private)
            };
            (Phase::ReqReceived, Param::Conn(param), req.ece)
        });
        if let Err(reason) = refused {
            let ids = [0, req.local_id];
            answer_stranger(&from, &Message::rej(Kind::Req, message.transaction(), ids, reason, &[]));
        }
    }

    fn sidr_req(&mut self, message: &Message, from: Peer) {
        let req = SidrReq::decode(message);
        if self.is_again(req.request_id, &from) {
            return;
        }
        let transaction = message.transaction();
        let request =
            Request { transaction, remote_id: req.request_id, service_id: req.service_id, private: &req.private };
        let refused = self
            .request(&request, from, |_, _, private| (Phase::SidrReqReceived, Param::Ud(ud_param(private)), [0; 2]));
        if refused.is_err() {
            let refusal = sidr_refusal(req.request_id, req.service_id, sidr::UNSUPPORTED, transaction);
            answer_stranger(&from, &refusal);
        }
    }

    /// Whether a request has begun a conversation already; then the answer may have got lost, and is sent again.
    fn is_again(&mut self, remote_id: u32, from: &Peer) -> bool {
        let life = from.life();
        let known = self.ids.values().find_map(|id| {
            let talk = id.conversation.as_ref()?;
            let same = (talk.remote_id, talk.peer, talk.life) == (remote_id, *from, life);
            same.then_some((talk, id.local.as_ref()?))
        });
        let Some((talk, local)) = known else { return false };
        match (talk.phase, &talk.resend, &talk.answer) {
            (Phase::ReqReceived, ..) => {
                let wait = Message::mra(talk.transaction, talk.local_id, talk.remote_id, SERVICE_TIMEOUT);
                send(local, from, &wait);
            }
            (Phase::RepSent, Some(reply), _) => send(local, from, &reply.message),
            (Phase::Over, _, Some(answer)) => send(local, from, answer),
            _ => {}
        }
        true
    }

    /// The listener for requests to this service at this address.
    fn listener(&self, service_id: u64, ip: IpAddr) -> Option<u32> {
        let (space, port) = service(service_id)?;
        let fits = |id: &&Id| {
            id.state == State::Listening
                && id.space == space
                && id.source_ip().is_some_and(|source| {
                    let any = is_any(source.ip()) && (source.is_ipv6() || ip.is_ipv4());
                    source.port() == port && (source.ip() == ip || any)
                })
        };
        // One for the address itself before one for any.
        let of_any = |id: &&Id| id.source.is_some_and(|source| source.is_any());
        self.ids.values().filter(fits).min_by_key(of_any).map(|id| id.number)
    }

    /// Makes the id of a new request and tells the listener's program. `describe` gets the program's private data.
    ///
    /// # Errors
    /// The reason of a rejection.
    fn request(
        &mut self,
        request: &Request<'_>,
        from: Peer,
        describe: impl FnOnce(&mut Id, &mut Conversation, &[u8]) -> (Phase, Param, [u32; 2]),
    ) -> Result<(), u16> {
        let (source, destination) = parse_ip_header(request.private).ok_or(reason::CONSUMER)?;
        let listener = self.listener(request.service_id, destination).ok_or(reason::INVALID_SERVICE_ID)?;
        let local = settings()
            .and_then(|settings| Local::with_gid(settings, &from.own_gid))
            .map_err(|_| reason::INVALID_SERVICE_ID)?;
        let (number, local_id) = (self.new_number(), self.new_conversation());
        let listening = self.ids.get_mut(&listener).ok_or(reason::INVALID_SERVICE_ID)?;
        if listening.backlog == 0 {
            // Dropped, as a kernel does: the peer asks again.
            log::debug!("id {listener}: too many requests wait");
            return Ok(());
        }
        listening.backlog -= 1;
        let mut id = Id::new(number, 0, &listening.file, listening.space, listening.datagram);
        id.state = State::Connecting;
        id.options = listening.options;
        id.source = listening.source_ip().map(|bound| Address::Ip(SocketAddr::new(destination, bound.port())));
        id.destination = Some(source);
        id.local = Some(local);
        let mut talk = Conversation::new(Phase::Over, from, from.life(), local_id);
        talk.transaction = request.transaction;
        talk.remote_id = request.remote_id;
        talk.service_id = request.service_id;
        let (phase, param, ece) = describe(&mut id, &mut talk, &request.private[IP_HEADER_BYTES..]);
        talk.phase = phase;
        let event = listening.event(number, event::CONNECT_REQUEST, 0, &param, ece);
        let file = listening.file.clone();
        self.ids.insert(number, id);
        self.begin(number, talk);
        file.push(event);
        Ok(())
    }

    /// Takes a message of a conversation that has begun.
    fn answer(&mut self, message: &Message, from: Peer) {
        let number = if message.kind == Kind::SidrRep { message.local_id() } else { message.remote_id() };
        let talks = |id: &&mut Id| id.conversation.as_ref().is_some_and(|talk| talk.peer == from);
        let id = match (number, message.kind) {
            // A peer that takes a request back does not know our number yet.
            (0, Kind::Rej) => self.ids.values_mut().filter(talks).find(|id| {
                id.conversation
                    .as_ref()
                    .is_some_and(|talk| talk.phase == Phase::ReqReceived && talk.remote_id == message.local_id())
            }),
            _ => self.talking.get(&number).and_then(|number| self.ids.get_mut(number)).filter(talks),
        };
        match (id, message.kind) {
            (Some(id), _) => id.answer(message),
            // Its id is gone, so it has agreed to the end.
            (None, Kind::Dreq) => {
                let agreed = Message::plain(Kind::Drep, message.transaction(), number, message.local_id());
                answer_stranger(&from, &agreed);
            }
            (None, Kind::Rep) => {
                let ids = [number, message.local_id()];
                let refusal = Message::rej(Kind::Rep, message.transaction(), ids, reason::INVALID_COMM_ID, &[]);
                answer_stranger(&from, &refusal);
            }
            (None, _) => {}
        }
    }
}

/// Sends a message of no conversation.
fn answer_stranger(to: &Peer, message: &Message) {
    if let Ok(local) = settings().and_then(|settings| Local::with_gid(settings, &to.own_gid)) {
        send(&local, to, message);
    }
}

impl Id {
    /// Takes a message of its conversation's peer.
    fn answer(&mut self, message: &Message) {
        let (Some(talk), Some(local)) = (&mut self.conversation, &self.local) else { return };
        let now = Instant::now();
        match (message.kind, talk.phase) {
            (Kind::Rep, Phase::ReqSent) => {
                let rep = Rep::decode(message);
                talk.remote_id = rep.local_id;
                talk.remote_qpn = rep.local_qpn;
                talk.sq_psn = rep.starting_psn;
                talk.responder_resources = rep.initiator_depth;
                talk.initiator_depth = rep.responder_resources;
                talk.rnr_retry_count = rep.rnr_retry_count;
                talk.ack_timeout = ack_timeout(rep.target_ack_delay, super::establish::PACKET_LIFE_TIME);
                talk.settle(Phase::RepReceived);
                let param = ConnParam {
                    qp_num: rep.local_qpn,
                    srq: rep.srq,
                    responder_resources: rep.initiator_depth,
                    initiator_depth: rep.responder_resources,
                    flow_control: rep.flow_control,
                    rnr_retry_count: rep.rnr_retry_count,
                    ..conn_param(&rep.private)
                };
                self.raise(event::CONNECT_RESPONSE, 0, &Param::Conn(param), rep.ece);
            }
            // Our answer got lost.
            (Kind::Rep, Phase::Established) | (Kind::Dreq, Phase::TimeWait) => {
                if let Some(answer) = &talk.answer {
                    send(local, &talk.peer, answer);
                }
            }
            (Kind::Rtu, Phase::RepSent) => {
                talk.settle(Phase::Established);
                self.raise(event::ESTABLISHED, 0, &Param::None, [0; 2]);
            }
            (Kind::Mra, Phase::ReqSent) => {
                talk.deadline =
                    Some(now + Duration::from_millis(milliseconds(message.mra_timeout()) + talk.response_ms));
            }
            (
                Kind::Rej,
                Phase::ReqSent
                | Phase::ReqReceived
                | Phase::RepSent
                | Phase::RepReceived
                | Phase::Established
                | Phase::DreqSent,
            ) => {
                talk.settle(Phase::Over);
                let param = Param::Conn(conn_param(&message.rej_private()));
                self.raise(event::REJECTED, message.reason().into(), &param, [0; 2]);
            }
            (Kind::Dreq, Phase::RepSent | Phase::Established | Phase::DreqSent)
                if message.dreq_qpn() == talk.local_qpn =>
            {
                talk.settle(Phase::DreqReceived);
                self.disconnected(0);
            }
            (Kind::Drep, Phase::DreqSent | Phase::DreqReceived) => {
                talk.wait_out(now);
                self.disconnected(0);
            }
            (Kind::SidrRep, Phase::SidrReqSent) => {
                let rep = SidrRep::decode(message);
                talk.settle(Phase::Over);
                if rep.status != sidr::SUCCESS {
                    self.raise(event::UNREACHABLE, rep.status.into(), &Param::None, [0; 2]);
                    return;
                }
                self.qkey = rep.qkey;
                let ah_attr = self.ah_attr();
                let param = UdParam { qp_num: rep.qpn, qkey: rep.qkey, ah_attr, ..ud_param(&rep.private) };
                self.raise(event::ESTABLISHED, 0, &Param::Ud(param), [0; 2]);
            }
            (kind, phase) => log::debug!("{kind:?} in phase {phase:?} is ignored"),
        }
    }
}
