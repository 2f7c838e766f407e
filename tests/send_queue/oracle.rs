//! libmlx5's bytes, computed the slow way: bytes appended to a vector, numbers instead of the crate's types.

use proptest::prelude::*;

use blueflame::db::Register;
use blueflame::queue::{PostError, SendQueue};
use blueflame::transport::Rc;
use blueflame::types::{Lkey, Rkey};
use blueflame::wqe::data::{self, ToCarry, ToFetch};
use blueflame::wqe::{self, Erased, Fence, Remote, Request, Sge, SupportedOn};
use blueflame_testkit::request::{Data, Kind, Poster, Wr};

use crate::requests::{Ds, entry, inline};
use crate::rig::QPN;

/// The WQE at WQEBB `pi`: the control segment before `body`.
pub(crate) fn wqe_of(pi: u16, opcode: u8, fm_ce_se: u8, imm: u32, body: &[u8]) -> Vec<u8> {
    let mut wqe = vec![0, (pi >> 8) as u8, pi as u8, opcode];
    wqe.extend((QPN << 8 | (1 + body.len() / 16) as u32).to_be_bytes());
    wqe.extend([0, 0, 0, fm_ce_se]);
    wqe.extend(imm.to_be_bytes());
    wqe.extend(body);
    wqe
}

/// The segments of data. Entries of no bytes are left out, and so is an inline segment of none.
pub(crate) fn payload(data: &Data) -> Vec<u8> {
    match data {
        Data::Sges(sges) => sges.iter().filter(|sge| sge.length != 0).copied().flat_map(entry).collect(),
        Data::Inline(bytes) if bytes.is_empty() => vec![],
        Data::Inline(bytes) => inline(bytes).concat(),
    }
}

/// The remote address segment.
fn raddr(at: Remote) -> Ds {
    (u128::from(at.addr) << 64 | u128::from(at.rkey.0) << 32).to_be_bytes()
}

/// Any entry of so many bytes.
pub(crate) fn any_sge(bytes: impl Strategy<Value = u32>) -> impl Strategy<Value = Sge> {
    (any::<u64>(), bytes, any::<u32>()).prop_map(|(addr, length, lkey)| Sge { addr, length, lkey: Lkey(lkey) })
}

/// A request as data.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) wr: Wr,
    /// Whether array forms are used where there is one for the length.
    arrays: bool,
}

/// A request with data that its operation can have.
pub(crate) fn case() -> impl Strategy<Value = Case> {
    let remote = || any::<(u64, u32)>().prop_map(|(addr, rkey)| Remote { addr, rkey: Rkey(rkey) });
    let kind = prop_oneof![
        Just(Kind::Nop),
        Just(Kind::Send),
        any::<u32>().prop_map(Kind::SendImm),
        any::<u32>().prop_map(|key| Kind::SendInval(Rkey(key))),
        remote().prop_map(Kind::Write),
        (remote(), any::<u32>()).prop_map(|(at, imm)| Kind::WriteImm(at, imm)),
        remote().prop_map(Kind::Read),
        (remote(), any::<u64>(), any::<u64>()).prop_map(|(at, compare, swap)| Kind::CompareSwap(at, compare, swap)),
        (remote(), any::<u64>()).prop_map(|(at, add)| Kind::FetchAdd(at, add)),
    ];
    let bytes = prop_oneof![Just(0_u32), 1..5000_u32, Just(0x7fff_ffff), Just(0x8000_0000), any::<u32>()];
    let data = prop_oneof![
        Just(Data::Sges(vec![])),
        prop::collection::vec(any_sge(bytes), 0..34).prop_map(Data::Sges),
        prop::collection::vec(any_sge(0..3_u32), 0..5).prop_map(Data::Sges),
        prop::collection::vec(any::<u8>(), 0..530).prop_map(Data::Inline),
        prop::collection::vec(any::<u8>(), 0..50).prop_map(Data::Inline),
    ];
    let fence =
        prop::sample::select(vec![Fence::None, Fence::Small, Fence::Reads, Fence::Strong, Fence::SmallAndReads]);
    let flags = (any::<bool>(), any::<bool>(), fence, any::<bool>());
    (kind, data, flags, any::<u64>()).prop_map(|(kind, data, (signaled, solicited, fence, arrays), id)| {
        let data = match (kind, data) {
            (Kind::CompareSwap(..) | Kind::FetchAdd(..), Data::Sges(sges)) => {
                Data::Sges(sges.into_iter().take(1).map(|sge| Sge { length: 8, ..sge }).collect())
            }
            (Kind::Nop, _) => Data::Sges(vec![]),
            (Kind::Read(_) | Kind::CompareSwap(..) | Kind::FetchAdd(..), Data::Inline(_)) => Data::Sges(vec![]),
            (_, data) => data,
        };
        Case { wr: Wr { signaled, solicited, fence, ..Wr::new(kind, data, id) }, arrays }
    })
}

impl Case {
    /// Whether it is inline. An array of no bytes makes it a message without data, which is not.
    pub(crate) fn is_inline(&self) -> bool {
        matches!(&self.wr.data, Data::Inline(bytes) if !(self.arrays && bytes.is_empty()))
    }

