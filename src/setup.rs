//! The error of set-up: raw parts, a setting or a flow that was refused.
use core::fmt;

/// Why a queue, a register or a flow cannot have the parts or the setting that you gave. Each variant names the wrong
/// part, its value and the limit. Where many calls return a variant, its `what` says which number or address is meant.
///
/// `from_parts` of queues and registers return it, and calls that check a setting, for example
/// [`SendQueue::set_depth`](crate::SendQueue::set_depth), [`Moderation::new`](crate::queue::Moderation::new),
/// [`Strides::new`](crate::queue::striding::Strides::new) and [`Flow::fields`](crate::flow::Flow::fields). Unless the
/// call says otherwise, nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SetupError {
    /// A number is out of range.
    OutOfRange {
        /// The number, with its unit.
        what: &'static str,
        /// The number given.
        value: u64,
        /// The least possible.
        min: u64,
        /// The most possible.
        max: u64,
    },
    /// A number is not a power of two, or is out of range.
    NotPowerOfTwo {
        /// The number, with its unit.
        what: &'static str,
        /// The number given.
        value: u64,
        /// The least possible.
        min: u64,
        /// The most possible.
        max: u64,
    },
    /// A part is not aligned.
    Misaligned {
        /// The part.
        what: &'static str,
        /// Its address.
        address: usize,
        /// The alignment that it needs, in bytes.
        alignment: usize,
    },
    /// The call needs a queue without outstanding requests.
    Outstanding {
        /// The queue.
        what: &'static str,
        /// Its outstanding WQEBBs.
        outstanding: u16,
    },
    /// The free list of a shared receive queue does not lead from its head to its tail.
    FreeList {
        /// The first index that is out of the ring, or that the list reaches twice.
        index: u32,
    },
    /// A CQE of a new ring is not marked as never written (opcode 0xf), and the device cannot have written it. Was the
    /// ring initialised?
    WrittenCqe {
        /// Its place in the ring.
        slot: u32,
        /// Its opcode.
        opcode: u8,
    },
    /// A send queue is to go on in a ring that has no WQE of its queue pair where one must begin.
    NotAWqe {
        /// The index of the WQEBB.
        index: u16,
        /// The first 8 bytes there, which should begin a control segment, as a big-endian number.
        first_word: u64,
    },
    /// The process has made 2^32 - 2 completion queues: no [identity](crate::cq::CqId) is left.
    NoIdentity,
    /// The device has moved to another ring, but has not written the CQE that ends the old ring.
    RingNotEnded {
        /// Completions that were carried over: the CQE was due behind them.
        carried: u32,
    },
    /// The device has moved to another ring, which holds fewer completions than wait in the old ring.
    RingTooSmall {
        /// Completions that were carried over: all CQEs of the new ring.
        carried: u32,
    },
    /// This CPU lacks a [copy routine](crate::arch::copy::CopyRoutine).
    CopyUnavailable {
        /// The routine.
        routine: &'static str,
        /// The feature of the CPU that it needs.
        needs: &'static str,
    },
    /// The device did not complete the NOPs of a [probe](crate::SendQueue::probe) for as long as the caller would wait.
    ProbeTimeout {
        /// WQEBBs of the NOPs that are outstanding.
        outstanding: u16,
    },
    /// A completion ended a [probe](crate::SendQueue::probe), because it is not the success of a NOP that the probe
    /// posted. Either the NOP failed, or the completion queue is another one, or other queues complete there, too.
    ProbeCompletion {
        /// The completion's opcode: 13 is a failed NOP.
        opcode: u8,
        /// The [syndrome](crate::cq::Syndrome) of a request that failed.
        syndrome: Option<u8>,
        /// The queue pair's number, of 24 bits.
        qpn: u32,
        /// The completion's index.
        wqe_counter: u16,
    },
    /// A flow has an IPv4 address and an IPv6 address: no packet has both.
    FlowFamilies,
    /// A flow has a field that means nothing without another one.
    FlowIncomplete {
        /// The field.
        field: &'static str,
        /// The missing field.
        needs: &'static str,
    },
    /// A field of a flow has another value than the flow's addresses or ports imply. For an EtherType beside an IP
    /// version, Linux also refuses a mask that leaves bits out (`drivers/infiniband/hw/mlx5/fs.c`,
    /// `is_valid_ethertype`).
    FlowContradiction {
        /// The field.
        field: &'static str,
        /// The value given.
        value: u16,
        /// The bits of it that count.
        mask: u16,
        /// The value that addresses or ports imply.
        expected: u16,
    },
    /// A flow for all remaining frames, or a sniffer, has fields, a priority, a flow tag, or another action. Linux
    /// ignores them without an error (`drivers/infiniband/hw/mlx5/fs.c`, `create_leftovers_rule`,
    /// `create_sniffer_rule`).
    FlowWhole {
        /// The setting that Linux would ignore.
        what: &'static str,
    },
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::OutOfRange { what, value, min, max } => {
                write!(f, "{what}: {value} asked for, {min} to {max} possible")
            }
            Self::NotPowerOfTwo { what, value, min, max } => {
                write!(f, "{what}: {value} asked for, only a power of two from {min} to {max} possible")
            }
            Self::Misaligned { what, address, alignment } => {
                write!(f, "{what} at {address:#x}, must be aligned to {alignment} bytes")
            }
            Self::Outstanding { what, outstanding } => {
                write!(f, "the {what} must be idle, and has {outstanding} WQEBBs outstanding")
            }
            Self::FreeList { index } => write!(f, "free list of the shared receive queue is broken at index {index}"),
            Self::WrittenCqe { slot, opcode } => write!(
                f,
                "CQE {slot} has opcode {opcode:#x}, which the device cannot have written there: was the ring \
                 initialised (opcode 0xf in each CQE)?"
            ),
            Self::NotAWqe { index, first_word } => {
                write!(f, "no WQE of the queue pair begins at index {index}: {first_word:#018x} is there")
            }
            Self::NoIdentity => f.write_str("no identity is left: the process has made 2^32 - 2 completion queues"),
            Self::RingNotEnded { carried } => write!(
                f,
                "the device has resized the completion queue, but has not ended the old ring after the {carried} \
                 completions there"
            ),
            Self::RingTooSmall { carried } => {
                write!(f, "the device has resized the completion queue to {carried} CQEs, but more were unpolled")
            }
            Self::CopyUnavailable { routine, needs } => {
                write!(f, "copy routine {routine} is not available here: it needs {needs}")
            }
            Self::ProbeTimeout { outstanding } => {
                write!(f, "the device has not completed the probe's NOPs: {outstanding} WQEBBs outstanding")
            }
            Self::ProbeCompletion { opcode, syndrome: Some(syndrome), qpn, wqe_counter } => write!(
                f,
                "request {wqe_counter} of queue pair {qpn:#x} failed during the probe: opcode {opcode}, syndrome \
                 {syndrome:#04x}"
            ),
            Self::ProbeCompletion { opcode, syndrome: None, qpn, wqe_counter } => write!(
                f,
                "completion {wqe_counter} of queue pair {qpn:#x} with opcode {opcode} is not of the probe's NOPs: the \
                 completion queue must serve the probed queue alone"
            ),
            Self::FlowFamilies => {
                f.write_str("the flow has an IPv4 and an IPv6 address, which no packet has: make one flow for each")
            }
            Self::FlowIncomplete { field, needs } => write!(f, "the flow has a {field}, but no {needs}"),
            Self::FlowContradiction { field, value, mask, expected } => write!(
                f,
                "the flow has {field} {value:#x} under mask {mask:#x}, but its addresses or ports imply \
                 {expected:#x}: leave the {field} out"
            ),
            Self::FlowWhole { what } => {
                write!(f, "a flow for all remaining frames, or a sniffer, cannot have a {what}: Linux would ignore it")
            }
        }
    }
}

impl core::error::Error for SetupError {}

impl SetupError {
    /// Checks that a part is aligned to `alignment` bytes.
    pub(crate) const fn check_aligned(what: &'static str, address: usize, alignment: usize) -> Result<(), Self> {
        if address % alignment == 0 { Ok(()) } else { Err(Self::Misaligned { what, address, alignment }) }
    }

    /// Checks that a number is a power of two from `min` to `max`.
    pub(crate) const fn check_power_of_two(what: &'static str, value: u32, min: u32, max: u32) -> Result<(), Self> {
        if value.is_power_of_two() && value >= min && value <= max {
            return Ok(());
        }
        Err(Self::NotPowerOfTwo { what, value: value as u64, min: min as u64, max: max as u64 })
    }

    /// Checks that a number is from `min` to `max`.
    pub(crate) const fn check_range(what: &'static str, value: u64, min: u64, max: u64) -> Result<(), Self> {
        if value >= min && value <= max { Ok(()) } else { Err(Self::OutOfRange { what, value, min, max }) }
    }
}
