//! Doorbells: the effect of a store to a UAR page on the queues, and checks that the driver followed the PRM's rules.

use super::copy::BlueFlameCopy;
use super::page::{
    BLUEFLAME_HALF_BYTES, BLUEFLAME_OFFSET, CQ_DOORBELL, DOORBELL_BYTES, EQ_ARM_DOORBELL, EQ_DOORBELL, POISON,
    RECORDLESS_DOORBELL, UAR_PAGE_BYTES, Uar, blueflame_halves,
};
use super::records::Records;
use crate::busy_table::BusyTable;
use crate::complaint::Complaint;
use crate::config::DoorbellSource;
use crate::context::{CqContext, QpContext, QpState, SqContext, Transport};
use crate::error::{Error, Object};
use crate::memory::HostMemory;
use crate::qp::Qp;
use crate::resources::Resources;
use crate::table::Table;
use crate::wqe::WQEBB_BYTES;
use std::collections::BTreeMap;

/// Units of 16 bytes in a WQEBB.
const DS_OF_WQEBB: u16 = (WQEBB_BYTES / 16) as u16;
/// Records in doubt that a step looks at on each UAR page: so few that they cost no more than the rest of the step.
const RECORDS_PER_STEP: usize = 32;

/// The UAR pages of a device, and the way it learns of stores to them.
pub(crate) struct Doorbells {
    /// Pages by index.
    pub(crate) pages: Table<Uar>,
    source: DoorbellSource,
    /// No CPU combines stores to the pages.
    is_trapped: bool,
    /// Copies that have begun, by UAR page and offset of the half.
    copies: BTreeMap<(u32, usize), BlueFlameCopy>,
    /// Pages are mapped without write combining.
    pub(crate) non_cached: bool,
    /// Producer indices of send queues, and arm words of CQs, where doorbells come from there.
    sends: Records,
    arms: Records,
    /// How many send queues without a doorbell record ring on a UAR page. Their doorbell alone tells the index. A NIC
    /// sees each store. A device that looks at memory sees the latest one, which also tells of the queue's earlier
    /// WQEs, but not of those of another queue. So it permits one such queue on a page.
    recordless: BTreeMap<u32, u32>,
}

/// The facts of a QP that decide whether a send doorbell is right.
struct Target {
    sq: SqContext,
    dbr: u64,
    uar: u32,
    state: QpState,
    /// WQEBB index of the WQE that is fetched next.
    next_wqe: u16,
    /// A send queue of frames that starts other queues.
    is_master_of_frames: bool,
}

impl Doorbells {
    /// No pages yet, and `limit` of them at most.
    pub(crate) fn new(source: DoorbellSource, limit: u32) -> Self {
        Self {
            pages: Table::new(Object::Uar, 1, limit),
            source,
            is_trapped: false,
            copies: BTreeMap::new(),
            non_cached: false,
            sends: Records::default(),
            arms: Records::default(),
            recordless: BTreeMap::new(),
        }
    }

    /// Has the next pages be `count` from index `first` on: where a front end has room for registers. It sees each
    /// store to them by itself, so nothing is lost if halves do not take turns.
    pub(crate) fn place(&mut self, first: u32, count: u32) {
        self.pages = Table::new(Object::Uar, first, count);
        self.is_trapped = true;
    }

    /// Forgets all pages and the stores to them.
    pub(crate) fn clear(&mut self) {
        self.pages.clear();
        self.copies.clear();
        self.sends.clear();
        self.arms.clear();
        self.recordless.clear();
    }

    /// Takes a page back from its owner, to be freed with the last queue that uses it.
    pub(crate) fn give_back(&mut self, index: u32) -> Result<(), Error> {
        self.check_queue(index)?;
        self.pages.find_mut(index)?.is_given_back = true;
        self.free_given_back(index);
        Ok(())
    }

    /// Frees a page that was given back, if the queue that has just gone was the last.
    pub(crate) fn free_given_back(&mut self, index: u32) {
        if self.pages.get(index).is_some_and(|page| page.is_given_back && page.users == 0) {
            self.pages.remove(index);
            self.copies.retain(|&(uar, _), _| uar != index);
        }
    }

    /// Refuses a queue on a page that is not there, or was given back.
    pub(crate) fn check_queue(&self, index: u32) -> Result<(), Error> {
        let missing = Error::NoSuch { object: Object::Uar, number: index };
        self.pages.get(index).filter(|page| !page.is_given_back).map(drop).ok_or(missing)
    }

