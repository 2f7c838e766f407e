//! Asks for, answers and learns the Ethernet addresses of neighbours, by ARP (RFC 826) and by neighbour discovery of
//! IPv6 (RFC 4861, 4.3 and 4.4). A kernel does this for the ports of its NICs.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::{Duration, Instant};

use crate::ethernet::sum::{add, fold};
use crate::ethernet::{ETHERNET_HEADER, IPV6, IPV6_HEADER};

/// An Ethernet address.
type Mac = [u8; 6];

const BROADCAST: Mac = [0xff; 6];
const ARP: u16 = 0x0806;
/// Ethernet, IPv4, and the lengths of their addresses: how an ARP packet begins.
const ARP_HEAD: [u8; 6] = [0, 1, 8, 0, 6, 4];
const ARP_BYTES: usize = 28;
const REQUEST: u8 = 1;
const REPLY: u8 = 2;
/// Next header of ICMPv6, its types, and their options.
const ICMP: u8 = 58;
const SOLICITATION: u8 = 135;
const ADVERTISEMENT: u8 = 136;
const SOURCE_OPTION: u8 = 1;
const TARGET_OPTION: u8 = 2;
/// Solicited, and to replace an older address.
const FLAGS: u8 = 0x60;
/// Both messages with their option.
const ND_BYTES: usize = 32;
/// No router has passed them on.
const HOP_LIMIT: u8 = 255;

/// How long an answer may take before the neighbour is asked again, and how often it is asked. Packets to it wait for
/// that time. A pause of the program counts as one question without an answer: the answer may wait to be read.
const AGAIN: Duration = Duration::from_millis(200);
const QUESTIONS: u32 = 5;
/// The time before a neighbour that did not answer is asked again.
const REST: Duration = Duration::from_secs(1);
/// Most neighbours that are known. Past it, all are forgotten and asked for again.
const MOST: usize = 4096;

/// The state of a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Neighbour {
    /// Its address.
    At(Mac),
    /// It was asked; the answer may come.
    Asked,
    /// It does not answer.
    Silent,
}

/// How often a neighbour was asked, and when last.
#[derive(Clone, Copy, Debug)]
struct Asked {
    times: u32,
    last: Instant,
}

/// The neighbours of a port.
#[derive(Debug)]
pub(super) struct Neighbours {
    own: Mac,
    /// Addresses that it answers for; none where a kernel answers.
    answered: Vec<IpAddr>,
    known: HashMap<IpAddr, Mac>,
    asked: HashMap<IpAddr, Asked>,
}

impl Neighbours {
    pub(super) fn new(own: Mac) -> Self {
        Self { own, answered: Vec::new(), known: HashMap::new(), asked: HashMap::new() }
    }

    /// From now on, it answers questions for these addresses.
    pub(super) fn answer_for(&mut self, addresses: Vec<IpAddr>) {
        self.answered = addresses;
    }

    /// A neighbour's address is known from a packet of its.
    pub(super) fn learn(&mut self, ip: IpAddr, mac: Mac) {
        if self.known.len() >= MOST {
            self.known.clear();
        }
        self.known.insert(ip, mac);
        self.asked.remove(&ip);
    }

    /// Asks for `to` anew next time, though it has been silent.
    pub(super) fn forget(&mut self, to: IpAddr) {
        self.asked.remove(&to);
    }

    /// The neighbour `to`, and a frame to send: the question of the port that has the address `from`.
    pub(super) fn find(&mut self, from: IpAddr, to: IpAddr, now: Instant) -> (Neighbour, Option<Vec<u8>>) {
        if let Some(&mac) = self.known.get(&to) {
            return (Neighbour::At(mac), None);
        }
        let asked = self.asked.get(&to).copied();
        let since = asked.map_or(Duration::ZERO, |asked| now - asked.last);
        let times = match asked {
            Some(_) if since < AGAIN => return (Neighbour::Asked, None),
            Some(asked) if asked.times < QUESTIONS => asked.times + 1,
            Some(_) if since < AGAIN + REST => return (Neighbour::Silent, None),
            _ => 1,
        };
        if self.asked.len() >= MOST {
            self.asked.clear();
        }
        self.asked.insert(to, Asked { times, last: now });
        let frame = match (from, to) {
            (IpAddr::V4(from), IpAddr::V4(to)) => Some(self.arp(REQUEST, BROADCAST, from, [0; 6], to)),
            (IpAddr::V6(from), IpAddr::V6(to)) => Some(self.solicitation(from, to)),
            _ => None,
        };
        (Neighbour::Asked, frame)
    }

