//! Creating queues: their rings, doorbell records and registers, as a driver lays them out.

use super::device::{EmbeddedDevice, Register};
use super::memory::Allocation;
use super::parts::{CqOptions, CqParts, QpOptions, QpParts, RecvOptions, RegisterOptions, Ring, SrqParts};
use crate::context::{CqContext, QpContext, ReceiveSource, RqContext, SqContext, SrqContext};
use crate::cq::INVALID_OP_OWN;
use crate::device::Device;
use crate::error::{Error, Object};
use crate::memory::page_bytes;
use crate::uar::{BLUEFLAME_HALF_BYTES, BLUEFLAME_OFFSET, RECORDLESS_DOORBELL};
use crate::wqe::{DATA_SEG_BYTES, WQEBB_BYTES};
use std::ptr::NonNull;
use std::sync::Arc;

/// Bytes of a doorbell record: a cache line, of which two words are used.
const RECORD_BYTES: usize = 64;

impl EmbeddedDevice {
    /// Creates a CQ.
    ///
    /// # Errors
    /// [`Error::BadValue`] for an invalid size; [`Error::Exhausted`].
    pub fn create_cq(&mut self, options: CqOptions) -> Result<CqParts, Error> {
        let CqOptions { cqe_bytes, ignore_overrun, compression, .. } = options;
        let log_size = log2("CQEs", options.cqes, self.device.config().limits.max_cqe_log)?;
        let len = (cqe_bytes as usize) << log_size;
        let ring = self.ring(len, page_bytes())?;
        for end in (1..=1 << log_size).map(|i| i * cqe_bytes as usize) {
            ring.write(end - 1, &[INVALID_OP_OWN]);
        }
        let dbrec = self.ring(RECORD_BYTES, RECORD_BYTES)?;
        // Each CQ has a page of its own, because the arm register keeps only the last store.
        let uar = self.device.alloc_uar()?;
        let cqn = self.device.create_cq(CqContext {
            cqe_bytes,
            ignore_overrun,
            compression,
            ..CqContext::new(ring.addr(), log_size, dbrec.addr(), uar)
        })?;
        let cq_uar = self.uar_addr(uar)?;
        Ok(CqParts {
            cqn,
            buf: ring.ptr(),
            cqe_cnt: 1 << log_size,
            cqe_size: cqe_bytes,
            dbrec: dbrec.ptr().cast(),
            cq_uar,
        })
    }

    /// Creates an SRQ of `wqes` WQEs (rounded up to a power of two; one of them is never posted) with up to `max_sge`
    /// data segments each.
    ///
    /// # Errors
    /// [`Error::BadValue`] for invalid sizes; [`Error::Exhausted`].
    pub fn create_srq(&mut self, wqes: u32, max_sge: u32) -> Result<SrqParts, Error> {
        self.srq(wqes, max_sge, |device, context| device.create_srq(context))
    }

    /// An SRQ's ring and record, and the SRQ that `create` makes of them.
    pub(super) fn srq(
        &mut self,
        wqes: u32,
        max_sge: u32,
        create: impl FnOnce(&mut Device, SrqContext) -> Result<u32, Error>,
    ) -> Result<SrqParts, Error> {
        let (ring, rq) = self.receive_ring(wqes, max_sge, DATA_SEG_BYTES)?;
        for i in 0..rq.wqe_cnt {
            let next = ((i + 1) & (rq.wqe_cnt - 1)) as u16;
            ring.write((i * rq.stride) as usize + 2, &next.to_be_bytes());
        }
        let dbrec = self.ring(RECORD_BYTES, RECORD_BYTES)?;
        let context = SrqContext { pd: self.pd, rq: rq_context(&rq), dbr: dbrec.addr(), ..SrqContext::default() };
        let srqn = create(&mut self.device, context)?;
        Ok(SrqParts { srqn, ring: rq, head: 0, tail: rq.wqe_cnt - 1, dbrec: dbrec.ptr().cast() })
    }

