//! Both segments of a request that changes a memory key, and the macro that makes an operation of them. Knows no
//! operation.
use crate::types::Rkey;
use crate::wqe::keys::seg::{MkeySeg, UmrCtrlSeg, umr};
use crate::wqe::sink::Sink;
use crate::wqe::words::be::{Be16, Be32, Be64};
use crate::wqe::words::ds::DsWords;

/// Both segments after the control segment. The control segment's last word is the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::wqe) struct KeySegs {
    pub(in crate::wqe) key: u32,
    pub(in crate::wqe) umr: UmrCtrlSeg,
    pub(in crate::wqe) mkey: MkeySeg,
}

/// No QP in particular.
pub(in crate::wqe) const ANY_QPN: u32 = 0xff_ffff;
/// Lists are whole WQEBBs, of this many entries each.
pub(in crate::wqe) const LIST_ENTRIES: usize = 4;

impl KeySegs {
    /// DS of both.
    pub(in crate::wqe) const DS: usize = 7;

    /// `flags` and `mask` are the request's own bits. This function adds those of every request: a list in the WQE,
    /// the key's lowest byte, and whether the key is free.
    pub(in crate::wqe) const fn new(key: Rkey, flags: u8, octwords: u16, mask: u64, mkey: MkeySeg) -> Self {
        let umr = UmrCtrlSeg {
            flags: umr::INLINE | flags,
            rsvd0: [0; 3],
            klm_octowords: Be16::new(octwords),
            translation_offset: Be16::new(0),
            mkey_mask: Be64::new(umr::MASK_FREE | umr::MASK_MKEY | mask),
            rsvd1: [Be64::new(0); 4],
        };
        Self { key: key.0, umr, mkey }
    }

    #[inline(always)]
    pub(in crate::wqe) fn encode<S: Sink>(&self, sink: &mut S) {
        <[DsWords; 3]>::from(self.umr).into_iter().for_each(|ds| sink.ds(ds));
        <[DsWords; 4]>::from(self.mkey).into_iter().for_each(|ds| sink.ds(ds));
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

/// Makes operations of types that consist of both segments, for the transports that have them.
macro_rules! changes_keys {
    ($($op:ty: $($transport:ty),*;)*) => {$(
        impl $crate::wqe::sealed::Sealed for $op {}
        impl $crate::wqe::operations::service::Operation for $op {
            const OPCODE: $crate::wqe::opcode::Opcode = $crate::wqe::opcode::Opcode::Umr;
            const DS: usize = $crate::wqe::keys::change::KeySegs::DS;

            #[inline]
            fn imm(&self) -> $crate::wqe::words::be::Be32 {
                $crate::wqe::words::be::Be32::new(self.0.key)
            }

            #[inline(always)]
            fn encode<S: $crate::wqe::sink::Sink>(&self, sink: &mut S) {
                self.0.encode(sink);
            }
        }
        impl $crate::wqe::operations::service::OfSome for $op {}
        $(impl $crate::wqe::operations::service::SupportedOn<$transport> for $op {})*
    )*};
}

pub(in crate::wqe) use changes_keys;
