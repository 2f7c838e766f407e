//! The caller's knowledge of the input.

/// The content of an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Input {
    /// Detect it: text or binary by the bytes; the kind of a dump by the line in front of it and by its bytes.
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

/// The transport of a send queue. Its WQEs do not say it.
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
    /// Each word is shown as the big endian number in memory, as drivers print it.
    Big,
    /// Each word is shown as a little endian CPU loads it, as `gdb` and `hexdump` without options print it.
    Little,
}

/// The caller's knowledge of the input. The default is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The content of the bytes.
    pub input: Input,
    /// The transport of WQEs. Without it, the decoder takes the one that fits best.
    pub transport: Option<Transport>,
    /// The order of bytes in words. Without it, the decoder takes the order that the dump's form implies, or that makes
    /// sense.
    pub order: Option<Order>,
    /// Bytes of a CQE, 64 or 128. Without it, the decoder takes the size that makes sense.
    pub cqe_bytes: Option<usize>,
    /// The input is binary, even if it could be text.
    pub binary: bool,
}
