//! Rules for every hot function, with any instructions.
//!
//! 1. Nothing in it, on any path, jumps through a register or a table, calls through one, or mentions a panic (a bounds
//!    check is a call of one); no instruction traps. Atomic read-modify-write instructions are in the functions of
//!    [`ATOMIC`] alone.
//! 2. It calls constructors of this crate's error values, and the functions that the crate keeps apart
//!    ([`is_other_way`]), and nothing else. Those are for requests of several WQEBBs, and requests with less in them
//!    than their type says. They are also for frames of a session that go around the ring's end, and receives that
//!    complete out of order. A striding queue has them for completions that are not of its next strides, or not its own,
//!    and for sessions that a call ends within.
//! 3. Those calls are not on the way to success. Take away every block of instructions with one: the rest still reaches
//!    a return. Each barrier of the function, and each byte swap of the rest, is reached from the entry and reaches a
//!    return. So no request is posted without a barrier. None is posted or completed without a byte swap. The removed
//!    blocks may swap bytes for their errors.
//!
//! The functions that the crate keeps apart are under the first rule ([`violations_apart`]). Constructors of error
//! values are under none. Neither is `BufferState::free`, which the crate's library has, and no assembly here.
use std::collections::BTreeSet;

use crate::listing::{Line, Listing, label_name};

/// Where an instruction leads.
enum Flow {
    /// To the next one.
    On,
    /// To a label, and to the next one as well if it is conditional.
    Jump {
        label: String,
        conditional: bool,
    },
    Return,
    /// To a function and back.
    Call(String),
    /// To a function and not back.
    TailCall(String),
    /// To where a register or memory says.
    Indirect,
    Trap,
}

/// The functions that may have atomic operations, each with the reason.
pub(crate) const ATOMIC: [(&str, &str); 3] = [
    ("hot_post_shared", "the register has a lock, because threads share it"),
    ("other_drop_frame_shared", "any thread may drop a frame, so the frames of a buffer are counted"),
    ("other_refill_shared", "any thread may give buffers back, and they are counted and taken"),
];

fn may_be_atomic(name: &str) -> bool {
    ATOMIC.iter().any(|(allowed, _)| *allowed == name)
}

/// Whether a function that the crate keeps apart may have atomic operations: on a register that threads share, and
/// where a striding queue is done with a buffer. Any thread may drop that buffer's frames.
fn may_be_atomic_apart(symbol: &str) -> bool {
    symbol.contains("::SharedRegister") || symbol.contains("StridingRecvQueue>::settle")
}

/// Constructors of error values.
fn is_error_constructor(symbol: &str) -> bool {
    let path = symbol.trim_start_matches('<');
    path.starts_with("blueflame::") && (path.contains("Error>::") || path.contains("Error::"))
}

/// Ways that the straight one is not burdened with.
pub(crate) fn is_other_way(symbol: &str) -> bool {
    symbol.starts_with("blueflame::queue::send::post::cold::<")
        || symbol == "<blueflame::queue::recv::queue::RecvQueue>::retire_any"
        || symbol.starts_with("<blueflame::queue::striding::queue::StridingRecvQueue>::settle")
        || symbol.starts_with("<blueflame::queue::striding::queue::StridingRecvQueue>::take_one::<")
        || symbol.starts_with("<blueflame::queue::striding::queue::StridingRecvQueue>::refuse::<")
        || symbol.starts_with("<blueflame::cq::completion_queue::CompletionQueue<") && symbol.contains(">::leave_run")
        || symbol == "<blueflame::queue::striding::queue::StridingRecvQueue>::close"
        || symbol == "<blueflame::queue::striding::memory::BufferState>::close"
        || symbol == "<blueflame::queue::striding::memory::BufferState>::free"
        || symbol == "<blueflame::queue::send::session::Room>::around"
        || symbol == "<blueflame::queue::send::session::Room>::behind"
        || symbol == "<blueflame::wqe::parts::Parts>::odd_entry"
        || symbol.starts_with("<blueflame::queue::send::queue::SendQueue<") && symbol.contains(">::ring_other")
}

/// The end of a pool, when its last buffer is gone: it frees the memory.
fn is_end(symbol: &str) -> bool {
    symbol == "blueflame::queue::owning::pooled::release"
}

