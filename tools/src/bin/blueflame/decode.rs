//! `blueflame decode`: logs and dumps as named fields, with a diagnosis; captures as conversations.
use anstream::{AutoStream, ColorChoice};
use anyhow::{Context, Result};
use blueflame_decode::capture::{Capture, capture};
use blueflame_decode::{Input, Options, Order, Record, Styled, Transport, printable};
use clap::Args;
use serde::Serialize;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::exit::{WRONG_CALL, complain};
use crate::words::named;

const KINDS: &[(&str, Input)] = &[
    ("auto", Input::Auto),
    ("wqe", Input::Wqe),
    ("recv-wqe", Input::RecvWqe),
    ("srq-wqe", Input::SrqWqe),
    ("cqe", Input::Cqe),
    ("mini-cqes", Input::MiniCqes),
    ("qp-record", Input::QpRecord),
    ("cq-record", Input::CqRecord),
    ("sq-doorbell", Input::SqDoorbell),
    ("cq-doorbell", Input::CqDoorbell),
];

const TRANSPORTS: &[(&str, Transport)] = &[
    ("rc", Transport::Rc),
    ("uc", Transport::Uc),
    ("ud", Transport::Ud),
    ("dc", Transport::Dc),
    ("xrc", Transport::Xrc),
    ("eth", Transport::Eth),
];

const ORDERS: &[(&str, Order)] = &[("big", Order::Big), ("little", Order::Little)];

const SIZES: &[(&str, usize)] = &[("64", 64), ("128", 128)];

const AFTER_HELP: &str = "\
Paste whole logs: of the kernel (dmesg), NCCL, UCX, libfabric, Open MPI, SPDK,
DPDK, perftest, storage and others. A completion's status counts by number, by
name or by text, with a vendor syndrome in any spelling; so do failed commands,
queues and calls, and the health of a device. Or paste only the digits of a
dump, as xxd, hexdump, od, gdb or the drivers print them. The command skips all
other text.

  dmesg | blueflame decode
  blueflame decode job.log --json
  blueflame decode ring.bin --binary --kind wqe --transport ud
  echo 10012abe00000004 | blueflame decode --kind sq-doorbell
  blueflame decode packets.pcapng

Of a capture of packets (pcapng, pcap), the command prints the conversation of
each pair of queue pairs.

Fields have the names of mlx5dv.h. Exit codes: 0 if the command found a dump or
a line that it knows, 1 if not, 2 for a wrong call or an unreadable file.";

const KIND_HELP: &str = "\
The structure of the bytes, if the text does not name it: auto (the
default), wqe, recv-wqe, srq-wqe, cqe, mini-cqes, qp-record,
cq-record, sq-doorbell, cq-doorbell";

const TRANSPORT_HELP: &str = "\
The transport of the WQEs, which their bytes do not contain: rc, uc,
ud, dc, xrc, eth; by default the one that fits";

const ORDER_HELP: &str = "\
The order of bytes in a dump's words: big, as drivers print them, or
little, as debuggers do; by default the one that fits";

/// Explain lines of logs, dumps of CQEs and WQEs, and captures
#[derive(Args)]
#[command(after_help = AFTER_HELP, next_line_help = true)]
pub(crate) struct Arguments {
    /// The files to read; standard input if there are none, or for -
    files: Vec<PathBuf>,
    /// The structure of the bytes, if the text does not name it
    #[arg(short, long, default_value = "auto", value_parser = named(KINDS))]
    #[arg(help = KIND_HELP, hide_possible_values = true, hide_default_value = true)]
    kind: Input,
    /// The transport of the WQEs, which their bytes do not contain
    #[arg(short, long, value_parser = named(TRANSPORTS))]
    #[arg(help = TRANSPORT_HELP, hide_possible_values = true)]
    transport: Option<Transport>,
    /// The order of bytes in a dump's words
    #[arg(long, value_parser = named(ORDERS))]
    #[arg(help = ORDER_HELP, hide_possible_values = true)]
    order: Option<Order>,
    /// Bytes of a CQE, 64 or 128; by default the size that fits
    #[arg(long, value_name = "BYTES", value_parser = named(SIZES), hide_possible_values = true)]
    cqe_size: Option<usize>,
    /// The input is binary, even if it could be text
    #[arg(short, long)]
    binary: bool,
    /// Print one JSON object with all results
    #[arg(long)]
    json: bool,
}

/// Everything found, for JSON.
#[derive(Default, Serialize)]
struct All {
    records: Vec<Record>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    captures: Vec<Capture>,
}

/// Reads the input, and prints the results.
pub(crate) fn run(arguments: &Arguments, colour: ColorChoice) -> ExitCode {
    match decode(arguments, colour) {
        Ok(code) => code,
        // The reader of the pipe has finished: `blueflame decode | head`.
        Err(error) if error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == ErrorKind::BrokenPipe) => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            complain(&error);
            ExitCode::from(WRONG_CALL)
        }
    }
}

fn decode(arguments: &Arguments, colour: ColorChoice) -> Result<ExitCode> {
    let Arguments { kind, transport, order, cqe_size, binary, .. } = *arguments;
    let options = Options { input: kind, transport, order, cqe_bytes: cqe_size, binary };
    let stdin = [PathBuf::from("-")];
    let files = if arguments.files.is_empty() { &stdin[..] } else { &arguments.files };
    let mut all = All::default();
    let mut out = AutoStream::new(io::stdout(), colour).lock();
    let mut shown = 0;
    for file in files {
        let input = read(file)?;
        let packets = if kind == Input::Auto { capture(&input) } else { None };
        if let Some(packets) = packets {
            shown += packets.conversations.len();
            if arguments.json {
                all.captures.push(packets);
            } else {
                if files.len() > 1 {
                    writeln!(out, "==> {} <==", printable(&file.display().to_string()))?;
                }
                write!(out, "{packets}")?;
            }
            continue;
        }
        let report = blueflame_decode::decode(&input, &options);
        shown += report.records.len();
        if arguments.json {
            all.records.extend(report.records);
        } else {
            if files.len() > 1 && !report.records.is_empty() {
                writeln!(out, "==> {} <==", printable(&file.display().to_string()))?;
            }
            write!(out, "{}", Styled(&report))?;
        }
    }
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &all).map_err(io::Error::from)?;
        writeln!(out)?;
    }
    out.flush()?;
    if shown == 0 {
        eprintln!("blueflame: nothing found that an mlx5 driver prints; --kind says what bytes are");
        return Ok(ExitCode::from(1));
    }
    Ok(ExitCode::SUCCESS)
}

fn read(file: &Path) -> Result<Vec<u8>> {
    if file == Path::new("-") {
        let mut input = Vec::new();
        io::stdin().lock().read_to_end(&mut input).context("standard input")?;
        return Ok(input);
    }
    std::fs::read(file).with_context(|| file.display().to_string())
}
