//! The communication manager of a process: its ids, and what becomes due.

use super::abi::event;
use super::conversation::{Conversation, Phase};
use super::events::EventFile;
use super::id::{Id, Local, Membership, Param, State};
use super::mad::{Kind, Message, reason, sidr};
use super::peer::Peer;
use super::requests::{SIDR_REP_PRIVATE, SidrRep};
use crate::process::Errno;
use crate::process::lock;
use softhca_settings::Settings;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How often it is asked whether the peers still live.
const LIFE_CHECK: Duration = Duration::from_millis(200);

/// The manager.
#[derive(Default)]
pub(super) struct Manager {
    pub(super) ids: BTreeMap<u32, Id>,
    /// Ids by our number of their conversation.
    pub(super) talking: BTreeMap<u32, u32>,
    /// Memberships in multicast groups, by the number that the program knows.
    pub(super) memberships: BTreeMap<u32, Membership>,
    next_number: u32,
    next_conversation: u32,
    /// When the peers are looked at.
    life_check: Option<Instant>,
}

/// The one of this process.
pub(super) static MANAGER: Mutex<Manager> = Mutex::new(Manager {
    ids: BTreeMap::new(),
    talking: BTreeMap::new(),
    memberships: BTreeMap::new(),
    next_number: 0,
    next_conversation: 0,
    life_check: None,
});

/// The launcher's settings.
pub(super) fn settings() -> Result<&'static Arc<Settings>, Errno> {
    crate::launch::settings().ok_or(Errno::ENODEV)
}

impl Manager {
    /// The first conversation gets any number: one process rarely has an earlier process's numbers.
    pub(super) fn begin_anywhere(&mut self) {
        self.next_conversation = fastrand::u32(..);
    }

    /// A number for a new id.
    pub(super) fn new_number(&mut self) -> u32 {
        loop {
            let number = self.next_number;
            // librdmacm's table of ids has 2^24 places (`IDX_MAX_INDEX`).
            self.next_number = (number + 1) & 0xff_ffff;
            if !self.ids.contains_key(&number) {
                return number;
            }
        }
    }

    /// A number for a new conversation: not 0.
    pub(super) fn new_conversation(&mut self) -> u32 {
        loop {
            let number = self.next_conversation.max(1);
            self.next_conversation = number.wrapping_add(1);
            if !self.talking.contains_key(&number) {
                return number;
            }
        }
    }

    /// Id `number`, if it belongs to `file`.
    pub(super) fn id(&mut self, file: &Arc<EventFile>, number: u32) -> Result<&mut Id, Errno> {
        let id = self.ids.get_mut(&number).ok_or(Errno::ENOENT)?;
        if Arc::ptr_eq(&id.file, file) { Ok(id) } else { Err(Errno::EINVAL) }
    }

    /// Begins a conversation of id `number`.
    pub(super) fn begin(&mut self, number: u32, conversation: Conversation) {
        if let Some(id) = self.ids.get_mut(&number) {
            self.talking.insert(conversation.local_id, number);
            if let Some(old) = id.conversation.replace(conversation) {
                self.talking.remove(&old.local_id);
            }
        }
        let soon = Instant::now() + LIFE_CHECK;
        self.life_check.get_or_insert(soon);
    }

    /// Lets id `number` go, as if its file had been closed: the peer is told. Gives the events reported for it.
    pub(super) fn destroy(&mut self, number: u32) -> u32 {
        let Some(id) = self.ids.remove(&number) else { return 0 };
        self.memberships.retain(|_, membership| membership.id != number);
        for event in id.file.take_back(|event| event.owner == number) {
            if event.response.event == event::CONNECT_REQUEST {
                self.destroy(event.response.id);
            }
        }
        if let (Some(conversation), Some(local)) = (&id.conversation, &id.local) {
            self.talking.remove(&conversation.local_id);
            if let Some(farewell) = farewell(conversation) {
                send(local, &conversation.peer, &farewell);
            }
        }
        id.events_reported
    }

    /// When the next thing is due.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let conversations = self.ids.values().filter_map(|id| id.conversation.as_ref()?.deadline);
        conversations.chain(self.life_check).min()
    }

    /// Does the work that is due at the time `now`.
    pub(super) fn tick(&mut self, now: Instant) {
        for id in self.ids.values_mut() {
            if id.conversation.as_ref().and_then(|talk| talk.deadline).is_some_and(|deadline| deadline <= now) {
                expire(id, now);
            }
        }
        if self.life_check.is_some_and(|due| due <= now) {
            self.look_after_peers(now);
        }
    }

    /// Ends the conversations of a peer whose process has died, as that peer's kernel would.
    fn look_after_peers(&mut self, now: Instant) {
        let mut lives = HashMap::new();
        let mut gone = Vec::new();
        for id in self.ids.values() {
            let Some(talk) = id.conversation.as_ref().filter(|talk| talk.needs_peer()) else { continue };
            let life = *lives.entry(talk.peer.qpn).or_insert_with(|| talk.peer.life());
            if life.is_none() || life != talk.life {
                gone.push(id.number);
            }
        }
        self.life_check = (!lives.is_empty()).then_some(now + LIFE_CHECK);
        for number in gone {
            if let Some(id) = self.ids.get_mut(&number) {
                bereave(id, now);
            }
        }
    }
}

