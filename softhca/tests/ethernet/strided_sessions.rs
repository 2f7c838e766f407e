//! Compressed CQEs of striding receive queues: each format of mini-CQEs, expanded as drivers do it, against the plain
//! CQEs of the same frames.
//!
//! Compressed CQEs of strides belong here, plain ones in `striding.rs`.

use crate::frame::{frame, ipv4, mac};
use crate::mailbox::Mail;
use crate::node::{Node, op};
use crate::striding::{Sender, Striding, nodes, numbered, post, striding};
use softhca::config::Generation;

/// A format: `mini_cqe_res_format` and its extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Hash,
    Checksum,
    FlowTag,
    ChecksumStride,
    Headers,
}

impl Format {
    fn fields(self) -> [u64; 2] {
        match self {
            Self::Hash => [0, 0],
            Self::Checksum => [1, 0],
            Self::FlowTag => [2, 0],
            Self::ChecksumStride => [3, 0],
            Self::Headers => [0, 1],
        }
    }
}

/// The fields of a frame's CQE, or of a filler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Known {
    filler: bool,
    strides: u16,
    bytes: u16,
    stride: u16,
    wqe: u16,
    /// The field that the format keeps: a hash, a sum, headers; 0 for a filler.
    kept: u32,
}

fn be16(bytes: &[u8]) -> u16 {
    u16::from_be_bytes([bytes[0], bytes[1]])
}

fn counts(word: &[u8]) -> Known {
    let strides = be16(word);
    Known { filler: strides >> 15 != 0, strides: strides & 0x3fff, bytes: be16(&word[2..]), ..Known::default() }
}

/// Of a plain CQE.
fn plain(format: Format, cqe: &[u8]) -> Known {
    assert_eq!(cqe[63] >> 4, 2);
    let kept = match format {
        Format::Hash => u32::from_be_bytes([cqe[12], cqe[13], cqe[14], cqe[15]]),
        Format::Checksum | Format::ChecksumStride => be16(&cqe[20..]).into(),
        Format::FlowTag => u32::from_be_bytes([0, cqe[57], cqe[58], cqe[59]]),
        Format::Headers => cqe[29].into(),
    };
    Known { stride: be16(&cqe[60..]), wqe: be16(&cqe[2..]), kept, ..counts(&cqe[44..]) }
}

/// Of a mini-CQE, whose session has this title; the last frame's place is `before`. DPDK
/// `drivers/net/mlx5/mlx5_rx.c`, `mlx5_rx_burst_mprq` and `rxq_cq_to_mbuf`; where a format has no index, Linux
/// `drivers/net/ethernet/mellanox/mlx5/core/en_rx.c`, `mlx5e_decompress_cqe`.
fn mini(format: Format, mini: &[u8], title: Known, next: u16, stride_bytes: u32) -> Known {
    let mut known = Known { wqe: title.wqe, stride: be16(&mini[2..]), ..counts(&mini[4..]) };
    match format {
        Format::Hash | Format::Checksum => known.stride = next,
        Format::FlowTag | Format::ChecksumStride | Format::Headers => {}
    }
    known.kept = match format {
        Format::Hash => u32::from_be_bytes([mini[0], mini[1], mini[2], mini[3]]),
        Format::Checksum | Format::ChecksumStride => be16(mini).into(),
        Format::FlowTag => u32::from_be_bytes([0, mini[4], mini[0], mini[1]]),
        Format::Headers => mini[0].into(),
    };
    if format == Format::FlowTag {
        // The tag has the place of the highest bits of the count.
        (known.filler, known.strides) = (false, u32::from(known.bytes).div_ceil(stride_bytes) as u16);
    }
    known
}

/// All CQEs of a ring, and how many of them are sessions.
fn expand(node: &Node, ring: u64, format: Format, enhanced: bool, stride_bytes: u32) -> (Vec<Known>, usize) {
    let (mut known, mut sessions, mut at) = (Vec::<Known>::new(), 0, 0);
    let cqe = |at: usize| node.memory.read(ring + at as u64 * 64, 64);
    let mut title = Known::default();
    while at < 64 && cqe(at)[63] >> 4 != 0xf {
        let bytes = cqe(at);
        // In the enhanced layout, bits 7:4 count the mini-CQEs.
        if bytes[63] >> 2 & 3 != 3 {
            title = plain(format, &bytes);
            known.push(title);
            at += 1;
            continue;
        }
        sessions += 1;
        let (count, arrays) = if enhanced {
            (usize::from(bytes[63] >> 4) + 1, vec![bytes.clone()])
        } else {
            // The title is a frame of its own, whose word counts the session.
            title = Known { stride: be16(&bytes[60..]), wqe: be16(&bytes[2..]), ..Known::default() };
            let count = be16(&bytes[46..]) as usize;
            (count, (0..count.div_ceil(8)).map(|n| cqe(at + if n == 0 { 1 } else { n * 8 })).collect())
        };
        let mut next = match enhanced {
            true => title.stride + title.strides,
            false => title.stride,
        };
        for bytes in arrays.concat().chunks(8).take(count) {
            let found = mini(format, bytes, title, next, stride_bytes);
            next = found.stride + found.strides;
            known.push(found);
        }
        // Sessions in a row have the last CQE before them as a title.
        title = *known.last().expect("a frame");
        // The places of compressed completions stay empty in both layouts.
        at += count;
    }
    (known, sessions)
}

