//! How herd7 writes each architecture.

use std::fmt::Write as _;

use crate::protocol::Step;

/// An architecture of which herd7 has a model.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Cpu {
    AArch64,
    Arm,
    Power,
    RiscV,
    X86,
}

/// Names of 32-bit registers and of whole ones on x86, in the order of loads.
const X86: [[&str; 2]; 3] = [["%eax", "rax"], ["%ebx", "rbx"], ["%ecx", "rcx"]];

impl Cpu {
    pub(crate) const ALL: [Self; 5] = [Self::AArch64, Self::Arm, Self::Power, Self::RiscV, Self::X86];

    /// Its name in herd7.
    pub(crate) fn herd(self) -> &'static str {
        match self {
            Self::AArch64 => "AArch64",
            Self::Arm => "ARM",
            Self::Power => "PPC",
            Self::RiscV => "RISCV",
            Self::X86 => "X86_64",
        }
    }

    /// Its target in `tests/arch_asm/expected.txt`.
    pub(crate) fn target(self) -> &'static str {
        match self {
            Self::AArch64 => "aarch64-unknown-linux-gnu",
            Self::Arm => "armv7-unknown-linux-gnueabihf",
            Self::Power => "powerpc64le-unknown-linux-gnu",
            Self::RiscV => "riscv64gc-unknown-linux-gnu",
            Self::X86 => "x86_64-unknown-linux-gnu",
        }
    }

    /// Whether its memory model orders less than x86's, so that each barrier is needed.
    pub(crate) fn is_weak(self) -> bool {
        self != Self::X86
    }

    /// An instruction of the table in the words of herd7, or `None` for a return.
    pub(crate) fn instruction(self, text: &str) -> Option<String> {
        match (self, text) {
            (_, "ret" | "retq" | "blr" | "bx lr") => None,
            (Self::AArch64, _) => Some(text.to_uppercase()),
            // Its model of this architecture knows no shareability domains.
            (Self::Arm, "dmb oshst") => Some("DMB ST".to_owned()),
            (Self::Arm, "dsb st") => Some("DSB ST".to_owned()),
            (Self::Arm, "dmb osh") => Some("DMB".to_owned()),
            (Self::Arm, "dsb sy") => Some("DSB".to_owned()),
            _ => Some(text.to_owned()),
        }
    }

    /// The barrier between two steps of a device.
    fn full_barrier(self) -> &'static str {
        match self {
            Self::AArch64 => "DMB SY",
            Self::Arm => "DMB",
            Self::Power => "sync",
            Self::RiscV => "fence rw,rw",
            Self::X86 => "mfence",
        }
    }

    /// The register that has the address of a thread's place of this number.
    fn address(self, place: usize) -> String {
        match self {
            Self::AArch64 => format!("X{}", 20 + place),
            Self::Arm => format!("R{}", 4 + place),
            Self::Power => format!("r{}", 20 + place),
            Self::RiscV => format!("x{}", 20 + place),
            Self::X86 => String::new(),
        }
    }

    /// The register that has the value of a thread's load of this number, as a condition names it.
    fn loaded(self, load: usize) -> String {
        match self {
            Self::AArch64 => format!("X{load}"),
            Self::Arm => format!("R{load}"),
            Self::Power => format!("r{load}"),
            Self::RiscV => format!("x{}", 5 + load),
            Self::X86 => X86[load][1].to_owned(),
        }
    }

    fn store(self, place: &str, at: usize, value: u8) -> Vec<String> {
        let address = self.address(at);
        match self {
            Self::AArch64 => vec![format!("MOV W9,#{value}"), format!("STR W9,[{address}]")],
            Self::Arm => vec![format!("MOV R9,#{value}"), format!("STR R9,[{address}]")],
            Self::Power => vec![format!("li r9,{value}"), format!("stw r9,0({address})")],
            Self::RiscV => vec![format!("ori x9,x0,{value}"), format!("sw x9,0({address})")],
            Self::X86 => vec![format!("movl ${value},({place})")],
        }
    }

    fn load(self, place: &str, at: usize, load: usize) -> String {
        let (value, address) = (self.loaded(load), self.address(at));
        match self {
            Self::AArch64 => format!("LDR W{load},[{address}]"),
            Self::Arm => format!("LDR {value},[{address}]"),
            Self::Power => format!("lwz {value},0({address})"),
            Self::RiscV => format!("lw {value},0({address})"),
            Self::X86 => format!("movl ({place}),{}", X86[load][0]),
        }
    }

    fn keep(self, place: &str, at: usize, load: usize) -> String {
        let (value, address) = (self.loaded(load), self.address(at));
        match self {
            Self::AArch64 => format!("STR W{load},[{address}]"),
            Self::Arm => format!("STR {value},[{address}]"),
            Self::Power => format!("stw {value},0({address})"),
            Self::RiscV => format!("sw {value},0({address})"),
            Self::X86 => format!("movl {},({place})", X86[load][0]),
        }
    }

    /// A branch to the thread's end if the value is 0.
    fn branch(self, load: usize, end: &str) -> Vec<String> {
        let value = self.loaded(load);
        match self {
            Self::AArch64 => vec![format!("CBZ W{load},{end}")],
            Self::Arm => vec![format!("CMP {value},#0"), format!("BEQ {end}")],
            Self::Power => vec![format!("cmpwi {value},0"), format!("beq {end}")],
            Self::RiscV => vec![format!("beq {value},x0,{end}")],
            Self::X86 => vec![format!("cmpl $0,{}", X86[load][0]), format!("je {end}")],
        }
    }
}