/// Architectures' helpers for atomic operations, chosen by the CPU's features.
fn is_atomic_helper(symbol: &str) -> bool {
    symbol.starts_with("__aarch64_")
}

/// The parts of an instruction that the first rule forbids, in words.
fn forbidden(mnemonic: &str, operands: &str, may_be_atomic: bool) -> Vec<&'static str> {
    let mut found = Vec::new();
    if operands.contains("panic") {
        found.push("a panic");
    }
    if is_atomic(mnemonic, operands) && !may_be_atomic {
        found.push("an atomic operation");
    }
    match flow(mnemonic, operands) {
        Flow::Indirect => found.push("an indirect jump or call"),
        Flow::Trap => found.push("a trap"),
        Flow::On | Flow::Jump { .. } | Flow::Return | Flow::Call(_) | Flow::TailCall(_) => {}
    }
    found
}

/// Each violation by a function that the crate keeps apart ([`is_other_way`]), in words: it is under the first rule.
pub(crate) fn violations_apart(listing: &Listing) -> Vec<String> {
    let lines = listing.lines.iter().flat_map(|line| {
        let Line::Instruction { mnemonic, operands } = line else { return Vec::new() };
        let found = forbidden(mnemonic, operands, may_be_atomic_apart(&listing.name));
        found.iter().map(|what| format!("{}: {what}: {}", listing.name, line.to_string().trim())).collect()
    });
    lines.collect()
}

/// Each violation, in words.
pub(crate) fn violations(listing: &Listing) -> Vec<String> {
    let mut found = Vec::new();
    let mut cold = BTreeSet::new();
    for (at, line) in listing.lines.iter().enumerate() {
        let Line::Instruction { mnemonic, operands } = line else { continue };
        let mut report = |what: &str| found.push(format!("{}: {what}: {}", listing.name, line.to_string().trim()));
        forbidden(mnemonic, operands, may_be_atomic(&listing.name)).into_iter().for_each(&mut report);
        match flow(mnemonic, operands) {
            Flow::Call(symbol) | Flow::TailCall(symbol) => {
                if is_error_constructor(&symbol) || is_other_way(&symbol) || is_end(&symbol) {
                    cold.insert(at);
                } else if !(is_atomic_helper(&symbol) && may_be_atomic(&listing.name)) {
                    report("a call");
                }
            }
            Flow::On | Flow::Jump { .. } | Flow::Return | Flow::Indirect | Flow::Trap => {}
        }
    }
    found.extend(success_without_calls(listing, &cold));
    found
}

/// The third rule. `cold` are the calls that the second allows.
fn success_without_calls(listing: &Listing, cold: &BTreeSet<usize>) -> Vec<String> {
    let next = successors(listing);
    let cold = with_their_blocks(listing, cold);
    let from_entry = reached(0, &next, &cold);
    let returns = |at: &usize| {
        reached(*at, &next, &cold).iter().any(|&at| {
            matches!(&listing.lines[at], Line::Instruction { mnemonic, operands }
                if matches!(flow(mnemonic, operands), Flow::Return))
        })
    };
    let mut found = Vec::new();
    if !returns(&0) {
        found.push(format!("{}: no way to return without a call", listing.name));
    }
    for (at, line) in listing.lines.iter().enumerate() {
        let Line::Instruction { mnemonic, .. } = line else { continue };
        let effect = is_barrier(mnemonic) || is_byte_swap(mnemonic) && !cold.contains(&at);
        if effect && !(from_entry.contains(&at) && returns(&at)) {
            found.push(format!("{}: not without a call: {}", listing.name, line.to_string().trim()));
        }
    }
    found
}

/// The lines that can follow each line.
fn successors(listing: &Listing) -> Vec<Vec<usize>> {
    let place = |wanted: &str| {
        let found = listing.lines.iter().position(|line| matches!(line, Line::Label(n) if label_name(*n) == wanted));
        found.unwrap_or_else(|| panic!("{}: no label {wanted}", listing.name))
    };
    let lines = listing.lines.iter().enumerate();
    lines
        .map(|(at, line)| {
            let on = (at + 1 < listing.lines.len()).then_some(at + 1);
            let Line::Instruction { mnemonic, operands } = line else { return on.into_iter().collect() };
            match flow(mnemonic, operands) {
                Flow::On | Flow::Call(_) => on.into_iter().collect(),
                Flow::Jump { label, conditional } => {
                    on.filter(|_| conditional).into_iter().chain([place(&label)]).collect()
                }
                Flow::Return | Flow::TailCall(_) | Flow::Indirect | Flow::Trap => Vec::new(),
            }
        })
        .collect()
}

