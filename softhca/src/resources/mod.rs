//! Resources: everything that QPs share, such as memory and keys, CQs, SRQs, events, and packets to send. They must
//! never know a QP.
//!
//! They are apart from the table of QPs, so that one QP and the resources can be borrowed at the same time.

mod access;
mod bond;
mod late_writes;
mod link;
mod memcpy;
mod port_counters;
mod q_counter;
mod rates;
mod signatures;
mod slaves;
mod tag_matching;
mod umr;

pub use bond::BondedPort;
pub(crate) use bond::{BONDED_PORTS, Bond};
pub(crate) use link::Link;
pub(crate) use memcpy::MAX_LOG_BYTES as MAX_LOG_MEMCPY;
pub(crate) use port_counters::{PortCounters, Traffic};
pub(crate) use q_counter::QCounter;
pub(crate) use rates::{KILOBITS, RATES, Rates};
pub use rates::{Rate, RateMode};
pub(crate) use signatures::Psv;
pub(crate) use slaves::Slaves;
pub(crate) use umr::UMR_LOG_ENTITY_SIZE_5;
#[cfg(test)]
mod access_tests;
#[cfg(test)]
mod umr_tests;

use crate::busy_table::BusyTable;
use crate::complaint::{Complaint, Complaints};
use crate::config::{DeviceConfig, DoorbellSource, Generation, Limits, PortConfig};
use crate::context::{FetchedOrder, TimestampFormat, XrcContext};
use crate::cq::{Completion, Cq, CqFailure, SignatureError, nanoseconds};
use crate::crypto::{Dek, LOG_MAX_DEKS};
use crate::eq::EventQueues;
use crate::error::Object;
use crate::ethernet::{Egress, FrameLog};
use crate::event::Event;
use crate::explanation::{Explanations, Reason};
use crate::memory::keys::mkey::Mkey;
use crate::memory::{HostMemory, PagedMemory};
use crate::recv::{FaultClock, RecvWqe, Srq};
use crate::script;
use crate::table::Table;
use crate::wire::Outbox;
use crate::wqe::WqeFault;
use late_writes::LateWrites;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::Duration;

/// First index of a memory key. Key 0x100 ([`crate::wqe::INVALID_LKEY`]) and the smaller ones have a meaning of their
/// own.
const FIRST_MKEY_INDEX: u32 = 0x18;

/// Most Q counters: their numbers have eight bits, and 0 is none.
pub(crate) const MAX_Q_COUNTERS: u32 = 255;

/// Most entries of the lists of all memory keys: enough for 256 GiB in pages of 4 KiB. So no driver can exhaust the
/// device's own memory.
pub(crate) const MAX_TRANSLATIONS: u32 = 1 << 26;

/// A time since 1970 as the device's registers and timestamps have it: seconds, and nanoseconds in the lower half.
pub(crate) fn real_time(since_1970: Duration) -> u64 {
    since_1970.as_secs() << 32 | u64::from(since_1970.subsec_nanos())
}

/// Most UDP ports of VXLAN besides the usual one (Linux `drivers/net/ethernet/mellanox/mlx5/core/lib/vxlan.c`: "usually
/// 4").
pub(crate) const MAX_VXLAN_PORTS: usize = 4;

/// Most signature values: their numbers have 24 bits.
const MAX_PSVS: u32 = (1 << 24) - 1;

/// Delay of a CQ's event if the CQ already held CQEs when it was armed, and an event has reported those CQEs before.
/// The delay is longer than a program needs from arming to polling, even if busy CPUs make it wait for its turn
/// between the two. `ib_read_lat -e` takes an event for another completion, and with a queue of one request fails at
/// the next post.
const LATE_ARM: Duration = Duration::from_millis(50);

/// A protection domain: a number that other objects name.
pub(crate) struct Pd {
    /// Keys and queues that belong to it.
    pub(crate) users: u32,
}