/// The message that ends a conversation, for an id that is destroyed (`cm_destroy_id` of the kernel).
fn farewell(talk: &Conversation) -> Option<Message> {
    let ids = [talk.local_id, talk.remote_id];
    let reject = |of, reason| Some(Message::rej(of, talk.transaction, ids, reason, &[]));
    match talk.phase {
        Phase::ReqSent => reject(Kind::Req, reason::TIMEOUT),
        Phase::ReqReceived => reject(Kind::Req, reason::CONSUMER),
        Phase::RepSent | Phase::RepReceived => reject(Kind::Rep, reason::CONSUMER),
        Phase::Established => Some(Message::dreq(talk.transaction, ids[0], ids[1], talk.remote_qpn)),
        Phase::DreqReceived => Some(Message::plain(Kind::Drep, talk.transaction, ids[0], ids[1])),
        Phase::SidrReqReceived => Some(sidr_refusal(talk.remote_id, talk.service_id, sidr::REJECT, talk.transaction)),
        Phase::DreqSent | Phase::TimeWait | Phase::SidrReqSent | Phase::Over => None,
    }
}

/// The answer to a service ID resolution that names no QP.
pub(super) fn sidr_refusal(request_id: u32, service_id: u64, status: u8, transaction: u64) -> Message {
    SidrRep { request_id, status, qpn: 0, service_id, qkey: 0, private: [0; SIDR_REP_PRIVATE] }.encode(transaction)
}

/// Sends a message to `peer`. It can get lost, as any datagram.
pub(super) fn send(local: &Local, peer: &Peer, message: &Message) {
    let path = local.path_to(&peer.gid, 0);
    log::debug!("to QP {:#x}: {:?}", peer.qpn, message.kind);
    if let Err(error) = local.hca.send_mad(local.port, &path, peer.qpn, &message.bytes) {
        log::warn!("{:?} is not sent: {error:?}", message.kind);
    }
}

/// A conversation's time has run out.
fn expire(id: &mut Id, now: Instant) {
    const TIMED_OUT: i32 = -libc::ETIMEDOUT;
    let (Some(talk), Some(local)) = (&mut id.conversation, &id.local) else { return };
    if let Some(resend) = talk.resend.as_mut().filter(|resend| resend.left > 0) {
        resend.left -= 1;
        talk.deadline = Some(now + resend.interval);
        send(local, &talk.peer, &resend.message);
        return;
    }
    match talk.phase {
        Phase::TimeWait => {
            talk.settle(Phase::Over);
            id.raise(event::TIMEWAIT_EXIT, 0, &Param::None, [0; 2]);
        }
        Phase::DreqSent => {
            talk.wait_out(now);
            id.disconnected(TIMED_OUT);
        }
        _ => {
            talk.settle(Phase::Over);
            id.raise(event::UNREACHABLE, TIMED_OUT, &Param::None, [0; 2]);
        }
    }
}

/// The peer of a conversation is dead.
fn bereave(id: &mut Id, now: Instant) {
    let Some(talk) = &mut id.conversation else { return };
    log::info!("id {}: the peer's process is gone", id.number);
    match talk.phase {
        Phase::Established => {
            talk.settle(Phase::DreqReceived);
            id.disconnected(0);
        }
        Phase::DreqSent => {
            talk.wait_out(now);
            id.disconnected(0);
        }
        Phase::SidrReqSent => {
            talk.settle(Phase::Over);
            id.raise(event::UNREACHABLE, sidr::REJECT.into(), &Param::None, [0; 2]);
        }
        _ => {
            talk.settle(Phase::Over);
            id.raise(event::REJECTED, reason::CONSUMER.into(), &Param::None, [0; 2]);
        }
    }
}

impl Id {
    /// Tells the program, once, that the connection is over.
    pub(super) fn disconnected(&mut self, status: i32) {
        if self.state == State::Connecting {
            self.state = State::Disconnected;
            self.raise(event::DISCONNECTED, status, &Param::None, [0; 2]);
        }
    }
}

/// Lets the ids of a file that is closed go.
pub(super) fn close(file: &Arc<EventFile>) {
    let mut manager = lock(&MANAGER);
    let own = manager.ids.values().filter(|id| Arc::ptr_eq(&id.file, file)).map(|id| id.number).collect::<Vec<_>>();
    for number in own {
        manager.destroy(number);
    }
}