    /// Learns from a frame; a frame with the answer, if it was a question for the port.
    pub(super) fn hear(&mut self, frame: &[u8]) -> Option<Vec<u8>> {
        let rest = frame.get(ETHERNET_HEADER..)?;
        match u16::from_be_bytes([frame[12], frame[13]]) {
            ARP => self.hear_arp(rest.first_chunk()?),
            IPV6 => self.hear_discovery(rest),
            _ => None,
        }
    }

    fn hear_arp(&mut self, packet: &[u8; ARP_BYTES]) -> Option<Vec<u8>> {
        let mac = |at: usize| -> Mac { std::array::from_fn(|byte| packet[at + byte]) };
        let ip = |at: usize| Ipv4Addr::new(packet[at], packet[at + 1], packet[at + 2], packet[at + 3]);
        let (sender, from, to) = (mac(8), ip(14), ip(24));
        if packet[..6] != ARP_HEAD {
            return None;
        }
        let is_asked = self.answered.contains(&to.into());
        if !from.is_unspecified() && (is_asked || self.asked.contains_key(&from.into()) || self.knows(from.into())) {
            self.learn(from.into(), sender);
        }
        (packet[7] == REQUEST && is_asked).then(|| self.arp(REPLY, sender, to, sender, from))
    }

    fn knows(&self, ip: IpAddr) -> bool {
        self.known.contains_key(&ip)
    }

    fn hear_discovery(&mut self, packet: &[u8]) -> Option<Vec<u8>> {
        let header: &[u8; IPV6_HEADER] = packet.first_chunk()?;
        let ip = |bytes: &[u8], at: usize| -> Option<Ipv6Addr> {
            Some(<[u8; 16]>::try_from(bytes.get(at..at + 16)?).ok()?.into())
        };
        let message = packet.get(IPV6_HEADER..IPV6_HEADER + usize::from(u16::from_be_bytes([header[4], header[5]])))?;
        let is_discovery = header[6] == ICMP && header[7] == HOP_LIMIT;
        let (from, kind, target) = (ip(header, 8)?, *message.first().filter(|_| is_discovery)?, ip(message, 8)?);
        if fold(pseudo_header(header, message.len()) + add(0, message)) != 0 {
            return None;
        }
        match kind {
            ADVERTISEMENT if self.asked.contains_key(&target.into()) || self.knows(target.into()) => {
                if let Some(mac) = option(message, TARGET_OPTION) {
                    self.learn(target.into(), mac);
                }
                None
            }
            SOLICITATION if self.answered.contains(&target.into()) && !from.is_unspecified() => {
                let mac = option(message, SOURCE_OPTION)?;
                self.learn(from.into(), mac);
                Some(self.discovery(mac, (target, from), (ADVERTISEMENT, FLAGS), target, TARGET_OPTION))
            }
            _ => None,
        }
    }

    fn arp(&self, operation: u8, to: Mac, own_ip: Ipv4Addr, target: Mac, target_ip: Ipv4Addr) -> Vec<u8> {
        let mut frame = self.header(to, ARP);
        frame.extend(ARP_HEAD);
        frame.extend([0, operation]);
        frame.extend(self.own);
        frame.extend(own_ip.octets());
        frame.extend(target);
        frame.extend(target_ip.octets());
        frame
    }

    fn solicitation(&self, from: Ipv6Addr, to: Ipv6Addr) -> Vec<u8> {
        let [.., a, b, c] = to.octets();
        let mut group = [0; 16];
        // ff02::1:ff00:0/104 (RFC 4291, 2.7.1).
        (group[0], group[1], group[11], group[12]) = (0xff, 2, 1, 0xff);
        group[13..].copy_from_slice(&[a, b, c]);
        let mac = [0x33, 0x33, 0xff, a, b, c];
        self.discovery(mac, (from, group.into()), (SOLICITATION, 0), to, SOURCE_OPTION)
    }

