//! Host memory that knows where the device may write: registered memory, the next CQE of a CQ, and at a CQ's creation
//! its arm word. A write to any other place panics. It keeps the CQEs that were written.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use softhca::context::CqContext;
use softhca::memory::{DmaFault, HostMemory};

use super::memory::{Arena, BASE};

/// A CQE that the device has written: its last 64 bytes, which hold all but data.
pub struct Cqe {
    pub cqn: u32,
    pub bytes: [u8; 64],
}

/// A CQ as the host knows it.
struct Cq {
    cqn: u32,
    context: CqContext,
    /// CQEs written.
    producer: u32,
    /// The host consumes each CQE at once.
    polled: bool,
    /// The device has said that the CQ takes no more.
    failed: bool,
}

struct Rules {
    /// Regions whose keys permit local writes, and those whose keys permit atomics.
    writable: Vec<Range<u64>>,
    atomic: Vec<Range<u64>>,
    cqs: Vec<Cq>,
    /// The arm word of the CQ that is being created.
    arm_word: Option<u64>,
    /// The expected bytes of the memory: the host's stores, and the device's permitted writes.
    expected: Vec<u8>,
    written: Vec<Cqe>,
}

/// The memory, for the host and the device.
#[derive(Clone)]
pub struct Guarded {
    arena: Arena,
    rules: Arc<Mutex<Rules>>,
}

impl Guarded {
    /// `len` bytes of zeroes, of which the device may write none.
    pub fn new(len: usize) -> Self {
        let rules = Rules {
            writable: Vec::new(),
            atomic: Vec::new(),
            cqs: Vec::new(),
            arm_word: None,
            expected: vec![0; len],
            written: Vec::new(),
        };
        Self { arena: Arena::new(len, 0), rules: Arc::new(Mutex::new(rules)) }
    }

    fn rules(&self) -> MutexGuard<'_, Rules> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The host stores as much of `data` as fits from byte `at` (modulo the length) on.
    pub fn scribble(&self, at: usize, data: &[u8]) {
        let at = at % self.arena.len();
        let n = data.len().min(self.arena.len() - at);
        self.arena.scribble(at, data);
        self.rules().expected[at..at + n].copy_from_slice(&data[..n]);
    }

    /// The regions that the device may write from now on, and those in which it may do atomics.
    pub fn permit(&self, writable: Vec<Range<u64>>, atomic: Vec<Range<u64>>) {
        let mut rules = self.rules();
        (rules.writable, rules.atomic) = (writable, atomic);
    }

    /// A CQ is about to be created with its arm word at `at`, or (`None`) no longer.
    pub fn permit_arm_word(&self, at: Option<u64>) {
        self.rules().arm_word = at;
    }

    /// CQ `cqn` has been created.
    pub fn add_cq(&self, cqn: u32, context: CqContext, polled: bool) {
        self.rules().cqs.push(Cq { cqn, context, producer: 0, polled, failed: false });
    }

    /// CQ `cqn` has moved to another ring.
    pub fn move_cq(&self, cqn: u32, buf: u64, log_size: u8, cqe_bytes: u32) {
        for cq in self.rules().cqs.iter_mut().filter(|cq| cq.cqn == cqn) {
            cq.context = CqContext { buf, log_size, cqe_bytes, ..cq.context };
        }
    }

    /// The device has said that CQ `cqn` takes no more CQEs.
    pub fn fail_cq(&self, cqn: u32) {
        self.rules().cqs.iter_mut().filter(|cq| cq.cqn == cqn).for_each(|cq| cq.failed = true);
    }

    pub fn has_failed(&self, cqn: u32) -> bool {
        self.rules().cqs.iter().any(|cq| cq.cqn == cqn && cq.failed)
    }

    /// From now on the host consumes every CQE at once, those that are there included.
    pub fn poll_all(&self) {
        let mut rules = self.rules();
        for n in 0..rules.cqs.len() {
            rules.cqs[n].polled = true;
            let (dbr, producer) = (rules.cqs[n].context.dbr, rules.cqs[n].producer);
            self.consume(&mut rules, dbr, producer);
        }
    }