/// The resources that QPs share.
pub(crate) struct Resources {
    /// Host memory by DMA.
    pub(crate) memory: Box<PagedMemory>,
    /// Protection domains.
    pub(crate) pds: Table<Pd>,
    /// Memory keys by index (the key without its lowest byte).
    pub(crate) mkeys: Table<Mkey>,
    /// Signature values.
    pub(crate) psvs: Table<Psv>,
    /// Errors of signatures that no CQE has told of yet.
    signature_errors: RefCell<Vec<SignatureError>>,
    /// Keys of encryption.
    pub(crate) deks: Table<Dek>,
    /// Entries of the lists of all memory keys ([`crate::memory::keys::mkey::Behind::translations`]).
    pub(crate) translations: u64,
    /// Completion queues.
    pub(crate) cqs: BusyTable<Cq>,
    /// CQs that were not armed when they got their last CQE, where a device looks for their arm words: to arm them now
    /// may raise an event.
    pub(crate) unarmed: BTreeSet<u32>,
    /// How the device learns of doorbells.
    doorbells: DoorbellSource,
    /// Shared receive queues.
    pub(crate) srqs: Table<Srq>,
    /// Queues that others start.
    pub(crate) slaves: Slaves,
    /// Event queues, and events that the front end has not taken yet.
    pub(crate) eqs: EventQueues,
    /// Which receives from SRQs fail.
    pub(crate) srq_faults: FaultClock,
    /// WRITEs that are placed out of order.
    pub(crate) late_writes: LateWrites,
    /// The script that is played.
    pub(crate) script: script::Running,
    /// Packets that the wire has not taken yet.
    pub(crate) outbox: Outbox,
    /// Most bytes of payload in a frame of several packets: [`crate::wire::Wire::segment_bytes`].
    pub(crate) segment_bytes: usize,
    /// Ethernet frames that queues have sent and the port has not taken yet.
    pub(crate) egress: Egress,
    /// UDP ports that are VXLAN's, besides the usual one.
    pub(crate) vxlan_ports: Vec<u16>,
    /// Rates of send queues.
    pub(crate) rates: Rates,
    /// Counters of sets of queues.
    pub(crate) q_counters: Table<QCounter>,
    /// Counters of all queues.
    pub(crate) all_queues: QCounter,
    /// Counters of each port; port 1 is the first.
    pub(crate) port_counters: Vec<PortCounters>,
    /// Ethernet frames that have left, the latest ones.
    pub(crate) frames: FrameLog,
    /// Ports; port 1 is the first.
    pub(crate) ports: Vec<PortConfig>,
    /// The link of each port; port 1 is the first.
    pub(crate) links: Vec<Link>,
    /// The ports behind port 1, if that is a bond.
    pub(crate) bond: Option<Bond>,
    /// Which ConnectX the device is.
    pub(crate) generation: Generation,
    /// UMR changes the length of a key's pages.
    pub(crate) umr_registers: bool,
    /// Limits.
    pub(crate) limits: Limits,
    /// The caller's clock at the current step.
    pub(crate) now: Duration,
    /// The time at which that clock was 0, if the device knows it; see [`DeviceConfig::real_time`].
    real_time: Option<Duration>,
    /// Format of the device's own clock, which a WAIT compares with. It is the time, if queues can have it in their
    /// timestamps (`MTUTC.time_stamp_mode`; DPDK `drivers/net/mlx5/mlx5.c`, `mlx5_rt_timestamp_config`).
    pub(crate) clock_format: TimestampFormat,
    /// Byte order of the 8 bytes that atomics fetch.
    pub(crate) fetched_order: FetchedOrder,
    /// Requests complete without being sent: see [`crate::config::DeviceConfig::sink`].
    pub(crate) sink: bool,
    /// Send WQEs that have completed, with success or in error.
    pub(crate) sends_completed: u64,
    /// Mistakes of the drivers.
    pub(crate) complaints: Complaints,
    /// Why requests were refused or failed.
    pub(crate) explanations: Explanations,
    /// Packets that refuse something, on their way to the wire, and why.
    pub(crate) comments: Vec<(Vec<u8>, Reason)>,
    /// Number of the last attempt of a DCI to connect.
    dc_attempts: u32,
    /// QPs that could not report a completion, because the CQ takes no further CQEs.
    pub(crate) stranded: Vec<u32>,
    /// Completions wait until the packets of the step have been sent.
    holds_completions: bool,
    /// Those that wait: CQ, timestamp, content.
    held_completions: Vec<(u32, u64, Completion)>,
}

impl Resources {
    /// No objects yet.
    pub(crate) fn new(config: &DeviceConfig, memory: Box<dyn HostMemory>) -> Self {
        Self::with_memory(config, Box::new(PagedMemory::new(memory)))
    }

    /// Forgets all objects and all their traces. Cables stay plugged as they are, and the byte order is the firmware's
    /// to choose.
    pub(crate) fn reset(&mut self, config: &DeviceConfig) {
        let mut memory = std::mem::replace(&mut self.memory, Box::new(PagedMemory::nowhere()));
        memory.clear();
        let (links, bond, now) = (self.links.iter().map(Link::reset).collect(), self.bond, self.now);
        let (fetched_order, segment_bytes) = (self.fetched_order, self.segment_bytes);
        let script = std::mem::take(&mut self.script);
        *self = Self { links, bond, now, fetched_order, segment_bytes, script, ..Self::with_memory(config, memory) };
    }

