//! Captures: conversations of queue pairs, made of packets that each test writes out.
//!
//! Conversations belong here; files and headers in the unit tests of `decode/src/capture`.

use blueflame_decode::capture::{Capture, capture};

/// Opcodes (IBTA vol. 1, table 35).
const SEND_ONLY: u8 = 0x04;
const READ_REQUEST: u8 = 0x0c;
const READ_RESPONSE_ONLY: u8 = 0x10;
const ACKNOWLEDGE: u8 = 0x11;
const UC_SEND_ONLY: u8 = 0x24;
const UD_SEND_ONLY: u8 = 0x64;
const CNP: u8 = 0x81;

/// AETH syndromes: an acknowledgement, "receiver not ready", a remote access error.
const ACK: [u8; 4] = [0x1f, 0, 0, 0];
const RNR: [u8; 4] = [0x2c, 0, 0, 0];
const NO_ACCESS: [u8; 4] = [0x62, 0, 0, 0];

/// A capture of packets on a link of InfiniBand, in the making.
struct File {
    bytes: Vec<u8>,
    /// Nanoseconds.
    time: u64,
}

impl File {
    fn new() -> Self {
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let section = words(&[0x0a0d_0d0a, 28, 0x1a2b_3c4d, 1, u32::MAX, u32::MAX, 28]);
        // Link type 247, times in nanoseconds.
        let interface = words(&[1, 32, 247, 0, 1 << 16 | 9, 9, 0, 32]);
        Self { bytes: [section, interface].concat(), time: 0 }
    }

    /// Adds a packet of 1 ms later.
    fn packet(&mut self, (from, to, qpn): (u16, u16, u32), (opcode, psn): (u8, u32), rest: &[u8], comment: &str) {
        let [_, q0, q1, q2] = qpn.to_be_bytes();
        let [_, p0, p1, p2] = psn.to_be_bytes();
        let ([d0, d1], [s0, s1]) = (to.to_be_bytes(), from.to_be_bytes());
        let lrh = [0, 2, d0, d1, 0, 0, s0, s1];
        let bth = [opcode, 0, 0xff, 0xff, 0, q0, q1, q2, 0x80, p0, p1, p2];
        let body = [&lrh[..], &bth, rest].concat();
        let crc = {
            let masked = [&[lrh[0] | 0xf0], &lrh[1..], &bth[..4], &[0xff], &bth[5..], rest].concat();
            let step = |crc: u32, _| if crc & 1 != 0 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
            !masked.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
        };
        let mut packet = [&body[..], &crc.to_le_bytes(), &[0; 2]].concat();
        let len = packet.len() as u32;
        packet.resize(packet.len().next_multiple_of(4), 0);
        let mut text = comment.as_bytes().to_vec();
        text.resize(text.len().next_multiple_of(4), 0);
        let mut options = [&1_u16.to_le_bytes()[..], &(comment.len() as u16).to_le_bytes(), &text, &[0; 4]].concat();
        if comment.is_empty() {
            options.clear();
        }
        let block = (32 + packet.len() + options.len()) as u32;
        self.time += 1_000_000;
        let head = [6, block, 0, (self.time >> 32) as u32, self.time as u32, len, len];
        self.bytes.extend(head.iter().flat_map(|word| word.to_le_bytes()));
        self.bytes.extend(packet);
        self.bytes.extend(options);
        self.bytes.extend(block.to_le_bytes());
    }

    fn read(&self) -> Capture {
        capture(&self.bytes).expect("a capture")
    }
}

/// The queue pairs 0x11 behind LID 1 and 0x22 behind LID 2, as packets name them.
const TO_2: (u16, u16, u32) = (1, 2, 0x22);
const TO_1: (u16, u16, u32) = (2, 1, 0x11);

#[test]
fn answers_join_the_directions_of_a_conversation() {
    let mut file = File::new();
    // Two conversations at once, whose PSNs tell them apart.
    let (other, back) = ((1, 2, 0x44), (2, 1, 0x33));
    for psn in 0..3 {
        file.packet(TO_2, (SEND_ONLY, psn), &[7; 8], "");
        file.packet(other, (SEND_ONLY, 5000 + psn), &[7; 4], "");
    }
    file.packet(back, (ACKNOWLEDGE, 5002), &ACK, "");
    file.packet(TO_1, (ACKNOWLEDGE, 2), &ACK, "");
    // The other end asks, too.
    file.packet(TO_1, (READ_REQUEST, 9), &[0; 16], "");
    file.packet(TO_2, (READ_RESPONSE_ONLY, 9), &[&ACK[..], &[1; 12]].concat(), "");
    let found = file.read();
    assert_eq!((found.packets, found.others, found.conversations.len()), (10, 0, 2));
    let [first, second] = &found.conversations[..] else { panic!("{found}") };
    let ends = |of: &blueflame_decode::capture::Conversation| -> Vec<u32> {
        of.directions.iter().map(|direction| direction.qpn).collect()
    };
    assert_eq!((ends(first), ends(second)), (vec![0x22, 0x11], vec![0x44, 0x33]));
    let [to_2, to_1] = &first.directions[..] else { panic!("{found}") };
    assert_eq!((to_2.requests, to_2.answers, to_2.bytes, to_2.wrong_crcs), (3, 1, 36, 0));
    assert_eq!((to_1.requests, to_1.answers, to_1.bytes), (1, 1, 0));
    assert!(first.silences.is_empty() && first.events.is_empty() && second.silences.is_empty(), "{found}");
}