    /// Refuses a second send queue without a doorbell record on a page in which the device looks for doorbells.
    pub(crate) fn check_recordless(&self, context: &QpContext) -> Result<(), Error> {
        let users = self.recordless.get(&context.uar).copied().unwrap_or(0);
        let is_seen_by_store = self.source == DoorbellSource::Calls;
        if !context.is_recordless() || is_seen_by_store || users == 0 {
            return Ok(());
        }
        Err(Error::Busy { object: Object::Uar, number: context.uar, users })
    }

    /// Takes a store to a register: see [`crate::device::Device::doorbell`].
    pub(crate) fn ring(
        &mut self,
        qps: &mut BusyTable<Qp>,
        resources: &mut Resources,
        uar: u32,
        offset: usize,
        stored: &[u8],
    ) {
        let in_half = offset % BLUEFLAME_HALF_BYTES;
        let end = offset.saturating_add(stored.len());
        if offset == CQ_DOORBELL && stored.len() == DOORBELL_BYTES {
            self.ring_cq(resources, uar, stored);
        } else if let (RECORDLESS_DOORBELL, &[_, high, low, _, q2, q1, q0, ds]) = (offset, stored) {
            let (index, qpn) = (u16::from_be_bytes([high, low]), u32::from_be_bytes([0, q2, q1, q0]));
            let end = index.wrapping_add(u16::from(ds).div_ceil(DS_OF_WQEBB));
            ring_recordless(qps, resources, uar, qpn, end);
        } else if let (EQ_ARM_DOORBELL | EQ_DOORBELL, &[a, b, c, d]) = (offset, stored) {
            let Resources { eqs, memory, complaints, .. } = resources;
            eqs.ring(uar, u32::from_be_bytes([a, b, c, d]), offset == EQ_ARM_DOORBELL, &**memory, complaints);
        } else if offset < BLUEFLAME_OFFSET
            || end > UAR_PAGE_BYTES
            || in_half + stored.len() > BLUEFLAME_HALF_BYTES
            || (in_half == 0 && stored.len() < DOORBELL_BYTES)
        {
            resources.complaints.add(Complaint::NotADoorbell { uar, offset, len: stored.len() });
        } else if in_half == 0 {
            self.copies.remove(&(uar, offset));
            if let Some(copy) = self.ring_sq(qps, resources, uar, offset, stored) {
                if let (Some(wqe), Some(qp)) = (copy.whole(stored), qps.get_mut(copy.qpn)) {
                    qp.pushed(copy.index, wqe);
                }
                self.copies.insert((uar, offset), copy);
                compare(qps, resources, copy, 0, stored);
            }
        } else if let Some(&copy) = self.copies.get(&(uar, offset - in_half)) {
            compare(qps, resources, copy, in_half, stored);
        } else {
            resources.complaints.add(Complaint::NotADoorbell { uar, offset, len: stored.len() });
        }
    }

    /// Takes doorbells from where the configuration says they come from. True if there was one, or if there may be
    /// more. Doorbells found in records show in the work that follows.
    pub(crate) fn scan(&mut self, qps: &mut BusyTable<Qp>, resources: &mut Resources) -> bool {
        if self.source != DoorbellSource::Calls {
            self.scan_recordless(qps, resources);
        }
        match self.source {
            DoorbellSource::Registers => self.scan_registers(qps, resources),
            DoorbellSource::Records => {
                self.scan_sends(qps, resources);
                self.scan_arms(resources);
                false
            }
            DoorbellSource::RungRecords => {
                self.scan_rung_arms(resources);
                self.scan_rung_sends(RECORDS_PER_STEP, qps, resources)
            }
            DoorbellSource::Calls => false,
        }
    }

    /// Looks at every register of every page.
    fn scan_registers(&mut self, qps: &mut BusyTable<Qp>, resources: &mut Resources) -> bool {
        let mut rung = Vec::new();
        for (index, page) in self.pages.iter() {
            if let Some(bytes) = page.doorbell(CQ_DOORBELL) {
                page.poison(CQ_DOORBELL, DOORBELL_BYTES);
                rung.push((index, CQ_DOORBELL, bytes.to_vec()));
            }
            for half in blueflame_halves() {
                if page.doorbell(half).is_none() {
                    continue;
                }
                let mut bytes = vec![0; BLUEFLAME_HALF_BYTES];
                page.read(half, &mut bytes);
                page.poison(half, BLUEFLAME_HALF_BYTES);
                rung.push((index, half, trim(bytes)));
            }
        }
        for (uar, offset, bytes) in &rung {
            self.ring(qps, resources, *uar, *offset, bytes);
        }
        !rung.is_empty()
    }

