//! Captures: every packet and frame that crosses a wire, in a pcapng file that `tshark` and Wireshark read.
//!
//! ```text
//! device ── FaultInjector ── CapturedWire ── the wire
//!                │                │
//!                └─ fates ────────┴─> Capture: one file, an interface for each port
//! ```
//!
//! The file has packets as they are on the cable, at the time when they cross it. A packet that the fault injector
//! drops is in the file, with a comment. A comment also marks each packet that it repeats or holds back, and
//! says why a NAK refuses a request. Each block is
//! written at once: a program that is killed leaves a file that can be read.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::{DataLink, PcapError};

use super::cable;
use super::frame::Frame;
use super::port::{Fate, Wire};
use super::segment;
use crate::config::{LinkLayer, PortConfig};

/// Timestamps count units of 10 to the minus 9 seconds (`if_tsresol`).
const NANOSECONDS: u8 = 9;
/// `epb_flags`, direction.
const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;

/// Most packets of which something is to be said and that have not been sent.
const COMMENTS: usize = 256;

/// A capture file that wires write into. Clones are the same file.
#[derive(Clone)]
pub struct Capture(Arc<Mutex<Writer>>);

struct Writer {
    file: PcapNgWriter<BufWriter<File>>,
    descriptor: RawFd,
    interfaces: u32,
    /// Writing has failed: the rest is not captured.
    failed: bool,
}

impl Capture {
    /// Makes the file, in place of one that is there.
    ///
    /// # Errors
    /// The file cannot be made or written.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::into_file(File::create(path)?)
    }

    /// Writes into a file that was opened for this.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn into_file(file: File) -> io::Result<Self> {
        let descriptor = file.as_raw_fd();
        let mut file = PcapNgWriter::new(BufWriter::new(file)).map_err(io_error)?;
        file.get_mut().flush()?;
        Ok(Self(Arc::new(Mutex::new(Writer { file, descriptor, interfaces: 0, failed: false }))))
    }

    /// Captures `wire`, of a device with these ports. The interface of port N gets the name `DEVICE-N`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn wire<W: Wire>(&self, wire: W, device: &str, ports: &[PortConfig]) -> io::Result<CapturedWire<W>> {
        let mut writer = self.0.lock();
        let mut interfaces = Vec::with_capacity(ports.len());
        for (port, number) in ports.iter().zip(1..) {
            let linktype = match port.link {
                LinkLayer::Ethernet => DataLink::ETHERNET,
                // Wireshark 4.0 does not know the link type of bare InfiniBand (247) in files. Sniffers of InfiniBand
                // write records of Endace's format, and so does Mellanox's ibdump.
                LinkLayer::InfiniBand => DataLink::ERF,
            };
            let mut interface = InterfaceDescriptionBlock::new(linktype, 0);
            interface.options.push(InterfaceDescriptionOption::IfName(format!("{device}-{number}").into()));
            interface.options.push(InterfaceDescriptionOption::IfTsResol(NANOSECONDS));
            writer.file.write_pcapng_block(interface).map_err(io_error)?;
            interfaces.push(Interface { number: writer.interfaces, port: port.clone() });
            writer.interfaces += 1;
        }
        writer.file.get_mut().flush()?;
        drop(writer);
        Ok(CapturedWire { wire, capture: self.clone(), interfaces, fate: None, comments: VecDeque::new() })
    }

    /// Appends bytes of an interface.
    fn add(&self, interface: u32, direction: u32, bytes: &[u8], comment: Option<&str>) {
        let mut writer = self.0.lock();
        if writer.failed {
            return;
        }
        let mut options = vec![EnhancedPacketOption::Flags(direction)];
        options.extend(comment.map(|comment| EnhancedPacketOption::Comment(Cow::Borrowed(comment))));
        let block = EnhancedPacketBlock {
            interface_id: interface,
            timestamp: now(),
            original_len: bytes.len() as u32,
            data: Cow::Borrowed(bytes),
            options,
        };
        let written = writer.file.write_pcapng_block(block).map_err(io_error);
        if let Err(error) = written.and_then(|_| writer.file.get_mut().flush()) {
            log::error!("the capture ends here: {error}");
            writer.failed = true;
        }
    }
}

/// The time since 1970.
fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// A record of Endace's format (ERF) around a packet of InfiniBand: time, type, flags, bytes of the record, losses,
/// bytes on the cable (Wireshark `wiretap/erf.h`, `struct erf_header`).
fn record(packet: &[u8]) -> Vec<u8> {
    const INFINIBAND: u8 = 21;
    const VARYING_LENGTH: u8 = 4;
    const HEADER: usize = 16;
    let now = now();
    // Seconds, and a binary fraction of 32 bits.
    let fraction = (u64::from(now.subsec_nanos()) << 32) / 1_000_000_000;
    let len = ((HEADER + packet.len()) as u16).to_be_bytes();
    let mut record = Vec::with_capacity(HEADER + packet.len());
    record.extend((now.as_secs() << 32 | fraction).to_le_bytes());
    record.extend([INFINIBAND, VARYING_LENGTH, len[0], len[1], 0, 0]);
    record.extend((packet.len() as u16).to_be_bytes());
    record.extend(packet);
    record
}

