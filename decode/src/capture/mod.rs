//! Captures of packets (pcapng, pcap): a conversation for each pair of queue pairs, with its requests, answers, repeats
//! and silences.
//!
//! ```text
//! file ── packets and comments ── packet ── headers ── conversation ── who talked, and who did not answer
//! ```
//!
//! A packet names its destination's queue pair alone. So [`capture`] joins two directions when an answer in one has the
//! PSN of a request in the other.

mod conversation;
mod file;
mod flow;
mod names;
mod packet;
mod show;

use std::collections::HashMap;

pub use conversation::{Conversation, Direction, Event};

/// The conversations in a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Capture {
    /// In the order of their first packets.
    pub conversations: Vec<Conversation>,
    /// Packets in the file.
    pub packets: u64,
    /// Packets that are not of the transport.
    pub others: u64,
}

/// The conversations in the bytes of a capture file; `None` if they are no pcapng and no pcap file. A file that ends in
/// the middle gives the packets before.
#[must_use]
pub fn capture(file: &[u8]) -> Option<Capture> {
    let packets = file::packets(file)?;
    let (mut others, mut talk) = (0, conversation::Talk::default());
    // A device that talks to itself has each packet in the file as it left and as it arrived.
    let mut left: HashMap<&[u8], u32> = HashMap::new();
    for captured in &packets {
        if captured.is_outbound {
            *left.entry(captured.bytes).or_default() += 1;
        } else if let Some(count) = left.get_mut(captured.bytes).filter(|count| **count > 0) {
            *count -= 1;
            continue;
        }
        match packet::packet(captured) {
            Some(packet) => talk.add(captured, &packet),
            None => others += 1,
        }
    }
    Some(Capture { conversations: talk.conversations(), packets: packets.len() as u64, others })
}
