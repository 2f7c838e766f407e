//! Ethernet frames: one queue that sends them, and one rule that receives them.

use std::thread;
use std::time::Instant;

use blueflame::cq::mode::Standard;
use blueflame::flow::Flow;
use blueflame::verbs::{Path, ProtectionDomain};
use common::burst::{FrameSender, Layout};
use common::frames::Frames;
use common::{Failure, Role};

use super::meeting::Meeting;
use super::plan::{Figure, Plan};
use super::recorder::{Patience, Recorder};
use super::stream::{Job, PATIENCE, Signs, Silence};

/// The EtherTypes that IEEE 802 leaves to experiments: of frames to the server, and of those to the client.
const EXPERIMENTS: [u16; 2] = [0x88b5, 0x88b6];

/// Both directions of frames.
pub(super) struct FrameLane {
    sender: FrameSender,
    frames: Frames<Standard>,
    frame: Vec<u8>,
}

impl FrameLane {
    /// Makes the queues for frames of a size, and tells the peer the address of this end.
    ///
    /// # Errors
    /// A port without an interface, a process without `CAP_NET_RAW`, or a failed call.
    pub(super) fn new(
        pd: &ProtectionDomain,
        path: &Path,
        plan: &Plan,
        size: usize,
        (role, meeting): (Role, &mut Meeting),
    ) -> Result<Self, Failure> {
        let device = pd.device();
        let interface = device.interface(&path.port)?.ok_or("the port has no network interface")?;
        let mine = interface.mac()?;
        let theirs: [u8; 6] = meeting.swap_line(&mine)?;
        let [to_me, to_peer] = match role {
            Role::Server => EXPERIMENTS,
            Role::Client => [EXPERIMENTS[1], EXPERIMENTS[0]],
        };
        let mut frame = vec![0; size];
        frame[..6].copy_from_slice(&theirs);
        frame[6..12].copy_from_slice(&mine);
        frame[12..14].copy_from_slice(&to_peer.to_be_bytes());
        let layout = Layout { session: 0, gather: size > plan.inline };
        let sender = FrameSender::new(pd, path.port.number, layout, &frame)?;
        let cq = device.completion_queue(plan.rx_depth).build()?;
        let flow = Flow::mac(mine).ether_type(to_me);
        let frames = Frames::new(pd, cq, (plan.rx_depth, false), &flow, 0)?;
        Ok(Self { sender, frames, frame })
    }

    /// Runs this end.
    ///
    /// # Errors
    /// A completion with an error, or silence.
    pub(super) fn run(&mut self, job: &Job, recorder: &mut Recorder<'_>, signs: &Signs) -> Result<(), Failure> {
        match (job.plan.figure, job.begins) {
            (Figure::Lat, true) => self.begin(job, recorder, signs),
            (Figure::Lat, false) => self.answer(recorder, signs),
            (_, true) => self.send(job, recorder, signs),
            (_, false) => self.receive(recorder, signs),
        }
    }

    fn begin(&mut self, job: &Job, recorder: &mut Recorder<'_>, signs: &Signs) -> Result<(), Failure> {
        let deadline = job.deadline(recorder.begin());
        let pace = job.pace(recorder.begin());
        for number in 1_u64.. {
            let intended = pace.map(|pace| pace.at(number - 1));
            while intended.is_some_and(|intended| Instant::now() < intended) {
                thread::yield_now();
            }
            let posted = Instant::now();
            if job.total().is_some_and(|total| number > total) || deadline.is_some_and(|deadline| posted >= deadline) {
                break;
            }
            self.say()?;
            let patience = Patience::new(PATIENCE);
            while self.frames.poll(|_, _| {})? == 0 {
                if signs.peer_is_done() {
                    return Ok(());
                }
                patience.check()?;
                thread::yield_now();
            }
            recorder.sent(number, 0, intended, posted, Instant::now());
        }
        self.sender.drain()
    }

    fn answer(&mut self, recorder: &mut Recorder<'_>, signs: &Signs) -> Result<(), Failure> {
        let mut number = 0;
        while !signs.peer_is_done() {
            let count = self.frames.poll(|_, _| {})? as u64;
            for _ in 0..count {
                number += 1;
                self.say()?;
                recorder.received(number, 1, Instant::now());
            }
            if count == 0 {
                thread::yield_now();
            }
        }
        self.sender.drain()
    }

    fn say(&mut self) -> Result<(), Failure> {
        self.sender.wait(1)?;
        self.sender.send(&[&self.frame]).map(drop)
    }

    fn send(&mut self, job: &Job, recorder: &mut Recorder<'_>, signs: &Signs) -> Result<(), Failure> {
        let deadline = job.deadline(recorder.begin());
        let pace = job.pace(recorder.begin());
        let list = vec![self.frame.as_slice(); job.plan.post_list as usize];
        let (total, mut sent) = (job.total().unwrap_or(u64::MAX), 0);
        while sent < total {
            let now = Instant::now();
            if deadline.is_some_and(|deadline| now >= deadline) {
                break;
            }
            let due = pace.map_or(u64::MAX, |pace| pace.due(now).saturating_sub(sent));
            let count = (list.len() as u64).min(total - sent).min(due);
            if count == 0 {
                thread::yield_now();
                continue;
            }
            self.sender.wait(count)?;
            let sender = &mut self.sender;
            recorder.record.effort.of(|| sender.send(&list[..count as usize]))?;
            sent += count;
            recorder.count_sent(sent, count - 1, now, Instant::now());
        }
        self.sender.drain()?;
        signs.sent.fetch_add(1, std::sync::atomic::Ordering::Release);
        Ok(())
    }

    fn receive(&mut self, recorder: &mut Recorder<'_>, signs: &Signs) -> Result<(), Failure> {
        let (mut number, mut silence) = (0, Silence::new());
        loop {
            let count = self.frames.poll(|_, _| {})? as u64;
            let now = Instant::now();
            if silence.is_long(signs.peer_is_done(), count > 0, now) {
                return Ok(());
            }
            if count > 0 {
                number += count;
                recorder.received(number, count, now);
            } else {
                thread::yield_now();
            }
        }
    }
}
