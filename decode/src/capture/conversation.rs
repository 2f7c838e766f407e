//! Conversations: two flows that answer each other, or one that has no answers.

use super::file::Captured;
use super::flow::{Key, Requests};
use super::names::{self, ACKNOWLEDGE, READ_RESPONSE_MIDDLE, Service, Syndrome, operation};
use super::packet::{Address, Packet};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The events of a conversation that are kept.
const EVENTS: usize = 50;

/// The flows that an answer is compared with.
const CANDIDATES: usize = 1024;

/// The packets between two queue pairs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Conversation {
    /// The transport service: `RC`, `UC`, `UD`, `XRC` and so on.
    pub service: &'static str,
    /// Nanoseconds since 1970 of the first and the last packet.
    pub times: [u64; 2],
    /// One or two; the one with the first packet is the first.
    pub directions: Vec<Direction>,
    /// Repeats, refusals and drops, in order: the first 50.
    pub events: Vec<Event>,
    /// Further events.
    pub more_events: u64,
    /// A sentence for each silent end; empty if everything was answered.
    pub silences: Vec<String>,
}

/// The packets to one queue pair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Direction {
    /// The sender's address.
    pub from: String,
    /// The receiver's address.
    pub to: String,
    /// The receiver's queue pair.
    pub qpn: u32,
    /// Request packets, repeated ones included.
    pub requests: u64,
    /// Bytes of their payload, and of that of answers.
    pub bytes: u64,
    /// Request packets that were sent again.
    pub repeated: u64,
    /// Answers to the other direction's requests.
    pub answers: u64,
    /// Of those, refusals: by their names.
    pub refusals: BTreeMap<String, u64>,
    /// Packets that were dropped on purpose, as comments of the capture say.
    pub dropped: u64,
    /// Packets that met congestion.
    pub marked: u64,
    /// Notifications of congestion.
    pub notifications: u64,
    /// Packets with a wrong invariant CRC.
    pub wrong_crcs: u64,
}

/// A repeat, a refusal or a drop.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Event {
    /// Nanoseconds since 1970.
    pub time: u64,
    /// What happened.
    pub text: String,
}

#[derive(Debug)]
struct Flow {
    key: Key,
    first: u64,
    last: u64,
    direction: Direction,
    requests: Requests,
    events: Vec<Event>,
    more_events: u64,
    /// Requests in a row that are sent again: an event that is not over.
    run: Option<Run>,
    /// The flow with the answers to its requests, and whose requests it answers.
    peer: Option<usize>,
}

/// Requests with PSNs in a row that are sent again.
#[derive(Debug)]
struct Run {
    time: u64,
    psns: [u32; 2],
    /// Of the first one: its name, and when it was sent before.
    name: String,
    since: String,
}

impl Run {
    fn text(self) -> String {
        match self.psns {
            [one, last] if one == last => format!("PSN {one} ({}) is sent again, {}", self.name, self.since),
            [first, last] => format!("PSNs {first} ({}) to {last} are sent again, {}", self.name, self.since),
        }
    }
}

impl Flow {
    /// A request is sent again.
    fn add_again(&mut self, time: u64, (psn, name): (u32, String), since: String) {
        match &mut self.run {
            Some(run) if psn == (run.psns[1] + 1) & 0xff_ffff => run.psns[1] = psn,
            _ => {
                self.end_run();
                self.run = Some(Run { time, psns: [psn; 2], name, since });
            }
        }
    }

    fn end_run(&mut self) {
        if let Some(run) = self.run.take() {
            self.push_event(run.time, run.text());
        }
    }

    fn add_event(&mut self, time: u64, text: String) {
        self.end_run();
        self.push_event(time, text);
    }

    fn push_event(&mut self, time: u64, text: String) {
        if self.events.len() < EVENTS {
            self.events.push(Event { time, text });
        } else {
            self.more_events += 1;
        }
    }
}

/// The flows found so far.
#[derive(Debug, Default)]
pub(super) struct Talk {
    flows: Vec<Flow>,
    by_key: HashMap<Key, usize>,
    /// The flows with requests and without a peer, by service, sender and receiver.
    free: HashMap<(Service, Address, Address), BTreeSet<usize>>,
}

impl Talk {
    /// Adds a packet.
    pub(super) fn add(&mut self, captured: &Captured<'_>, packet: &Packet<'_>) {
        let time = captured.time;
        let index = self.flow(time, packet);
        let comment = captured.comment.map(String::from_utf8_lossy);
        let is_dropped = comment.as_ref().is_some_and(|comment| comment.contains("dropped"));
        let flow = &mut self.flows[index];
        let service = flow.key.service;
        let (code, psn) = (packet.opcode, packet.psn);
        flow.last = time;
        let direction = &mut flow.direction;
        direction.dropped += u64::from(is_dropped);
        direction.marked += u64::from(packet.is_marked);
        direction.wrong_crcs += u64::from(packet.is_crc_right == Some(false));
        if Service::of(code) == Service::Cnp {
            direction.notifications += 1;
            return;
        }
        if is_dropped {
            flow.add_event(time, format!("PSN {psn} ({}) is dropped on purpose", operation(code)));
        }
        let direction = &mut flow.direction;
        direction.bytes += packet.rest.len().saturating_sub(packet.padding + headers(code)) as u64;
        if !service.is_reliable() || !names::is_answer(code) {
            direction.requests += 1;
            if !service.is_reliable() {
                return;
            }
            if direction.requests == 1 && flow.peer.is_none() {
                self.free.entry((service, flow.key.from, flow.key.to)).or_default().insert(index);
            }
            let again = flow.requests.send(time, (code, psn), packet.asks_for_acknowledgement, is_dropped);
            if let Some(again) = again {
                flow.direction.repeated += 1;
                let since = match again.after {
                    Some(after) => format!("{after:.1?} after the first time"),
                    None => "although it was answered".to_owned(),
                };
                flow.add_again(time, (psn, operation(code)), since);
            }
            return;
        }
        direction.answers += 1;
        let has_syndrome = code & 0x1f != READ_RESPONSE_MIDDLE;
        let syndrome = packet.rest.first().filter(|_| has_syndrome).map(|&byte| Syndrome::of(byte));
        let refusal = syndrome.filter(|_| code & 0x1f == ACKNOWLEDGE).and_then(Syndrome::refusal);
        if let Some(reason) = refusal {
            *direction.refusals.entry(reason.to_owned()).or_default() += 1;
            // The software device says there which key, range or right it was.
            let comment = comment.filter(|_| !is_dropped).map(|comment| format!(" ({})", comment.escape_debug()));
            flow.add_event(time, format!("PSN {psn} is refused: {reason}{}", comment.unwrap_or_default()));
        }
        if is_dropped {
            return;
        }
        if let Some(asked) = self.asked(index, psn) {
            self.flows[asked].requests.answer(code, psn, syndrome);
        }
    }

