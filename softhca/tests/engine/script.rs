//! Chaos by script: each kind of row, by a virtual clock.
//!
//! Scripts belong here, failures that traffic itself causes in `failures.rs`.

use crate::lab::*;
use softhca::context::{CrossChannel, QpState, Transport};
use softhca::event::Event;
use softhca::faults::Faults;
use softhca::script::{BadNetwork, EventFate, EventFault, EventKind, Flap, Script, Window, WqeFault};
use softhca::wire::{Frame, Macs, Route, Wire};
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn window(from: u64, to: u64) -> Window {
    Window { from: millis(from), to: Some(millis(to)) }
}

fn happened(node: &mut Node) -> Vec<String> {
    node.device.happenings().into_iter().map(|happening| happening.what).collect()
}

/// The lab's clock begins at a second, and the script with it.
fn lab(options: Options, script: Script) -> Lab {
    let mut lab = Lab::new(options);
    lab.a.device.set_script(script);
    lab
}

#[test]
fn the_nth_wqe_of_a_queue_ends_as_the_script_says() {
    let fault = WqeFault { queue: Some(1), nth: 3, syndrome: 0x15, vendor: 0x81 };
    let mut lab = lab(Options::default(), Script { wqes: vec![fault], ..Script::default() });
    for nth in 0..5 {
        lab.a.post(&Wr::write(lab.b.data + 64 * nth, lab.b.key).sge(lab.a.data, 8, lab.a.key));
    }
    lab.settle();
    let done = lab.a.poll_send();
    let ends: Vec<_> = done.iter().map(|cqe| (cqe.wqe_counter, cqe.opcode == REQ, cqe.syndrome, cqe.vendor)).collect();
    assert_eq!(ends[..2], [(0, true, 0, 0), (1, true, 0, 0)]);
    assert_eq!(ends[2], (2, false, 0x15, 0x81));
    assert!(ends[3..].iter().all(|end| end.2 == 0x05), "the rest is flushed: {ends:?}");
    assert_eq!((done.len(), lab.a.state()), (5, QpState::Err));
    let text = happened(&mut lab.a);
    assert_eq!(text.len(), 1);
    assert!(
        text[0].contains("queue pair 1 (0x100): WQE 3 (index 0x2) completes with syndrome 0x15, vendor syndrome 0x81")
    );
    assert_eq!(happened(&mut lab.a), [""; 0], "told once");
}

#[test]
fn other_queues_and_other_numbers_go_on() {
    let fault = WqeFault { queue: Some(2), nth: 1, syndrome: 0x04, vendor: 0 };
    let mut lab = lab(Options::default(), Script { wqes: vec![fault], ..Script::default() });
    lab.a.post(&Wr::write(lab.b.data, lab.b.key).sge(lab.a.data, 8, lab.a.key));
    lab.settle();
    assert_eq!((lab.a.poll_send()[0].opcode, happened(&mut lab.a).len()), (REQ, 0));
    // A second queue pair begins to send.
    let peer = lab.b.identity();
    lab.a.beside(CrossChannel::default(), peer);
    lab.a.post(&Wr::write(lab.b.data, lab.b.key).sge(lab.a.data, 8, lab.a.key));
    lab.settle();
    assert_eq!(lab.a.poll_send()[0].syndrome, 0x04);
}

#[test]
fn nothing_is_written_by_a_wqe_that_fails() {
    let fault = WqeFault { queue: None, nth: 1, syndrome: 0x13, vendor: 0x88 };
    let mut lab = lab(
        Options { transport: Transport::Uc, ..Options::default() },
        Script { wqes: vec![fault], ..Script::default() },
    );
    let bytes = lab.a.fill(0, 64, 3);
    lab.a.post(&Wr::write(lab.b.data, lab.b.key).sge(lab.a.data, 64, lab.a.key));
    lab.settle();
    assert_eq!((lab.a.poll_send()[0].vendor, lab.a.state()), (0x88, QpState::Sqe));
    assert_ne!(lab.b.memory.read(lab.b.data, 64), bytes);
}

