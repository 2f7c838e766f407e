//! Commands that failed, as the kernel, UCX, NVSHMEM and DPDK print them: refused by the firmware, unanswered, or
//! failed before they reached it.

use std::collections::HashMap;
use std::sync::LazyLock;

use blueflame_devx::cmd::Opcode;

use super::errno;
use super::fields::{number_field, part, text_field};
use super::words::{Kind as Token_, Label, Token, phrase};
use crate::diagnosis;
use crate::report::{Diagnosis, Field, Kind, Record, Value};

/// No opcode is larger.
const MOST_OPCODE: u16 = 0xfff;
/// The driver's own answer, in place of the firmware's, while the device is in the error state (Linux
/// `drivers/net/ethernet/mellanox/mlx5/core/cmd.c`, `MLX5_DRIVER_STATUS_ABORTED`).
const ABORTED: u64 = 0xfe;

/// The error that newer kernels return if the firmware executed a command and refused it.
const EREMOTEIO: u64 = 121;

/// The parts of a line about a command.
#[derive(Default)]
struct Command {
    opcode: Option<u64>,
    name: Option<String>,
    call: Option<String>,
    object: Option<String>,
    device: Option<String>,
    op_mod: Option<u64>,
    uid: Option<u64>,
    status: Option<(u64, String)>,
    syndrome: Option<u64>,
    errno: Option<u64>,
}

/// Reads a line about a command that failed.
pub(crate) fn read(tokens: &[Token<'_>]) -> Option<Record> {
    let has = |words: &[&str]| (0..tokens.len()).any(|at| phrase(tokens, at, words));
    let call = tokens.iter().position(|token| token.text.starts_with("mlx5dv_devx_"));
    let is_kernel = (has(&["op_mod", "("]) && has(&["failed"]) || has(&["command", "failed"]))
        && has(&["status"])
        && has(&["syndrome"]);
    // DPDK drivers/common/mlx5/mlx5_devx_cmds.c.
    let is_dpdk = has(&["DevX"]) && has(&["failed"]) && has(&["errno", "="]) && has(&["syndrome", "="]);
    let unanswered = UNANSWERED.iter().find(|row| has(row.words));
    if !is_kernel && !is_dpdk && unanswered.is_none() && call.is_none() {
        return None;
    }
    let mut command = numbers(tokens, call.is_some());
    if let Some(at) = call {
        command.syndrome?;
        devx(tokens, at, &mut command);
    } else if is_dpdk {
        let from = tokens.iter().position(|token| token.is("DevX")).map_or(0, |at| at + 1);
        let words = tokens[from..].iter().map(|token| token.text).take_while(|word| *word != "failed");
        command.call = Some(words.collect::<Vec<_>>().join(" "));
    }
    let title = match unanswered {
        Some(row) => row.title,
        None if command.status.as_ref().is_some_and(|(status, _)| *status == ABORTED) => {
            "a command that the driver aborted"
        }
        None if command.is_refusal() => "a command that the firmware refused",
        None => "a command that failed, which the firmware did not refuse",
    };
    let mut record = Record::new(Kind::Command, title);
    record.diagnosis = Some(match unanswered {
        Some(row) => Diagnosis {
            summary: format!("{}: {}", command.subject(), row.summary),
            details: Vec::new(),
            advice: row.advice.iter().map(|advice| (*advice).to_owned()).collect(),
        },
        None => command.diagnosis(),
    });
    record.parts.push(part(command.fields()));
    Some(record)
}

/// A command that the firmware has not answered, or that the kernel gave up (Linux
/// `drivers/net/ethernet/mellanox/mlx5/core/cmd.c`).
struct Unanswered {
    words: &'static [&'static str],
    title: &'static str,
    summary: &'static str,
    advice: &'static [&'static str],
}

const DEAF: &[&str] = &[
    "look for health lines of the same device before it (`poll_health`, `print_health_info`) and for PCIe errors \
     (AER)",
    "devlink health show pci/ADDRESS; reset the device (mlxfwreset, or power) if it answers no command any more",
    "each such command occupies its slot until the driver is reloaded",
];

const UNANSWERED: &[Unanswered] = &[
    Unanswered {
        words: &["Command", "completion", "arrived", "after", "timeout"],
        title: "a command that the firmware answered too late",
        summary: "the answer came after the driver had given the command up",
        advice: &["the firmware is slow or was stuck: look for more of these, and for health lines"],
    },
    Unanswered {
        words: &["recovered", "after", "timeout"],
        title: "a command whose interrupt was lost",
        summary: "the firmware had answered; its event was found only by polling",
        advice: &["the command succeeded. If there are many, look at the device's interrupts: affinity, a hypervisor"],
    },
    Unanswered {
        words: &["canceled", "on", "out", "of", "queue", "timeout"],
        title: "a command that found no free slot",
        summary: "the driver cancelled it, because earlier commands kept all slots",
        advice: DEAF,
    },
    Unanswered {
        words: &["leak", "of", "a", "command", "resource"],
        title: "a command that the firmware did not answer",
        summary: "the firmware did not answer in time",
        advice: DEAF,
    },
    Unanswered {
        words: &["No", "done", "completion"],
        title: "a command that the firmware did not answer",
        summary: "the firmware did not answer in time",
        advice: DEAF,
    },
];