    fn consume(&self, rules: &mut Rules, dbr: u64, producer: u32) {
        let (at, word) = ((dbr - BASE) as usize, producer.to_be_bytes());
        self.arena.scribble(at, &word);
        rules.expected[at..at + 4].copy_from_slice(&word);
    }

    /// The CQEs written since the last call, in order.
    pub fn take_cqes(&self) -> Vec<Cqe> {
        std::mem::take(&mut self.rules().written)
    }

    /// Panics unless the memory holds only the bytes of the host's stores and of permitted writes.
    pub fn check(&self) {
        let (found, rules) = (self.arena.bytes(), self.rules());
        let differs = (0..found.len()).find(|&at| found[at] != rules.expected[at]);
        assert_eq!(differs, None, "a byte has changed that nobody wrote");
    }

    /// A write that is permitted. Nothing has changed if the memory does not exist.
    fn put(&self, rules: &mut Rules, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        self.arena.write(addr, data)?;
        let at = (addr - BASE) as usize;
        rules.expected[at..at + data.len()].copy_from_slice(data);
        Ok(())
    }
}

/// All of `len` bytes at `addr` lie in one of `regions`.
fn lies_in(regions: &[Range<u64>], addr: u64, len: usize) -> bool {
    regions.iter().any(|region| addr >= region.start && addr.saturating_add(len as u64) <= region.end)
}

impl HostMemory for Guarded {
    unsafe fn map(&mut self, addr: u64, len: usize) -> Result<(), DmaFault> {
        // SAFETY: the caller promises that the memory stays valid until it is unmapped.
        unsafe { self.arena.map(addr, len) }
    }

    fn unmap(&mut self, addr: u64, len: usize) {
        self.arena.unmap(addr, len);
    }

    fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), DmaFault> {
        self.arena.read(addr, out)
    }

    fn write(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        let mut rules = self.rules();
        let is_arm_word = rules.arm_word == Some(addr) && data.len() == 4;
        let permitted = is_arm_word || lies_in(&rules.writable, addr, data.len());
        assert!(permitted, "the device writes {} bytes at {addr:#x}, which no key permits", data.len());
        self.put(&mut rules, addr, data)
    }

    fn load_be32(&self, addr: u64) -> Result<u32, DmaFault> {
        self.arena.load_be32(addr)
    }

    fn fetch_update_u64(&self, addr: u64, f: &mut dyn FnMut(u64) -> u64) -> Result<u64, DmaFault> {
        let mut rules = self.rules();
        assert!(lies_in(&rules.atomic, addr, 8), "an atomic at {addr:#x}, which no key permits");
        let mut new = 0;
        let old = self.arena.fetch_update_u64(addr, &mut |old| {
            new = f(old);
            new
        })?;
        let at = (addr - BASE) as usize;
        rules.expected[at..at + 8].copy_from_slice(&new.to_ne_bytes());
        Ok(old)
    }

    fn write_last_byte_last(&self, addr: u64, data: &[u8]) -> Result<(), DmaFault> {
        let mut rules = self.rules();
        let place = rules.cqs.iter().position(|cq| {
            let slot = cq.producer & ((1 << cq.context.log_size) - 1);
            let at = cq.context.buf + u64::from(slot * cq.context.cqe_bytes);
            (at, cq.context.cqe_bytes as usize) == (addr, data.len())
        });
        let Some(n) = place else { panic!("{} bytes at {addr:#x} are the next CQE of no CQ", data.len()) };
        let mut bytes = [0; 64];
        bytes.copy_from_slice(&data[data.len() - 64..]);
        let Cq { cqn, context, producer, polled, failed } = &mut rules.cqs[n];
        assert!(!*failed, "CQ {cqn:#x} is in error and takes a CQE");
        assert_eq!(u32::from(bytes[63] & 1), *producer >> context.log_size & 1, "the owner bit of CQE {producer:#x}");
        let consumed = polled.then_some(context.dbr);
        *producer = (*producer + 1) & 0xff_ffff;
        let (cqn, producer) = (*cqn, *producer);
        self.put(&mut rules, addr, data)?;
        rules.written.push(Cqe { cqn, bytes });
        if let Some(dbr) = consumed {
            self.consume(&mut rules, dbr, producer);
        }
        Ok(())
    }
}
