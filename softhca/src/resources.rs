//! Resources: everything that QPs share, such as memory and keys, CQs, SRQs, events, and packets to send. They must
//! never know a QP.
//!
//! They are apart from the table of QPs, so that one QP and the resources can be borrowed at the same time.

use crate::complaint::{Complaint, Complaints};
use crate::config::{DeviceConfig, Limits, PortConfig};
use crate::context::Access;
use crate::context::{QpContext, ReceiveSource};
use crate::cq::{Completion, Cq, CqFailure};
use crate::error::Object;
use crate::ethernet::FrameLog;
use crate::event::Event;
use crate::memory::HostMemory;
use crate::memory::mkey::{KeyFault, Mkey, Need};
use crate::recv::{FaultClock, RecvWqe, Srq};
use crate::table::Table;
use crate::wire::Outbox;
use crate::wqe::{DataSeg, WqeFault};
use std::collections::VecDeque;
use std::time::Duration;
use thiserror::Error;

/// First index of a memory key. Key 0x100 ([`crate::wqe::INVALID_LKEY`]) and the smaller ones have a meaning of their
/// own.
const FIRST_MKEY_INDEX: u32 = 0x18;

/// Why local data could not be gathered or scattered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum LocalFault {
    /// A segment's key.
    #[error(transparent)]
    Key(#[from] KeyFault),
    /// The segments are shorter than the data.
    #[error("{len} bytes at offset {offset} of segments that hold {capacity}")]
    TooShort {
        /// Where in the segments.
        offset: u64,
        /// Bytes wanted.
        len: u64,
        /// Bytes that the segments hold.
        capacity: u64,
    },
}

/// What QPs share.
pub(crate) struct Resources {
    /// Host memory by DMA.
    pub(crate) memory: Box<dyn HostMemory>,
    /// Memory keys by index (the key without its lowest byte).
    pub(crate) mkeys: Table<Mkey>,
    /// Completion queues.
    pub(crate) cqs: Table<Cq>,
    /// Shared receive queues.
    pub(crate) srqs: Table<Srq>,
    /// Events that the front end has not taken yet.
    pub(crate) events: VecDeque<Event>,
    /// Which receives from SRQs fail.
    pub(crate) srq_faults: FaultClock,
    /// Packets that the wire has not taken yet.
    pub(crate) outbox: Outbox,
    /// Ethernet frames that have left, the latest ones.
    pub(crate) frames: FrameLog,
    /// Ports; port 1 is the first.
    pub(crate) ports: Vec<PortConfig>,
    /// Whether the link of each port is up; port 1 is the first.
    pub(crate) ports_up: Vec<bool>,
    /// Limits.
    pub(crate) limits: Limits,
    /// The caller's clock at the current step; CQE timestamps are its nanoseconds.
    pub(crate) now: Duration,
    /// Requests complete without being sent: see [`crate::config::DeviceConfig::sink`].
    pub(crate) sink: bool,
    /// Send WQEs that have completed, with success or in error.
    pub(crate) sends_completed: u64,
    /// What drivers did wrong.
    pub(crate) complaints: Complaints,
    /// QPs that could not report a completion, because the CQ takes no more.
    pub(crate) stranded: Vec<u32>,
}

impl Resources {
    /// No objects yet.
    pub(crate) fn new(config: &DeviceConfig, memory: Box<dyn HostMemory>) -> Self {
        Self {
            memory,
            mkeys: Table::new(Object::Mkey, FIRST_MKEY_INDEX, config.limits.max_mkeys),
            cqs: Table::new(Object::Cq, 1, config.limits.max_objects),
            srqs: Table::new(Object::Srq, 1, config.limits.max_objects),
            events: VecDeque::new(),
            srq_faults: FaultClock::new(config.srq_faults),
            outbox: Outbox::default(),
            frames: FrameLog::default(),
            ports_up: vec![true; config.ports.len()],
            ports: config.ports.clone(),
            limits: config.limits,
            now: Duration::ZERO,
            sink: config.sink,
            sends_completed: 0,
            complaints: Complaints::default(),
            stranded: Vec::new(),
        }
    }

