//! Doorbells: what a store to a UAR page means, and the checks of it.

use crate::complaint::Complaint;
use crate::config::DoorbellSource;
use crate::context::{QpState, SqContext};
use crate::device::Device;
use crate::uar::{
    BLUEFLAME_HALF_BYTES, BLUEFLAME_OFFSET, CQ_DOORBELL, DOORBELL_BYTES, POISON, UAR_PAGE_BYTES, blueflame_halves,
};
use crate::wqe::{WQEBB_BYTES, copy_from_ring, may_differ};
use std::time::Duration;

/// How long the event of a CQ that was armed when it already held CQEs takes: longer than a program, on busy cores, needs
/// from arming to polling.
const LATE_ARM: Duration = Duration::from_millis(5);

/// The WQE of which a half is being given a BlueFlame copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copying {
    qpn: u32,
    index: u16,
    /// Bytes of the WQE, by the size in its control segment.
    bytes: usize,
}

/// What the device needs of a QP to judge a doorbell.
struct Target {
    sq: SqContext,
    dbr: u64,
    uar: u32,
    state: QpState,
}

impl Device {
    /// What reached a register: `stored` in memory order, at byte `offset` of UAR page `uar`.
    ///
    /// A BlueFlame copy may come whole or in pieces of ascending offset; its first eight bytes ring the doorbell, and
    /// all that belong to the WQE are compared with the ring. A copy that comes whole is what is executed, whatever the
    /// ring holds.
    pub fn doorbell(&mut self, uar: u32, offset: usize, stored: &[u8]) {
        let in_half = offset % BLUEFLAME_HALF_BYTES;
        let end = offset.saturating_add(stored.len());
        if offset == CQ_DOORBELL && stored.len() == DOORBELL_BYTES {
            self.ring_cq(uar, stored);
        } else if offset < BLUEFLAME_OFFSET
            || end > UAR_PAGE_BYTES
            || in_half + stored.len() > BLUEFLAME_HALF_BYTES
            || (in_half == 0 && stored.len() < DOORBELL_BYTES)
        {
            self.complain(Complaint::NotADoorbell { uar, offset, len: stored.len() });
        } else if in_half == 0 {
            self.copying.remove(&(uar, offset));
            if let Some(copying) = self.ring_sq(uar, offset, stored) {
                let whole = stored.get(..copying.bytes).filter(|wqe| wqe.len() > DOORBELL_BYTES);
                if let (Some(wqe), Some(entry)) = (whole, self.qps.get_mut(copying.qpn)) {
                    entry.qp.pushed(copying.index, wqe);
                }
                self.copying.insert((uar, offset), copying);
                self.compare_copy(copying, 0, stored);
            }
        } else if let Some(&copying) = self.copying.get(&(uar, offset - in_half)) {
            self.compare_copy(copying, in_half, stored);
        } else {
            self.complain(Complaint::NotADoorbell { uar, offset, len: stored.len() });
        }
    }

    /// Takes doorbells from where the configuration says they come from. True if there was one.
    pub(crate) fn scan_doorbells(&mut self) -> bool {
        match self.config().doorbells {
            DoorbellSource::Registers => self.scan_registers(),
            DoorbellSource::Records => {
                // What was found shows in the work that follows.
                self.scan_records();
                false
            }
            DoorbellSource::Calls => false,
        }
    }

    /// Looks at every register of every page.
    fn scan_registers(&mut self) -> bool {
        let mut rung = Vec::new();
        for (index, uar) in self.uars.iter() {
            if let Some(bytes) = uar.doorbell(CQ_DOORBELL) {
                uar.poison(CQ_DOORBELL, DOORBELL_BYTES);
                rung.push((index, CQ_DOORBELL, bytes.to_vec()));
            }
            for half in blueflame_halves() {
                if uar.doorbell(half).is_none() {
                    continue;
                }
                let mut bytes = vec![0; BLUEFLAME_HALF_BYTES];
                uar.read(half, &mut bytes);
                uar.poison(half, BLUEFLAME_HALF_BYTES);
                rung.push((index, half, trim(bytes)));
            }
        }
        for (uar, offset, bytes) in &rung {
            self.doorbell(*uar, *offset, bytes);
        }
        !rung.is_empty()
    }