    /// The WQE's bytes if it starts at WQEBB `pi` and the queue signals all or not. Padding and the compare word of
    /// fetch-and-add are zero, as the crate documents.
    pub(crate) fn wqe(&self, pi: u16, signal_all: bool) -> Vec<u8> {
        let operands = |first: u64, second: u64| [first.to_be_bytes(), second.to_be_bytes()].concat();
        let (opcode, imm, mut body) = match self.wr.kind {
            Kind::Nop => (0x00, 0, vec![]),
            Kind::SendInval(key) => (0x01, key.0, vec![]),
            Kind::Write(at) => (0x08, 0, raddr(at).to_vec()),
            Kind::WriteImm(at, imm) => (0x09, imm, raddr(at).to_vec()),
            Kind::Send => (0x0a, 0, vec![]),
            Kind::SendImm(imm) => (0x0b, imm, vec![]),
            Kind::Read(at) => (0x10, 0, raddr(at).to_vec()),
            Kind::CompareSwap(at, compare, swap) => (0x11, 0, [&raddr(at)[..], &operands(swap, compare)].concat()),
            Kind::FetchAdd(at, add) => (0x12, 0, [&raddr(at)[..], &operands(add, 0)].concat()),
            other => panic!("{other:?} is not among the cases"),
        };
        body.extend(payload(&self.wr.data));
        let fence = match self.wr.fence {
            Fence::None => 0,
            Fence::Small => 0x20,
            Fence::Reads => 0x40,
            Fence::Strong => 0x60,
            Fence::SmallAndReads => 0x80,
        };
        let signaled = if self.wr.signaled || signal_all { 0x08 } else { 0 };
        let solicited = if self.wr.solicited { 0x02 } else { 0 };
        wqe_of(pi, opcode, signaled | solicited | fence, imm, &body)
    }

    /// Posts the request by the crate's API, the array forms included.
    pub(crate) fn submit(&self, to: &mut impl Poster<Rc>) -> Result<(), PostError> {
        match self.wr.kind {
            Kind::Nop => self.put(wqe::nop(), to),
            Kind::Send => self.carry(wqe::send(), to),
            Kind::SendImm(imm) => self.carry(wqe::send().imm(imm), to),
            Kind::SendInval(key) => self.carry(wqe::send().invalidate(key), to),
            Kind::Write(at) => self.carry(wqe::write(at), to),
            Kind::WriteImm(at, imm) => self.carry(wqe::write(at).imm(imm), to),
            Kind::Read(at) => match self.sges() {
                [] if !self.arrays => self.put(wqe::read(at), to),
                &[one] if self.arrays => self.put(wqe::read(at).scatter([one]), to),
                sges => self.put(wqe::read(at).scatter_slice(sges), to),
            },
            Kind::CompareSwap(at, compare, swap) => self.fetch(wqe::compare_swap(at, compare, swap), to),
            Kind::FetchAdd(at, add) => self.fetch(wqe::fetch_add(at, add), to),
            other => panic!("{other:?} is not among the cases"),
        }
    }

    fn sges(&self) -> &[Sge] {
        if let Data::Sges(sges) = &self.wr.data { sges } else { &[] }
    }

    fn fetch<O: SupportedOn<Rc>>(
        &self,
        request: Request<'_, O, ToFetch<8>>,
        to: &mut impl Poster<Rc>,
    ) -> Result<(), PostError> {
        match self.sges() {
            [sge] => self.put(request.result(sge.addr, sge.lkey), to),
            _ => self.put(request, to),
        }
    }

    fn carry<O: SupportedOn<Rc>>(
        &self,
        request: Request<'_, O, ToCarry>,
        to: &mut impl Poster<Rc>,
    ) -> Result<(), PostError> {
        /// Tries the array forms of the lengths given, then falls back to the slice.
        macro_rules! by_length {
            ($method:ident, $by_slice:ident, $slice:expr, $item:ty, as_ref: [$($n:literal)*]) => {{
                let slice: &[$item] = $slice;
                $(if let (true, Ok(array)) = (self.arrays, <&[$item; $n]>::try_from(slice)) {
                    return self.put(request.$method(array), to);
                })*
                self.put(request.$by_slice(slice), to)
            }};
            ($method:ident, $by_slice:ident, $slice:expr, $item:ty, by_value: [$($n:literal)*]) => {{
                let slice: &[$item] = $slice;
                $(if let (true, Ok(array)) = (self.arrays, <[$item; $n]>::try_from(slice)) {
                    return self.put(request.$method(array), to);
                })*
                self.put(request.$by_slice(slice), to)
            }};
        }
        match &self.wr.data {
            Data::Sges(sges) if sges.is_empty() && !self.arrays => self.put(request, to),
            Data::Sges(sges) => by_length!(gather, gather_slice, sges, Sge, by_value: [0 1 2 3 4 5]),
            Data::Inline(data) => by_length!(inline, inline_slice, data, u8, as_ref: [
                0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 20 23 24 27 28 29 30 31 32 40 43 44 45 48
            ]),
        }
    }

    fn put<O: SupportedOn<Rc>, D: data::Data>(
        &self,
        request: Request<'_, O, D>,
        to: &mut impl Poster<Rc>,
    ) -> Result<(), PostError> {
        // SAFETY: no device looks.
        unsafe { to.put(&self.wr.flag(request)) }
    }
}

/// Stages each request, and rings or drops it.
pub(crate) struct Stager<'q, R: Register> {
    pub(crate) sq: &'q mut SendQueue<Rc, R>,
    pub(crate) ring: bool,
}

impl<R: Register> Poster<Rc> for Stager<'_, R> {
    unsafe fn put<O: SupportedOn<Rc>, D: data::Data>(&mut self, request: &Request<'_, O, D>) -> Result<(), PostError> {
        // SAFETY: the caller keeps the promise about the memory.
        let staged = unsafe { self.sq.stage_unchecked(request) }?;
        if self.ring {
            staged.ring_doorbell();
        }
        Ok(())
    }

    unsafe fn put_erased(&mut self, request: &Erased<'_>) -> Result<(), PostError> {
        // SAFETY: the caller keeps the promise about the memory.
        let staged = unsafe { self.sq.stage_erased_unchecked(request) }?;
        if self.ring {
            staged.ring_doorbell();
        }
        Ok(())
    }
}
