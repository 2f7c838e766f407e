//! Drivers that write nonsense, and a network that loses packets: the device must neither panic nor hang nor touch
//! memory it was not given.
//!
//! Drivers that break rules at random belong here. Hostile packets belong in `engine`, hostile command slots in `pci`.

#[expect(dead_code, reason = "what these tests need of it; `embedded.rs` uses all")]
mod driver;

use driver::{Poller, Receiver, Sender, data, inline, put, raddr, summary};
use proptest::prelude::*;
use softhca::config::{DeviceConfig, DoorbellSource, PortConfig};
use softhca::context::Transport;
use softhca::device::Device;
use softhca::embedded::{ConnectOptions, CqOptions, EmbeddedDevice, QpOptions, connect, run_until_idle};
use softhca::event::Event;
use softhca::query::CqFault;
use softhca::wire::fault::{FaultConfig, FaultInjector};
use softhca::wire::{Frame, Wire};

/// A wire that leads nowhere.
struct Nowhere;

impl Wire for Nowhere {
    fn send(&mut self, _frame: Frame) -> Result<(), Frame> {
        Ok(())
    }

    fn recv(&mut self) -> Option<Frame> {
        None
    }
}

#[test]
fn a_device_can_move_to_another_thread() {
    fn is_send<T: Send>() {}
    is_send::<Device>();
}

/// The next action of a hostile driver.
#[derive(Clone, Debug)]
enum Act {
    /// Any bytes anywhere in the send ring, the receive ring, the CQ or the records of either.
    Scribble {
        place: u8,
        at: u16,
        bytes: Vec<u8>,
    },
    /// A send WQE whose control segment is right, and any bytes after it.
    Post {
        opcode: u8,
        rest: Vec<[u8; 16]>,
    },
    /// A store to a register.
    Store {
        offset: u16,
        bytes: Vec<u8>,
    },
    Step,
}