/// The numbers and names of a line. A syndrome of DevX is hexadecimal even without `0x`.
fn numbers(tokens: &[Token<'_>], is_devx: bool) -> Command {
    let mut command = Command::default();
    for (at, token) in tokens.iter().enumerate() {
        if token.kind == Token_::Word && command.name.is_none() {
            command.opcode_of(tokens, at);
        }
        if errno::named(tokens, at).is_some() && command.errno.is_none() {
            command.errno = errno::named(tokens, at);
        }
        if token.kind == Token_::Mark {
            continue;
        }
        let label = Label::of(tokens, at);
        if label.ends(&["syndrome"]) || label.ends(&["syndrom"]) {
            let value = if is_devx { token.hexadecimal() } else { token.number() };
            command.syndrome = command.syndrome.or(value);
        }
        let magnitude = match token.kind {
            Token_::Number { value, .. } => value,
            _ => continue,
        };
        if label.ends(&["op", "mod"]) {
            command.op_mod = Some(magnitude);
        } else if label.ends(&["uid"]) {
            command.uid = Some(magnitude);
        } else if label.ends(&["errno"]) || label.ends(&["err"]) || is_devx && label.ends(&["status"]) {
            // NVSHMEM's `non-zero status: 121` is the call's result.
            command.errno = command.errno.or(Some(magnitude).filter(|number| *number > 0));
        } else if let Some(text) = status_text(tokens, at) {
            command.status = Some((magnitude, text));
        } else if label.ends(&["status"]) {
            command.status = Some((magnitude, String::new()));
        }
    }
    command
}

/// The text of `status bad parameter(0x3)`, whose number is at `at`.
fn status_text(tokens: &[Token<'_>], at: usize) -> Option<String> {
    // No text is longer than this many words.
    let first = at.saturating_sub(10);
    let from = tokens[first..at].iter().rposition(|token| token.is("status"))? + first + 1;
    let words = tokens.get(from..at.checked_sub(1)?)?;
    let is_text =
        tokens[at - 1].text == "(" && !words.is_empty() && words.iter().all(|token| token.kind == Token_::Word);
    is_text.then(|| words.iter().map(|token| token.text).collect::<Vec<_>>().join(" "))
}

impl Command {
    /// Takes the opcode at `at`: `CREATE_QP(0x500)`, or a name that the crate knows.
    fn opcode_of(&mut self, tokens: &[Token<'_>], at: usize) {
        let name = tokens[at].text;
        let is_name = |c: u8| c.is_ascii_uppercase() || c.is_ascii_digit() || c == b'_';
        if !name.bytes().all(is_name) || !name.bytes().any(|c| c.is_ascii_uppercase()) {
            return;
        }
        let number = match tokens.get(at + 1..at + 4) {
            Some([open, number, close]) if open.text == "(" && close.text == ")" && number.has_prefix() => {
                number.number()
            }
            _ => None,
        };
        let number = number.or_else(|| by_name(name));
        if number.is_some() {
            (self.opcode, self.name) = (number, Some(name.to_owned()));
        }
    }

    /// Whether the firmware answered with a refusal.
    fn is_refusal(&self) -> bool {
        self.syndrome.unwrap_or(0) != 0 || self.status.as_ref().is_some_and(|(status, _)| *status != 0)
    }

    fn subject(&self) -> String {
        match (&self.name, &self.call, &self.object) {
            (Some(name), ..) => name.clone(),
            (None, Some(call), Some(object)) => format!("{call}({object})"),
            (None, Some(call), None) => call.clone(),
            _ => "a command".to_owned(),
        }
    }

    fn diagnosis(&self) -> Diagnosis {
        let status = self.status.as_ref().map(|(status, _)| *status);
        if status == Some(ABORTED) {
            return Diagnosis {
                summary: format!("the driver aborted {}: the device is in the error state", self.subject()),
                details: vec!["the firmware did not see the command; the syndrome is the driver's own".to_owned()],
                advice: vec!["look at the first health or PCIe error of the device before it".to_owned()],
            };
        }
        let byte = status.and_then(|status| u8::try_from(status).ok());
        let mut diagnosis = if self.is_refusal() {
            diagnosis::of_command(&self.subject(), byte, self.syndrome.unwrap_or(0))
        } else {
            Diagnosis {
                summary: format!("{} failed, but the firmware did not refuse it: the syndrome is 0", self.subject()),
                details: Vec::new(),
                advice: vec![
                    "old kernels do not copy a refusal to user space: look for a line with this command's name and a \
                     syndrome in the kernel's log (dmesg)"
                        .to_owned(),
                ],
            }
        };
        // A refusal has its error number from the firmware's status.
        let says_more = |errno: &u64| *errno == EREMOTEIO || !self.is_refusal();
        if let Some(meaning) = self.errno.filter(says_more).and_then(errno_of_command) {
            diagnosis.details.push(meaning.to_owned());
        }
        diagnosis
    }

    fn fields(self) -> Vec<Field> {
        let mut fields = Vec::new();
        if let Some(opcode) = self.opcode {
            let known = Opcode(opcode as u16).name().map(str::to_owned);
            fields.push(Field { meaning: self.name.or(known), ..hex_field("opcode", opcode, 16) });
        }
        fields.extend(self.call.map(|call| text_field("call", call)));
        fields.extend(self.object.map(|object| text_field("object", object)));
        fields.extend(self.device.map(|device| text_field("device", device)));
        fields.extend(self.op_mod.map(|op_mod| hex_field("op_mod", op_mod, 8)));
        fields.extend(self.uid.map(|uid| number_field("uid", uid)));
        fields.extend(self.status.map(|(status, text)| Field {
            meaning: Some(text).filter(|text| !text.is_empty()),
            ..hex_field("status", status, 8)
        }));
        fields.extend(self.syndrome.map(|syndrome| hex_field("syndrome", syndrome, 8)));
        fields.extend(self.errno.map(errno::field));
        fields
    }
}

fn hex_field(name: &'static str, value: u64, bits: usize) -> Field {
    Field { name: name.into(), offset: 0, value: Value::Hex(value, bits), meaning: None }
}

/// The parts of a DevX call, which is at `at`: `mlx5dv_devx_obj_create(QP) failed on mlx5_0, …`,
/// `mlx5dv_devx_qp_modify(503) failed, …`, `mlx5dv_devx_obj_modify for INIT2RTR_QP with …` (UCX `src/uct/ib/mlx5/dv`,
/// NVSHMEM's `ibgda.cpp`).
fn devx(tokens: &[Token<'_>], at: usize, command: &mut Command) {
    let call = tokens[at].text;
    command.call = Some(call.to_owned());
    let mut argument = tokens.get(at + 1).filter(|token| token.text == "(").and_then(|_| tokens.get(at + 2));
    // `opcode=0x503`.
    if argument.is_some_and(|token| token.is("opcode")) {
        argument = tokens.get(at + 4);
    }
    let argument = argument.filter(|token| token.kind != Token_::Mark);
    let opcode = argument.and_then(Token::hexadecimal).filter(|opcode| *opcode <= MOST_OPCODE.into());
    if let (None, Some(opcode)) = (command.opcode, opcode) {
        command.opcode = Some(opcode);
        command.name = Opcode(opcode as u16).name().map(str::to_owned);
    }
    let verb = call["mlx5dv_devx_".len()..].split_once('_');
    command.object = match (argument, verb) {
        (Some(object), _) if opcode.is_none() && by_name(object.text).is_none() => Some(object.text.to_owned()),
        (_, Some((object, _))) if !["obj", "general"].contains(&object) => Some(object.to_uppercase()),
        _ => command.name.as_ref().and_then(|name| name.rsplit_once('_')).map(|(_, object)| object.to_owned()),
    };
    if let (None, Some((_, "create")), Some(object)) = (command.opcode, verb, &command.object) {
        let name = format!("CREATE_{object}");
        command.opcode = by_name(&name);
        command.name = command.opcode.map(|_| name);
    }
    let on = (at..tokens.len()).find(|at| phrase(tokens, *at, &["failed", "on"]));
    command.device = on.and_then(|at| tokens.get(at + 2)).map(|device| device.text.to_owned());
}

/// The opcode of this name.
fn by_name(name: &str) -> Option<u64> {
    static ALL: LazyLock<HashMap<&str, u16>> =
        LazyLock::new(|| (0..=MOST_OPCODE).filter_map(|opcode| Some((Opcode(opcode).name()?, opcode))).collect());
    ALL.get(name).copied().map(u64::from)
}

/// The meaning of a command's error number.
const fn errno_of_command(number: u64) -> Option<&'static str> {
    Some(match number {
        EREMOTEIO => "errno 121 (EREMOTEIO): the firmware executed the command and refused it",
        110 => {
            "errno 110 (ETIMEDOUT): the firmware did not answer in time: look for \"Will cause a leak of a command \
             resource\" in the kernel's log"
        }
        125 => {
            "errno 125 (ECANCELED): the kernel cancelled the command before the firmware saw it: all slots were \
             taken, as by commands that the firmware does not answer"
        }
        22 => "errno 22 (EINVAL): the kernel refused the command before the firmware saw it",
        12 => "errno 12 (ENOMEM): the kernel had no memory for it, or locked memory is limited (ulimit -l)",
        5 => "errno 5 (EIO): the device is in the error state, or the firmware is in the wrong state for it",
        _ => return None,
    })
}
