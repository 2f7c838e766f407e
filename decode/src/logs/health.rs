//! The health of a device, as `mlx5_core` polls and prints it (Linux
//! `drivers/net/ethernet/mellanox/mlx5/core/health.c`).

use super::fields::{event, number_field, text_field};
use super::words::{Kind as Token_, Label, Token, in_order, is_mlx5, phrase};
use crate::report::{Diagnosis, Field, Record, Value};

/// The title of lines about the health of a device. Neighbours become one record.
pub(crate) const TITLE: &str = "the health of the device's firmware";

/// The summary of health lines that name no fault.
const UNWELL: &str = "the firmware reports that the device is not well";

const DEAD: &[&str] = &[
    "save the kernel's log and `devlink health dump show pci/ADDRESS reporter fw_fatal` before a reset: NVIDIA's \
     support needs them",
    "look for PCIe errors (AER) and high temperature before it; then update the firmware",
    "devlink health recover pci/ADDRESS reporter fw_fatal, mlxfwreset, or power off and on; until then every \
     command and request of the device fails",
];

/// Lines recognised by their words alone: the words, in this order; whether other drivers print them as well; the
/// meaning.
const LINES: &[(&[&[&str]], bool, &str)] = &[
    (
        &[&["health", "compromised"]],
        false,
        "the firmware has stopped answering: its counter did not move during three polls (some seconds)",
    ),
    (&[&["health", "recovery"], &["failed"]], true, "the driver could not bring the device back"),
    (
        &[&["health", "recovery", "flow", "aborted"]],
        true,
        "the driver could not bring the device back: the device does not answer on PCIe",
    ),
    (
        &[&["handling", "bad", "device", "here"]],
        true,
        "the driver has begun to stop the device and to bring it back, after a fatal error",
    ),
    (&[&["Driver", "is", "in", "error", "state"]], true, "the driver gave the device up, after an earlier fatal error"),
    (&[&["PCI", "slot", "is", "unavailable"]], true, "the device does not answer on PCIe: each read gives all ones"),
    (&[&["mlx5_pci_err_detected"]], false, "PCIe reported an error of the device (AER), and the driver stops it"),
    (&[&["Firmware", "over"], &["initializing", "state"]], true, "the firmware did not start in time"),
];

/// A health syndrome (Linux `health.c`, `MLX5_HEALTH_SYNDR_*`).
struct Syndrome {
    number: u64,
    /// The kernel's text.
    text: &'static str,
    meaning: &'static str,
    advice: &'static str,
}

const fn syndrome(number: u64, text: &'static str, meaning: &'static str, advice: &'static str) -> Syndrome {
    Syndrome { number, text, meaning, advice }
}

const REPORT: &str = "update the firmware; give NVIDIA's support the lines of this block";
const REPLACE: &str = "power off and on; if it comes back, replace the device";
const UPDATE: &str = "update driver and firmware";

const SYNDROMES: &[Syndrome] = &[
    syndrome(0x1, "firmware internal error", "an internal error of the firmware", REPORT),
    syndrome(0x7, "irisc not responding", "a processor of the firmware does not respond", REPORT),
    syndrome(0x8, "unrecoverable hardware error", "an unrecoverable error of the hardware", REPLACE),
    syndrome(0x9, "firmware CRC error", "the firmware in memory is damaged", "burn the firmware again (mstflint)"),
    syndrome(
        0xa,
        "ICM fetch PCI error",
        "the device could not read its own memory on the host",
        "look for PCIe and IOMMU errors of the host",
    ),
    syndrome(0xb, "HW fatal error", "a fatal error of the hardware", REPLACE),
    syndrome(
        0xc,
        "async EQ buffer overrun",
        "the host did not read events in time",
        "look for lost interrupts, or a host that stood still",
    ),
    syndrome(0xd, "EQ error", "an event queue failed", UPDATE),
    syndrome(0xe, "Invalid EQ referenced", "an event queue that there is not", UPDATE),
    syndrome(0xf, "FFSER error", "an FFSER error", REPORT),
    syndrome(
        0x10,
        "High temperature",
        "the device is too hot",
        "cooling: fans, airflow, the neighbours in the chassis",
    ),
];

