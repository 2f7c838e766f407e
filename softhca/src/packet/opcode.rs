//! BTH opcodes: which operation, which part of a message, and which extended headers follow (IBTA vol. 1, 9.2.1,
//! table 35 "OpCode field").
//!
//! The three high bits name the transport service, the five low bits the operation. The operations have the same
//! numbers in every service, so one table serves them all.
//!
//! Dynamic connections are not in the specification, and their packets are not published. Here they have the service
//! number 6, from the range that the specification leaves to manufacturers: RC's operations, and three of their own
//! ([`super::dc`]). So they pass only between devices of this kind, and so do masked atomics ([`super::extended`]):
//! their opcode is one that the specification reserves.

use crate::context::Transport;

/// The request or the answer in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// SEND.
    Send,
    /// RDMA WRITE.
    Write,
    /// RDMA READ request.
    ReadRequest,
    /// RDMA READ response.
    ReadResponse,
    /// Acknowledgement, positive or negative.
    Acknowledge,
    /// Acknowledgement of an atomic with the value found.
    AtomicAcknowledge,
    /// Atomic compare and swap.
    CompareSwap,
    /// Atomic fetch and add.
    FetchAdd,
    /// Masked atomic, of either kind.
    ExtendedAtomic,
    /// DC: asks the target for a connection.
    Connect,
    /// DC: the target's answer.
    Accept,
    /// DC: ends the connection.
    Disconnect,
}

impl Operation {
    /// Whether the responder sends it to the requester.
    #[must_use]
    pub const fn is_response(self) -> bool {
        matches!(self, Self::ReadResponse | Self::Acknowledge | Self::AtomicAcknowledge | Self::Accept)
    }
}

/// Which part of its message a packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// The first of several.
    First,
    /// Neither the first nor the last.
    Middle,
    /// The last of several.
    Last,
    /// The whole message.
    Only,
}

impl Place {
    /// The part in which the message begins or does not, and ends or does not.
    #[must_use]
    pub const fn of(begins: bool, ends: bool) -> Self {
        match (begins, ends) {
            (true, true) => Self::Only,
            (true, false) => Self::First,
            (false, false) => Self::Middle,
            (false, true) => Self::Last,
        }
    }

    /// Whether a message begins here.
    #[must_use]
    pub const fn begins(self) -> bool {
        matches!(self, Self::First | Self::Only)
    }

    /// Whether a message ends here.
    #[must_use]
    pub const fn ends(self) -> bool {
        matches!(self, Self::Last | Self::Only)
    }
}

/// The header that the last packet of a SEND or WRITE carries besides the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tail {
    /// Nothing.
    None,
    /// Immediate data (ImmDt).
    Immediate,
    /// A key to invalidate (IETH).
    Invalidate,
}

/// The set of extended headers that an opcode carries; they follow the BTH in the order of the constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carries(u16);

impl Carries {
    /// None.
    pub const NONE: Self = Self(0);
    /// Datagram.
    pub const DETH: Self = Self(1);
    /// DC: the connection.
    pub const DC: Self = Self(1 << 7);
    /// RDMA.
    pub const RETH: Self = Self(1 << 1);
    /// Atomic request.
    pub const ATOMIC: Self = Self(1 << 2);
    /// Acknowledgement.
    pub const AETH: Self = Self(1 << 3);
    /// Atomic answer.
    pub const ATOMIC_ACK: Self = Self(1 << 4);
    /// Immediate data.
    pub const IMM: Self = Self(1 << 5);
    /// Invalidate.
    pub const IETH: Self = Self(1 << 6);
    /// DC: the request to a target.
    pub const CONNECT: Self = Self(1 << 8);
    /// DC: the connection that the target has made.
    pub const ACCEPT: Self = Self(1 << 9);
    /// XRC: the SRQ.
    pub const XRC: Self = Self(1 << 10);
    /// Masked atomic request.
    pub const EXTENDED: Self = Self(1 << 11);

    /// Both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `other` is in the set.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// A valid BTH opcode of a service that the device has: RC, UC, UD, XRC or DC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Opcode {
    transport: Transport,
    /// Index into [`ROWS`] of a row that `transport` has.
    index: u8,
}