    /// Takes the doorbells of queues without a record.
    fn scan_recordless(&mut self, qps: &mut BusyTable<Qp>, resources: &mut Resources) {
        let pages: Vec<u32> = self.recordless.keys().copied().collect();
        for uar in pages {
            if let Some(stored) = self.pages.get(uar).and_then(Uar::take_recordless) {
                self.ring(qps, resources, uar, RECORDLESS_DOORBELL, &stored);
            }
        }
    }

    /// Follows the creation of a QP.
    pub(crate) fn follow_new_qp(&mut self, context: &QpContext) {
        if context.is_recordless() {
            *self.recordless.entry(context.uar).or_default() += 1;
        }
    }

    /// Follows a change of QP `qpn`. In the reset state the QP hears no doorbells. When it leaves that state, the value of
    /// its record is not one.
    pub(crate) fn follow_qp(&mut self, qpn: u32, qp: &Qp, memory: &dyn HostMemory) {
        let QpContext { uar, dbr, .. } = *qp.context();
        if self.source.has_records() && qp.hears_doorbells() && !qp.context().is_recordless() {
            self.sends.add_send((uar, qpn), dbr.wrapping_add(4), memory);
        } else {
            self.sends.remove(uar, qpn);
        }
    }

    /// QP `qpn` is gone.
    pub(crate) fn forget_qp(&mut self, qpn: u32, context: &QpContext) {
        self.sends.remove(context.uar, qpn);
        if context.is_recordless() {
            self.recordless.entry(context.uar).and_modify(|users| *users -= 1);
            self.recordless.retain(|_, users| *users > 0);
        }
    }

    /// Follows the creation of CQ `cqn`.
    pub(crate) fn follow_cq(&mut self, cqn: u32, context: &CqContext) {
        if self.source.has_records() {
            self.arms.add(context.uar, cqn, context.dbr.wrapping_add(4));
        }
    }

    /// CQ `cqn`, which was armed on UAR page `uar`, is gone.
    pub(crate) fn forget_cq(&mut self, uar: u32, cqn: u32) {
        self.arms.remove(uar, cqn);
    }

    /// Takes all send doorbells that were rung up to now, if doorbells come from records.
    pub(crate) fn scan_sends(&mut self, qps: &mut BusyTable<Qp>, resources: &Resources) {
        match self.source {
            DoorbellSource::Records => self.sends.look(&*resources.memory, send_doorbell(qps)),
            DoorbellSource::RungRecords => drop(self.scan_rung_sends(usize::MAX, qps, resources)),
            DoorbellSource::Registers | DoorbellSource::Calls => {}
        }
    }

    /// Takes the send doorbells of the queues that the registers tell of. Where registers do not tell of all, it looks
    /// at the next `limit` records of the page's queues. True if there are more to look at.
    fn scan_rung_sends(&mut self, limit: usize, qps: &mut BusyTable<Qp>, resources: &Resources) -> bool {
        let (memory, mut take) = (&*resources.memory, send_doorbell(qps));
        let mut more = false;
        for (uar, records) in self.sends.pages_mut() {
            if let Some(page) = self.pages.get_mut(uar).filter(|page| page.is_rung()) {
                let (rung, may_miss) = page.take_rung();
                rung.into_iter().for_each(|qpn| records.look_at(qpn, memory, &mut take));
                if may_miss {
                    records.doubt();
                }
            }
            more |= records.look_again(limit, memory, &mut take);
        }
        more
    }

    /// Takes arm words.
    fn scan_arms(&mut self, resources: &mut Resources) {
        let due = resources.arm_due();
        let Resources { cqs, memory, complaints, .. } = resources;
        self.arms.look(&**memory, |cqn, _| {
            let Some(cq) = cqs.get_mut(cqn) else { return false };
            if let Err(complaint) = cq.poll_arm_word(cqn, &**memory, due) {
                complaints.add(complaint);
            }
            true
        });
    }

    /// Takes the arm words that matter now, if there was an arm doorbell. There is one such register, so a later
    /// doorbell replaces an earlier one. A CQ without CQEs that are news looks at its arm word when it gets one.
    fn scan_rung_arms(&mut self, resources: &mut Resources) {
        let mut is_rung = false;
        for (uar, _) in self.arms.pages_mut() {
            let Some(cqn) = self.pages.get(uar).and_then(|page| page.take_number(CQ_DOORBELL)) else { continue };
            is_rung = true;
            resources.poll_arm_word(cqn);
        }
        if is_rung {
            resources.poll_unarmed();
        }
    }