    /// Looks at every send doorbell record and arm word.
    fn scan_records(&mut self) {
        for (_, entry) in self.qps.iter_mut().filter(|(_, e)| e.context.sq.is_some()) {
            // A record that cannot be read is no doorbell. One that has not changed is none, either; the QP knows.
            if let Ok(word) = self.resources.memory.load_be32(entry.context.dbr.wrapping_add(4)) {
                entry.qp.send_doorbell((word & 0xffff) as u16);
            }
        }
        let mut bad = Vec::new();
        let due = self.arm_due();
        for (cqn, cq) in self.resources.cqs.iter_mut() {
            if let Err(word) = cq.poll_arm_word(&*self.resources.memory, due) {
                bad.push(Complaint::BadArmWord { cqn, word });
            }
        }
        bad.into_iter().for_each(|c| self.complain(c));
    }

    /// When an arming that arrives now raises the event for CQEs that are there already. Callers that step the device
    /// (those of a sink do, too) see it in the same step; hosts on threads of their own get the time to poll after they
    /// have armed.
    fn arm_due(&self) -> Duration {
        match self.config().doorbells {
            DoorbellSource::Registers => self.resources.now,
            DoorbellSource::Records if self.config().sink => self.resources.now,
            DoorbellSource::Records | DoorbellSource::Calls => self.resources.now + LATE_ARM,
        }
    }

    /// An arm doorbell.
    fn ring_cq(&mut self, uar: u32, stored: &[u8]) {
        let word = u32::from_be_bytes([stored[0], stored[1], stored[2], stored[3]]);
        let cqn = u32::from_be_bytes([stored[4], stored[5], stored[6], stored[7]]);
        let due = self.arm_due();
        let Some(cq) = self.resources.cqs.get_mut(cqn) else {
            return self.complain(Complaint::NoSuchCq { uar, cqn });
        };
        let expected = cq.context().uar;
        let record = self.resources.memory.load_be32(cq.context().dbr.wrapping_add(4));
        if let Err(word) = cq.arm(word, due) {
            self.complain(Complaint::BadArmWord { cqn, word });
        }
        if expected != uar {
            self.complain(Complaint::WrongUar { uar, number: cqn, expected });
        }
        match record {
            Ok(record) if !arm_is_behind(record, word) => {}
            Ok(record) => self.complain(Complaint::ArmMismatch { cqn, word, record }),
            Err(fault) => self.complain(Complaint::Unreachable { number: cqn, fault }),
        }
    }

    /// A send doorbell at the start of a half: the first eight bytes of the last WQE posted. The producer index is in
    /// the doorbell record. Gives the WQE whose BlueFlame copy may follow.
    fn ring_sq(&mut self, uar: u32, offset: usize, stored: &[u8]) -> Option<Copying> {
        let index = u16::from_be_bytes([stored[1], stored[2]]);
        let qpn_ds = u32::from_be_bytes([stored[4], stored[5], stored[6], stored[7]]);
        let (qpn, ds) = (qpn_ds >> 8, (qpn_ds & 0xff) as u16);
        let target = match self.target(qpn) {
            Ok(target) => target,
            Err(complaint) => {
                self.complain(complaint.unwrap_or(Complaint::NoSuchQp { uar, qpn }));
                return None;
            }
        };
        if target.uar != uar {
            self.complain(Complaint::WrongUar { uar, number: qpn, expected: target.uar });
        }
        if matches!(target.state, QpState::Reset | QpState::Init | QpState::Rtr) {
            self.complain(Complaint::NotReadyToSend { qpn, state: target.state });
        }
        // Whoever scans registers does not see in which order they were stored to.
        let in_order = self.config().doorbells == DoorbellSource::Calls;
        if in_order && self.uars.get_mut(uar).is_some_and(|uar| uar.repeats_half(offset)) {
            self.complain(Complaint::SameHalf { uar, qpn, offset });
        }
        let record = match self.resources.memory.load_be32(target.dbr.wrapping_add(4)) {
            Ok(word) => (word & 0xffff) as u16,
            Err(fault) => {
                self.complain(Complaint::Unreachable { number: qpn, fault });
                return None;
            }
        };
        // The driver may have gone on since it rang, so the record may be ahead of the register, never behind it.
        let end = index.wrapping_add(ds.div_ceil(4));
        if u32::from(record.wrapping_sub(end)) >= 1 << target.sq.log_size {
            self.complain(Complaint::RecordMismatch { qpn, end, record });
        }
        if let Some(entry) = self.qps.get_mut(qpn) {
            entry.qp.send_doorbell(record);
        }
        Some(Copying { qpn, index, bytes: usize::from(ds) * 16 })
    }

