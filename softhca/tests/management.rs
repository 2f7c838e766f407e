//! Management datagrams between instances of a device that share their addresses.
//!
//! Management datagrams belong here. Other datagrams belong in `engine`.

#![cfg(target_os = "linux")]

use softhca::config::{DeviceConfig, PortConfig};
use softhca::context::{Path, PathGrh};
use softhca::device::Device;
use softhca::gsi::MAD_BYTES;
use softhca::memory::ProcessMemory;
use softhca::wire::shm::ShmWire;
use softhca::wire::{Frame, Wire};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

fn device(directory: &std::path::Path) -> (Device, u32) {
    let port = PortConfig::ethernet(1);
    let wire = ShmWire::join(directory, &[], &port.gids).unwrap();
    let (qpns, gsi) = (wire.qpns(), wire.gsi_qpn());
    let config =
        DeviceConfig { qpn_first: qpns.start, qpn_count: qpns.end - qpns.start, ..DeviceConfig::with_port(port) };
    let mut device = Device::new(config, Box::new(ProcessMemory::new()), Box::new(wire)).unwrap();
    device.open_gsi(gsi);
    (device, gsi)
}

/// The way to the address that all instances have.
fn to_itself() -> PathGrh {
    let dgid = PortConfig::ethernet(1).gids[0].raw;
    PathGrh { dgid, sgid_index: 0, flow_label: 0, hop_limit: 1, traffic_class: 0 }
}

#[test]
fn datagrams_find_the_instance_that_they_are_for() {
    let directory = tempfile::tempdir().unwrap();
    let ((mut a, qp1), (mut b, redirected)) = (device(directory.path()), device(directory.path()));
    assert_eq!((qp1, redirected), (1, 0x4001));
    let grh = to_itself();
    let path = Path { dlid: 0, sl: 0, src_path_bits: 0, grh: Some(grh), dmac: [0; 6] };
    a.send_mad(1, &path, redirected, &[7; MAD_BYTES]).unwrap();
    b.send_mad(1, &path, qp1, &[8; MAD_BYTES]).unwrap();
    let mut arrived = (None, None);
    let deadline = Instant::now() + Duration::from_secs(60);
    while (arrived.0.is_none() || arrived.1.is_none()) && Instant::now() < deadline {
        a.step(Duration::ZERO);
        b.step(Duration::ZERO);
        arrived = (arrived.0.or_else(|| a.take_mad()), arrived.1.or_else(|| b.take_mad()));
    }
    let (to_a, to_b) = (arrived.0.unwrap(), arrived.1.unwrap());
    assert_eq!((to_a.source_qp, to_a.bytes[0], to_b.source_qp, to_b.bytes[0]), (redirected, 8, qp1, 7));
    assert!(a.take_mad().is_none() && b.take_mad().is_none());
    assert!(a.send_mad(2, &path, qp1, &[0; MAD_BYTES]).is_err());
    let no_gid = Path { grh: Some(PathGrh { sgid_index: 1, ..grh }), ..path };
    assert!(a.send_mad(1, &no_gid, qp1, &[0; MAD_BYTES]).is_err());
}

#[test]
fn a_datagram_waits_for_the_step_that_sends_it() {
    let directory = tempfile::tempdir().unwrap();
    let (mut device, qp1) = device(directory.path());
    let path = Path { dlid: 0, sl: 0, src_path_bits: 0, grh: Some(to_itself()), dmac: [0; 6] };
    assert!(!device.has_packets_waiting());
    device.send_mad(1, &path, qp1, &[7; MAD_BYTES]).unwrap();
    assert!(device.has_packets_waiting());
    while device.step(Duration::ZERO) {}
    assert!(!device.has_packets_waiting());
}

/// A receiver without room until it is opened. It counts the frames that it takes.
#[derive(Clone, Default)]
struct Gate {
    is_open: Arc<AtomicBool>,
    taken: Arc<AtomicUsize>,
}

impl Wire for Gate {
    fn send(&mut self, frame: Frame) -> Result<(), Frame> {
        if !self.is_open.load(Ordering::Relaxed) {
            return Err(frame);
        }
        self.taken.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn recv(&mut self) -> Option<Frame> {
        None
    }
}

/// Requests from the network make a manager send, also while a receiver has no room.
#[test]
fn datagrams_that_nobody_reads_do_not_pile_up() {
    let gate = Gate::default();
    let config = DeviceConfig::with_port(PortConfig::ethernet(1));
    let mut device = Device::new(config, Box::new(ProcessMemory::new()), Box::new(gate.clone())).unwrap();
    device.open_gsi(1);
    let path = Path { dlid: 0, sl: 0, src_path_bits: 0, grh: Some(to_itself()), dmac: [0; 6] };
    for _ in 0..10_000 {
        device.send_mad(1, &path, 1, &[7; MAD_BYTES]).unwrap();
        device.step(Duration::ZERO);
    }
    gate.is_open.store(true, Ordering::Relaxed);
    while device.step(Duration::ZERO) {}
    assert_eq!((gate.taken.load(Ordering::Relaxed), device.has_packets_waiting()), (64, false));
}