impl Opcode {
    /// RC Acknowledge.
    pub const RC_ACKNOWLEDGE: Self = Self { transport: Transport::Rc, index: 0x11 };
    /// RC ATOMIC Acknowledge.
    pub const RC_ATOMIC_ACKNOWLEDGE: Self = Self { transport: Transport::Rc, index: 0x12 };
    /// RC RDMA READ Request.
    pub const RC_READ_REQUEST: Self = Self { transport: Transport::Rc, index: 0x0c };

    /// The opcode with this code; `None` if it is reserved or of a service that the device lacks.
    #[must_use]
    pub fn new(code: u8) -> Option<Self> {
        let transport = match code >> 5 {
            0 => Transport::Rc,
            1 => Transport::Uc,
            3 => Transport::Ud,
            5 => Transport::Xrc,
            6 => Transport::Dc,
            _ => return None,
        };
        let index = code & 0x1f;
        let row = ROWS.get(usize::from(index))?.as_ref()?;
        row.serves(transport).then_some(Self { transport, index })
    }

    /// The opcode of this operation, part of a message and tail; `None` if the service has no such packet.
    #[must_use]
    pub fn of(transport: Transport, operation: Operation, place: Place, tail: Tail) -> Option<Self> {
        let index = INDICES[operation as usize][place as usize][tail as usize];
        let row = ROWS.get(usize::from(index))?.as_ref()?;
        row.serves(transport).then_some(Self { transport, index })
    }

    /// The byte in the BTH.
    #[must_use]
    pub const fn code(self) -> u8 {
        let service = match self.transport {
            Transport::Rc => 0,
            Transport::Uc => 1,
            Transport::Ud => 3,
            Transport::Xrc => 5,
            Transport::Dc => 6,
            // No opcode has these transports, since no row serves them. The specification leaves 7 to manufacturers.
            Transport::RawPacket | Transport::RegUmr => 7,
        };
        service << 5 | self.index
    }

    /// The transport service.
    #[must_use]
    pub const fn transport(self) -> Transport {
        self.transport
    }

    /// The operation.
    #[must_use]
    pub fn operation(self) -> Operation {
        self.row().operation
    }

    /// The part of the message.
    #[must_use]
    pub fn place(self) -> Place {
        self.row().place
    }

    /// The header that it carries besides the payload.
    #[must_use]
    pub fn tail(self) -> Tail {
        self.row().carries.tail()
    }

    /// The extended headers that follow the BTH.
    #[must_use]
    pub fn carries(self) -> Carries {
        match self.transport {
            Transport::Ud => self.row().carries.and(Carries::DETH),
            Transport::Dc => self.row().carries.and(Carries::DC),
            Transport::Xrc if !self.operation().is_response() => self.row().carries.and(Carries::XRC),
            Transport::Rc | Transport::Uc | Transport::Xrc | Transport::RawPacket | Transport::RegUmr => {
                self.row().carries
            }
        }
    }

    /// Whether packets of it can be in a segment together.
    pub(crate) fn may_join(self) -> bool {
        self.has_payload() && self.transport != Transport::Ud
    }

    /// Bytes of the headers that it has, if a message's payload may follow them; 0 if not.
    pub(crate) fn header_bytes(self) -> usize {
        const BYTES: [(Carries, usize); 7] = [
            (Carries::DETH, 8),
            (Carries::DC, 8),
            (Carries::XRC, 4),
            (Carries::RETH, 16),
            (Carries::AETH, 4),
            (Carries::IMM, 4),
            (Carries::IETH, 4),
        ];
        if !self.has_payload() {
            return 0;
        }
        let carries = self.carries();
        12 + BYTES.iter().filter(|&&(header, _)| carries.has(header)).map(|(_, bytes)| bytes).sum::<usize>()
    }

    /// Whether a message's payload may follow the headers.
    #[must_use]
    pub fn has_payload(self) -> bool {
        matches!(self.operation(), Operation::Send | Operation::Write | Operation::ReadResponse)
    }

    fn row(self) -> &'static Row {
        // The constructors and the constants name existing rows only, so SEND Only never stands in for one.
        ROWS[usize::from(self.index)].as_ref().unwrap_or(&SEND_ONLY)
    }
}

impl Carries {
    const fn tail(self) -> Tail {
        if self.has(Self::IMM) {
            Tail::Immediate
        } else if self.has(Self::IETH) {
            Tail::Invalidate
        } else {
            Tail::None
        }
    }
}