fn io_error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}

/// A port, as an interface of the file.
struct Interface {
    number: u32,
    port: PortConfig,
}

/// A wire whose packets and frames are captured: [`Capture::wire`].
pub struct CapturedWire<W> {
    wire: W,
    capture: Capture,
    interfaces: Vec<Interface>,
    /// Fate of the next packet.
    fate: Option<Fate>,
    /// Expected packets, and the comments on them.
    comments: VecDeque<(Vec<u8>, String)>,
}

impl<W: Wire> CapturedWire<W> {
    /// The interface of a packet: its own port's, or the first one of its link if the port has got another address.
    fn interface(&self, frame: &Frame, direction: u32) -> Option<u32> {
        let link = cable::link_of(&frame.route);
        let is_own = |port: &PortConfig| match direction {
            INBOUND => frame.route.ends_at(port),
            _ => frame.route.begins_at(port),
        };
        let mut same_link = self.interfaces.iter().filter(|interface| interface.port.link == link);
        let first = same_link.clone().next();
        same_link.find(|interface| is_own(&interface.port)).or(first).map(|interface| interface.number)
    }

    /// The reason that is known of a packet, taken out.
    fn reason(&mut self, packet: &[u8]) -> Option<String> {
        let at = self.comments.iter().position(|(expected, _)| expected == packet)?;
        self.comments.remove(at).map(|(_, reason)| reason)
    }

    /// Appends a packet that leaves.
    fn add_outbound(&mut self, frame: &Frame, fate: Option<Fate>) {
        let (fate, reason) = (fate.map(Fate::comment), self.reason(&frame.packet));
        let comment: Vec<&str> = fate.into_iter().chain(reason.as_deref()).collect();
        self.add(frame, OUTBOUND, (!comment.is_empty()).then(|| comment.join("; ")).as_deref());
    }

    fn add(&self, frame: &Frame, direction: u32, comment: Option<&str>) {
        let Some(interface) = self.interface(frame, direction) else { return };
        match cable::encode(frame) {
            Ok(bytes) if cable::link_of(&frame.route) == LinkLayer::InfiniBand => {
                self.capture.add(interface, direction, &record(&bytes), comment);
            }
            Ok(bytes) => self.capture.add(interface, direction, &bytes, comment),
            Err(reason) => log::debug!("a packet is not captured: {reason}"),
        }
    }

    fn add_ethernet(&self, frame: &[u8], direction: u32) {
        let port = self.interfaces.iter().find(|interface| interface.port.link == LinkLayer::Ethernet);
        if let Some(interface) = port {
            self.capture.add(interface.number, direction, frame, None);
        }
    }
}

impl<W: Wire> Wire for CapturedWire<W> {
    fn send(&mut self, frame: Frame) -> Result<(), Frame> {
        // The wire may take the packet, or give it back for a later try, which is the one that crosses the cable.
        let copy = frame.clone();
        let sent = self.wire.send(frame);
        let fate = self.fate.take();
        if sent.is_ok() {
            self.add_outbound(&copy, fate);
        }
        sent
    }

    fn recv(&mut self) -> Option<Frame> {
        let frame = self.wire.recv()?;
        match frame.packets {
            1 => self.add(&frame, INBOUND, None),
            _ => segment::split(frame.clone()).iter().for_each(|packet| self.add(packet, INBOUND, None)),
        }
        Some(frame)
    }

    fn comment(&mut self, packet: &[u8], reason: &dyn Display) {
        if self.comments.len() == COMMENTS {
            self.comments.pop_front();
        }
        self.comments.push_back((packet.to_vec(), reason.to_string()));
        self.wire.comment(packet, reason);
    }

    fn note(&mut self, frame: &Frame, fate: Fate) {
        match fate {
            Fate::Dropped => self.add_outbound(frame, Some(fate)),
            Fate::Repeated | Fate::Overtaken | Fate::Delayed | Fate::Marked => self.fate = Some(fate),
        }
        self.wire.note(frame, fate);
    }

    fn send_ethernet(&mut self, frame: &[u8]) {
        self.add_ethernet(frame, OUTBOUND);
        self.wire.send_ethernet(frame);
    }

    fn recv_ethernet(&mut self) -> Option<Vec<u8>> {
        let frame = self.wire.recv_ethernet()?;
        self.add_ethernet(&frame, INBOUND);
        Some(frame)
    }

    fn descriptors(&self) -> Vec<RawFd> {
        let mut all = self.wire.descriptors();
        all.push(self.capture.0.lock().descriptor);
        all
    }

    fn behind(&self) -> Option<&dyn Wire> {
        Some(&self.wire)
    }

