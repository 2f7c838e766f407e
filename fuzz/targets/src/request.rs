//! The input of the targets that post requests: a queue, and any requests.

input_struct! {
    /// A scatter/gather entry.
    Entry {
        addr: u64,
        bytes: u32,
        lkey: u32,
    }
}

input_struct! {
    /// A request.
    Request {
        /// Which [`Kind`](blueflame_testkit::request::Kind).
        kind: u8,
        addr: u64,
        rkey: u32,
        /// Immediate data, or the key to invalidate.
        imm: u32,
        /// Operands of atomics.
        operands: [u8; 16],
        /// Inline data of this length, filled with a pattern, in place of `entries`.
        inline: bool,
        inline_len: u16,
        entries: Vec<Entry>,
        /// Signalled, solicited, fence from the bits 0, 1, 4:2; bit 5: if it is not signalled, a completion for the
        /// first error only.
        flags: u8,
    }
}

input_struct! {
    /// A queue, and the requests posted to it.
    Input {
        /// RC, UC, raw packets, UD, DCI, DCI with streams, XRC. With bit 6: RC, DCI and DCI with streams whose WQEs
        /// have signatures. With bit 7: RC that changes memory keys. With bits 7 and 5: RC that waits, starts queues and
        /// reads. With bits 7 and 6: RC that copies memory. With bits 7, 6 and 5: RC that changes lists of tags.
        service: u8,
        /// log2 of the ring's WQEBBs; the low 3 bits count.
        log_wqebbs: u8,
        pi: u16,
        qpn: u32,
        max_inline: u16,
        max_sge: u8,
        signal_all: bool,
        prefer_blueflame: bool,
        without_blueflame: bool,
        requests: Vec<Request>,
    }
}
