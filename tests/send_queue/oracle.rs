//! libmlx5's bytes, computed the slow way: bytes appended to a vector, numbers instead of the crate's types.

use proptest::prelude::*;

use blueflame::db::Register;
use blueflame::queue::{PostError, SendBatch, SendQueue};
use blueflame::transport;
use blueflame::types::{Lkey, Rkey, WrId};
use blueflame::wqe::data::{self, ToCarry};
use blueflame::wqe::{self, Fence, Remote, Request, Sge, SupportedOn};

use crate::rig::QPN;

/// A request as data.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) op: Op,
    pub(crate) data: Data,
    pub(crate) signaled: bool,
    pub(crate) solicited: bool,
    pub(crate) fence: bool,
    pub(crate) wr_id: u64,
    /// Whether array forms are used where there is one for the length.
    pub(crate) arrays: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Nop,
    Send,
    SendImm(u32),
    SendInval(u32),
    Write(u64, u32),
    WriteImm(u64, u32, u32),
    Read(u64, u32),
    CompareSwap(u64, u32, u64, u64),
    FetchAdd(u64, u32, u64),
}

#[derive(Clone, Debug)]
pub(crate) enum Data {
    None,
    Sges(Vec<(u64, u32, u32)>),
    Inline(Vec<u8>),
}

/// A request with data that its operation can have.
pub(crate) fn case() -> impl Strategy<Value = Case> {
    let op = prop_oneof![
        Just(Op::Nop),
        Just(Op::Send),
        any::<u32>().prop_map(Op::SendImm),
        any::<u32>().prop_map(Op::SendInval),
        any::<(u64, u32)>().prop_map(|(a, k)| Op::Write(a, k)),
        any::<(u64, u32, u32)>().prop_map(|(a, k, i)| Op::WriteImm(a, k, i)),
        any::<(u64, u32)>().prop_map(|(a, k)| Op::Read(a, k)),
        any::<(u64, u32, u64, u64)>().prop_map(|(a, k, c, s)| Op::CompareSwap(a, k, c, s)),
        any::<(u64, u32, u64)>().prop_map(|(a, k, v)| Op::FetchAdd(a, k, v)),
    ];
    let bytes = prop_oneof![Just(0_u32), 1..5000_u32, Just(0x7fff_ffff), Just(0x8000_0000), any::<u32>()];
    let sges = prop::collection::vec((any::<u64>(), bytes, any::<u32>()), 0..34);
    let few = prop::collection::vec((any::<u64>(), 0..3_u32, any::<u32>()), 0..5);
    let inline = prop::collection::vec(any::<u8>(), 0..530);
    let short = prop::collection::vec(any::<u8>(), 0..50);
    let data = prop_oneof![
        Just(Data::None),
        sges.prop_map(Data::Sges),
        few.prop_map(Data::Sges),
        inline.prop_map(Data::Inline),
        short.prop_map(Data::Inline),
    ];
    let flags = any::<(bool, bool, bool, bool)>();
    (op, data, flags, any::<u64>()).prop_map(|(op, data, (signaled, solicited, fence, arrays), wr_id)| {
        let data = match (op, data) {
            (Op::Nop, _) | (Op::Read(..), Data::Inline(_)) => Data::None,
            (Op::CompareSwap(..) | Op::FetchAdd(..), Data::Sges(sges)) if !sges.is_empty() => {
                Data::Sges(sges.into_iter().take(1).map(|(addr, _, lkey)| (addr, 8, lkey)).collect())
            }
            (Op::CompareSwap(..) | Op::FetchAdd(..), _) => Data::None,
            (_, data) => data,
        };
        Case { op, data, signaled, solicited, fence, wr_id, arrays }
    })
}

impl Case {
    /// Whether it is inline. An array of no bytes makes it a message without data, which is not.
    pub(crate) fn is_inline(&self) -> bool {
        matches!(&self.data, Data::Inline(bytes) if !(self.arrays && bytes.is_empty()))
    }

