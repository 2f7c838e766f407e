//! SET_PSV: requests that set the signature values of a key.
use crate::layout::{Be16, Be32, Be64};
use crate::types::Psv;
use crate::wqe::data::Nothing;
use crate::wqe::formats::{BlockSignature, Psvs, SignedBlocks};
use crate::wqe::request::Request;
use crate::wqe::seg::{Fence, SetPsvSeg};
use crate::wqe::table::SetPsv;

/// Sets a signature value: the initial value of a transfer's signatures ([`SignedBlocks::initial_value`]).
/// [`BlockSignature::set_psvs`] makes the requests that a key needs.
#[doc(alias = "MLX5_OPCODE_SET_PSV")]
#[inline(always)]
pub fn set_psv(psv: Psv, value: u64) -> Request<'static, SetPsv, Nothing> {
    let segment = SetPsvSeg {
        psv_index: Be32::new(psv.get()),
        syndrome: Be16::new(0),
        reserved: [0; 2],
        transient_signature: Be64::new(value),
    };
    Request::new([segment.into()])
}

impl BlockSignature {
    /// The requests that must follow the key's configuration, before its data is used. They set the initial signature
    /// value of each side that has signatures. Each begins when the requests before it are done ([`Fence::Small`]).
    /// Give the request behind them the same fence.
    ///
    /// Post them again when the key goes on with the same signatures after an error ([`Request::signature_errors`]).
    pub fn set_psvs(&self, psvs: Psvs) -> impl Iterator<Item = Request<'static, SetPsv, Nothing>> + use<> {
        let sides = [(self.memory().copied(), psvs.memory), (self.wire().copied(), psvs.wire)];
        sides
            .into_iter()
            .filter_map(|(blocks, psv)| Some(set_psv(psv, SignedBlocks::initial_value(&blocks?)).fence(Fence::Small)))
    }
}