/// Events of port 1 that a device with this script raises when its cable is pulled at 1 ms and plugged in at 2 ms: the
/// times in milliseconds.
fn port_events(events: Vec<EventFault>) -> Vec<(u64, bool)> {
    let ports = vec![Flap { port: 1, window: window(1, 2) }];
    // Its own clock, from 0.
    let mut device = lab(Options::default(), Script { events, ports, ..Script::default() }).a.device;
    let mut found = Vec::new();
    for now in 0..20 {
        device.step(millis(now));
        while let Some(event) = device.next_event() {
            if let Event::Port { port: 1, up } = event {
                found.push((now, up));
            }
        }
    }
    found
}

#[test]
fn a_port_flaps_and_its_events_come_late_twice_or_never() {
    assert_eq!(port_events(vec![]), [(1, false), (2, true)]);
    let row = |kind, nth, fate| EventFault { kind, nth, fate };
    assert_eq!(port_events(vec![row(EventKind::PortError, None, EventFate::Never)]), [(2, true)]);
    let twice = row(EventKind::PortActive, Some(1), EventFate::Twice);
    assert_eq!(port_events(vec![twice]), [(1, false), (2, true), (2, true)]);
    let late = row(EventKind::PortError, Some(1), EventFate::Late(millis(10)));
    assert_eq!(port_events(vec![late]), [(2, true), (11, false)]);
    let second = row(EventKind::PortError, Some(2), EventFate::Never);
    assert_eq!(port_events(vec![second]), [(1, false), (2, true)], "there is no second one");
}

#[test]
fn receivers_that_are_not_ready_are_so_for_a_time() {
    let mut lab = Lab::new(Options { rnr_retry: 7, ..Options::default() });
    lab.b.device.set_script(Script { not_ready: vec![window(0, 100)], ..Script::default() });
    lab.b.post_recv(&[(lab.b.data, 64)]);
    lab.a.post(&Wr::send().sge(lab.a.data, 64, lab.a.key));
    lab.run();
    lab.advance(millis(50));
    assert_eq!((lab.a.poll_send().len(), lab.b.poll_recv().len()), (0, 0), "no receiver is ready");
    lab.settle();
    assert!(lab.now >= millis(1100), "{:?}", lab.now);
    assert_eq!((lab.a.poll_send()[0].opcode, lab.b.poll_recv().len()), (REQ, 1));
    assert_eq!(happened(&mut lab.b), ["receivers are not ready"]);
}

/// A message that has begun has its receive, and UC has no RNR NAK.
#[test]
fn only_a_message_that_begins_waits_for_a_receiver() {
    let options = Options { mtu: 256, rnr_retry: 7, ..Options::default() };
    let mut lab = Lab::new(options.clone());
    lab.b.device.set_script(Script { not_ready: vec![window(10, 1000)], ..Script::default() });
    lab.b.post_recv(&[(lab.b.data, 1000)]);
    lab.a.script(|packet| if packet.headers.bth.psn == 0x123 { Fate::Deliver } else { Fate::Drop });
    lab.a.post(&Wr::send().sge(lab.a.data, 1000, lab.a.key));
    lab.run();
    lab.a.script(|_| Fate::Deliver);
    lab.advance(millis(50));
    assert_eq!((lab.a.poll_send().len(), lab.b.poll_recv().len()), (1, 1));

    let mut lab = Lab::new(Options { transport: Transport::Uc, ..options });
    lab.b.device.set_script(Script { not_ready: vec![window(0, 1000)], ..Script::default() });
    lab.b.post_recv(&[(lab.b.data, 1000)]);
    lab.a.post(&Wr::send().sge(lab.a.data, 1000, lab.a.key));
    lab.run();
    assert_eq!((lab.a.poll_send().len(), lab.b.poll_recv().len()), (1, 1));
}

