//! Access to host memory by keys: for a QP's own requests, and for those of its peer.

use super::Resources;
use crate::context::{Access, QpContext, ReceiveSource};
use crate::memory::HostMemory;
use crate::memory::mkey::{KeyFault, Need};
use crate::wqe::DataSeg;
use thiserror::Error;

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

impl Resources {
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
}