/// Reasons of "Fatal error N detected" (Linux `health.c`, `MLX5_SENSOR_*`).
const SENSORS: &[(u64, &str)] = &[
    (1, "the device does not answer on PCIe: each read gives all ones"),
    (2, "the PCIe channel is offline"),
    (3, "the firmware has disabled the device's interface"),
    (4, "another function of the device has begun a reset"),
    (5, "the firmware asks for a reset, because of a fatal health syndrome"),
];

/// Numbers of `print_health_info`; those behind an index have it in their name.
const NUMBERS: &[(&[&str], &str)] = &[
    (&["assert", "exit", "ptr"], "assert_exit_ptr"),
    (&["assert", "callra"], "assert_callra"),
    (&["hw", "id"], "hw_id"),
    (&["rfr"], "rfr"),
    (&["severity"], "severity"),
    (&["irisc", "index"], "irisc_index"),
    (&["ext", "synd"], "ext_synd"),
    (&["synd"], "synd"),
    (&["raw", "fw", "ver"], "raw_fw_ver"),
    (&["fw", "ver"], "fw_ver"),
    (&["time"], "time"),
];

/// Reads a line about the health of a device.
pub(crate) fn read(tokens: &[Token<'_>], line: &str) -> Option<Record> {
    let has = |words: &[&str]| (0..tokens.len()).find(|at| phrase(tokens, *at, words));
    let is_mlx5 = is_mlx5(tokens);
    let known = LINES.iter().find(|(words, common, _)| (is_mlx5 || !common) && in_order(tokens, words));
    if let Some((.., summary)) = known {
        return Some(event(TITLE, summary, DEAD, device(tokens, line).into_iter().collect()));
    }
    if has(&["print_health_info"]).is_some()
        || has(&["Health", "issue", "observed"]).is_some()
        || is_health(tokens, line)
    {
        return buffer(tokens, line);
    }
    let fatal = has(&["Fatal", "error"]).filter(|at| is_mlx5 && phrase(tokens, at + 3, &["detected"]));
    if let Some(number) = fatal.and_then(|at| tokens[at + 2].number()) {
        let reason = SENSORS.iter().find(|(of, _)| *of == number).map_or("an unknown reason", |(_, reason)| *reason);
        let mut fields: Vec<_> = device(tokens, line).into_iter().collect();
        fields.push(Field { meaning: Some(reason.to_owned()), ..number_field("fatal_error", number) });
        return Some(event(TITLE, &format!("the device failed: {reason}"), DEAD, fields));
    }
    None
}

/// A line of `print_health_info`.
fn buffer(tokens: &[Token<'_>], line: &str) -> Option<Record> {
    let mut fields: Vec<Field> = device(tokens, line).into_iter().collect();
    let known = fields.len();
    for (at, token) in tokens.iter().enumerate() {
        let variable = tokens.get(at + 2..at + 5).filter(|_| phrase(tokens, at, &["assert_var", "["]));
        let variable = variable.map(|words| (words[0].number(), words[1].text, words[2].number()));
        if let Some((Some(index), "]", Some(value))) = variable {
            fields.push(Field {
                name: format!("assert_var[{index}]").into(),
                offset: 0,
                value: Value::Hex(value, 32),
                meaning: None,
            });
        }
        let label = Label::of(tokens, at);
        let Some((_, name)) = NUMBERS.iter().find(|(words, _)| label.ends(words)) else { continue };
        // A version has dots.
        if *name == "fw_ver" && token.kind == Token_::Word && token.text.starts_with(|c: char| c.is_ascii_digit()) {
            fields.push(text_field(name, token.text.to_owned()));
        } else if let Some(value) = token.number() {
            let value = if token.has_prefix() { Value::Hex(value, 8) } else { Value::Dec(value) };
            fields.push(Field { name: (*name).into(), offset: 0, value, meaning: None });
        }
    }
    let is_head = (0..tokens.len()).any(|at| phrase(tokens, at, &["Health", "issue", "observed"]));
    if fields.len() == known && !is_head {
        return None;
    }
    // The head and `synd` say the same, in words and as a number.
    let number = fields.iter().find(|field| field.name == "synd").and_then(|field| field.value.number());
    let syndrome = match number {
        Some(number) => SYNDROMES.iter().find(|syndrome| syndrome.number == number),
        None => SYNDROMES.iter().find(|syndrome| is_head && line.contains(syndrome.text)),
    };
    for field in fields.iter_mut().filter(|field| field.name == "synd") {
        field.meaning = syndrome.map(|syndrome| syndrome.text.to_owned());
    }
    let summary = syndrome.map_or_else(
        || UNWELL.to_owned(),
        |Syndrome { number, text, meaning, .. }| {
            format!("the firmware reports: {meaning} ({text}, health syndrome {number:#x})")
        },
    );
    let mut advice: Vec<&str> = syndrome.map(|syndrome| syndrome.advice).into_iter().collect();
    advice.extend(DEAD);
    let mut record = event(TITLE, &summary, &advice, fields);
    if let Some(diagnosis) = &mut record.diagnosis {
        diagnosis.details.push(
            "assert_var, assert_exit_ptr and assert_callra tell NVIDIA's support where the firmware stopped; fw_ver, \
             hw_id and ext_synd belong into a report, too"
                .to_owned(),
        );
    }
    Some(record)
}

/// Adds the diagnosis of another line of the same block.
pub(crate) fn join(diagnosis: &mut Diagnosis, more: Diagnosis) {
    if diagnosis.summary == UNWELL {
        diagnosis.summary = more.summary;
    } else if more.summary != UNWELL && more.summary != diagnosis.summary {
        diagnosis.details.insert(0, more.summary);
    }
    for detail in more.details {
        if !diagnosis.details.contains(&detail) {
            diagnosis.details.push(detail);
        }
    }
    for advice in more.advice.into_iter().rev() {
        if !diagnosis.advice.contains(&advice) {
            diagnosis.advice.insert(0, advice);
        }
    }
}

/// Whether a line of `mlx5_core` begins with a name of the health buffer. Old kernels print no function's
/// name.
fn is_health(tokens: &[Token<'_>], line: &str) -> bool {
    let Some((address, core)) = address(tokens, line).zip(tokens.iter().position(|token| token.is("mlx5_core"))) else {
        return false;
    };
    let end = line.find(address).map_or(0, |at| at + address.len());
    let first = tokens[core..].iter().find(|token| token.end > end && token.kind == Token_::Word);
    let names =
        ["assert_var", "assert_exit_ptr", "assert_callra", "hw_id", "irisc_index", "synd", "ext_synd", "raw", "fw_ver"];
    first.is_some_and(|token| token.is_any(&names))
}

/// The PCI address in front of a message of `mlx5_core`.
pub(crate) fn address<'a>(tokens: &[Token<'_>], line: &'a str) -> Option<&'a str> {
    let behind = tokens.iter().find(|token| token.is("mlx5_core")).map(|token| &line[token.end..])?;
    let address = behind.trim_start().split(' ').next()?.trim_end_matches(':');
    let is_address = address.bytes().all(|c| c.is_ascii_hexdigit() || b":.".contains(&c)) && address.contains(':');
    is_address.then_some(address)
}

fn device(tokens: &[Token<'_>], line: &str) -> Option<Field> {
    address(tokens, line).map(|address| text_field("device", address.to_owned()))
}
