//! Data on its way through a key whose blocks have signatures. The signatures of the side where the data comes from
//! are checked and taken out; those of the side where it goes are made.
//!
//! Addresses by the key count bytes of the wire, as Linux' and SPDK's requests do. Each packet reads its data again,
//! so that packets can be sent again. Data is written at once, and blocks are kept until they are whole. Writes must
//! come in order, from the beginning of a block on.

use super::signature::{Domain, Signature, SignatureFormat, byte_mask};
use std::cell::RefCell;

/// The memory behind a key, by offset.
pub(crate) trait KeyMemory {
    /// Why it cannot be reached.
    type Fault;
    /// Its bytes.
    fn bytes(&self) -> u64;
    /// Reads.
    fn read(&self, at: u64, out: &mut [u8]) -> Result<(), Self::Fault>;
    /// Writes.
    fn write(&self, at: u64, data: &[u8]) -> Result<(), Self::Fault>;
    /// Why nothing is there.
    fn outside(&self, at: u64, len: u64) -> Self::Fault;
}

/// A signature that is not that of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mismatch {
    /// The side.
    pub(crate) in_memory: bool,
    /// The signature that is there.
    pub(crate) found: u64,
    /// The signature that was made of the data.
    pub(crate) made: u64,
    /// `MLX5_SIGERR_CQE_SYNDROME_*`.
    pub(crate) syndrome: u16,
    /// Where the block begins, in bytes of this side.
    pub(crate) offset: u64,
}

/// Syndromes of mismatches (rdma-core `providers/mlx5/verbs.c`, `MLX5_SIGERR_CQE_SYNDROME_*`).
const BAD_REF_TAG: u16 = 1 << 11;
const BAD_APP_TAG: u16 = 1 << 12;
const BAD_GUARD: u16 = 1 << 13;

/// Offsets from here on belong to no key: formats count 32 bits of bytes.
const END: u64 = 1 << 33;

/// Signatures of a key, and the block that is arriving.
#[derive(Clone, Debug)]
pub(crate) struct Signed {
    pub(crate) format: SignatureFormat,
    arriving: RefCell<Arriving>,
}

/// The arrived part of blocks that are not whole.
#[derive(Clone, Debug, Default)]
struct Arriving {
    /// Required address of the next write, by the key.
    next: u64,
    /// Data of the wire's block, and its signature.
    wire: Vec<u8>,
    signature: Vec<u8>,
    /// Data of the block in memory.
    memory: Vec<u8>,
    /// The signature of a block in memory, which waits for the bytes copied from the wire; and its place.
    made: Option<(u64, u64)>,
}

/// Tells of a mismatch.
type Tell<'a> = &'a mut dyn FnMut(Mismatch);

impl Signed {
    pub(crate) fn new(format: SignatureFormat) -> Self {
        Self { format, arriving: RefCell::default() }
    }

    /// The sides that the format has.
    pub(crate) fn domains(&self) -> impl Iterator<Item = Domain> {
        [self.format.memory, self.format.wire].into_iter().flatten()
    }

    /// The bytes of memory behind `len` bytes from address `at` on: the first, and the one after the last.
    pub(crate) fn range<M: KeyMemory>(&self, memory: &M, at: u64, len: u64) -> Result<(u64, u64), M::Fault> {
        let end = at.checked_add(len).filter(|&end| end < END).ok_or_else(|| memory.outside(at, len))?;
        let raw = |at: u64| match self.format.wire {
            Some(wire) => at / wire.stride() * u64::from(wire.block) + (at % wire.stride()).min(wire.block.into()),
            None => at,
        };
        let place = |raw: u64| match self.format.memory {
            Some(own) => raw / u64::from(own.block) * own.stride() + raw % u64::from(own.block),
            None => raw,
        };
        Ok((place(raw(at)), place(raw(end))))
    }

    /// Reads the bytes that go to the wire, from address `at` on.
    pub(crate) fn read<M: KeyMemory>(
        &self,
        memory: &M,
        at: u64,
        out: &mut [u8],
        tell: Tell<'_>,
    ) -> Result<(), M::Fault> {
        self.range(memory, at, out.len() as u64)?;
        let Some(wire) = self.format.wire else { return self.read_raw(memory, at, out, tell).map(drop) };
        let block_bytes = u64::from(wire.block);
        let mut done = 0;
        while done < out.len() {
            let (block, within) = split(at + done as u64, wire.stride());
            let rest = &mut out[done..];
            if within < block_bytes {
                let here = rest.len().min((block_bytes - within) as usize);
                self.read_raw(memory, block * block_bytes + within, &mut rest[..here], tell)?;
                done += here;
                continue;
            }
            let mut data = vec![0; wire.block as usize];
            let found = self.read_raw(memory, block * block_bytes, &mut data, tell)?;
            let copied = byte_mask(self.format.copy);
            let signature = wire.signature.write(wire.of(block, &data) & !copied | found & copied);
            let left = &signature[(within - block_bytes) as usize..wire.signature.bytes() as usize];
            let here = rest.len().min(left.len());
            rest[..here].copy_from_slice(&left[..here]);
            done += here;
        }
        Ok(())
    }