#[test]
fn a_stalled_device_goes_on_and_a_failed_one_does_not() {
    let script = Script { stalls: vec![window(0, 10)], fails: Some(millis(1000)), ..Script::default() };
    let mut lab = lab(Options::default(), script);
    lab.a.post(&Wr::write(lab.b.data, lab.b.key).sge(lab.a.data, 8, lab.a.key));
    lab.run();
    assert_eq!(lab.a.poll_send().len(), 0);
    assert_eq!(lab.a.device.next_deadline(), Some(millis(1010)));
    lab.advance(millis(10));
    assert_eq!(lab.a.poll_send().len(), 1);
    lab.advance(millis(990));
    assert!(lab.a.device.has_failed());
    assert_eq!(happened(&mut lab.a), ["the device does nothing", "the device goes on", "the device fails"]);
}

/// Else a front end that waits for the deadline would not sleep.
#[test]
fn timers_wait_for_a_stalled_device_and_end_with_a_failed_one() {
    let script = Script { stalls: vec![window(10, 10_000)], fails: Some(millis(20_000)), ..Script::default() };
    let mut lab = lab(Options::default(), script);
    lab.b.device.fail();
    lab.a.post(&Wr::write(lab.b.data, lab.b.key).sge(lab.a.data, 8, lab.a.key));
    lab.run();
    let timer = lab.a.device.next_deadline().expect("a timer of the request");
    assert!(timer > lab.now, "{timer:?}");
    lab.advance(millis(10));
    assert_eq!(lab.a.device.next_deadline(), Some(millis(11_000)), "the end of the stall");
    lab.advance(millis(9990));
    assert!(lab.a.device.next_deadline().expect("the timer again") < millis(21_000));
    lab.a.device.fail();
    assert_eq!(lab.a.device.next_deadline(), Some(millis(21_000)), "the script's");
    lab.advance(millis(10_000));
    assert_eq!(lab.a.device.next_deadline(), None);
}

/// The bytes of the packets and frames that have left, in order.
#[derive(Clone, Default)]
struct Cable(Arc<Mutex<Vec<u8>>>);

impl Wire for Cable {
    fn send(&mut self, frame: Frame) -> Result<(), Frame> {
        self.0.lock().unwrap().push(frame.packet[0]);
        Ok(())
    }

    fn recv(&mut self) -> Option<Frame> {
        None
    }
}

#[test]
fn a_network_is_bad_for_a_time() {
    let faults = |text: &str| text.parse::<Faults>().unwrap();
    let script = Script {
        network: vec![
            BadNetwork { window: window(10, 20), faults: faults("drop=1000") },
            BadNetwork { window: window(20, 30), faults: faults("latency=5000") },
        ],
        ..Script::default()
    };
    let cable = Cable::default();
    let mut wire = script.wire(Box::new(cable.clone()), &Faults::default()).unwrap();
    let mut left = Vec::new();
    for now in 0..40 {
        wire.advance(millis(now));
        let route = Route { slid: 1, dlid: 2, sl: 0, grh: None, macs: Macs::default() };
        wire.send(Frame::new(route, vec![now as u8; 16])).unwrap();
        wire.advance(millis(now));
        left.extend(cable.0.lock().unwrap().drain(..).map(|packet| (packet, now)));
    }
    let at = |sent: u8| left.iter().find(|(packet, _)| *packet == sent).map(|(_, now)| *now);
    assert_eq!([at(5), at(9), at(10), at(19), at(22), at(35)], [Some(5), Some(9), None, None, Some(27), Some(35)]);
}

#[test]
fn the_latest_times_of_all_never_come() {
    let ports = vec![Flap { port: 1, window: window(1, 2) }];
    let late = EventFault { kind: EventKind::PortError, nth: None, fate: EventFate::Late(Duration::MAX) };
    let script = Script { events: vec![late], ports, fails: Some(Duration::MAX), ..Script::default() };
    let mut device = lab(Options::default(), script).a.device;
    // The script begins at a second.
    for now in 1000..1020 {
        device.step(millis(now));
    }
    let found: Vec<_> = std::iter::from_fn(|| device.next_event()).collect();
    assert_eq!(found, [Event::Port { port: 1, up: true }]);
    assert_eq!((device.next_deadline(), device.has_failed()), (Some(Duration::MAX), false));
}