fn act() -> impl Strategy<Value = Act> {
    let bytes = || prop::collection::vec(any::<u8>(), 1..64);
    let opcode = prop::sample::select(vec![0x00u8, 0x01, 0x08, 0x09, 0x0a, 0x0b, 0x10, 0x11, 0x12, 0x25]);
    prop_oneof![
        (any::<u8>(), any::<u16>(), bytes()).prop_map(|(place, at, bytes)| Act::Scribble { place, at, bytes }),
        (opcode, prop::collection::vec(any::<[u8; 16]>(), 0..6)).prop_map(|(opcode, rest)| Act::Post { opcode, rest }),
        (0x7f0u16..0x1010, bytes()).prop_map(|(offset, bytes)| Act::Store { offset, bytes }),
        Just(Act::Step),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_stores_leave_the_device_working(
        acts in prop::collection::vec(act(), 1..60),
        transport in prop::sample::select(vec![Transport::Rc, Transport::Uc, Transport::Ud]),
    ) {
        let mut hca = EmbeddedDevice::standalone().unwrap();
        let cq = hca.create_cq(CqOptions::new(8)).unwrap();
        let [a, b] = [(); 2].map(|()| {
            hca.create_qp(QpOptions { sq_wqebbs: 8, ..QpOptions::new(transport, cq.cqn) }).unwrap()
        });
        if transport == Transport::Ud {
            hca.activate_ud(a.qpn, 1).unwrap();
            hca.activate_ud(b.qpn, 1).unwrap();
        } else {
            // Without end to RNR retries there would be no end to the run.
            hca.connect_own(a.qpn, b.qpn, &ConnectOptions { rnr_retry: 2, ..ConnectOptions::default() }).unwrap();
        }
        let mut guard = hca.buffer(4096).unwrap();
        guard.write(0, &[0x77; 4096]);
        let rq = a.rq.unwrap();
        let places = [
            (a.sq.buf, 8 * 64),
            (rq.buf, (rq.wqe_cnt * rq.stride) as usize),
            (cq.buf, 8 * 64),
            (a.dbrec.cast(), 8),
            (cq.dbrec.cast(), 8),
        ];
        let mut sq = Sender::new(a);
        for act in acts {
            match act {
                Act::Scribble { place, at, bytes } => {
                    let (base, len) = places[usize::from(place) % places.len()];
                    let at = usize::from(at) % len;
                    put(base, at, &bytes[..bytes.len().min(len - at)]);
                }
                Act::Post { opcode, rest } => {
                    let rest: Vec<&[u8]> = rest.iter().map(<[u8; 16]>::as_slice).collect();
                    sq.post(opcode, 0, &rest);
                }
                Act::Store { offset, bytes } => hca.doorbell(a.uar, offset.into(), &bytes),
                Act::Step => drop(hca.step()),
            }
        }
        prop_assert!(hca.run_until_idle(), "the device found no end");
        // Every event is bounded by what happened: at most one per queue and kind here.
        let events = std::iter::from_fn(|| hca.next_event()).count();
        prop_assert!(events < 32, "{} events", events);
        prop_assert_eq!(guard.to_vec(0, 4096), vec![0x77; 4096]);
        // Another pair of queues works as if nothing had been.
        let cq = hca.create_cq(CqOptions::new(8)).unwrap();
        let [a, b] = [(); 2].map(|()| hca.create_qp(QpOptions::rc(cq.cqn)).unwrap());
        hca.connect_own(a.qpn, b.qpn, &ConnectOptions::default()).unwrap();
        Sender::new(a).post(0x08, 0, &[&raddr(guard.addr(), guard.rkey()), &inline(b"alive")]);
        prop_assert!(hca.run_until_idle());
        prop_assert_eq!(summary(&Poller::new(cq).expect()), (0x08, a.qpn, 0, 0));
        prop_assert_eq!(guard.to_vec(0, 6), b"alive\x77".to_vec());
    }
}

#[test]
fn nothing_is_lost_on_a_bad_network() {
    for seed in 0..4 {
        let faults = FaultConfig { drop: 50, duplicate: 50, reorder: 50, delay: 50, seed, ..FaultConfig::default() };
        let (mut x, mut y) =
            EmbeddedDevice::pair_with(|wire| Box::new(FaultInjector::new(wire, faults).unwrap())).unwrap();
        let (cq_x, cq_y) = (x.create_cq(CqOptions::new(16)).unwrap(), y.create_cq(CqOptions::new(16)).unwrap());
        let a = x.create_qp(QpOptions::rc(cq_x.cqn)).unwrap();
        let b = y.create_qp(QpOptions::rc(cq_y.cqn)).unwrap();
        let options = ConnectOptions { path_mtu: 256, ..ConnectOptions::default() };
        connect((&mut x, a.qpn), (&mut y, b.qpn), &options).unwrap();
        let (mut src, dst) = (x.buffer(3000).unwrap(), y.buffer(3000).unwrap());
        let (mut sq, mut rq) = (Sender::new(a), Receiver::new(&b));
        let (mut cq_x, mut cq_y) = (Poller::new(cq_x), Poller::new(cq_y));
        for i in 0..100u16 {
            let message = vec![i as u8; 1 + usize::from(i) * 29];
            src.write(0, &message);
            rq.post(&[data(3000, dst.lkey(), dst.addr())]);
            let index = sq.post(0x0a, 0, &[&data(message.len() as u32, src.lkey(), src.addr())]);
            assert!(run_until_idle(&mut [&mut x, &mut y]));
            assert_eq!(summary(&cq_x.expect()), (0x0a, a.qpn, index, 0x00));
            assert_eq!(summary(&cq_y.expect()), (0, b.qpn, i, 0x20));
            assert_eq!(dst.to_vec(0, message.len()), message);
        }
        assert!(cq_x.poll().is_none() && cq_y.poll().is_none(), "nothing is reported twice");
    }
}

#[test]
fn doorbells_by_record() {
    let mut config = DeviceConfig::with_port(PortConfig::infiniband(1));
    config.doorbells = DoorbellSource::Records;
    let mut hca = EmbeddedDevice::new(config, Box::new(Nowhere)).unwrap();
    let cq = hca.create_cq(CqOptions::new(8)).unwrap();
    let [a, b] = [(); 2].map(|()| hca.create_qp(QpOptions::rc(cq.cqn)).unwrap());
    hca.connect_own(a.qpn, b.qpn, &ConnectOptions::default()).unwrap();
    let (mut sq, mut cq) = (Sender::new(a), Poller::new(cq));
    // The first arm's value is 0, as the record was before the queue was created. No register is written.
    put(cq.parts.dbrec.cast(), 4, &[0; 4]);
    sq.place(0x00, 0x08, 0, &[]);
    put(a.dbrec.cast(), 4, &u32::from(sq.pi).to_be_bytes());
    assert!(hca.run_until_idle());
    assert_eq!(summary(&cq.expect()), (0x00, a.qpn, 0, 0));
    assert_eq!(hca.next_event(), Some(Event::Completion { cqn: cq.parts.cqn }));
    assert_eq!(hca.complaints(), []);
}

#[test]
fn an_overrun_cq_takes_no_more() {
    let mut hca = EmbeddedDevice::standalone().unwrap();
    let cq = hca.create_cq(CqOptions::new(2)).unwrap();
    let [a, b] = [(); 2].map(|()| hca.create_qp(QpOptions::rc(cq.cqn)).unwrap());
    hca.connect_own(a.qpn, b.qpn, &ConnectOptions::default()).unwrap();
    let mut sq = Sender::new(a);
    for _ in 0..3 {
        sq.post(0x00, 0, &[]);
    }
    assert!(hca.run_until_idle());
    let mut cq = Poller::new(cq);
    let indices = [summary(&cq.expect()).2, summary(&cq.expect()).2];
    assert_eq!(indices, [0, 1]);
    assert!(cq.poll().is_none());
    assert_eq!(hca.next_event(), Some(Event::CqError { cqn: cq.parts.cqn, fault: CqFault::Overrun }));
}