    /// Whether the link of port `port` is up; `false` also if there is no such port.
    #[must_use]
    pub(crate) fn port_is_up(&self, port: u8) -> bool {
        usize::from(port).checked_sub(1).and_then(|index| self.ports_up.get(index)).is_some_and(|&up| up)
    }

    /// Host address of `len` bytes at `addr` by `key`, after all checks.
    fn translate(&self, pd: u32, key: u32, addr: u64, len: u64, need: Need) -> Result<u64, KeyFault> {
        let mkey = self.mkeys.get(key >> 8).filter(|m| m.key == key).ok_or(KeyFault::NoSuch(key))?;
        mkey.translate(pd, addr, len, need)
    }

    /// Splits the `len` bytes from byte `offset` of `segs` on by segment. Calls `f` for each part, with its host
    /// address and its place in the data.
    fn for_pieces(
        &self,
        pd: u32,
        segs: &[DataSeg],
        (offset, len): (u64, usize),
        need: Need,
        mut f: impl FnMut(u64, std::ops::Range<usize>) -> Result<(), KeyFault>,
    ) -> Result<(), LocalFault> {
        let (mut skip, mut done) = (offset, 0);
        for seg in segs {
            if done == len {
                break;
            }
            let seg_len = u64::from(seg.len);
            if skip >= seg_len {
                skip -= seg_len;
                continue;
            }
            let n = (len - done).min((seg_len - skip) as usize);
            let addr = self.translate(pd, seg.lkey, seg.addr.wrapping_add(skip), n as u64, need)?;
            f(addr, done..done + n)?;
            done += n;
            skip = 0;
        }
        if done < len {
            let capacity = segs.iter().map(|s| u64::from(s.len)).sum();
            return Err(LocalFault::TooShort { offset, len: len as u64, capacity });
        }
        Ok(())
    }

    /// Fills `out` with what `segs` hold from byte `offset` on.
    ///
    /// # Errors
    /// [`LocalFault`]; `out` is then unspecified.
    pub(crate) fn gather(&self, pd: u32, segs: &[DataSeg], offset: u64, out: &mut [u8]) -> Result<(), LocalFault> {
        self.for_pieces(pd, segs, (offset, out.len()), Need::LocalRead, |addr, part| {
            Ok(self.memory.read(addr, &mut out[part])?)
        })
    }

    /// Writes `data` to what `segs` name, from byte `offset` on.
    ///
    /// # Errors
    /// [`LocalFault`]; segments before the faulty one have been written, as a device does.
    pub(crate) fn scatter(&self, pd: u32, segs: &[DataSeg], offset: u64, data: &[u8]) -> Result<(), LocalFault> {
        self.for_pieces(pd, segs, (offset, data.len()), Need::LocalWrite, |addr, part| {
            Ok(self.memory.write(addr, &data[part])?)
        })
    }

    /// Protection domain whose keys the receive WQEs of a QP name: the SRQ's if it takes them from one (IBTA vol. 1,
    /// 10.2.9.1).
    #[must_use]
    pub(crate) fn receive_pd(&self, qp: &QpContext) -> u32 {
        match qp.rq {
            ReceiveSource::Shared { srqn } => self.srqs.get(srqn).map_or(qp.pd, |srq| srq.context().pd),
            _ => qp.pd,
        }
    }

    /// Checks that a peer may do `need` to `len` bytes at `addr` by `rkey`. An access of 0 bytes needs no valid key
    /// (IBTA vol. 1, 9.7.4.1.5).
    ///
    /// # Errors
    /// [`KeyFault`].
    pub(crate) fn check_remote(&self, pd: u32, rkey: u32, addr: u64, len: u64, need: Need) -> Result<(), KeyFault> {
        if len == 0 && need != Need::RemoteAtomic {
            return Ok(());
        }
        self.translate(pd, rkey, addr, len, need).map(drop)
    }

    /// Reads for a peer.
    ///
    /// # Errors
    /// [`KeyFault`]; `out` is then unspecified.
    pub(crate) fn remote_read(&self, pd: u32, rkey: u32, addr: u64, out: &mut [u8]) -> Result<(), KeyFault> {
        if out.is_empty() {
            return Ok(());
        }
        let at = self.translate(pd, rkey, addr, out.len() as u64, Need::RemoteRead)?;
        Ok(self.memory.read(at, out)?)
    }