    /// The flow of a packet.
    fn flow(&mut self, time: u64, packet: &Packet<'_>) -> usize {
        let Packet { from, to, qpn, .. } = *packet;
        let service = Service::of(packet.opcode);
        let key = Key { service, from, to, qpn };
        // A notification is about the flow in the other direction, and goes to the same queue pair as its answers.
        let known = match service {
            Service::Cnp => [Service::Rc, Service::Uc, Service::Xrc, service]
                .into_iter()
                .find_map(|service| self.by_key.get(&Key { service, ..key })),
            _ => self.by_key.get(&key),
        };
        if let Some(&index) = known {
            return index;
        }
        let direction = Direction { from: from.to_string(), to: to.to_string(), qpn, ..Direction::default() };
        self.by_key.insert(key, self.flows.len());
        self.flows.push(Flow {
            key,
            first: time,
            last: time,
            direction,
            requests: Requests::default(),
            events: Vec::new(),
            more_events: 0,
            run: None,
            peer: None,
        });
        self.flows.len() - 1
    }

    /// The flow whose requests the flow `index` answers, by the PSN of an answer.
    fn asked(&mut self, index: usize, psn: u32) -> Option<usize> {
        if let Some(peer) = self.flows[index].peer {
            return Some(peer);
        }
        let Key { service, from, to, .. } = self.flows[index].key;
        let free = self.free.get(&(service, to, from))?;
        let near = free.iter().rev().take(CANDIDATES).filter_map(|&at| {
            let requests = &self.flows[at].requests;
            // Of equals, the one that asked last.
            Some((requests.distance(psn)?, u64::MAX - requests.latest, at))
        });
        let (.., asked) = near.min()?;
        for (of, peer) in [(index, asked), (asked, index)] {
            let Flow { key, peer: of_flow, .. } = &mut self.flows[of];
            *of_flow = Some(peer);
            if let Some(free) = self.free.get_mut(&(key.service, key.from, key.to)) {
                free.remove(&of);
            }
        }
        Some(asked)
    }

    /// All conversations.
    pub(super) fn conversations(self) -> Vec<Conversation> {
        let peers: Vec<Option<usize>> = self.flows.iter().map(|flow| flow.peer).collect();
        let mut flows: Vec<Option<Flow>> = self.flows.into_iter().map(Some).collect();
        let mut all = Vec::new();
        for (index, peer) in peers.into_iter().enumerate() {
            let Some(flow) = flows[index].take() else { continue };
            let other = peer.filter(|&peer| peer != index).and_then(|peer| flows[peer].take());
            all.push(conversation(Vec::from_iter([Some(flow), other].into_iter().flatten())));
        }
        all
    }
}

fn conversation(flows: Vec<Flow>) -> Conversation {
    let mut found = Conversation { service: "", times: [u64::MAX, 0], ..Conversation::default() };
    for mut flow in flows {
        flow.end_run();
        let Flow { key, first, last, direction, requests, events, more_events, .. } = flow;
        found.service = key.service.name();
        found.times = [found.times[0].min(first), found.times[1].max(last)];
        if let Some(silence) = requests.silence() {
            found.silences.push(format!("{silence}: queue pair {:#x} of {} is silent", key.qpn, key.to));
        }
        found.events.extend(events);
        found.more_events += more_events;
        found.directions.push(direction);
    }
    found.events.sort_by_key(|event| event.time);
    found.more_events += found.events.split_off(found.events.len().min(EVENTS)).len() as u64;
    found
}

/// Bytes of the extended headers between the BTH and the payload (IBTA vol. 1, table 35 and 9.3).
fn headers(opcode: u8) -> usize {
    const DETH: usize = 8;
    const XRCETH: usize = 4;
    let service = match Service::of(opcode) {
        Service::Ud => DETH,
        Service::Xrc if !names::is_answer(opcode) => XRCETH,
        _ => 0,
    };
    let operation = match opcode & 0x1f {
        // Immediate data, or a key to invalidate.
        0x03 | 0x05 | 0x09 | 0x16 | 0x17 => 4,
        // RETH, with and without immediate data.
        0x06 | 0x0a | 0x0c => 16,
        0x0b => 20,
        // AETH.
        0x0d | 0x0f | 0x10 | 0x11 => 4,
        // AETH with the old value; AtomicETH.
        0x12 => 12,
        0x13 | 0x14 => 28,
        _ => 0,
    };
    service + operation
}