    fn discovery(
        &self,
        mac: Mac,
        (from, to): (Ipv6Addr, Ipv6Addr),
        (kind, flags): (u8, u8),
        target: Ipv6Addr,
        option: u8,
    ) -> Vec<u8> {
        let mut header = [0; IPV6_HEADER];
        (header[0], header[5], header[6], header[7]) = (6 << 4, ND_BYTES as u8, ICMP, HOP_LIMIT);
        header[8..24].copy_from_slice(&from.octets());
        header[24..].copy_from_slice(&to.octets());
        let mut message = vec![kind, 0, 0, 0, flags, 0, 0, 0];
        message.extend(target.octets());
        message.extend([option, 1]);
        message.extend(self.own);
        let sum = fold(pseudo_header(&header, message.len()) + add(0, &message));
        message[2..4].copy_from_slice(&sum.to_be_bytes());
        let mut frame = self.header(mac, IPV6);
        frame.extend(header);
        frame.extend(message);
        frame
    }

    fn header(&self, to: Mac, ether_type: u16) -> Vec<u8> {
        [&to[..], &self.own, &ether_type.to_be_bytes()].concat()
    }
}

/// The sum of the pseudo header of ICMPv6 (RFC 8200, 8.1).
fn pseudo_header(header: &[u8; IPV6_HEADER], len: usize) -> u64 {
    add(0, &header[8..]) + len as u64 + u64::from(ICMP)
}

/// The Ethernet address in an option of a message.
fn option(message: &[u8], kind: u8) -> Option<Mac> {
    const OPTIONS_AT: usize = 24;
    let mut rest = message.get(OPTIONS_AT..)?;
    loop {
        let (&[found, words], _) = rest.split_first_chunk()?;
        let option = rest.get(..usize::from(words) * 8).filter(|option| !option.is_empty())?;
        if found == kind {
            return option[2..].first_chunk().copied();
        }
        rest = &rest[option.len()..];
    }
}

