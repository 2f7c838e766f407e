//! What the device can do, known before anything is made.

use core::marker::PhantomData;
use core::ops::Deref;
use std::sync::Arc;

use crate::cmd::{
    AtomicCaps, CapabilitySelector, CapabilitySet, CmdHcaCap, CmdHcaCap2, CryptoCaps, DeviceEventCap, DeviceMemCap,
    FlowTableNicCap, IpsecCap, OdpCap, PerProtocolNetworkingOffloadCaps, QosCap, QueryHcaCapIn, QueryHcaCapOut,
    RoceCap, ShampoCap, TlsCap, VectorCalcCap, VirtioEmulationCap,
};
use crate::context::Context;
use crate::error::Error;
use crate::mailbox::{Structure, part};

/// A set of capabilities, as a structure.
pub trait Capabilities: Structure {
    /// Which it is.
    const SET: CapabilitySet;
}

macro_rules! sets {
    ($($ty:ident: $set:ident;)*) => {$(
        impl Capabilities for $ty {
            const SET: CapabilitySet = CapabilitySet::$set;
        }
        const _: () = assert!(<$ty as Structure>::BYTES <= CAPABILITY_BYTES);
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
    ShampoCap: DEV_SHAMPO;
}

/// Which values of the capabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CapMode {
    /// What is in force.
    Current,
    /// The most that a driver could have set.
    Max,
}

/// A set of capabilities that the device has told. Derefs to the structure; cheap to clone.
#[derive(Clone)]
pub struct Caps<T> {
    answer: Arc<QueryHcaCapOut>,
    set: PhantomData<T>,
}

impl<T: Capabilities> Deref for Caps<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: no set is longer than the part of the answer that begins here (`sets!`), at a word of an aligned structure.
        unsafe { part(self.answer.as_bytes(), QueryHcaCapOut::BYTES - CAPABILITY_BYTES) }
    }
}

impl<T: Capabilities + core::fmt::Debug> core::fmt::Debug for Caps<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Debug::fmt(&**self, f)
    }
}

impl Context {
    /// A set of capabilities. The firmware is asked once for each set and mode, when it is first needed.
    ///
    /// ```no_run
    /// use blueflame_devx::{CapMode, Context, Error, cmd};
    ///
    /// # fn f(context: &Context) -> Result<(), Error> {
    /// let general = context.capabilities::<cmd::CmdHcaCap>(CapMode::Current)?;
    /// println!("{} queue pairs at most", 1_u32 << general.log_max_qp());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Command`]: a set that the device does not have (the general ones say which there are) is refused.
    pub fn capabilities<T: Capabilities>(&self, mode: CapMode) -> Result<Caps<T>, Error> {
        let selector = CapabilitySelector { set: T::SET, current: mode == CapMode::Current };
        if let Some(answer) = self.told().get(selector) {
            return Ok(Caps { answer, set: PhantomData });
        }
        let mut inbox = QueryHcaCapIn::new();
        inbox.set_op_mod(selector);
        let answer = self.told().keep(selector, self.execute(&inbox)?);
        Ok(Caps { answer, set: PhantomData })
    }

    /// The general capabilities in force.
    ///
    /// # Errors
    /// [`Error::Command`].
    pub fn general(&self) -> Result<Caps<CmdHcaCap>, Error> {
        self.capabilities(CapMode::Current)
    }
}

/// Capabilities out of an answer, whatever bytes it has: what [`Context::capabilities`] does with what the device wrote.
#[must_use]
pub fn parse<T: Capabilities>(answer: &[u8]) -> Caps<T> {
    Caps { answer: Arc::new(QueryHcaCapOut::copied(answer)), set: PhantomData }
}

/// Refuses what the device cannot do: `found`, which is capability `name`, must be at least `needed`.
pub(crate) fn at_least(name: &'static str, found: impl Into<u64>, needed: impl Into<u64>) -> Result<(), Error> {
    let (found, needed) = (found.into(), needed.into());
    if found < needed { Err(Error::Capability { name, needed, found }) } else { Ok(()) }
}

/// Refuses what the device cannot do at all.
pub(crate) fn has(name: &'static str, found: bool) -> Result<(), Error> {
    at_least(name, found, true)
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

    #[test]
    fn a_refusal_names_the_capability() {
        let error = at_least("cmd_hca_cap.log_max_qp_sz", 15_u8, 16_u8).expect_err("more than there is");
        assert_eq!(error.to_string(), "the device's cmd_hca_cap.log_max_qp_sz is 15, but 16 is needed");
        assert_eq!(at_least("x", 16_u8, 16_u8), Ok(()));
    }
}