#[test]
fn the_silent_end_is_named() {
    let mut file = File::new();
    file.packet(TO_2, (SEND_ONLY, 0), &[7; 8], "");
    file.packet(TO_1, (ACKNOWLEDGE, 0), &ACK, "");
    for _ in 0..3 {
        file.packet(TO_2, (SEND_ONLY, 1), &[7; 8], "");
    }
    let found = file.read();
    let conversation = &found.conversations[0];
    let silence =
        "PSN 1 (SEND Only) was sent 3 times in 2.0ms, and never answered: queue pair 0x22 of LID 0x2 is silent";
    assert_eq!(conversation.silences, [silence]);
    assert_eq!((conversation.directions[0].repeated, conversation.events.len()), (2, 2), "{found}");
    assert_eq!(conversation.events[1].text, "PSN 1 (SEND Only) is sent again, 2.0ms after the first time");
    let text = found.to_string();
    assert!(text.starts_with("RC: queue pair 0x11 of LID 0x1 and 0x22 of LID 0x2, in 4.0ms\n"), "{text}");
    assert!(text.contains("  silence: PSN 1"), "{text}");
}

#[test]
fn requests_in_a_row_that_are_sent_again_are_one_event() {
    let mut file = File::new();
    for psn in [7, 8, 9, 7, 8, 9, 8] {
        file.packet(TO_2, (SEND_ONLY, psn), &[7; 8], "");
    }
    let found = file.read();
    let texts: Vec<_> = found.conversations[0].events.iter().map(|event| event.text.as_str()).collect();
    let run = "PSNs 7 (SEND Only) to 9 are sent again, 3.0ms after the first time";
    assert_eq!(texts, [run, "PSN 8 (SEND Only) is sent again, 5.0ms after the first time"]);
}

#[test]
fn refusals_drops_and_congestion_are_told() {
    let mut file = File::new();
    file.packet(TO_2, (SEND_ONLY, 3), &[7; 8], "dropped by somebody");
    file.packet(TO_2, (SEND_ONLY, 3), &[7; 8], "");
    file.packet(TO_1, (ACKNOWLEDGE, 3), &RNR, "");
    file.packet(TO_2, (SEND_ONLY, 3), &[7; 8], "");
    file.packet(TO_1, (ACKNOWLEDGE, 3), &ACK, "dropped by somebody");
    file.packet(TO_2, (SEND_ONLY, 3), &[7; 8], "");
    file.packet(TO_1, (ACKNOWLEDGE, 3), &ACK, "");
    file.packet(TO_2, (SEND_ONLY, 4), &[7; 8], "");
    file.packet(TO_1, (ACKNOWLEDGE, 4), &NO_ACCESS, "key 0x1a02 \u{202e}names no memory");
    file.packet(TO_1, (CNP, 0), &[0; 16], "");
    let found = file.read();
    let conversation = &found.conversations[0];
    let [to_2, to_1] = &conversation.directions[..] else { panic!("{found}") };
    assert_eq!((to_2.requests, to_2.repeated, to_2.dropped), (5, 3, 1));
    assert_eq!((to_1.answers, to_1.dropped, to_1.notifications), (4, 1, 1));
    let refusals: Vec<_> = to_1.refusals.iter().map(|(reason, count)| (reason.as_str(), *count)).collect();
    assert_eq!(refusals, [("receiver not ready", 1), ("remote access error", 1)]);
    let told = "PSN 4 is refused: remote access error (key 0x1a02 \\u{202e}names no memory)";
    // A refusal is an answer.
    assert!(conversation.silences.is_empty(), "{found}");
    assert!(conversation.events.iter().any(|event| event.text == told), "{found}");
}

#[test]
fn services_without_answers_are_conversations_too() {
    let mut file = File::new();
    file.packet(TO_2, (UC_SEND_ONLY, 0), &[7; 8], "");
    file.packet(TO_2, (UD_SEND_ONLY, 0), &[7; 12], "");
    file.packet(TO_2, (0xc4, 0), &[7; 12], "");
    let found = file.read();
    let services: Vec<_> = found.conversations.iter().map(|conversation| conversation.service).collect();
    assert_eq!(services, ["UC", "UD", "a manufacturer's service"]);
    assert!(found.conversations.iter().all(|conversation| conversation.silences.is_empty()), "{found}");
    assert_eq!(found.conversations[1].directions[0].bytes, 4);
}

#[test]
fn damaged_packets_and_files_are_told_of() {
    let mut file = File::new();
    file.packet(TO_2, (SEND_ONLY, 0), &[7; 8], "");
    let good = file.bytes.clone();
    let at = good.len() - 4 - 8;
    file.bytes[at - 4] ^= 1;
    assert_eq!(file.read().conversations[0].directions[0].wrong_crcs, 1);
    for len in 0..good.len() {
        if let Some(found) = capture(&good[..len]) {
            assert_eq!(found.packets, 0);
        }
        for value in [0, 0xff] {
            let mut bytes = good.clone();
            bytes[len] = value;
            let _ = capture(&bytes).map(|found| found.to_string());
        }
    }
    assert_eq!(capture(b"mlx5: got completion with error"), None);
}