    /// The WQE's bytes if it starts at WQEBB `pi` and the queue signals all or not. `None` is for places where the ring
    /// keeps its old bytes. There are none: padding and the compare word of fetch-and-add are zero, as the crate
    /// documents.
    pub(crate) fn wqe(&self, pi: u16, signal_all: bool) -> Vec<u8> {
        let (opcode, imm) = match self.op {
            Op::Nop => (0x00, 0),
            Op::SendInval(key) => (0x01, key),
            Op::Write(..) => (0x08, 0),
            Op::WriteImm(_, _, imm) => (0x09, imm),
            Op::Send => (0x0a, 0),
            Op::SendImm(imm) => (0x0b, imm),
            Op::Read(..) => (0x10, 0),
            Op::CompareSwap(..) => (0x11, 0),
            Op::FetchAdd(..) => (0x12, 0),
        };
        let mut body = Vec::new();
        if let Op::Write(addr, key)
        | Op::WriteImm(addr, key, _)
        | Op::Read(addr, key)
        | Op::CompareSwap(addr, key, ..)
        | Op::FetchAdd(addr, key, _) = self.op
        {
            body.extend(addr.to_be_bytes());
            body.extend(key.to_be_bytes());
            body.extend([0; 4]);
        }
        match self.op {
            Op::CompareSwap(_, _, compare, swap) => {
                body.extend(swap.to_be_bytes());
                body.extend(compare.to_be_bytes());
            }
            Op::FetchAdd(_, _, add) => {
                body.extend(add.to_be_bytes());
                body.extend([0; 8]);
            }
            _ => {}
        }
        match &self.data {
            Data::None => {}
            Data::Sges(sges) => {
                for (addr, bytes, lkey) in sges.iter().filter(|(_, bytes, _)| *bytes != 0) {
                    body.extend(bytes.to_be_bytes());
                    body.extend(lkey.to_be_bytes());
                    body.extend(addr.to_be_bytes());
                }
            }
            Data::Inline(data) if data.is_empty() => {}
            Data::Inline(data) => {
                body.extend((data.len() as u32 | 1 << 31).to_be_bytes());
                body.extend(data);
                body.resize(body.len().next_multiple_of(16), 0);
            }
        }
        let ds = 1 + body.len() / 16;
        let fm_ce_se = if self.signaled || signal_all { 0x08 } else { 0 }
            | if self.solicited { 0x02 } else { 0 }
            | if self.fence { 0x80 } else { 0 };
        let mut wqe = Vec::new();
        wqe.extend([0, (pi >> 8) as u8, pi as u8, opcode]);
        wqe.extend((QPN << 8 | ds as u32).to_be_bytes());
        wqe.extend([0, 0, 0, fm_ce_se]);
        wqe.extend(u32::to_be_bytes(imm));
        wqe.extend(body);
        wqe
    }

    /// Posts the request by the crate's API, the array forms included.
    pub(crate) fn submit(&self, to: &mut impl Submit) -> Result<(), PostError> {
        let remote = |addr, key| Remote { addr, rkey: Rkey(key) };
        match self.op {
            Op::Nop => self.flags(wqe::nop(), to),
            Op::Send => self.carry(wqe::send(), to),
            Op::SendImm(imm) => self.carry(wqe::send().imm(imm), to),
            Op::SendInval(key) => self.carry(wqe::send().invalidate(Rkey(key)), to),
            Op::Write(addr, key) => self.carry(wqe::write(remote(addr, key)), to),
            Op::WriteImm(addr, key, imm) => self.carry(wqe::write(remote(addr, key)).imm(imm), to),
            Op::Read(addr, key) => {
                let read = wqe::read(remote(addr, key));
                match self.sges() {
                    None => self.flags(read, to),
                    Some(sges) => match <[Sge; 1]>::try_from(&*sges) {
                        Ok(array) if self.arrays => self.flags(read.scatter(array), to),
                        _ => self.flags(read.scatter_slice(&sges), to),
                    },
                }
            }
            Op::CompareSwap(addr, key, compare, swap) => {
                let cas = wqe::compare_swap(remote(addr, key), compare, swap);
                match self.sges().as_deref() {
                    Some([sge]) => self.flags(cas.result(sge.addr, sge.lkey), to),
                    _ => self.flags(cas, to),
                }
            }
            Op::FetchAdd(addr, key, add) => {
                let fetch_add = wqe::fetch_add(remote(addr, key), add);
                match self.sges().as_deref() {
                    Some([sge]) => self.flags(fetch_add.result(sge.addr, sge.lkey), to),
                    _ => self.flags(fetch_add, to),
                }
            }
        }
    }

