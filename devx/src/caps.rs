//! Sets of capabilities, decoded from any bytes that a device answers.

use core::marker::PhantomData;
use core::ops::Deref;
use std::sync::Arc;

use crate::cmd::{
    AtomicCaps, CapabilitySet, CmdHcaCap, CmdHcaCap2, CryptoCaps, DeviceEventCap, DeviceMemCap, FlowTableNicCap,
    IpsecCap, OdpCap, PerProtocolNetworkingOffloadCaps, QosCap, QueryHcaCapOut, RoceCap, ShampoCap, TlsCap,
    VectorCalcCap, VirtioEmulationCap,
};
use crate::mailbox::{Structure, part};

/// A set of capabilities: a structure of at most 4096 bytes, which is the room in an answer.
///
/// A longer structure is not accepted as a set:
///
/// ```compile_fail,E0080
/// use blueflame_devx::cmd::CapabilitySet;
/// use blueflame_devx::mailbox::{Description, Structure};
/// use blueflame_devx::{Capabilities, parse_capabilities};
///
/// #[derive(Clone)]
/// struct Long([u8; 0x1004]);
///
/// // SAFETY: bytes.
/// unsafe impl Structure for Long {
///     const BYTES: usize = 0x1004;
///     const DESCRIPTION: &'static Description =
///         &Description { name: "long", bits: 0x1004 * 8, fields: &[], bytes: &[], parts: &[] };
///     fn zeroed() -> Self { Self([0; 0x1004]) }
///     fn as_bytes(&self) -> &[u8] { &self.0 }
///     fn as_bytes_mut(&mut self) -> &mut [u8] { &mut self.0 }
/// }
///
/// impl Capabilities for Long {
///     const SET: CapabilitySet = CapabilitySet::GENERAL;
/// }
///
/// let past_the_end = parse_capabilities::<Long>(&[]).0[0x1003];
/// ```
pub trait Capabilities: Structure {
    /// Which set it is.
    const SET: CapabilitySet;
}

macro_rules! sets {
    ($($ty:ident: $set:ident;)*) => {$(
        impl Capabilities for $ty {
            const SET: CapabilitySet = CapabilitySet::$set;
        }
    )*};
}

/// Bytes of the answer that are capabilities.
const CAPABILITY_BYTES: usize = 0x1000;

sets! {
    CmdHcaCap: GENERAL;
    CmdHcaCap2: GENERAL_2;
    PerProtocolNetworkingOffloadCaps: ETHERNET_OFFLOADS;
    OdpCap: ODP;
    AtomicCaps: ATOMIC;
    RoceCap: ROCE;
    FlowTableNicCap: FLOW_TABLE;
    VectorCalcCap: VECTOR_CALC;
    QosCap: QOS;
    DeviceMemCap: DEV_MEM;
    TlsCap: TLS;
    VirtioEmulationCap: VDPA_EMULATION;
    DeviceEventCap: DEV_EVENT;
    IpsecCap: IPSEC;
    CryptoCaps: CRYPTO;
    ShampoCap: SHAMPO;
}

/// Which values of the capabilities to query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CapMode {
    /// The values in force.
    Current,
    /// The highest values that a driver could have set.
    Max,
}

/// A set of capabilities, as the device reported it. Derefs to the structure; cheap to clone.
#[derive(Clone)]
pub struct Caps<T> {
    answer: Arc<QueryHcaCapOut>,
    set: PhantomData<T>,
}

impl<T: Capabilities> Caps<T> {
    /// The set in an answer.
    #[cfg(feature = "device")]
    pub(crate) fn of(answer: Arc<QueryHcaCapOut>) -> Self {
        Self { answer, set: PhantomData }
    }
}

impl<T: Capabilities> Deref for Caps<T> {
    type Target = T;

    fn deref(&self) -> &T {
        const {
            assert!(T::BYTES <= CAPABILITY_BYTES, "a set is longer than the answer");
            assert!((QueryHcaCapOut::BYTES - CAPABILITY_BYTES) % 4 == 0, "a set begins at a word");
        }
        // SAFETY: it begins at a word of a structure that is aligned to words, as sets are at most (`Structure`). It
        // ends inside: both are asserted above, for the caller's own sets, too.
        unsafe { part(self.answer.as_bytes(), QueryHcaCapOut::BYTES - CAPABILITY_BYTES) }
    }
}

impl<T: Capabilities + core::fmt::Debug> core::fmt::Debug for Caps<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Debug::fmt(&**self, f)
    }
}

/// Decodes capabilities from an answer of any bytes, as `Context::capabilities` decodes the device's answer.
#[must_use]
pub fn parse<T: Capabilities>(answer: &[u8]) -> Caps<T> {
    Caps { answer: Arc::new(QueryHcaCapOut::copied(answer)), set: PhantomData }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_begin_after_the_header_of_the_answer() {
        let mut answer = vec![0; QueryHcaCapOut::BYTES];
        // log_max_qp: five bits at 0x9b of the set.
        answer[0x10 + 0x9b / 8] = 0x12;
        assert_eq!(parse::<CmdHcaCap>(&answer).log_max_qp(), 0x12);
        assert_eq!(parse::<CmdHcaCap>(&answer[..0x18]).log_max_qp(), 0, "a short answer is zeros");
        assert!(format!("{:?}", parse::<CmdHcaCap>(&answer)).contains("log_max_qp: 18"));
    }
}