struct Row {
    operation: Operation,
    place: Place,
    carries: Carries,
    /// UC has it, too (RC and XRC have every row).
    uc: bool,
    /// UD has it, too.
    ud: bool,
    /// No service but DC has it; DC has all that RC has, too.
    dc_only: bool,
}

impl Row {
    fn serves(&self, transport: Transport) -> bool {
        match transport {
            Transport::Rc | Transport::Xrc => !self.dc_only,
            Transport::Dc => true,
            Transport::Uc => self.uc,
            Transport::Ud => self.ud,
            Transport::RawPacket | Transport::RegUmr => false,
        }
    }
}

/// A row that RC, XRC and DC have.
const fn rc(operation: Operation, place: Place, carries: Carries) -> Option<Row> {
    Some(Row { operation, place, carries, uc: false, ud: false, dc_only: false })
}

/// A row that RC, XRC, UC and DC have.
const fn connected(operation: Operation, place: Place, carries: Carries) -> Option<Row> {
    Some(Row { operation, place, carries, uc: true, ud: false, dc_only: false })
}

/// A row that RC, XRC, UC, DC and UD have.
const fn every(operation: Operation, place: Place, carries: Carries) -> Option<Row> {
    Some(Row { operation, place, carries, uc: true, ud: true, dc_only: false })
}

/// A row that DC alone has.
const fn dc(operation: Operation, carries: Carries) -> Option<Row> {
    Some(Row { operation, place: Place::Only, carries, uc: false, ud: false, dc_only: true })
}

const SEND_ONLY: Row =
    Row { operation: Operation::Send, place: Place::Only, carries: Carries::NONE, uc: true, ud: true, dc_only: false };

use {Carries as C, Operation as Op, Place as P};

/// Row n is opcode n of each service (IBTA vol. 1, table 35); those after 0x17 are this device's own.
static ROWS: [Option<Row>; 28] = [
    connected(Op::Send, P::First, C::NONE),
    connected(Op::Send, P::Middle, C::NONE),
    connected(Op::Send, P::Last, C::NONE),
    connected(Op::Send, P::Last, C::IMM),
    every(Op::Send, P::Only, C::NONE),
    every(Op::Send, P::Only, C::IMM),
    connected(Op::Write, P::First, C::RETH),
    connected(Op::Write, P::Middle, C::NONE),
    connected(Op::Write, P::Last, C::NONE),
    connected(Op::Write, P::Last, C::IMM),
    connected(Op::Write, P::Only, C::RETH),
    connected(Op::Write, P::Only, C::RETH.and(C::IMM)),
    rc(Op::ReadRequest, P::Only, C::RETH),
    rc(Op::ReadResponse, P::First, C::AETH),
    rc(Op::ReadResponse, P::Middle, C::NONE),
    rc(Op::ReadResponse, P::Last, C::AETH),
    rc(Op::ReadResponse, P::Only, C::AETH),
    rc(Op::Acknowledge, P::Only, C::AETH),
    rc(Op::AtomicAcknowledge, P::Only, C::AETH.and(C::ATOMIC_ACK)),
    rc(Op::CompareSwap, P::Only, C::ATOMIC),
    rc(Op::FetchAdd, P::Only, C::ATOMIC),
    None, // RESYNC of RD
    rc(Op::Send, P::Last, C::IETH),
    rc(Op::Send, P::Only, C::IETH),
    dc(Op::Connect, C::CONNECT),
    dc(Op::Accept, C::AETH.and(C::ACCEPT)),
    dc(Op::Disconnect, C::NONE),
    rc(Op::ExtendedAtomic, P::Only, C::EXTENDED),
];

const OPERATIONS: usize = Operation::Disconnect as usize + 1;
const PLACES: usize = Place::Only as usize + 1;
const TAILS: usize = Tail::Invalidate as usize + 1;
/// No row has this index.
const NO_ROW: u8 = u8::MAX;

/// The index of the row of each operation, place and tail.
static INDICES: [[[u8; TAILS]; PLACES]; OPERATIONS] = {
    let mut indices = [[[NO_ROW; TAILS]; PLACES]; OPERATIONS];
    let mut index = 0;
    while index < ROWS.len() {
        if let Some(row) = &ROWS[index] {
            indices[row.operation as usize][row.place as usize][row.carries.tail() as usize] = index as u8;
        }
        index += 1;
    }
    indices
};
