//! Names of opcodes and syndromes (IBTA vol. 1, tables 35, 45 and 46).

/// The transport service that the high 3 bits of an opcode name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Service {
    Rc,
    Uc,
    Rd,
    Ud,
    Cnp,
    Xrc,
    Manufacturer,
}

impl Service {
    pub(super) fn of(opcode: u8) -> Self {
        match opcode >> 5 {
            0 => Self::Rc,
            1 => Self::Uc,
            2 => Self::Rd,
            3 => Self::Ud,
            4 => Self::Cnp,
            5 => Self::Xrc,
            _ => Self::Manufacturer,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rc => "RC",
            Self::Uc => "UC",
            Self::Rd => "RD",
            Self::Ud => "UD",
            Self::Cnp => "CNP",
            Self::Xrc => "XRC",
            Self::Manufacturer => "a manufacturer's service",
        }
    }

    /// Whether requests are acknowledged, in the form of RC.
    pub(super) fn is_reliable(self) -> bool {
        matches!(self, Self::Rc | Self::Xrc)
    }
}

/// The low 5 bits of an opcode.
pub(super) const READ_REQUEST: u8 = 0x0c;
pub(super) const READ_RESPONSE_FIRST: u8 = 0x0d;
pub(super) const READ_RESPONSE_MIDDLE: u8 = 0x0e;
pub(super) const ACKNOWLEDGE: u8 = 0x11;
pub(super) const ATOMIC_ACKNOWLEDGE: u8 = 0x12;

const OPERATIONS: [&str; 24] = [
    "SEND First",
    "SEND Middle",
    "SEND Last",
    "SEND Last with Immediate",
    "SEND Only",
    "SEND Only with Immediate",
    "RDMA WRITE First",
    "RDMA WRITE Middle",
    "RDMA WRITE Last",
    "RDMA WRITE Last with Immediate",
    "RDMA WRITE Only",
    "RDMA WRITE Only with Immediate",
    "RDMA READ Request",
    "RDMA READ Response First",
    "RDMA READ Response Middle",
    "RDMA READ Response Last",
    "RDMA READ Response Only",
    "Acknowledge",
    "ATOMIC Acknowledge",
    "CmpSwap",
    "FetchAdd",
    "RESYNC",
    "SEND Last with Invalidate",
    "SEND Only with Invalidate",
];

/// The operation of an opcode.
pub(super) fn operation(opcode: u8) -> String {
    match OPERATIONS.get(usize::from(opcode & 0x1f)) {
        Some(name) if Service::of(opcode) != Service::Manufacturer => (*name).to_owned(),
        _ => format!("opcode {opcode:#04x}"),
    }
}

/// Whether an opcode of a reliable service is an answer.
pub(super) fn is_answer(opcode: u8) -> bool {
    (READ_RESPONSE_FIRST..=ATOMIC_ACKNOWLEDGE).contains(&(opcode & 0x1f))
}

/// The first byte of an AETH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syndrome {
    Ack,
    /// Receiver not ready: the request is to be sent again.
    Rnr,
    /// A packet before it is missing: from there on, all are to be sent again.
    Sequence,
    /// The connection ends.
    Refused(&'static str),
}

impl Syndrome {
    pub(super) fn of(byte: u8) -> Self {
        match byte >> 5 & 3 {
            0 => Self::Ack,
            1 => Self::Rnr,
            _ if byte & 0x1f == 0 => Self::Sequence,
            _ => Self::Refused(match byte & 0x1f {
                1 => "invalid request",
                2 => "remote access error",
                3 => "remote operational error",
                4 => "invalid RD request",
                _ => "a reserved code",
            }),
        }
    }

    /// The reason, if it is no acknowledgement.
    pub(super) fn refusal(self) -> Option<&'static str> {
        match self {
            Self::Ack => None,
            Self::Rnr => Some("receiver not ready"),
            Self::Sequence => Some("PSN sequence error"),
            Self::Refused(reason) => Some(reason),
        }
    }
}
