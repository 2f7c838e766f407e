//! Captures, as Wireshark's `tshark` reads them: a packet of every opcode in every form of cable, with the fields that
//! the device put in. Tests of captures belong here if another program reads the file; the file's own structure is
//! tested in `wire::capture`, programs on the launcher with `--pcap` in the tests of `softhca-uverbs`.

#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;

use softhca::config::{GidType, PortConfig};
use softhca::context::Transport;
use softhca::packet::{
    Aeth, AethSyndrome, AtomicAckEth, AtomicEth, Bth, Carries, Deth, Headers, Ieth, ImmDt, NakCode, Opcode, Reth,
    XrcEth,
};
use softhca::wire::capture::Capture;
use softhca::wire::{Frame, Grh, Macs, Route, Wire};

/// Takes everything.
struct Sink;

impl Wire for Sink {
    fn send(&mut self, _: Frame) -> Result<(), Frame> {
        Ok(())
    }

    fn recv(&mut self) -> Option<Frame> {
        None
    }
}

/// Runs `tshark` on a file. Returns a line for each packet, with the values of `fields` between tabs.
fn tshark(file: &Path, fields: &[&str]) -> Vec<String> {
    let mut command = Command::new("tshark");
    command.arg("-r").arg(file).args(["-T", "fields", "-o", "ip.check_checksum:TRUE"]);
    // RoCE v2 has no UDP checksum, over IPv6 as well (IBTA annex A17.3.1.2; RFC 6936 lets tunnels do so).
    command.args(["-o", "udp.ignore_ipv6_zero_checksum:TRUE"]);
    for field in fields {
        command.args(["-e", field]);
    }
    let output = command.output().expect("tshark runs: it is in the Debian package `tshark`");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// An InfiniBand port, local and global, and RoCE v1 and v2 over IPv4 and IPv6.
fn routes() -> Vec<Route> {
    let mapped = |host| std::net::Ipv4Addr::new(10, 0, 0, host).to_ipv6_mapped().octets();
    let gid = |host| std::net::Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, host).octets();
    let grh = |kind, sgid, dgid| Grh { kind, sgid, dgid, traffic_class: 2, flow_label: 0, hop_limit: 64, udp_sport: 0 };
    let local = Route { slid: 1, dlid: 2, sl: 3, grh: None, macs: Macs::default() };
    let macs = Macs { source: [2, 0, 0, 0, 0, 1], destination: [2, 0, 0, 0, 0, 2] };
    let ethernet = |grh| Route { slid: 0, dlid: 0, sl: 0, grh: Some(grh), macs };
    vec![
        local,
        Route { grh: Some(grh(GidType::InfiniBand, gid(1), gid(2))), ..local },
        ethernet(grh(GidType::RoceV1, gid(1), gid(2))),
        ethernet(grh(GidType::RoceV2, mapped(1), mapped(2))),
        ethernet(grh(GidType::RoceV2, gid(1), gid(2))),
    ]
}

/// A packet of every opcode of the specification, and acknowledgements of each kind.
fn packets() -> Vec<Headers> {
    let mut packets = vec![];
    let syndromes = [
        AethSyndrome::Ack(AethSyndrome::NO_CREDITS),
        AethSyndrome::RnrNak(12),
        AethSyndrome::Nak(NakCode::PSN_SEQUENCE),
        AethSyndrome::Nak(NakCode::INVALID_REQUEST),
        AethSyndrome::Nak(NakCode::REMOTE_ACCESS),
        AethSyndrome::Nak(NakCode::REMOTE_OPERATIONAL),
    ];
    for opcode in (0..=0xff_u8).filter_map(Opcode::new) {
        // Those that the specification does not have.
        if opcode.transport() == Transport::Dc || opcode.carries().has(Carries::EXTENDED) {
            continue;
        }
        for syndrome in &syndromes[..if opcode == Opcode::RC_ACKNOWLEDGE { syndromes.len() } else { 1 }] {
            let psn = 0x10_0000 + packets.len() as u32;
            let bth =
                Bth { opcode, solicited: false, migrated: true, pkey: 0xffff, dest_qp: 0x4142, ack_request: true, psn };
            let has = |header| opcode.carries().has(header);
            let mut headers = Headers::new(bth);
            headers.deth = has(Carries::DETH).then_some(Deth { qkey: 0x1111, src_qp: 0x4344 });
            headers.xrc = has(Carries::XRC).then_some(XrcEth(0x77));
            headers.reth = has(Carries::RETH).then_some(Reth { addr: 0x1_0000_2000, rkey: 0x1234, len: 13 });
            headers.atomic =
                has(Carries::ATOMIC).then_some(AtomicEth { addr: 0x3000, rkey: 0x99, swap_add: 5, compare: 6 });
            headers.aeth = has(Carries::AETH).then_some(Aeth { syndrome: *syndrome, msn: 9 });
            headers.atomic_ack = has(Carries::ATOMIC_ACK).then_some(AtomicAckEth { original: 8 });
            headers.imm = has(Carries::IMM).then_some(ImmDt(0xaabb_ccdd));
            headers.ieth = has(Carries::IETH).then_some(Ieth(0x55));
            packets.push(headers);
        }
    }
    packets
}

#[test]
fn every_packet_is_what_the_device_sent() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("all.pcapng");
    let capture = Capture::create(&path).unwrap();
    let ports = [PortConfig::infiniband(1), PortConfig::ethernet(1)];
    let mut wire = capture.wire(Sink, "soft", &ports).unwrap();
    let mut expected = vec![];
    for route in routes() {
        for headers in packets() {
            let payload: &[u8] = if headers.bth.opcode.has_payload() { b"thirteen byte" } else { b"" };
            let mut draft = headers.build(payload.len()).unwrap();
            draft.payload_mut().copy_from_slice(payload);
            wire.send(Frame::new(route, draft.finish())).unwrap();
            // Wireshark 4.0 reads no AETH in packets of XRC.
            let aeth = headers.aeth.filter(|_| headers.bth.opcode.transport() != Transport::Xrc);
            let aeth = aeth.map_or(String::new(), |aeth| aeth.syndrome.code().to_string());
            let number = u32::from(route.grh.is_some_and(|grh| grh.kind != GidType::InfiniBand));
            let Bth { opcode, psn, .. } = headers.bth;
            expected.push(format!("soft-{}\t{}\t0x004142\t{psn}\t{aeth}", number + 1, opcode.code()));
        }
    }
    assert!(expected.len() > 300);
    let fields = ["frame.interface_name", "infiniband.bth.opcode", "infiniband.bth.destqp", "infiniband.bth.psn"];
    let found = tshark(&path, &[&fields[..], &["infiniband.aeth.syndrome"]].concat());
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    // Dissectors have nothing to complain of, and header checksums are good (1) where there is an IPv4 header.
    let complaints = tshark(&path, &["_ws.malformed", "_ws.expert.message", "ip.checksum.status"]);
    let bad = complaints.iter().filter(|line| !["\t\t", "\t\t1"].contains(&line.as_str()));
    assert_eq!(bad.collect::<Vec<_>>(), Vec::<&String>::new());
    assert!(complaints.iter().any(|line| line.ends_with('1')));
}