/// Frames that are alike for the device: UDP to one station. Hashes and sums differ.
fn datagrams(lens: &[usize]) -> Vec<Vec<u8>> {
    let packet = |&len: &usize| frame(mac(2), &[], &ipv4(true, ([10, 0, 0, 1], len as u16), ([10, 0, 0, 2], 9), len));
    lens.iter().map(packet).collect()
}

/// A queue on a CQ with these fields, to which all frames go, hashed and with a tag.
fn receiver(fields: &[(&str, u64)], logs: (u64, u64)) -> (Sender, Node, u64, Striding) {
    let (a, mut b) = nodes(Generation::ConnectX7);
    let cq = b.cq_with(fields);
    let mut rq = striding(&mut b, &cq, logs, false);
    // Toeplitz' hash of IPv4's addresses and UDP's ports.
    let tir = Mail::command("create_tir_in", op::CREATE_TIR)
        .set("ctx.inline_rqn", rq.queue.number)
        .set("ctx.transport_domain", b.td)
        .set("ctx.rx_hash_fn", 2)
        .put("ctx.rx_hash_toeplitz_key", &[0x5a; 40])
        .set("ctx.rx_hash_field_selector_outer.l4_prot_type", 1)
        .set("ctx.rx_hash_field_selector_outer.selected_fields", 0xf);
    let tir = b.number(tir, "create_tir_out", "tirn");
    let table = b.table(0, 1);
    let group = b.group(0, table, [0, 15], &[]);
    let rule = Node::rule(0, (table, group, 0), &[], 4, &[(2, tir)], &[]);
    b.bare(&rule.set("flow_context.flow_tag", 0x0a_0b0c)).unwrap();
    b.root(0, table);
    post(&mut b, &mut rq, 4);
    (a, b, cq.ring, rq)
}

#[test]
fn minis_say_what_plain_cqes_say() {
    let formats = [Format::Hash, Format::Checksum, Format::FlowTag, Format::ChecksumStride, Format::Headers];
    for (format, enhanced) in formats.into_iter().flat_map(|format| [(format, false), (format, true)]) {
        let [number, ext] = format.fields();
        let fields = [
            ("cqe_comp_en", 1),
            ("mini_cqe_res_format", number),
            ("mini_cqe_res_format_ext", ext),
            ("cqe_compression_layout", enhanced.into()),
        ];
        for logs in [(3, 11), (9, 6)] {
            let (mut a, mut b, ring, _) = receiver(&[], logs);
            let (mut c, mut d, cq, rq) = receiver(&fields, logs);
            // One session, one whose WQE ends with a filler, and one of other frames.
            let batches =
                [datagrams(&[20, 3000, 20]), datagrams(&[2500, 30, 3000, 100]), vec![numbered(1, 60), numbered(2, 70)]];
            for frames in &batches {
                a.send(frames, &mut b);
                c.send(frames, &mut d);
            }
            let expected: Vec<Known> = (0..64)
                .map(|n| b.memory.read(ring + n * 64, 64))
                .take_while(|cqe| cqe[63] >> 4 != 0xf)
                .map(|cqe| plain(format, &cqe))
                .collect();
            assert_eq!(expected.iter().filter(|known| known.filler).count(), usize::from(logs == (3, 11)));
            assert!(expected.iter().filter(|known| known.kept != 0).count() >= 7, "{format:?} keeps nothing");
            let (found, sessions) = expand(&d, cq, format, enhanced, rq.stride);
            assert_eq!(found, expected, "{format:?}, enhanced {enhanced}, {logs:?}");
            assert!(sessions >= 2, "{format:?}, enhanced {enhanced}: {sessions}");
        }
    }
}

/// The number of the WQE is in the title alone, so drivers take all of a session to be in one WQE (DPDK
/// `mlx5_rx_burst_mprq` asserts it).
#[test]
fn a_session_ends_with_its_wqe() {
    // Eight strides and four more, with no filler between; in one format each mini-CQE has its stride's index, in the
    // other it is where the strides before end.
    let cases = [(Format::ChecksumStride, datagrams(&[60; 12]), 1), (Format::Checksum, datagrams(&[3000; 6]), 2)];
    for (enhanced, (format, frames, strides)) in [false, true].into_iter().flat_map(|e| cases.clone().map(|c| (e, c))) {
        let [number, _] = format.fields();
        let layout = ("cqe_compression_layout", enhanced.into());
        let fields = [("cqe_comp_en", 1), ("mini_cqe_res_format", number), layout];
        let (mut a, mut b, ring, _) = receiver(&fields, (3, 11));
        a.send(&frames, &mut b);
        let (known, sessions) = expand(&b, ring, format, enhanced, 2048);
        let places: Vec<_> = known.iter().map(|known| (known.wqe, known.stride)).collect();
        let first = (0..frames.len() as u16).map(|n| n * strides);
        let expected: Vec<_> = first.map(|stride| (stride / 8, stride % 8)).collect();
        assert_eq!((places, sessions), (expected, 2), "{format:?}, enhanced {enhanced}");
    }
}