    fn target(&self, qpn: u32) -> Result<Target, Option<Complaint>> {
        let entry = self.qps.get(qpn).ok_or(None)?;
        let context = &entry.context;
        let sq = context.sq.ok_or(Some(Complaint::NoSendQueue(qpn)))?;
        Ok(Target { sq, dbr: context.dbr, uar: context.uar, state: entry.qp.state() })
    }

    /// Compares a piece of a BlueFlame copy, from byte `at` of the WQE on, with the ring.
    fn compare_copy(&mut self, copying: Copying, at: usize, stored: &[u8]) {
        let Copying { qpn, index, bytes } = copying;
        // Behind the WQE's end a copy of whole 64-byte blocks holds what the driver likes.
        let stored = &stored[..stored.len().min(bytes.saturating_sub(at))];
        let Ok(target) = self.target(qpn) else { return };
        let mut control = [0; DOORBELL_BYTES];
        let mut ring = [0; BLUEFLAME_HALF_BYTES];
        let ring = &mut ring[..stored.len()];
        let memory = &*self.resources.memory;
        let read = copy_from_ring(&target.sq, index, 0, &mut control, memory)
            .and_then(|()| copy_from_ring(&target.sq, index, at, ring, memory));
        if let Err(fault) = read {
            return self.complain(Complaint::Unreachable { number: qpn, fault });
        }
        // The WQE may have completed and its place been used again before the copy got here: nothing to compare with.
        // A driver that never put it into the ring is found out when the WQE is fetched.
        if u16::from_be_bytes([control[1], control[2]]) != index {
            return;
        }
        let differs = |i: usize| ring[i] != stored[i] && !may_differ(control, at + i, ring[i], stored[i]);
        if let Some(i) = (0..ring.len()).find(|&i| differs(i)) {
            let complaint = Complaint::CopyDiffers { qpn, index, at: at + i, copied: stored[i], ring: ring[i] };
            self.complain(complaint);
        }
    }

    /// What was found wrong since the last call.
    pub fn complaints(&mut self) -> Vec<Complaint> {
        self.resources.complaints.take()
    }

    fn complain(&mut self, complaint: Complaint) {
        self.resources.complaints.add(complaint);
    }
}

/// Whether an arm word in the record is older than the one in the register: by its consumer index (24 bits), then by its
/// sequence number (bits 29:28). It may be newer, since the driver may have armed again meanwhile.
fn arm_is_behind(record: u32, word: u32) -> bool {
    match record.wrapping_sub(word) & 0x00ff_ffff {
        0 => (word >> 28).wrapping_sub(record >> 28) & 3 == 1,
        ahead => ahead >= 1 << 23,
    }
}

/// Cuts the poison off a half: what is left is the eight bytes of a doorbell or whole WQEBBs.
fn trim(mut bytes: Vec<u8>) -> Vec<u8> {
    let used = bytes.iter().rposition(|&b| b != POISON).map_or(0, |i| i + 1);
    let len = if used <= DOORBELL_BYTES { DOORBELL_BYTES } else { used.next_multiple_of(WQEBB_BYTES) };
    bytes.truncate(len);
    bytes
}