    fn with_memory(config: &DeviceConfig, memory: Box<PagedMemory>) -> Self {
        Self {
            memory,
            pds: Table::new(Object::Pd, 1, config.limits.max_objects),
            mkeys: Table::new(Object::Mkey, FIRST_MKEY_INDEX, config.limits.max_mkeys),
            psvs: Table::new(Object::Psv, 1, config.limits.max_mkeys.min(MAX_PSVS)),
            signature_errors: RefCell::default(),
            deks: Table::new(Object::Dek, 1, 1 << LOG_MAX_DEKS),
            translations: 0,
            cqs: Table::new(Object::Cq, 1, config.limits.max_objects).into(),
            unarmed: BTreeSet::new(),
            doorbells: config.doorbells,
            // Packets of XRC name SRQs as all name QPs: the numbers of processes that share a device are apart.
            srqs: Table::new(Object::Srq, config.qpn_first, config.max_srqs()),
            slaves: Slaves::default(),
            eqs: EventQueues::new(),
            srq_faults: FaultClock::new(config.srq_faults),
            late_writes: LateWrites::new(config.late_writes),
            script: script::Running::default(),
            outbox: Outbox::default(),
            segment_bytes: 0,
            egress: Egress::default(),
            vxlan_ports: Vec::new(),
            rates: Rates::default(),
            q_counters: Table::new(Object::QCounter, 1, MAX_Q_COUNTERS),
            all_queues: Default::default(),
            port_counters: vec![Default::default(); config.ports.len()],
            frames: FrameLog::default(),
            links: vec![Link::default(); config.ports.len()],
            bond: config.bonded.then_some(Bond::NEW),
            ports: config.ports.clone(),
            generation: config.generation,
            umr_registers: config.umr_registers,
            limits: config.limits,
            now: Duration::ZERO,
            real_time: config.real_time,
            clock_format: config.clock_format(),
            fetched_order: FetchedOrder::default(),
            sink: config.sink,
            sends_completed: 0,
            complaints: Complaints::default(),
            explanations: Explanations::default(),
            comments: Vec::new(),
            dc_attempts: 0,
            stranded: Vec::new(),
            holds_completions: false,
            held_completions: Vec::new(),
        }
    }

    /// Whether there is room for `more` entries of memory keys' lists.
    pub(crate) fn may_hold(&self, more: u64) -> bool {
        self.translations + more <= MAX_TRANSLATIONS.into()
    }

    /// A number for an attempt of a DCI to connect. It begins with the clock, so that those of a process that has the
    /// same QPNs as an earlier one are others.
    pub(crate) fn next_dc_attempt(&mut self) -> u32 {
        if self.dc_attempts == 0 {
            self.dc_attempts = self.now.as_nanos() as u32;
        }
        self.dc_attempts = self.dc_attempts.wrapping_add(1).max(1);
        self.dc_attempts
    }

    /// Whether the link of port `port` is up; `false` also if there is no such port.
    #[must_use]
    pub(crate) fn port_is_up(&self, port: u8) -> bool {
        self.link(port).is_some_and(|link| link.is_up())
    }

    /// Whether packets of the transport pass port `port`, which on Ethernet can be turned off.
    #[must_use]
    pub(crate) fn transport_is_up(&self, port: u8) -> bool {
        self.link(port).is_some_and(|link| link.is_up() && link.has_transport)
    }

    /// The link of port `port`.
    pub(crate) fn link(&self, port: u8) -> Option<&Link> {
        self.links.get(usize::from(port).checked_sub(1)?)
    }

    /// Tells of an event.
    pub(crate) fn raise(&mut self, event: Event) {
        for _ in 0..self.script.copies_of(event, None) {
            self.eqs.raise(event, None, &*self.memory, &mut self.complaints);
        }
    }

    /// Consumes the next WQE of an SRQ; raises the limit event or the error event where due.
    ///
    /// # Errors
    /// [`WqeFault`]: there is no such SRQ, or no telling which WQE is next.
    pub(crate) fn take_shared(&mut self, srqn: u32) -> Result<Option<RecvWqe>, WqeFault> {
        let srq = self.srqs.get_mut(srqn).ok_or(WqeFault::NoSrq(srqn))?;
        let (taken, event) = srq.take(srqn, &*self.memory);
        if let Some(event) = event {
            self.raise(event);
        }
        taken
    }

    /// SRQ `srqn`, and its context as an SRQ of XRC domain `xrcd`; `None` if it is not one.
    pub(crate) fn srq_of_domain(&self, xrcd: u32, srqn: u32) -> Option<(&Srq, XrcContext)> {
        let srq = self.srqs.get(srqn)?;
        Some((srq, srq.xrc().filter(|xrc| xrc.xrcd == xrcd)?))
    }

    /// The present time of the clock, in this timestamp format. A queue has no format that the device does not have.
    pub(crate) fn timestamp(&self, format: TimestampFormat) -> u64 {
        match (format, self.real_time) {
            (TimestampFormat::FreeRunning, _) | (_, None) => nanoseconds(self.now),
            (TimestampFormat::RealTime, Some(zero)) => real_time(zero.saturating_add(self.now)),
        }
    }

