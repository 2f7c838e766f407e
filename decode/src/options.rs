//! What the caller knows of the input.

/// What the bytes of an input are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Input {
    /// Whatever they look like: text or binary, and what a dump is by the line in front of it and by its bytes.
    #[default]
    Auto,
    /// WQEs of a send queue.
    Wqe,
    /// One WQE of a receive queue.
    RecvWqe,
    /// One WQE of a shared receive queue.
    SrqWqe,
    /// CQEs.
    Cqe,
    /// Arrays of mini-CQEs.
    MiniCqes,
    /// Doorbell records of queue pairs.
    QpRecord,
    /// Doorbell records of completion queues.
    CqRecord,
    /// Stores to doorbell registers of send queues.
    SqDoorbell,
    /// Stores to doorbell registers of completion queues.
    CqDoorbell,
}

/// The transport of a send queue, which its WQEs do not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Reliable connection.
    Rc,
    /// Unreliable connection.
    Uc,
    /// Datagrams.
    Ud,
    /// Dynamically connected.
    Dc,
    /// Extended reliable connection.
    Xrc,
    /// Raw Ethernet packets.
    Eth,
}

/// The order of bytes in a dump's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Each word is shown as the big endian number that is in memory, as drivers do it.
    Big,
    /// Each word is shown as a little endian CPU loads it, as `gdb` and `hexdump` without options do it.
    Little,
}

/// What the caller knows of the input. The default knows nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What the bytes are.
    pub input: Input,
    /// The transport of WQEs. Without it, the one that fits best is taken.
    pub transport: Option<Transport>,
    /// The order of bytes in words. Without it, it is told by the dump's form, or by what makes sense.
    pub order: Option<Order>,
    /// Bytes of a CQE, 64 or 128. Without it, it is told by what makes sense.
    pub cqe_bytes: Option<usize>,
    /// The input is binary, even if it could be text.
    pub binary: bool,
}