/// The Ethernet address of a group, or the one that a link-local address was made of.
pub(super) fn derived(ip: IpAddr) -> Option<Mac> {
    match ip {
        // RFC 1112, 6.4.
        IpAddr::V4(ip) if ip.is_multicast() => {
            let [_, a, b, c] = ip.octets();
            Some([1, 0, 0x5e, a & 0x7f, b, c])
        }
        IpAddr::V4(_) => None,
        IpAddr::V6(ip) => match ip.octets() {
            // RFC 2464, 7.
            [0xff, .., a, b, c, d] => Some([0x33, 0x33, a, b, c, d]),
            // RFC 4291, appendix A.
            [0xfe, 0x80, _, _, _, _, _, _, a, b, c, 0xff, 0xfe, d, e, f] => Some([a ^ 2, b, c, d, e, f]),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Mac = [2, 0, 0, 0, 0, 0xa];
    const B: Mac = [2, 0, 0, 0, 0, 0xb];

    /// Two ports, of which the second answers for `ip`.
    fn ports(ip: IpAddr) -> (Neighbours, Neighbours) {
        let mut b = Neighbours::new(B);
        b.answer_for(vec![ip]);
        (Neighbours::new(A), b)
    }

    fn ask_and_answer(from: IpAddr, to: IpAddr) {
        let (mut a, mut b) = ports(to);
        let now = Instant::now();
        let (state, question) = a.find(from, to, now);
        assert_eq!(state, Neighbour::Asked);
        assert_eq!(a.find(from, to, now), (Neighbour::Asked, None));
        let answer = b.hear(&question.unwrap()).unwrap();
        assert_eq!((&answer[..6], &answer[6..12]), (&A[..], &B[..]));
        assert_eq!(a.hear(&answer), None);
        assert_eq!(a.find(from, to, now), (Neighbour::At(B), None));
        // The one that was asked knows who asked.
        assert_eq!(b.find(to, from, now), (Neighbour::At(A), None));
    }

    #[test]
    fn neighbours_are_found_by_both_families() {
        ask_and_answer("10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap());
        ask_and_answer("fe80::1".parse().unwrap(), "2001:db8::2:3:4".parse().unwrap());
    }

    /// The bytes of RFC 826 and RFC 4861, with a checksum by hand.
    #[test]
    fn questions_have_the_bytes_of_their_protocols() {
        let mut a = Neighbours::new([2, 0, 0, 0, 0, 1]);
        let (_, arp) = a.find("10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap(), Instant::now());
        let expected = [
            &[0xff; 6][..],
            &[2, 0, 0, 0, 0, 1, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 1, 10, 0, 0, 1],
            &[0, 0, 0, 0, 0, 0, 10, 0, 0, 2],
        ];
        assert_eq!(arp, Some(expected.concat()));
        let (_, solicitation) = a.find("fe80::1".parse().unwrap(), "fe80::2".parse().unwrap(), Instant::now());
        let solicitation = solicitation.unwrap();
        assert_eq!(solicitation[..14], [0x33, 0x33, 0xff, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd]);
        assert_eq!(solicitation[54..56], [135, 0]);
        // 0xfe80 + 1 + 0xff02 + 1 + 0xff00 + 2 + 32 + 58 + 0x8700 + 0xfe80 + 2 + 0x0101 + 0x0200 + 1, carries back.
        let sum = 0xfe80 + 1 + 0xff02 + 1 + 0xff00 + 2 + 32 + 58 + 0x8700 + 0xfe80 + 2 + 0x0101 + 0x0200 + 1_u32;
        let folded = !((sum & 0xffff) + (sum >> 16)) as u16;
        assert_eq!(solicitation[56..58], folded.to_be_bytes());
    }

    #[test]
    fn a_silent_neighbour_is_asked_again_and_then_left_alone() {
        let (mut a, _) = ports("10.0.0.9".parse().unwrap());
        let (from, to) = ("10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap());
        let begin = Instant::now();
        let mut ask = |ms| {
            let (state, question) = a.find(from, to, begin + Duration::from_millis(ms));
            (state, question.is_some())
        };
        for (ms, state, asks) in [
            (0, Neighbour::Asked, true),
            (100, Neighbour::Asked, false),
            (200, Neighbour::Asked, true),
            (400, Neighbour::Asked, true),
            (600, Neighbour::Asked, true),
            (999, Neighbour::Asked, true),
            (1198, Neighbour::Asked, false),
            (1199, Neighbour::Silent, false),
            (2198, Neighbour::Silent, false),
            (2199, Neighbour::Asked, true),
            // The program paused. An answer may wait.
            (4000, Neighbour::Asked, true),
        ] {
            assert_eq!(ask(ms), (state, asks), "{ms}");
        }
    }

    #[test]
    fn strangers_and_damaged_messages_teach_nothing() {
        let (mut a, mut b) = ports("fe80::2".parse().unwrap());
        let (from, to) = ("fe80::1".parse().unwrap(), "fe80::2".parse().unwrap());
        let (_, question) = a.find(from, to, Instant::now());
        let question = question.unwrap();
        for at in 0..question.len() {
            assert_eq!(b.hear(&question[..at]), None);
        }
        let mut damaged = question.clone();
        damaged[60] ^= 1;
        assert_eq!(b.hear(&damaged), None);
        // An answer that nobody asked for.
        let answer = b.hear(&question).unwrap();
        let mut c = Neighbours::new([2, 0, 0, 0, 0, 0xc]);
        assert_eq!(c.hear(&answer), None);
        assert!(c.known.is_empty());
    }

    #[test]
    fn groups_and_link_local_addresses_tell_theirs() {
        let of = |ip: &str| derived(ip.parse().unwrap());
        assert_eq!(of("239.129.2.3"), Some([1, 0, 0x5e, 1, 2, 3]));
        assert_eq!(of("ff0e::102:304"), Some([0x33, 0x33, 1, 2, 3, 4]));
        assert_eq!(of("fe80::5fff:fe03:1"), Some([2, 0, 0x5f, 3, 0, 1]));
        assert_eq!((of("10.0.0.1"), of("fe80::1"), of("2001:db8::1")), (None, None, None));
    }
}
