//! Both segments of a request that changes a memory key. Knows no operation.
use crate::arch::ds::DsWords;
use crate::layout::{Be16, Be32, Be64};
use crate::types::Rkey;
use crate::wqe::request::Request;
use crate::wqe::seg::{MkeySeg, UmrCtrlSeg, umr};

/// Both segments after the control segment. The control segment's last word is the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::wqe) struct KeySegs {
    pub(in crate::wqe) umr: UmrCtrlSeg,
    pub(in crate::wqe) mkey: MkeySeg,
}

/// No QP in particular.
pub(in crate::wqe) const ANY_QPN: u32 = 0xff_ffff;

impl KeySegs {
    /// DS of both.
    pub(in crate::wqe) const DS: usize = 7;

    /// `flags` and `mask` are the request's own bits. This function adds those of every request: a list in the WQE,
    /// the key's lowest byte, and whether the key is free.
    #[inline(always)]
    pub(in crate::wqe) const fn new(flags: u8, octwords: u16, mask: u64, mkey: MkeySeg) -> Self {
        let umr = UmrCtrlSeg {
            flags: umr::INLINE | flags,
            rsvd0: [0; 3],
            klm_octowords: Be16::new(octwords),
            translation_offset: Be16::new(0),
            mkey_mask: Be64::new(umr::MASK_FREE | umr::MASK_MKEY | mask),
            rsvd1: [Be64::new(0); 4],
        };
        Self { umr, mkey }
    }

    /// The segments in a request's words.
    #[inline(always)]
    pub(in crate::wqe) fn of(words: &[DsWords]) -> Self {
        let at = |n: usize| words.get(n).copied().unwrap_or(DsWords::ZERO);
        Self { umr: [at(0), at(1), at(2)].into(), mkey: [at(3), at(4), at(5), at(6)].into() }
    }

    /// Writes them to the start of `words`.
    #[inline(always)]
    pub(in crate::wqe) fn write(&self, words: &mut [DsWords]) {
        let ([a, b, c], [d, e, f, g]): ([DsWords; 3], [DsWords; 4]) = (self.umr.into(), self.mkey.into());
        if let Some(places) = words.first_chunk_mut() {
            *places = [a, b, c, d, e, f, g];
        }
    }

    /// A request of them for `key`.
    #[inline(always)]
    pub(in crate::wqe) fn request<O, D>(self, key: Rkey) -> Request<'static, O, D> {
        Request::new([]).with_imm(key.0).change(|untyped| self.write(&mut untyped.segments))
    }
}

/// A memory key segment of zeros.
pub(in crate::wqe) const NO_CHANGE: MkeySeg = MkeySeg {
    free: 0,
    reserved1: 0,
    access_flags: 0,
    sf: 0,
    qpn_mkey: Be32::new(0),
    reserved2: Be32::new(0),
    flags_pd: Be32::new(0),
    start_addr: Be64::new(0),
    len: Be64::new(0),
    bsf_octword_size: Be32::new(0),
    reserved3: [Be32::new(0); 4],
    translations_octword_size: Be32::new(0),
    reserved4: [0; 3],
    log_page_size: 0,
    reserved: Be32::new(0),
};