    fn sges(&self) -> Option<Vec<Sge>> {
        let Data::Sges(sges) = &self.data else { return None };
        Some(sges.iter().map(|&(addr, bytes, lkey)| Sge { addr, length: bytes, lkey: Lkey(lkey) }).collect())
    }

    fn carry<O: SupportedOn<transport::Rc>>(
        &self,
        request: Request<'_, O, ToCarry>,
        to: &mut impl Submit,
    ) -> Result<(), PostError> {
        /// Tries the array forms of the lengths given, then falls back to the slice.
        macro_rules! by_length {
            ($method:ident, $by_slice:ident, $slice:expr, $item:ty, as_ref: [$($n:literal)*]) => {{
                let slice: &[$item] = $slice;
                $(if let (true, Ok(array)) = (self.arrays, <&[$item; $n]>::try_from(slice)) {
                    return self.flags(request.$method(array), to);
                })*
                self.flags(request.$by_slice(slice), to)
            }};
            ($method:ident, $by_slice:ident, $slice:expr, $item:ty, by_value: [$($n:literal)*]) => {{
                let slice: &[$item] = $slice;
                $(if let (true, Ok(array)) = (self.arrays, <[$item; $n]>::try_from(slice)) {
                    return self.flags(request.$method(array), to);
                })*
                self.flags(request.$by_slice(slice), to)
            }};
        }
        match &self.data {
            Data::None => self.flags(request, to),
            Data::Sges(_) => {
                by_length!(gather, gather_slice, &self.sges().unwrap_or_default(), Sge, by_value: [0 1 2 3 4 5])
            }
            Data::Inline(data) => by_length!(inline, inline_slice, data, u8, as_ref: [
                0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 20 23 24 27 28 29 30 31 32 40 43 44 45 48
            ]),
        }
    }

    fn flags<O: SupportedOn<transport::Rc>, D: data::Data>(
        &self,
        request: Request<'_, O, D>,
        to: &mut impl Submit,
    ) -> Result<(), PostError> {
        let mut request = request.signaled_if(self.signaled, WrId(self.wr_id));
        if self.solicited {
            request = request.solicited();
        }
        if self.fence {
            request = request.fence(Fence::SmallAndReads);
        }
        to.submit(&request)
    }
}

/// A queue to post to, or a batch to push to.
pub(crate) trait Submit {
    fn submit<O: SupportedOn<transport::Rc>, D: data::Data>(
        &mut self,
        request: &Request<'_, O, D>,
    ) -> Result<(), PostError>;
}

impl<R: Register> Submit for SendQueue<transport::Rc, R> {
    fn submit<O: SupportedOn<transport::Rc>, D: data::Data>(
        &mut self,
        request: &Request<'_, O, D>,
    ) -> Result<(), PostError> {
        // SAFETY: no device looks.
        unsafe { self.post_unchecked(request) }
    }
}

impl<R: Register> Submit for SendBatch<'_, transport::Rc, R> {
    fn submit<O: SupportedOn<transport::Rc>, D: data::Data>(
        &mut self,
        request: &Request<'_, O, D>,
    ) -> Result<(), PostError> {
        // SAFETY: no device looks.
        unsafe { self.push_unchecked(request) }
    }
}

/// Stages each request, and rings or drops it.
pub(crate) struct Stager<'q, R: Register> {
    pub(crate) sq: &'q mut SendQueue<transport::Rc, R>,
    pub(crate) ring: bool,
}

impl<R: Register> Submit for Stager<'_, R> {
    fn submit<O: SupportedOn<transport::Rc>, D: data::Data>(
        &mut self,
        request: &Request<'_, O, D>,
    ) -> Result<(), PostError> {
        // SAFETY: no device looks.
        let staged = unsafe { self.sq.stage_unchecked(request) }?;
        if self.ring {
            staged.ring_doorbell();
        }
        Ok(())
    }
}
