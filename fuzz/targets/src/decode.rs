//! Any bytes as pasted input: the decoder reads them, and its output stays in proportion to them.

use blueflame_decode::{Input as What, Options, Order, Report, Styled, Transport, decode};

input_struct! {
    /// Pasted bytes, and the options given with them.
    Input {
        /// Which kind the bytes are said to be.
        kind: u8,
        /// Which transport, if any.
        transport: u8,
        /// Bits: order of bytes, size of CQEs, binary.
        flags: u8,
        /// What was pasted.
        bytes: Vec<u8>,
    }
}

const KINDS: [What; 10] = [
    What::Auto,
    What::Wqe,
    What::RecvWqe,
    What::SrqWqe,
    What::Cqe,
    What::MiniCqes,
    What::QpRecord,
    What::CqRecord,
    What::SqDoorbell,
    What::CqDoorbell,
];

const TRANSPORTS: [Option<Transport>; 7] = [
    None,
    Some(Transport::Rc),
    Some(Transport::Uc),
    Some(Transport::Ud),
    Some(Transport::Dc),
    Some(Transport::Xrc),
    Some(Transport::Eth),
];

/// Decodes, and checks the output.
pub fn run(input: &Input) {
    let options = Options {
        input: KINDS[usize::from(input.kind) % KINDS.len()],
        transport: TRANSPORTS[usize::from(input.transport) % TRANSPORTS.len()],
        order: [None, Some(Order::Big), Some(Order::Little), None][usize::from(input.flags & 3)],
        cqe_bytes: [None, Some(64), Some(128), Some(0)][usize::from(input.flags >> 2 & 3)],
        binary: input.flags & 16 != 0,
    };
    check(&decode(&input.bytes, &options), input.bytes.len());
}

/// A report is in proportion to its input, its parts lie in their records, and it can be shown.
pub fn check(report: &Report, len: usize) {
    let mut bytes = 0;
    for record in &report.records {
        bytes += record.bytes.len();
        for part in &record.parts {
            let end = part.offset + part.bytes;
            assert!(end <= record.bytes.len(), "{} ends at {end} of {}", part.name, record.bytes.len());
            for field in &part.fields {
                assert!(part.bytes == 0 || field.offset >= part.offset && field.offset < end, "{}", field.name);
            }
        }
    }
    // A `*` stands for rows that are not there, 64 KiB of them at most.
    assert!(bytes <= 2 * len + (1 << 16), "{bytes} bytes of {len}");
    let (plain, styled) = (report.to_string(), Styled(report).to_string());
    assert!(plain.len() <= styled.len());
    assert!(plain.chars().all(|c| c == '\n' || !c.is_control()), "nothing that does something to a terminal");
}