    /// An arm doorbell: the arm word, then the CQN.
    fn ring_cq(&self, resources: &mut Resources, uar: u32, stored: &[u8]) {
        let word = u32::from_be_bytes([stored[0], stored[1], stored[2], stored[3]]);
        let cqn = u32::from_be_bytes([stored[4], stored[5], stored[6], stored[7]]);
        let due = resources.arm_due();
        let Resources { cqs, eqs, memory, complaints, .. } = resources;
        let Some(cq) = cqs.get_mut(cqn) else {
            return complaints.add(Complaint::NoSuchCq { uar, cqn });
        };
        let expected = cq.context().uar;
        if expected != uar {
            return complaints.add(Complaint::WrongUar { uar, number: cqn, expected });
        }
        let record = memory.load_be32(cq.context().dbr.wrapping_add(4));
        // Hardware, which event queues in memory are for, knows no delays.
        let is_in_memory = cq.eqn.is_some_and(|eqn| eqs.is_in_memory(eqn));
        if let Err(complaint) = cq.arm(cqn, word, (!is_in_memory).then_some(due)) {
            complaints.add(complaint);
        }
        match record {
            Ok(record) if !arm_is_behind(record, word) => {}
            Ok(record) => complaints.add(Complaint::ArmMismatch { cqn, word, record }),
            Err(fault) => complaints.add(Complaint::Unreachable { number: cqn, fault }),
        }
    }

    /// A send doorbell at the start of a half: the first eight bytes of the last WQE posted. The producer index is in
    /// the doorbell record. Gives the WQE whose BlueFlame copy may follow.
    fn ring_sq(
        &mut self,
        qps: &mut BusyTable<Qp>,
        resources: &mut Resources,
        uar: u32,
        offset: usize,
        stored: &[u8],
    ) -> Option<BlueFlameCopy> {
        let index = u16::from_be_bytes([stored[1], stored[2]]);
        let qpn_ds = u32::from_be_bytes([stored[4], stored[5], stored[6], stored[7]]);
        let (qpn, ds) = (qpn_ds >> 8, (qpn_ds & 0xff) as u16);
        let Resources { memory, complaints, .. } = resources;
        let target = match target(qps, qpn) {
            Ok(target) => target,
            Err(complaint) => {
                complaints.add(complaint.unwrap_or(Complaint::NoSuchQp { uar, qpn }));
                return None;
            }
        };
        // A page rings the queues that were created on it, so that programs cannot ring each other's.
        if target.uar != uar {
            complaints.add(Complaint::WrongUar { uar, number: qpn, expected: target.uar });
            return None;
        }
        if matches!(target.state, QpState::Reset | QpState::Init | QpState::Rtr) {
            complaints.add(Complaint::NotReadyToSend { qpn, state: target.state });
        }
        if target.sq.is_recordless {
            complaints.add(Complaint::OtherRegister { qpn, offset });
            return None;
        }
        // A scan of the registers does not show in which order they were stored to.
        let in_order = self.source == DoorbellSource::Calls && !self.is_trapped;
        let doorbell = std::array::from_fn(|at| stored[at]);
        if in_order && self.pages.get_mut(uar).is_some_and(|page| page.repeats_half(offset, doorbell)) {
            complaints.add(Complaint::SameHalf { uar, qpn, offset });
        }
        let record = match memory.load_be32(target.dbr.wrapping_add(4)) {
            Ok(word) => (word & 0xffff) as u16,
            Err(fault) => {
                complaints.add(Complaint::Unreachable { number: qpn, fault });
                return None;
            }
        };
        // The driver stores the record before the register, and may post again before the device sees this doorbell.
        // So the record may be ahead of the register, by rings even, if an earlier doorbell has announced WQEs of this
        // one. But it is never behind the register. Its distance from the fetched WQEs is at most the ring's length.
        let end = index.wrapping_add(ds.div_ceil(4));
        let is_behind = record.wrapping_sub(end) > u16::MAX / 2;
        if is_behind || u32::from(record.wrapping_sub(target.next_wqe)) > 1 << target.sq.log_size {
            complaints.add(Complaint::RecordMismatch { qpn, end, record });
        }
        // The queue by which DPDK starts its clock queue has its index in the record's other word, that of receives
        // (DPDK `drivers/net/mlx5/mlx5_txpp.c`, `mlx5_txpp_doorbell_rearm_queue`). NVIDIA ships it for NICs, so these
        // take the index of the register there. Which queues they do it for, no public source says.
        let announced = if is_behind && target.is_master_of_frames { end } else { record };
        if let Some(qp) = qps.get_mut(qpn) {
            qp.send_doorbell(announced);
        }
        Some(BlueFlameCopy { qpn, index, bytes: usize::from(ds) * 16 })
    }
}

