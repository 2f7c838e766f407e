//! Checks of contexts: the device refuses to create objects that fail them.

use crate::config::{DeviceConfig, Limits, LinkLayer};
use crate::context::{CqContext, EqContext, RqContext, SqContext};
use crate::eq::{MAX_LOG_EQ_SIZE, VECTORS};
use crate::error::Error;
use crate::event::EQE_BYTES;
use crate::memory::HostMemory;
use crate::wqe::WQEBB_BYTES;

/// A configuration that a device can have.
pub(super) fn config(config: &DeviceConfig) -> Result<(), Error> {
    let qpn_end = u64::from(config.qpn_first) + u64::from(config.qpn_count);
    value("QPN range", qpn_end, config.qpn_first > 1 && config.qpn_count > 0 && qpn_end <= 0xff_ffff, "2 to 2^24-2")?;
    value("ports", config.ports.len() as u64, (1..=255).contains(&config.ports.len()), "1 to 255")?;
    for port in &config.ports {
        let mtu = u64::from(port.active_mtu);
        value("active MTU", mtu, matches!(mtu, 256 | 512 | 1024 | 2048 | 4096), "256, 512, 1024, 2048, 4096")?;
    }
    let bondable = matches!(&config.ports[..], [port] if port.link == LinkLayer::Ethernet);
    value("ports of a bonded device", config.ports.len() as u64, !config.bonded || bondable, "1, of Ethernet")?;
    let limits = &config.limits;
    let objects = u64::from(limits.max_objects);
    value("max_objects", objects, (1..0xff_ffff).contains(&objects), "1 to 2^24-2")?;
    let mkeys = u64::from(limits.max_mkeys);
    value("max_mkeys", mkeys, (1..0xff_0000).contains(&mkeys), "1 to 2^24-2^16-1")?;
    let rates = u64::from(config.srq_faults.page) + u64::from(config.srq_faults.sequence);
    value("faults of receives, per mille", rates, rates <= 1000, "0 to 1000")?;
    let late = u64::from(config.late_writes.rate);
    value("late packets of WRITEs, per mille", late, late <= 1000, "0 to 1000")
}

/// A CQ that the device can have.
pub(super) fn cq(c: &CqContext, limits: &Limits, memory: &dyn HostMemory) -> Result<(), Error> {
    value("CQE bytes", c.cqe_bytes.into(), matches!(c.cqe_bytes, 64 | 128), "64 or 128")?;
    let max = limits.max_cqe_log;
    value("log2 of CQEs", c.log_size.into(), c.log_size <= max, "up to the device's max_cqe_log")?;
    ring("CQ ring address", c.buf, u64::from(c.cqe_bytes) << c.log_size, 64, memory)
}

/// An event queue that the device can have.
pub(super) fn eq(c: &EqContext, memory: &dyn HostMemory) -> Result<(), Error> {
    value("log2 of EQEs", c.log_size.into(), c.log_size <= MAX_LOG_EQ_SIZE, "up to 22")?;
    value("interrupt", c.vector.into(), c.vector < VECTORS, "0 to 31")?;
    ring("EQ ring address", c.buf, (EQE_BYTES as u64) << c.log_size, EQE_BYTES as u64, memory)
}

/// A send ring that the device can have.
pub(super) fn sq(sq: &SqContext, limits: &Limits, memory: &dyn HostMemory) -> Result<(), Error> {
    let max = limits.max_wqe_log;
    value("log2 of WQEBBs", sq.log_size.into(), sq.log_size <= max, "up to the device's max_wqe_log")?;
    ring("send ring address", sq.buf, (WQEBB_BYTES as u64) << sq.log_size, 64, memory)
}

/// A receive ring that the device can have.
pub(super) fn rq(rq: &RqContext, limits: &Limits, memory: &dyn HostMemory) -> Result<(), Error> {
    let (size, stride) = (rq.log_size, rq.log_stride);
    value("log2 of WQEs", size.into(), size <= limits.max_wqe_log, "up to the device's max_wqe_log")?;
    let fits = (4..=limits.max_rq_stride_log).contains(&stride);
    value("RQ stride log", stride.into(), fits, "4 up to the device's max_rq_stride_log")?;
    ring("receive ring address", rq.buf, 1 << (size + stride), 16, memory)
}

/// A ring of `len` bytes is aligned, and mapped at its ends.
fn ring(what: &'static str, addr: u64, len: u64, align: u64, memory: &dyn HostMemory) -> Result<(), Error> {
    value(what, addr, addr % align == 0, "multiples of 64 (send, CQ, EQ) or 16 (receive)")?;
    for at in [addr, addr.wrapping_add(len - 1)] {
        memory.read(at, &mut [0])?;
    }
    Ok(())
}

/// `Ok` if `ok`, else the error that names the value.
pub(super) fn value(what: &'static str, value: u64, ok: bool, permitted: &'static str) -> Result<(), Error> {
    if ok { Ok(()) } else { Err(Error::BadValue { what, value, permitted }) }
}
