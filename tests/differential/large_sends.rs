//! Large sends (TSO) as libmlx5 posts them by both its ways, at every place of the ring that it writes them to without
//! fault, and executed.
//!
//! WQEs of large sends belong here, the frames that the device cuts them up into in `tests/loopback/frames.rs`.

use blueflame::Sge;
use blueflame::transport;
use blueflame_testkit::request::{Data, Kind, Wr};

use crate::ethernet::alone;
use crate::post::Way;
use crate::twin::Twins;
use crate::verbs::{Fabric, Geometry};

type RawPacket = transport::RawPacket<0>;

/// Ethernet, IPv4 or IPv6, and TCP headers of `bytes` bytes.
fn headers(bytes: usize) -> Vec<u8> {
    let mut headers = vec![0x02, 0, 0, 0, 0, 2, 0x02, 0, 0, 0, 0, 1];
    let options = match bytes {
        54 | 66 => {
            headers.extend([0x08, 0x00, 0x45, 0, 0, 0, 0x12, 0x34, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
            bytes - 54
        }
        74 => {
            headers.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 0, 6, 64]);
            headers.extend([[0x20; 16], [0x30; 16]].concat());
            0
        }
        other => panic!("no headers of {other} bytes"),
    };
    headers.extend([0x12, 0x34, 0, 80, 0, 0, 0, 1, 0, 0, 0, 2, (5 + options as u8 / 4) << 4, 0x18, 1, 0, 0, 0, 0, 0]);
    headers.extend(vec![1; options]);
    assert_eq!(headers.len(), bytes);
    headers
}

/// A large send, with its payload inline or in entries of the fabric's memory.
fn request(fabric: &mut Fabric, n: usize) -> Wr {
    let bytes = [54, 66, 74][n % 3];
    let mss = [536, 8, 1460, 100][n % 4];
    let length = [1, 60, 100][n % 3];
    let start = headers(bytes);
    let data = match n % 5 {
        0 => Data::Inline([start, (0..length).collect()].concat()),
        entries => {
            // The testkit takes the headers out of the first entry.
            fabric.buffer.write(0, &start);
            let entry = |n: usize| {
                let (length, offset) = if n == 0 { (bytes as u32, 0) } else { (700 * n as u32, 4096 * n as u64) };
                Sge { addr: fabric.buffer.addr() + offset, length, lkey: fabric.buffer.lkey() }
            };
            Data::Sges((0..=entries).map(entry).collect())
        }
    };
    Wr { signaled: true, ..Wr::new(Kind::LargeFrame(bytes, n % 2 == 0, mss), data, n as u64) }
}

#[test]
fn large_sends_are_libmlx5s() {
    if !alone("large_sends::large_sends_are_libmlx5s", "none") {
        return;
    }
    let mut fabric = Fabric::new();
    let geometry = Geometry { sends: 8, send_sge: 5, inline: 120, tso_header: 130, ..Geometry::default() };
    let mut twins = Twins::<RawPacket>::new(&fabric, &geometry, true);
    let mut places = std::collections::BTreeSet::new();
    let mut large = 0;
    for n in 0..600 {
        let wr = request(&mut fabric, n);
        let Kind::LargeFrame(bytes, ..) = wr.kind else { panic!("a large send") };
        // Behind headers that come to the ring's end, libmlx5 44 writes data to wrong places.
        let reach = twins.pi % twins.wqebbs() * 64 + usize::next_multiple_of(30 + bytes, 16);
        let fits = reach < twins.wqebbs() * 64;
        let (wr, way) = match (fits, n % 2) {
            (true, 0) => (wr, Way::PostSend),
            (true, _) => (wr, Way::WrBuilders),
            (false, _) => {
                (Wr { signaled: true, ..Wr::new(Kind::Frame(0, false), Data::Inline(vec![7; 28]), 1) }, Way::PostSend)
            }
        };
        if fits {
            places.insert(twins.pi % twins.wqebbs());
            large += 1;
        }
        let id = wr.id;
        twins.send(way, n % 7 == 0, std::slice::from_ref(&wr)).unwrap_or_else(|why| panic!("{why}: {wr:?}"));
        let completion = twins.send_completion().unwrap_or_else(|why| panic!("{why}: {wr:?}"));
        assert_eq!(completion.status, 0, "request {id}: {completion:?}, {wr:?}");
    }
    assert!(large > 400, "{large} large sends");
    // All but the last two, whose headers would come to the ring's end.
    assert!(places.len() >= twins.wqebbs() - 2, "{places:?} of {} places", twins.wqebbs());
}
