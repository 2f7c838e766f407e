//! Access to host memory by keys: for a QP's own requests, and for those of its peer.

use super::Resources;
use crate::context::MkeyContext;
use crate::memory::keys::fault::LocalFault;
use crate::memory::keys::mkey::{
    Accessor, Behind, DUMP_FILL_KEY, KeyFault, MAX_INDIRECTION, MAX_PIECES, Mkey, NULL_KEY, RESERVED_LKEY,
};
use crate::memory::{HostMemory, Need, PageTable, PagedMemory};
use crate::packet::Width;
use crate::wire::loan::Grant;
use crate::wqe::DataSeg;
use std::ops::Range;

/// Where bytes are that a key names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    /// Host memory.
    Host(u64),
    /// Nothing: of the null key, or of the key that dumps and fills.
    Null,
}

/// A walk through indirect keys.
struct Walk<'a> {
    by: Accessor,
    need: Need,
    /// Pieces that it may still have.
    pieces: u32,
    /// Takes each piece of host memory, with its place in the requested bytes.
    take: &'a mut dyn FnMut(Spot, Range<usize>) -> Result<(), KeyFault>,
}

impl Resources {
    /// The memory key with this number, free or not.
    pub(crate) fn find_mkey(&self, key: u32) -> Result<&Mkey, KeyFault> {
        self.mkeys.get(key >> 8).filter(|m| m.key == key).ok_or(KeyFault::NoSuch(key))
    }

    /// Finds the `len` bytes at `addr` by `key`, after all checks of that key. Calls `f` for each piece of host
    /// memory, with its place in the bytes; most keys have one piece.
    pub(super) fn for_spots(
        &self,
        (by, key, need): (Accessor, u32, Need),
        addr: u64,
        len: usize,
        mut f: impl FnMut(Spot, Range<usize>) -> Result<(), KeyFault>,
    ) -> Result<(), KeyFault> {
        if matches!(key, NULL_KEY | DUMP_FILL_KEY) && !need.is_remote() {
            return f(Spot::Null, 0..len);
        }
        if key == RESERVED_LKEY && by.reserved_lkey && !need.is_remote() {
            PagedMemory::check_host_address(addr, len as u64)?;
            return f(Spot::Host(addr), 0..len);
        }
        self.for_spots_of((by, self.find_mkey(key)?, need), addr, len, &mut f)
    }

    /// Visits the spots by `mkey`, whatever signatures it has.
    pub(super) fn for_spots_of(
        &self,
        (by, mkey, need): (Accessor, &Mkey, Need),
        addr: u64,
        len: usize,
        f: &mut dyn FnMut(Spot, Range<usize>) -> Result<(), KeyFault>,
    ) -> Result<(), KeyFault> {
        let offset = mkey.offset(&by, addr, len as u64, need)?;
        match &mkey.behind {
            Behind::Memory => return f(Spot::Host(mkey.context.addr.wrapping_add(offset)), 0..len),
            Behind::Pages(table) => return pages(mkey, table, offset, 0..len, need, f),
            Behind::Pieces(_) => {}
        }
        let mut walk = Walk { by, need: need.of_piece(), pieces: MAX_PIECES, take: f };
        self.walk(&mut walk, mkey, offset, 0..len, 1).map_err(|fault| match fault {
            // The fault names the whole access, and not the piece that exceeded the limit.
            KeyFault::TooManyPieces { .. } => KeyFault::TooManyPieces { key: mkey.key, addr, len: len as u64 },
            fault => fault,
        })
    }

    /// Goes through the pieces of `mkey` from byte `offset` of its region on, for the bytes `part` of an access.
    /// `depth` keys are behind it.
    fn walk(
        &self,
        walk: &mut Walk<'_>,
        mkey: &Mkey,
        offset: u64,
        part: Range<usize>,
        depth: u8,
    ) -> Result<(), KeyFault> {
        let list = match &mkey.behind {
            Behind::Memory => return (walk.take)(Spot::Host(mkey.context.addr.wrapping_add(offset)), part),
            Behind::Pages(table) => return pages(mkey, table, offset, part, walk.need, walk.take),
            Behind::Pieces(list) => list,
        };
        if depth > MAX_INDIRECTION {
            return Err(KeyFault::TooIndirect { key: mkey.key });
        }
        let mut at = part.start;
        while at < part.end {
            let (addr, len) = (offset + (at - part.start) as u64, (part.end - at) as u64);
            let out_of_bounds = mkey.outside(addr, len);
            walk.pieces = walk.pieces.checked_sub(1).ok_or(KeyFault::TooManyPieces { key: mkey.key, addr, len })?;
            let found = list.find(addr).ok_or(out_of_bounds)?;
            let end = at + len.min(found.left) as usize;
            if found.key == NULL_KEY {
                (walk.take)(Spot::Null, at..end)?;
            } else {
                let inner = self.find_mkey(found.key)?;
                if inner.is_formatted() {
                    return Err(KeyFault::Signed(found.key));
                }
                let offset = inner.offset(&walk.by, found.addr, (end - at) as u64, walk.need)?;
                self.walk(walk, inner, offset, at..end, depth + 1)?;
            }
            at = end;
        }
        Ok(())
    }

