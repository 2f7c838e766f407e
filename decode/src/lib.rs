//! Decodes the logs and memory of mlx5 drivers: error CQEs, WQEs, doorbells and failed commands. The input is a log, a
//! hex dump or binary. Log lines of other programs about failed completions, calls, queues and devices are read, too. It
//! also reads captures of packets ([`capture`]).
//!
//! ```
//! let log = "
//!     mlx5: cn10: got completion with error:
//!     00000000 00000000 00000000 00000000
//!     00000000 00000000 00000000 00000000
//!     00000002 00000000 00000000 00000000
//!     00000000 00008813 10012abe 0dd0c1d3";
//!
//! let report = blueflame_decode::decode(log.as_bytes(), &blueflame_decode::Options::default());
//! let cqe = &report.records[0];
//! assert_eq!(cqe.title, "MLX5_CQE_REQ_ERR, queue pair 0x12abe");
//! assert_eq!(cqe.number("vendor_err_synd"), Some(0x88));
//! let diagnosis = cqe.diagnosis.as_ref().expect("the request failed");
//! assert!(diagnosis.details[0].contains("MLX5_OPCODE_RDMA_READ"));
//! println!("{report}");
//! ```
//!
//! No option is required; [`Options`] describe an input that is ambiguous. Any bytes and any text give a [`Report`].
//! Time and memory grow with the input's length.
//!
//! Fields have the names of `mlx5dv.h`. Their offsets come from this crate's own tables ([`layout`]), not from the
//! structs with which `blueflame` writes. So each can reveal the other's mistakes. Opcodes and syndromes are those of
//! `blueflame`.

pub mod capture;
mod cqe;
mod diagnosis;
mod doorbell;
mod guess;
mod hex;
pub mod layout;
mod logs;
mod names;
mod operation;
mod options;
mod report;
mod show;
mod text;
mod wqe;

pub use names::OPCODES;
pub use options::{Input, Options, Order, Transport};
pub use report::{Diagnosis, Field, Kind, Part, Record, Report, Value};
pub use show::{Styled, printable};

/// Decodes `input`: as lines of a log if it is text, and otherwise as binary.
#[must_use]
pub fn decode(input: &[u8], options: &Options) -> Report {
    let text = if options.binary { None } else { text(input) };
    let records = match text {
        Some(text) => text::records(&text, options),
        None => guess::records(input, options),
    };
    let mut report = Report { records };
    report.relate();
    report
}

/// The input as text, unless it has control characters that do not occur in text. Logs may have bytes of other
/// encodings.
fn text(input: &[u8]) -> Option<std::borrow::Cow<'_, str>> {
    let is_text = |byte: &u8| !byte.is_ascii_control() || matches!(byte, b'\t' | b'\n' | b'\r' | 0x1b | 0x08 | 0x0c);
    input.iter().all(is_text).then(|| String::from_utf8_lossy(input))
}