/// Takes the send doorbells that records tell of; see [`Qp::send_doorbell`].
fn send_doorbell(qps: &mut BusyTable<Qp>) -> impl FnMut(u32, u32) -> bool {
    |qpn, word| qps.get_mut(qpn).is_some_and(|qp| qp.send_doorbell((word & 0xffff) as u16))
}

/// A doorbell in the register for send queues without a record: the last WQE of QP `qpn` ends at `end`.
fn ring_recordless(qps: &mut BusyTable<Qp>, resources: &mut Resources, uar: u32, qpn: u32, end: u16) {
    let complaints = &mut resources.complaints;
    let target = match target(qps, qpn) {
        Ok(target) => target,
        Err(complaint) => return complaints.add(complaint.unwrap_or(Complaint::NoSuchQp { uar, qpn })),
    };
    if target.uar != uar {
        return complaints.add(Complaint::WrongUar { uar, number: qpn, expected: target.uar });
    }
    if !target.sq.is_recordless {
        return complaints.add(Complaint::OtherRegister { qpn, offset: RECORDLESS_DOORBELL });
    }
    let Target { next_wqe: next, state, .. } = target;
    if matches!(state, QpState::Reset | QpState::Init | QpState::Rtr) {
        complaints.add(Complaint::NotReadyToSend { qpn, state });
    }
    let wqebbs = 1 << target.sq.log_size;
    if u32::from(end.wrapping_sub(next)) > wqebbs {
        return complaints.add(Complaint::BeyondRing { qpn, end, next, wqebbs });
    }
    if let Some(qp) = qps.get_mut(qpn) {
        qp.send_doorbell(end);
    }
}

/// The QP that a send doorbell names; `Err(None)` if there is none.
fn target(qps: &BusyTable<Qp>, qpn: u32) -> Result<Target, Option<Complaint>> {
    let qp = qps.get(qpn).ok_or(None)?;
    let context = qp.context();
    let sq = context.sq.ok_or(Some(Complaint::NoSendQueue(qpn)))?;
    let is_master_of_frames = context.cross_channel.master && context.transport == Transport::RawPacket;
    let QpContext { dbr, uar, .. } = *context;
    Ok(Target { sq, dbr, uar, state: qp.state(), next_wqe: qp.next_wqe(), is_master_of_frames })
}

/// Complains if `stored`, a piece of a copy from byte `at` of the WQE on, differs from the ring.
fn compare(qps: &BusyTable<Qp>, resources: &mut Resources, copy: BlueFlameCopy, at: usize, stored: &[u8]) {
    let Some(sq) = qps.get(copy.qpn).and_then(|qp| qp.context().sq) else { return };
    if let Err(complaint) = copy.compare(&sq, at, stored, &*resources.memory) {
        resources.complaints.add(complaint);
    }
}

/// Whether an arm word in the record is older than the one in the register: by its consumer index (24 bits), then by
/// its sequence number (bits 29:28). It may be newer, since the driver may have armed again meanwhile.
fn arm_is_behind(record: u32, word: u32) -> bool {
    match record.wrapping_sub(word) & 0x00ff_ffff {
        0 => (word >> 28).wrapping_sub(record >> 28) & 3 == 1,
        ahead => ahead >= 1 << 23,
    }
}

/// Cuts the poison off a half. The remainder is the eight bytes of a doorbell, or whole WQEBBs.
fn trim(mut bytes: Vec<u8>) -> Vec<u8> {
    let used = bytes.iter().rposition(|&b| b != POISON).map_or(0, |i| i + 1);
    let len = if used <= DOORBELL_BYTES { DOORBELL_BYTES } else { used.next_multiple_of(WQEBB_BYTES) };
    bytes.truncate(len);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arm_words_are_behind_by_index_and_then_by_sequence_number() {
        const SEQUENCE: u32 = 1 << 28;
        for (record, word, is_behind) in [
            (5, 5, false),
            (6, 5, false),
            (5, 6, true),
            (0, 0xff_ffff, false),
            (0xff_ffff, 0, true),
            (0x7f_ffff, 0, false),
            (0x80_0001, 0, true),
            (5, SEQUENCE | 5, true),
            (SEQUENCE | 5, 5, false),
            (0x3000_0005, 5, true),
        ] {
            assert_eq!(arm_is_behind(record, word), is_behind, "{record:#x} {word:#x}");
        }
    }
}
