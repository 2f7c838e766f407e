//! The device's memory while large packets wait for their time.
//!
//! Measurements of a whole process belong here, where no other test runs. Rates belong in `ethernet/pacing.rs`.

use softhca::config::{DeviceConfig, DoorbellSource, PortConfig};
use softhca::context::{
    CqContext, InlineHeaders, MkeyContext, QpAttr, QpContext, QpState, ReceiveSource, SqContext, Transport,
};
use softhca::device::{Device, Rate, RateMode};
use softhca::memory::ArrayMemory;
use softhca::wire::Address;
use softhca::wire::in_process::Fabric;
use std::time::Duration;

/// The host's memory: the CQ and its record, the payload of all packets, and a page for the ring and the record of each
/// queue.
const BASE: u64 = 0x4000_0000;
const CQ_RECORD: u64 = BASE + 0x1000;
const PAYLOAD: u64 = BASE + 0x10_0000;
const QUEUES: u64 = BASE + 0x20_0000;
const BYTES: usize = 4 << 20;
const PAGE: u64 = 4096;

const COUNT: u64 = 100;
const LEN: u32 = 1 << 18;

/// Bytes of memory that the process has at present.
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("Linux' /proc");
    pages.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).expect("a number of pages") * PAGE
}

/// A WQE of a large packet: `LEN` bytes in segments of 64.
fn wqe(qpn: u32, key: u32) -> Vec<u8> {
    let ip = [0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    let tcp = [0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0];
    let headers = [&[2; 12][..], &[0x08, 0x00], &ip, &tcp].concat();
    let mut wqe = vec![0, 0, 0, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0x08, 0, 0, 0, 0];
    wqe.extend([0, 0, 0, 0, 0xc0, 0, 0, 64, 0, 0, 0, 0, 0, headers.len() as u8]);
    wqe.extend(headers);
    wqe.resize(wqe.len().next_multiple_of(16), 0);
    wqe.extend((u128::from(LEN) << 96 | u128::from(key) << 64 | u128::from(PAYLOAD)).to_be_bytes());
    let ds = wqe.len() as u32 / 16;
    wqe[4..8].copy_from_slice(&(qpn << 8 | ds).to_be_bytes());
    wqe
}

#[test]
fn large_packets_that_wait_take_no_memory_for_their_frames() {
    let memory = ArrayMemory::filled(BASE, BYTES, 0);
    let port = PortConfig::ethernet(1);
    let address = Address { lids: vec![], gids: port.gids.clone(), qpns: 0x100..0x1000 };
    let config = DeviceConfig { doorbells: DoorbellSource::Records, ..DeviceConfig::with_port(port) };
    let wire = Fabric::new().attach(address).unwrap();
    let mut device = Device::new(config, Box::new(memory.clone()), Box::new(wire)).unwrap();
    let (uar, pd) = (device.alloc_uar().unwrap(), device.alloc_pd().unwrap());
    let access = Default::default();
    let key = device.create_mkey(MkeyContext { pd, iova: BASE, addr: BASE, len: BYTES as u64, access }).unwrap();
    let cq = CqContext::new(BASE, 6, CQ_RECORD, uar);
    let cqn = device.create_cq(cq).unwrap();
    device.set_rate(1, Some(Rate { limit: 1, mode: RateMode::Data, burst: 0, typical: 0 })).unwrap();
    for queue in 0..COUNT {
        let (buf, dbr) = (QUEUES + queue * PAGE, QUEUES + queue * PAGE + 2048);
        let _inline_headers = InlineHeaders::None;
        let sq = SqContext { buf, log_size: 4, ..SqContext::default() };
        let context = QpContext {
            pd,
            send_cqn: cqn,
            recv_cqn: cqn,
            sq: Some(sq),
            rq: ReceiveSource::None,
            dbr,
            uar,
            ..QpContext::new(Transport::RawPacket)
        };
        let qpn = device.create_qp(context).unwrap();
        for (state, port) in [(QpState::Init, Some(1)), (QpState::Rtr, None), (QpState::Rts, None)] {
            device.modify_qp(qpn, &QpAttr { state: Some(state), port, ..QpAttr::default() }).unwrap();
        }
        device.pace(qpn, 1).unwrap();
        let wqe = wqe(qpn, key);
        memory.put((buf - BASE) as usize, &wqe);
        memory.put((dbr + 4 - BASE) as usize, &(wqe.len().div_ceil(64) as u32).to_be_bytes());
    }
    let before = resident();
    let now = Duration::from_secs(1);
    while device.step(now) {}
    assert!(device.next_deadline().is_some_and(|at| at > now), "frames wait");
    assert_eq!(device.take_frames().len(), 64, "the first frame of each queue has left; the device keeps 64");
    let grown = resident().saturating_sub(before);
    assert!(grown < 16 << 20, "{grown} bytes for {COUNT} packets");
}