    /// From now on, completions wait for [`Self::release_completions`].
    pub(crate) fn hold_completions(&mut self) {
        self.holds_completions = true;
    }

    /// Writes the CQEs that have waited, in order. From now on, none waits.
    pub(crate) fn release_completions(&mut self) {
        self.holds_completions = false;
        let mut held = std::mem::take(&mut self.held_completions);
        // A CQ is found, and its arm word read, once for all of its completions in a row.
        for run in held.chunk_by(|(a, ..), (b, ..)| a == b) {
            self.write_completions(run);
        }
        held.clear();
        // Kept for its memory.
        self.held_completions = held;
    }

    /// Completes a request or a receive whose queue has timestamps of this format, by CQ `cqn`.
    pub(crate) fn complete(&mut self, cqn: u32, timestamps: TimestampFormat, c: Completion) {
        let stamp = self.timestamp(timestamps);
        if self.holds_completions {
            self.held_completions.push((cqn, stamp, c));
        } else {
            self.write_completions(&[(cqn, stamp, c)]);
        }
    }

    /// Writes the CQEs of completions, with their timestamps, to the CQ that all of them name. Raises the events that
    /// follow from them.
    ///
    /// A CQ that cannot be written is in error, and takes no further CQEs. A QP with a completion for it is
    /// [stranded](Self::stranded): it can report no completions (IBTA vol. 1, 11.6.3: the affiliated asynchronous
    /// errors "CQ error" and "local work queue catastrophic error").
    fn write_completions(&mut self, completions: &[(u32, u64, Completion)]) {
        let Some(&(cqn, ..)) = completions.first() else { return };
        let looks_for_arms = self.doorbells == DoorbellSource::RungRecords;
        if looks_for_arms {
            self.poll_arm_word(cqn);
        }
        let Some(cq) = self.cqs.get_mut(cqn) else {
            log::error!("completions for CQ {cqn:#x}, which does not exist: {completions:?}");
            return;
        };
        for (_, stamp, c) in completions {
            let had_failed = cq.failure().is_some();
            let eqn = cq.eqn;
            if let Some(event) = cq.write(cqn, (c, *stamp), &*self.memory, self.now) {
                for _ in 0..self.script.copies_of(event, eqn) {
                    self.eqs.raise(event, eqn, &*self.memory, &mut self.complaints);
                }
            }
            match cq.failure() {
                None => continue,
                Some(_) if had_failed => {}
                Some(CqFailure::Overrun { consumer, producer }) => {
                    let cqes = 1 << cq.context().log_size;
                    self.complaints.add(Complaint::CqOverrun { cqn, cqes, consumer, producer });
                }
                Some(CqFailure::Unreachable(fault)) => {
                    self.complaints.add(Complaint::Unreachable { number: cqn, fault });
                }
            }
            self.stranded.push(c.qpn());
        }
        if looks_for_arms && !cq.is_armed() {
            self.unarmed.insert(cqn);
        }
    }

    /// When an arming that arrives now raises the event for CQEs that are there already. A caller that steps the device
    /// (that of a sink does, too) sees the event in the same step. A host on threads of its own gets time to poll after
    /// it has armed.
    pub(crate) fn arm_due(&self) -> Duration {
        match self.doorbells {
            DoorbellSource::Registers => self.now,
            DoorbellSource::Records | DoorbellSource::RungRecords if self.sink => self.now,
            DoorbellSource::Records | DoorbellSource::RungRecords | DoorbellSource::Calls => self.now + LATE_ARM,
        }
    }

    /// Looks at the arm word in the record of CQ `cqn`. True if it is armed now.
    pub(crate) fn poll_arm_word(&mut self, cqn: u32) -> bool {
        let due = self.arm_due();
        let Some(cq) = self.cqs.get_mut(cqn) else { return false };
        if let Err(complaint) = cq.poll_arm_word(cqn, &*self.memory, due) {
            self.complaints.add(complaint);
        }
        cq.is_armed()
    }

    /// Looks at the arm words of the CQs that were not armed when they got their last CQE.
    pub(crate) fn poll_unarmed(&mut self) {
        let mut unarmed = std::mem::take(&mut self.unarmed);
        unarmed.retain(|&cqn| match self.cqs.get(cqn).map(|cq| cq.has_new_arm_word(&*self.memory)) {
            Some(true) => !self.poll_arm_word(cqn),
            Some(false) => true,
            None => false,
        });
        self.unarmed = unarmed;
    }

    /// Most bytes of scatter-to-CQE data that CQ `cqn` can hold; 0 if there is no such CQ.
    #[must_use]
    pub(crate) fn inline_capacity(&self, cqn: u32) -> usize {
        self.cqs.get(cqn).map_or(0, |cq| crate::cq::inline_capacity(cq.context().cqe_bytes))
    }
}