    /// Writes for a peer.
    ///
    /// # Errors
    /// [`KeyFault`]; nothing is written then.
    pub(crate) fn remote_write(&self, pd: u32, rkey: u32, addr: u64, data: &[u8]) -> Result<(), KeyFault> {
        if data.is_empty() {
            return Ok(());
        }
        let at = self.translate(pd, rkey, addr, data.len() as u64, Need::RemoteWrite)?;
        Ok(self.memory.write(at, data)?)
    }

    /// Replaces 8 bytes for a peer by `f` of them. Returns the old ones. Both are numbers in host byte order.
    ///
    /// # Errors
    /// [`KeyFault`]; nothing is written then.
    pub(crate) fn remote_atomic(
        &self,
        pd: u32,
        rkey: u32,
        addr: u64,
        f: &mut dyn FnMut(u64) -> u64,
    ) -> Result<u64, KeyFault> {
        let at = self.translate(pd, rkey, addr, 8, Need::RemoteAtomic)?;
        if !addr.is_multiple_of(8) || !at.is_multiple_of(8) {
            return Err(KeyFault::Misaligned(addr));
        }
        Ok(self.memory.fetch_update_u64(at, f)?)
    }

    /// Invalidates `rkey`, as SEND with invalidate asks (IBTA vol. 1, 9.4.1.1). The key stays allocated until it is
    /// destroyed, but gives access to no memory.
    ///
    /// # Errors
    /// [`KeyFault`] if there is no such key in the protection domain.
    pub(crate) fn invalidate(&mut self, pd: u32, rkey: u32) -> Result<(), KeyFault> {
        let mkey = self.mkeys.get_mut(rkey >> 8).filter(|m| m.key == rkey).ok_or(KeyFault::NoSuch(rkey))?;
        if mkey.context.pd != pd {
            return Err(KeyFault::WrongPd { key: rkey, found: mkey.context.pd, expected: pd });
        }
        mkey.context.len = 0;
        mkey.context.access = Access::default();
        Ok(())
    }

    /// Consumes the next WQE of an SRQ; raises the limit event or the error event where due.
    ///
    /// # Errors
    /// [`WqeFault`]: there is no such SRQ, or no telling which WQE is next.
    pub(crate) fn take_shared(&mut self, srqn: u32) -> Result<Option<RecvWqe>, WqeFault> {
        let srq = self.srqs.get_mut(srqn).ok_or(WqeFault::NoSrq(srqn))?;
        let (taken, event) = srq.take(srqn, &*self.memory);
        self.events.extend(event);
        taken
    }

    /// Writes the CQE of `c` to CQ `cqn`, and raises the events that follow from it.
    ///
    /// A CQ that cannot be written is in error, and takes no more CQEs. A QP with a completion for it is
    /// [stranded](Self::stranded): it can report no completions (IBTA vol. 1, 11.6.3: the affiliated asynchronous
    /// errors "CQ error" and "local work queue catastrophic error").
    pub(crate) fn complete(&mut self, cqn: u32, c: &Completion) {
        let Some(cq) = self.cqs.get_mut(cqn) else {
            log::error!("completion for CQ {cqn:#x}, which does not exist: {c:?}");
            return;
        };
        let had_failed = cq.failure().is_some();
        let event = cq.write(cqn, c, &*self.memory, self.now);
        self.events.extend(event);
        match cq.failure() {
            None => return,
            Some(_) if had_failed => {}
            Some(CqFailure::Overrun { consumer, producer }) => {
                let cqes = 1 << cq.context().log_size;
                self.complaints.add(Complaint::CqOverrun { cqn, cqes, consumer, producer });
            }
            Some(CqFailure::Unreachable(fault)) => self.complaints.add(Complaint::Unreachable { number: cqn, fault }),
        }
        self.stranded.push(c.qpn());
    }

    /// Most bytes of scatter-to-CQE data that CQ `cqn` can hold; 0 if there is no such CQ.
    #[must_use]
    pub(crate) fn inline_capacity(&self, cqn: u32) -> usize {
        self.cqs.get(cqn).map_or(0, |cq| crate::cq::inline_capacity(cq.context().cqe_bytes))
    }
}