    /// Data without signatures, from byte `at` on, and the signature of the last block.
    fn read_raw<M: KeyMemory>(&self, memory: &M, at: u64, out: &mut [u8], tell: Tell<'_>) -> Result<u64, M::Fault> {
        let Some(own) = self.format.memory else { return memory.read(at, out).map(|()| 0) };
        let mut found = 0;
        let mut done = 0;
        while done < out.len() {
            let (block, within) = split(at + done as u64, own.block.into());
            let start = block * own.stride();
            let rest = &mut out[done..];
            let here = rest.len().min((u64::from(own.block) - within) as usize);
            if start + own.stride() > memory.bytes() {
                // The last block is not whole, and has no signature.
                memory.read(start + within, &mut rest[..here])?;
            } else {
                let mut whole = vec![0; own.stride() as usize];
                memory.read(start, &mut whole)?;
                let (data, signature) = whole.split_at(own.block as usize);
                found = own.signature.read(signature);
                self.check(&own, (block, found, data), true, tell);
                rest[..here].copy_from_slice(&data[within as usize..][..here]);
            }
            done += here;
        }
        Ok(found)
    }

    /// Writes bytes from the wire to address `at`.
    pub(crate) fn write<M: KeyMemory>(&self, memory: &M, at: u64, data: &[u8], tell: Tell<'_>) -> Result<(), M::Fault> {
        self.range(memory, at, data.len() as u64)?;
        let mut arriving = self.arriving.borrow_mut();
        let mut taken = if arriving.next == at { std::mem::take(&mut *arriving) } else { Arriving::default() };
        if taken.next != at && !self.begins(at) {
            return Err(memory.outside(at, data.len() as u64));
        }
        self.take(&mut taken, memory, at, data, tell)?;
        taken.next = at + data.len() as u64;
        *arriving = taken;
        Ok(())
    }

    /// Whether blocks of both sides begin at this address.
    fn begins(&self, at: u64) -> bool {
        let (raw, at_block) = match self.format.wire {
            Some(wire) => (at / wire.stride() * u64::from(wire.block), at % wire.stride() == 0),
            None => (at, true),
        };
        at_block && self.format.memory.is_none_or(|own| raw % u64::from(own.block) == 0)
    }

    fn take<M: KeyMemory>(
        &self,
        arriving: &mut Arriving,
        memory: &M,
        at: u64,
        data: &[u8],
        tell: Tell<'_>,
    ) -> Result<(), M::Fault> {
        let Some(wire) = self.format.wire else { return self.write_raw(arriving, memory, at, data) };
        let block_bytes = u64::from(wire.block);
        let mut done = 0;
        while done < data.len() {
            let (block, within) = split(at + done as u64, wire.stride());
            let rest = &data[done..];
            if within < block_bytes {
                let here = rest.len().min((block_bytes - within) as usize);
                arriving.wire.extend_from_slice(&rest[..here]);
                self.write_raw(arriving, memory, block * block_bytes + within, &rest[..here])?;
                done += here;
                continue;
            }
            let here = rest.len().min((wire.stride() - within) as usize);
            arriving.signature.extend_from_slice(&rest[..here]);
            done += here;
            if within + here as u64 == wire.stride() {
                let found = wire.signature.read(&arriving.signature);
                self.check(&wire, (block, found, &arriving.wire), false, tell);
                arriving.wire.clear();
                arriving.signature.clear();
                if let Some((place, made)) = arriving.made.take() {
                    let copied = byte_mask(self.format.copy);
                    put(memory, place, wire.signature, made & !copied | found & copied)?;
                }
            }
        }
        Ok(())
    }

    /// Writes data without signatures from byte `at` on, and signatures behind whole blocks.
    fn write_raw<M: KeyMemory>(
        &self,
        arriving: &mut Arriving,
        memory: &M,
        at: u64,
        data: &[u8],
    ) -> Result<(), M::Fault> {
        let Some(own) = self.format.memory else { return memory.write(at, data) };
        let mut done = 0;
        while done < data.len() {
            let (block, within) = split(at + done as u64, own.block.into());
            let start = block * own.stride();
            let here = (data.len() - done).min((u64::from(own.block) - within) as usize);
            let part = &data[done..done + here];
            memory.write(start + within, part)?;
            arriving.memory.extend_from_slice(part);
            done += here;
            if within + here as u64 == u64::from(own.block) {
                let made = own.of(block, &arriving.memory);
                arriving.memory.clear();
                let place = start + u64::from(own.block);
                if self.format.copy == 0 {
                    put(memory, place, own.signature, made)?;
                } else {
                    arriving.made = Some((place, made));
                }
            }
        }
        Ok(())
    }

    /// Compares a block's signature with the right one.
    fn check(&self, domain: &Domain, (block, found, data): (u64, u64, &[u8]), in_memory: bool, tell: Tell<'_>) {
        let made = domain.of(block, data);
        let difference = domain.difference(found, made, self.format.check);
        if difference == 0 {
            return;
        }
        let has = |bits: u64, syndrome: u16| if difference & bits != 0 { syndrome } else { 0 };
        let syndrome = match domain.signature {
            Signature::Dif { .. } => {
                has(0xffff << 48, BAD_GUARD) | has(0xffff << 32, BAD_APP_TAG) | has(0xffff_ffff, BAD_REF_TAG)
            }
            Signature::Crc(_) => BAD_GUARD,
        };
        tell(Mismatch { in_memory, found, made, syndrome, offset: block * domain.stride() });
    }
}

/// The number of the block of `bytes` bytes, and the place in it.
fn split(at: u64, bytes: u64) -> (u64, u64) {
    (at / bytes, at % bytes)
}

fn put<M: KeyMemory>(memory: &M, at: u64, signature: Signature, number: u64) -> Result<(), M::Fault> {
    memory.write(at, &signature.write(number)[..signature.bytes() as usize])
}