    /// Creates a QP in the reset state.
    ///
    /// # Errors
    /// [`Error::NoSuch`] for CQs, SRQs or QPs named in the options; [`Error::BadValue`] for invalid sizes;
    /// [`Error::Exhausted`].
    pub fn create_qp(&mut self, o: QpOptions) -> Result<QpParts, Error> {
        let log_size = log2("WQEBBs", o.sq_wqebbs, self.device.config().limits.max_wqe_log)?;
        let sq_buf = self.ring(WQEBB_BYTES << log_size, page_bytes())?;
        let sq = Ring { buf: sq_buf.ptr(), wqe_cnt: 1 << log_size, stride: WQEBB_BYTES as u32 };
        let (rq, source) = match o.recv {
            RecvOptions::None => (None, ReceiveSource::None),
            RecvOptions::Shared(srqn) => (None, ReceiveSource::Shared { srqn }),
            RecvOptions::Own { wqes, max_sge } => {
                let header = if o.signed { DATA_SEG_BYTES } else { 0 };
                let (_, rq) = self.receive_ring(wqes, max_sge, header)?;
                (Some(rq), ReceiveSource::Own(rq_context(&rq)))
            }
        };
        let dbrec = self.ring(RECORD_BYTES, RECORD_BYTES)?;
        let register = match o.register {
            RegisterOptions::Own => Register { uar: self.device.alloc_uar()?, size: BLUEFLAME_HALF_BYTES as u32 },
            RegisterOptions::OwnWithoutBlueFlame => {
                let uar = self.device.alloc_uar()?;
                self.device.set_non_cached(uar)?;
                Register { uar, size: 0 }
            }
            RegisterOptions::SharedWith(qpn) => {
                *self.registers.get(&qpn).ok_or(Error::NoSuch { object: Object::Qp, number: qpn })?
            }
            RegisterOptions::Recordless => Register { uar: self.device.alloc_uar()?, size: 0 },
        };
        let is_recordless = o.register == RegisterOptions::Recordless;
        let qpn = self.device.create_qp(QpContext {
            pd: self.pd,
            send_cqn: o.send_cqn,
            recv_cqn: o.recv_cqn,
            sq: Some(SqContext {
                buf: sq_buf.addr(),
                log_size,
                inline_headers: o.inline_headers,
                multi_packet: true,
                software_parser: true,
                is_recordless,
            }),
            rq: source,
            dbr: dbrec.addr(),
            uar: register.uar,
            uidx: o.uidx,
            signal_all: o.signal_all,
            scatter_to_cqe_req: o.scatter_to_cqe_req,
            scatter_to_cqe_res: o.scatter_to_cqe_res,
            signed: o.signed,
            ..QpContext::new(o.transport)
        })?;
        self.registers.insert(qpn, register);
        let page = self.uar_addr(register.uar)?;
        // SAFETY: the register lies inside of the page's mapping.
        let bf_reg = unsafe { page.add(if is_recordless { RECORDLESS_DOORBELL } else { BLUEFLAME_OFFSET }) };
        Ok(QpParts { qpn, sq, rq, dbrec: dbrec.ptr().cast(), bf_reg, bf_size: register.size, uar: register.uar })
    }

    /// Memory for a ring or a record, mapped and kept.
    fn ring(&mut self, len: usize, align: usize) -> Result<Arc<Allocation>, Error> {
        let memory = Arc::new(Allocation::new(len, align));
        // SAFETY: the allocation is kept in `rings` until the device is gone.
        unsafe { self.device.memory().map(memory.addr(), memory.len()) }?;
        self.rings.push(Arc::clone(&memory));
        Ok(memory)
    }

    /// A receive ring whose WQEs begin with `header` bytes.
    fn receive_ring(&mut self, wqes: u32, max_sge: u32, header: usize) -> Result<(Arc<Allocation>, Ring), Error> {
        let limits = self.device.config().limits;
        let log_size = log2("receive WQEs", wqes, limits.max_wqe_log)?;
        let stride = (header as u64 + u64::from(max_sge.max(1)) * DATA_SEG_BYTES as u64).next_power_of_two();
        if stride > 1 << limits.max_rq_stride_log {
            let permitted = "what the device's max_rq_stride_log leaves";
            return Err(Error::BadValue { what: "receive segments", value: max_sge.into(), permitted });
        }
        let memory = self.ring((stride as usize) << log_size, page_bytes())?;
        let ring = Ring { buf: memory.ptr(), wqe_cnt: 1 << log_size, stride: stride as u32 };
        Ok((memory, ring))
    }

    fn uar_addr(&self, uar: u32) -> Result<NonNull<u8>, Error> {
        self.device.uar(uar).map(crate::uar::Uar::addr).ok_or(Error::NoSuch { object: Object::Uar, number: uar })
    }
}

/// log2 of a ring's size, rounded up, if the device has rings as large.
fn log2(what: &'static str, entries: u32, max: u8) -> Result<u8, Error> {
    let log = entries.max(1).checked_next_power_of_two().map_or(32, u32::trailing_zeros) as u8;
    if log > max {
        let permitted = "up to the device's limit for this ring";
        return Err(Error::BadValue { what, value: entries.into(), permitted });
    }
    Ok(log)
}

fn rq_context(ring: &Ring) -> RqContext {
    RqContext {
        buf: ring.buf.as_ptr().expose_provenance() as u64,
        log_size: ring.wqe_cnt.trailing_zeros() as u8,
        log_stride: ring.stride.trailing_zeros() as u8,
    }
}
