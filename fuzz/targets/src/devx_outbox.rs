//! Any bytes as what firmware answers: capabilities, contexts, and every other structure give values, and nothing else
//! happens.

use std::fmt;

use blueflame_devx::cmd::{
    AtomicCaps, CmdHcaCap, CmdHcaCap2, CryptoCaps, FlowTableNicCap, OdpCap, PerProtocolNetworkingOffloadCaps, QosCap,
    QueryFlowCounterOut, QueryQpOut, RoceCap, STRUCTURES, TrafficCounter,
};
use blueflame_devx::mailbox::{Description, List, Structure};
use blueflame_devx::{Capabilities, parse_capabilities};

input_struct! {
    /// An answer.
    Input {
        /// Which structure it is read as besides.
        structure: u16,
        /// The first bytes; the rest is zero.
        bytes: Vec<u8>,
    }
}

/// Shows a structure by its description.
struct Shown<'a>(&'a Description, &'a [u8]);

impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.show(self.1, f)
    }
}

/// Reads the bytes as everything that they can be.
pub fn run(input: &Input) {
    let bytes = &input.bytes[..];
    capabilities::<CmdHcaCap>(bytes);
    capabilities::<CmdHcaCap2>(bytes);
    capabilities::<RoceCap>(bytes);
    capabilities::<AtomicCaps>(bytes);
    capabilities::<PerProtocolNetworkingOffloadCaps>(bytes);
    capabilities::<OdpCap>(bytes);
    capabilities::<QosCap>(bytes);
    capabilities::<CryptoCaps>(bytes);
    capabilities::<FlowTableNicCap>(bytes);

    let description = STRUCTURES[usize::from(input.structure) % STRUCTURES.len()];
    let text = format!("{:?}", Shown(description, bytes));
    assert!(text.starts_with(description.name), "{text}");

    // A structure that is read and written again is the same: of all its bytes, and of those its fields have.
    let qp = QueryQpOut::copied(bytes);
    let mut again = QueryQpOut::zeroed();
    *again.qpc_mut() = qp.qpc().clone();
    again.qpc_mut().set_remote_qpn(qp.qpc().remote_qpn()).set_state(qp.qpc().state());
    assert_eq!(again.qpc(), qp.qpc());

    let counters = bytes.len() / 16;
    let mut list = List::<QueryFlowCounterOut, TrafficCounter>::zeroed(counters);
    let place = list.as_bytes_mut();
    let len = place.len().min(bytes.len());
    place[..len].copy_from_slice(&bytes[..len]);
    assert_eq!((list.iter().count(), list.len()), (counters, counters));
}

fn capabilities<T: Capabilities + fmt::Debug>(bytes: &[u8]) {
    let text = format!("{:?}", parse_capabilities::<T>(bytes));
    assert!(text.starts_with(T::DESCRIPTION.name), "{text}");
}