    /// Reads the bytes at `spot`.
    pub(super) fn read_spot(&self, spot: Spot, out: &mut [u8]) -> Result<(), KeyFault> {
        match spot {
            Spot::Host(at) => Ok(self.memory.read(at, out)?),
            Spot::Null => {
                out.fill(0);
                Ok(())
            }
        }
    }

    /// Writes to `spot`.
    pub(super) fn write_spot(&self, spot: Spot, data: &[u8]) -> Result<(), KeyFault> {
        match spot {
            Spot::Host(at) => Ok(self.memory.write(at, data)?),
            Spot::Null => Ok(()),
        }
    }

    /// Splits the `len` bytes from byte `offset` of `segs` on by segment. Calls `f` for each, with key, address, and
    /// its place in the data.
    fn for_pieces(
        segs: &[DataSeg],
        (offset, len): (u64, usize),
        mut f: impl FnMut(u32, u64, Range<usize>) -> Result<(), KeyFault>,
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
            f(seg.lkey, seg.addr.wrapping_add(skip), done..done + n)?;
            done += n;
            skip = 0;
        }
        if done < len {
            let capacity = segs.iter().map(|s| u64::from(s.len)).sum();
            return Err(LocalFault::TooShort { offset, len: len as u64, capacity });
        }
        Ok(())
    }

    /// Checks that all bytes of `seg` can be accessed.
    ///
    /// # Errors
    /// [`LocalFault`].
    pub(crate) fn check_local(&self, by: Accessor, seg: DataSeg, need: Need) -> Result<(), LocalFault> {
        Ok(self.check_by((by, seg.lkey, need), seg.addr, seg.len.into())?)
    }

    /// Checks that the first `bytes` bytes of `segs` end where data units of keys that encrypt let them.
    ///
    /// # Errors
    /// [`LocalFault`].
    pub(crate) fn check_units(&self, by: Accessor, segs: &[DataSeg], bytes: u64, need: Need) -> Result<(), LocalFault> {
        // Where the device has no key of encryption, an access that would need one fails by itself.
        if self.deks.len() == 0 {
            return Ok(());
        }
        let mut left = bytes;
        for seg in segs {
            let len = left.min(seg.len.into());
            left -= len;
            let encrypts = self.mkeys.get(seg.lkey >> 8).is_some_and(|mkey| mkey.encryption.is_some());
            if len != 0 && encrypts {
                if let Some(formatted) = self.formatted(by, seg.lkey, need)? {
                    formatted.check_units(seg.addr, len)?;
                }
            }
        }
        Ok(())
    }

    /// Fills `out` with what `segs` hold from byte `offset` on.
    ///
    /// # Errors
    /// [`LocalFault`]; `out` is then unspecified.
    pub(crate) fn gather(&self, by: Accessor, segs: &[DataSeg], offset: u64, out: &mut [u8]) -> Result<(), LocalFault> {
        self.check_units(by, segs, u64::MAX, Need::LocalRead)?;
        Self::for_pieces(segs, (offset, out.len()), |key, addr, part| {
            self.read_by((by, key, Need::LocalRead), addr, &mut out[part])
        })
    }

    /// Writes `data` to what `segs` name, from byte `offset` on.
    ///
    /// # Errors
    /// [`LocalFault`]; segments before the faulty one have been written, as a device does.
    pub(crate) fn scatter(&self, by: Accessor, segs: &[DataSeg], offset: u64, data: &[u8]) -> Result<(), LocalFault> {
        Self::for_pieces(segs, (offset, data.len()), |key, addr, part| {
            self.write_by((by, key, Need::LocalWrite), addr, &data[part])
        })
    }

    /// Checks that `rkey` lets a peer do `need` to `len` bytes at `addr`. An access of 0 bytes needs no valid key (IBTA
    /// vol. 1, 9.7.4.1.5).
    ///
    /// This takes the same time for any length: peers may ask for gigabytes in any number of packets. Pages and pieces
    /// of other keys are checked by the accesses to them.
    ///
    /// # Errors
    /// [`KeyFault`].
    pub(crate) fn check_remote(
        &self,
        by: Accessor,
        rkey: u32,
        addr: u64,
        len: u64,
        need: Need,
    ) -> Result<(), KeyFault> {
        if len == 0 && need != Need::RemoteAtomic {
            return Ok(());
        }
        let (addr, len) = self.behind((by, rkey, need), addr, len)?;
        self.find_mkey(rkey)?.offset(&by, addr, len, need).map(drop)
    }

    /// The bytes in the region of `key` for bytes of its user's, after the checks of the key's formats.
    fn behind(&self, access: (Accessor, u32, Need), addr: u64, len: u64) -> Result<(u64, u64), KeyFault> {
        let (by, key, need) = access;
        match self.formatted(by, key, need)? {
            Some(formatted) => formatted.behind(addr, len),
            None => Ok((addr, len)),
        }
    }

    /// Checks that all bytes can be accessed, piece by piece.
    pub(super) fn check_by(&self, (by, key, need): (Accessor, u32, Need), addr: u64, len: u64) -> Result<(), KeyFault> {
        // A message is shorter than the address space of any host that has a device.
        let (addr, len) = self.behind((by, key, need), addr, len)?;
        let len = usize::try_from(len).map_err(|_| KeyFault::TooManyPieces { key, addr, len })?;
        self.for_spots((by, key, need), addr, len, |_, _| Ok(()))
    }

    /// The memory of this process behind a key, and what the key lets a peer do to it. `None` if the region is not a
    /// row of such memory that stays as it is: the key has formats, is in pieces or pages, or UMR may change it.
    pub(crate) fn grant(&self, by: Accessor, key: u32) -> Option<Grant> {
        let mkey = self.find_mkey(key).ok()?;
        let is_plain = matches!(mkey.behind, Behind::Memory) && !mkey.is_formatted();
        if !is_plain || mkey.free || mkey.umr_octwords.is_some() || mkey.check_user(&by).is_err() {
            return None;
        }
        let MkeyContext { iova, addr, len, access, .. } = mkey.context;
        let bytes = usize::try_from(len).ok().filter(|_| PagedMemory::check_host_address(addr, len).is_ok())?;
        let (reads, writes) = (access.remote_read, access.remote_write);
        self.memory.host().is_of_process(addr, bytes, writes).then_some(())?;
        Some(Grant { key, reads, writes, start: iova, len, address: addr })
    }

    /// Appends the places in this process of everything that `segs` hold: addresses and lengths. `None` if not all of it
    /// is memory of this process that may be accessed so.
    pub(crate) fn places_in_process(
        &self,
        by: Accessor,
        segs: &[DataSeg],
        need: Need,
        places: &mut Vec<(u64, usize)>,
    ) -> Option<()> {
        for seg in segs {
            let key = (by, seg.lkey, need);
            if self.formatted(by, seg.lkey, need).ok()?.is_some() {
                return None;
            }
            let mut are_here = true;
            let found = self.for_spots(key, seg.addr, seg.len as usize, |spot, part| {
                match spot {
                    Spot::Host(at) => {
                        let write = need == Need::LocalWrite;
                        are_here &= self.memory.host().is_of_process(at, part.len(), write);
                        places.push((at, part.len()));
                    }
                    Spot::Null => are_here = false,
                }
                Ok(())
            });
            found.ok().filter(|()| are_here)?;
        }
        Some(())
    }

    /// Reads for a peer.
    ///
    /// # Errors
    /// [`KeyFault`]; `out` is then unspecified.
    pub(crate) fn remote_read(&self, by: Accessor, rkey: u32, addr: u64, out: &mut [u8]) -> Result<(), KeyFault> {
        if out.is_empty() {
            return Ok(());
        }
        self.read_by((by, rkey, Need::RemoteRead), addr, out)
    }

    /// Writes for a peer.
    ///
    /// # Errors
    /// [`KeyFault`]; nothing is written then, unless it is a [`KeyFault::Dma`] of one of several pieces.
    pub(crate) fn remote_write(&self, by: Accessor, rkey: u32, addr: u64, data: &[u8]) -> Result<(), KeyFault> {
        if data.is_empty() {
            return Ok(());
        }
        let access = (by, rkey, Need::RemoteWrite);
        if self.formatted(access.0, rkey, Need::RemoteWrite)?.is_some() {
            return self.write_by(access, addr, data);
        }
        // All pieces are found before any is written.
        let mut pieces = 0;
        let mut first = None;
        self.for_spots(access, addr, data.len(), |spot, _| {
            pieces += 1;
            first = Some(spot);
            Ok(())
        })?;
        match first {
            Some(spot) if pieces == 1 => self.write_spot(spot, data),
            _ => self.for_spots(access, addr, data.len(), |spot, part| self.write_spot(spot, &data[part])),
        }
    }

    /// Replaces the word of 4, 8 or 16 bytes at an address for a peer by `f` of it. Returns the old one. Both are
    /// numbers in host byte order; of a smaller word `f`'s high bits are lost.
    ///
    /// # Errors
    /// [`KeyFault`]; nothing is written then.
    pub(crate) fn remote_atomic(
        &self,
        by: Accessor,
        rkey: u32,
        (addr, width): (u64, Width),
        f: &mut dyn FnMut(u128) -> u128,
    ) -> Result<u128, KeyFault> {
        let mut whole = None;
        let bytes = usize::from(width.bytes());
        self.formatted(by, rkey, Need::RemoteAtomic)?;
        self.for_spots((by, rkey, Need::RemoteAtomic), addr, bytes, |spot, part| {
            if part == (0..bytes) {
                whole = Some(spot);
            }
            Ok(())
        })?;
        match whole {
            Some(Spot::Host(at)) if addr % (bytes as u64) == 0 && at % (bytes as u64) == 0 => match width {
                Width::Sixteen => Ok(self.memory.fetch_update_u128(at, f)?),
                Width::Eight => Ok(self.memory.fetch_update_u64(at, &mut |old| f(old.into()) as u64)?.into()),
                Width::Four => Ok(self.memory.fetch_update_u32(at, &mut |old| f(old.into()) as u32)?.into()),
            },
            Some(Spot::Null) if addr % (bytes as u64) == 0 => Ok(0),
            // Misaligned, or not in one piece.
            _ => Err(KeyFault::Misaligned(addr)),
        }
    }

    /// Invalidates `rkey`, as SEND with invalidate asks (IBTA vol. 1, 9.4.1.1). The key stays allocated until it is
    /// destroyed, but is free: it gives access to no memory.
    ///
    /// # Errors
    /// [`KeyFault`] if there is no such key in the protection domain, it is bound to another QP, or peers may not
    /// invalidate it.
    pub(crate) fn invalidate(&mut self, by: Accessor, rkey: u32) -> Result<(), KeyFault> {
        let mkey = self.mkeys.get_mut(rkey >> 8).filter(|m| m.key == rkey).ok_or(KeyFault::NoSuch(rkey))?;
        mkey.check_user(&by)?;
        if !mkey.remote_invalidate {
            return Err(KeyFault::NotInvalidated(rkey));
        }
        mkey.free = true;
        // A window of type 2 belongs to a QP only while it is bound.
        mkey.qpn = None;
        Ok(())
    }
}

/// Calls `f` for each row of pages behind the bytes from `offset` of a key's region on, which are the bytes `part` of
/// an access.
fn pages(
    mkey: &Mkey,
    table: &PageTable,
    offset: u64,
    part: Range<usize>,
    need: Need,
    f: &mut dyn FnMut(Spot, Range<usize>) -> Result<(), KeyFault>,
) -> Result<(), KeyFault> {
    let iova = mkey.context.iova;
    // The region begins where its first address says in the first page.
    let start = iova % (1 << (table.log_bytes() & 63));
    let mut at = part.start;
    while at < part.end {
        let done = offset.wrapping_add((at - part.start) as u64);
        let place = start.checked_add(done);
        let found = place.and_then(|place| table.find(place, (part.end - at) as u64, need));
        let (host, len) = found.ok_or(KeyFault::NoPage { key: mkey.key, addr: iova.wrapping_add(done), need })?;
        PagedMemory::check_host_address(host, len)?;
        let end = at + len as usize;
        f(Spot::Host(host), at..end)?;
        at = end;
    }
    Ok(())
}