    fn behind_mut(&mut self) -> Option<&mut dyn Wire> {
        Some(&mut self.wire)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pcap_file::pcapng::{Block, PcapNgReader};

    use super::*;
    use crate::packet::Packet;
    use crate::wire::fault::FaultInjector;
    use crate::wire::in_process::Fabric;
    use crate::wire::{Address, test_frames::numbered};

    /// Interface, bytes and comment.
    type Captured = (u32, Vec<u8>, Option<String>);

    /// The packets in a file, and the names of its interfaces.
    fn read(path: &Path) -> (Vec<Captured>, Vec<String>) {
        let bytes = fs::read(path).unwrap();
        let mut reader = PcapNgReader::new(&bytes[..]).unwrap();
        let (mut packets, mut names) = (vec![], vec![]);
        while let Some(block) = reader.next_block() {
            match block.unwrap() {
                Block::EnhancedPacket(packet) => {
                    let comment = packet.options.iter().find_map(|option| match option {
                        EnhancedPacketOption::Comment(comment) => Some(comment.to_string()),
                        _ => None,
                    });
                    packets.push((packet.interface_id, packet.data.to_vec(), comment));
                }
                Block::InterfaceDescription(interface) => {
                    names.extend(interface.options.iter().find_map(|option| match option {
                        InterfaceDescriptionOption::IfName(name) => Some(name.to_string()),
                        _ => None,
                    }));
                }
                other => panic!("{other:?}"),
            }
        }
        (packets, names)
    }

    #[test]
    fn packets_and_their_fates_are_in_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("wire.pcapng");
        let capture = Capture::create(&path).unwrap();
        let fabric = Fabric::new();
        let attach = |lid, qpn| fabric.attach(Address { lids: vec![lid], gids: vec![], qpns: qpn..qpn + 1 }).unwrap();
        let ports = [PortConfig::infiniband(1), PortConfig::ethernet(1)];
        let wire = capture.wire(attach(1, 0x41), "a", &ports).unwrap();
        let mut a = FaultInjector::new(wire, "drop=300,dup=300,seed=3".parse().unwrap()).unwrap();
        let mut b = capture.wire(attach(2, 0x42), "b", &[PortConfig::infiniband(2)]).unwrap();
        for psn in 0..100 {
            a.send(numbered(2, 0x42, 8, psn)).unwrap();
        }
        a.send_ethernet(&[7; 60]);
        let arrived = std::iter::from_fn(|| b.recv()).count();
        let stats = a.stats();
        let (packets, names) = read(&path);
        assert_eq!(names, ["a-1", "a-2", "b-1"]);
        let on = |number| packets.iter().filter(move |(interface, ..)| *interface == number);
        assert_eq!((on(0).count(), on(1).count(), on(2).count()), (100 + stats.duplicated(), 1, arrived));
        let commented = |fate: Fate| on(0).filter(|(.., comment)| comment.as_deref() == Some(fate.comment())).count();
        assert_eq!((commented(Fate::Dropped), commented(Fate::Repeated)), (stats.dropped(), stats.duplicated()));
        assert!(stats.dropped() > 10 && stats.duplicated() > 10);
        for (interface, bytes, _) in on(0).chain(on(2)) {
            assert!(cable::decode(LinkLayer::InfiniBand, &bytes[16..]).is_ok(), "interface {interface}");
        }
    }

    #[test]
    fn packets_that_arrive_as_one_frame_are_in_the_file_one_by_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("wire.pcapng");
        let fabric = Fabric::new();
        let attach = |lid, qpn| fabric.attach(Address { lids: vec![lid], gids: vec![], qpns: qpn..qpn + 1 }).unwrap();
        let mut a = attach(1, 0x41);
        let mut b = Capture::create(&path).unwrap().wire(attach(2, 0x42), "b", &[PortConfig::infiniband(2)]).unwrap();
        let one = numbered(2, 0x42, 8, 5);
        let headers = Packet::parse(&one.packet).unwrap().headers;
        let segment = headers.build_segment(2 * 256 + 9, 3).unwrap().finish();
        let segment = Frame { packets: 3, ..Frame::new(one.route, segment) };
        a.send(segment.clone()).unwrap();
        assert_eq!(b.recv(), Some(segment));
        let (packets, _) = read(&path);
        let packet = |bytes: &[u8]| cable::decode(LinkLayer::InfiniBand, &bytes[16..]).unwrap().packet;
        let numbers: Vec<_> = packets
            .iter()
            .map(|(_, bytes, _)| {
                let packet = packet(bytes);
                let parsed = Packet::parse(&packet).unwrap();
                (parsed.headers.bth.psn, parsed.payload.len())
            })
            .collect();
        assert_eq!(numbers, [(5, 256), (6, 256), (7, 9)]);
    }

    #[test]
    fn a_full_receiver_puts_no_packet_into_the_file_twice() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("wire.pcapng");
        let fabric = Fabric::new();
        let inner = fabric.attach(Address { lids: vec![1], gids: vec![], qpns: 0x41..0x42 }).unwrap();
        let mut wire = Capture::create(&path).unwrap().wire(inner, "a", &[PortConfig::infiniband(1)]).unwrap();
        let mut sent = 0;
        while wire.send(numbered(1, 0x41, 4, sent)).is_ok() {
            sent += 1;
        }
        assert_eq!(read(&path).0.len(), sent as usize);
    }
}