/// One side of a litmus test: its instructions, and its registers.
pub(crate) struct Thread {
    pub(crate) lines: Vec<String>,
    /// Registers with addresses, as the test's initial state.
    pub(crate) initial: String,
    loads: Vec<&'static str>,
    number: usize,
    cpu: Cpu,
}

impl Thread {
    /// `barrier` gives the instructions of a barrier by its name.
    pub(crate) fn new(
        cpu: Cpu,
        number: usize,
        steps: impl IntoIterator<Item = Step>,
        barrier: impl Fn(&str) -> Vec<String>,
    ) -> Self {
        let (mut places, mut lines) = (Vec::new(), Vec::new());
        let mut loads: Vec<&'static str> = Vec::new();
        let mut at = |place: &'static str| {
            places.iter().position(|known| *known == place).unwrap_or_else(|| {
                places.push(place);
                places.len() - 1
            })
        };
        let end = format!("END{number}");
        let mut branches = false;
        for step in steps {
            match step {
                Step::Store(place, value) => lines.extend(cpu.store(place, at(place), value)),
                Step::Load(place) => {
                    lines.push(cpu.load(place, at(place), loads.len()));
                    loads.push(place);
                }
                Step::If(place) => {
                    branches = true;
                    lines.extend(cpu.branch(nth(&loads, place), &end));
                }
                Step::Keep(from, to) => lines.push(cpu.keep(to, at(to), nth(&loads, from))),
                Step::Barrier(name) => lines.extend(barrier(name)),
            }
        }
        if branches {
            lines.push(format!("{end}:"));
        }
        let mut initial = String::new();
        if cpu != Cpu::X86 {
            for (at, place) in places.iter().enumerate() {
                write!(initial, " {number}:{}={place};", cpu.address(at)).expect("a string");
            }
        }
        Self { lines, initial, loads, number, cpu }
    }

    /// The condition that its load of a place gave a value.
    pub(crate) fn has_loaded(&self, place: &str, value: u8) -> String {
        format!("{}:{}={value}", self.number, self.cpu.loaded(nth(&self.loads, place)))
    }
}

fn nth(loads: &[&str], place: &str) -> usize {
    loads.iter().position(|loaded| *loaded == place).unwrap_or_else(|| panic!("{place} is not loaded"))
}

/// A device's steps, with a full barrier between each two.
pub(crate) fn device(cpu: Cpu, number: usize, steps: &[Step]) -> Thread {
    let ordered = steps.iter().enumerate().flat_map(|(n, step)| {
        let barrier = (n > 0).then_some(Step::Barrier("full"));
        barrier.into_iter().chain([*step])
    });
    Thread::new(cpu, number, ordered, |_| vec![cpu.full_barrier().to_owned()])
}