/// Those lines and all that are always executed with them: up to the label or jump on either side.
fn with_their_blocks(listing: &Listing, lines: &BTreeSet<usize>) -> BTreeSet<usize> {
    let divides = |at: usize| match &listing.lines[at] {
        Line::Label(_) => true,
        Line::Instruction { mnemonic, operands } => !matches!(flow(mnemonic, operands), Flow::On | Flow::Call(_)),
    };
    let mut blocks = BTreeSet::new();
    for &line in lines {
        blocks.insert(line);
        blocks.extend((0..line).rev().take_while(|&at| !divides(at)));
        blocks.extend((line + 1..listing.lines.len()).take_while(|&at| !divides(at)));
    }
    blocks
}

/// The lines that can be reached from a line, itself included, without those of `not`.
fn reached(from: usize, next: &[Vec<usize>], not: &BTreeSet<usize>) -> BTreeSet<usize> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(at) = open.pop() {
        if !not.contains(&at) && seen.insert(at) {
            open.extend(&next[at]);
        }
    }
    seen
}

fn is_barrier(mnemonic: &str) -> bool {
    ["sfence", "lfence", "mfence", "dmb", "dsb"].contains(&mnemonic)
}

fn is_byte_swap(mnemonic: &str) -> bool {
    ["bswap", "movbe", "rev", "rev16"].contains(&mnemonic)
}

/// Whether a function has an atomic operation.
pub(crate) fn has_atomics(listing: &Listing) -> bool {
    listing.lines.iter().any(|line| match line {
        Line::Instruction { mnemonic, operands } => is_atomic(mnemonic, operands),
        Line::Label(_) => false,
    })
}

fn is_atomic(mnemonic: &str, operands: &str) -> bool {
    const AARCH64: [&str; 10] = ["ldxr", "ldaxr", "stxr", "stlxr", "cas", "swp", "ldadd", "ldset", "ldclr", "ldeor"];
    // An exchange with memory is locked without saying so.
    mnemonic == "lock"
        || mnemonic == "xchg" && operands.contains('[')
        || AARCH64.iter().any(|name| mnemonic.starts_with(name))
        || operands.contains("__aarch64_")
}

/// Instructions of both architectures: no mnemonic means different things on them.
fn flow(mnemonic: &str, operands: &str) -> Flow {
    let target = operands.rsplit([',', ' ']).next().unwrap_or_default();
    match mnemonic {
        "ret" => Flow::Return,
        "ud2" | "int3" | "udf" | "brk" | "hlt" => Flow::Trap,
        "br" | "blr" => Flow::Indirect,
        "call" => match callee(operands) {
            Some(symbol) => Flow::Call(symbol),
            None => Flow::Indirect,
        },
        "bl" => Flow::Call(operands.to_owned()),
        "jmp" | "b" => match callee(operands) {
            Some(label) if is_label(&label) => Flow::Jump { label, conditional: false },
            Some(symbol) => Flow::TailCall(symbol),
            None => Flow::Indirect,
        },
        "cbz" | "cbnz" | "tbz" | "tbnz" => Flow::Jump { label: target.to_owned(), conditional: true },
        _ if mnemonic.starts_with('j') || mnemonic.starts_with("b.") => {
            Flow::Jump { label: target.to_owned(), conditional: true }
        }
        _ => Flow::On,
    }
}

fn is_label(operand: &str) -> bool {
    operand.strip_prefix('L').is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// The symbol that a call or jump names, also by way of the global offset table; none if it goes where a register or
/// other memory says.
fn callee(operands: &str) -> Option<String> {
    if let Some(entry) = operands.strip_prefix("qword ptr [rip + ") {
        return entry.strip_suffix("@GOTPCREL]").map(str::to_owned);
    }
    // The names of x86-64's registers: three letters or digits, the first an r.
    let is_register = operands.len() <= 3 && operands.starts_with('r');
    (!operands.contains('[') && !is_register).then(|| operands.to_owned())
}
