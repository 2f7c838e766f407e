//! Programs into which no object can be preloaded, and the words for their users. It must never stop a program.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Bytes of a file that hold all program headers of any linker's.
const HEADERS: u64 = 1 << 14;

/// Why the device cannot be reached from a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// It is linked statically, as Go programs usually are.
    Static,
    /// Its C library is not the one that this launcher is for.
    OtherLibrary,
    /// It is for another CPU.
    OtherCpu,
    /// It runs with another user's rights, so the dynamic loader takes no object from a directory of this one's.
    OtherUser,
}

impl Obstacle {
    /// The obstacle of `program`, as a shell would find it. `None` also for scripts, and for what cannot be read.
    pub(crate) fn of(program: &OsStr) -> Option<Self> {
        let path = find(program)?;
        let file = File::open(&path).ok()?;
        let metadata = file.metadata().ok()?;
        let mut bytes = Vec::new();
        file.take(HEADERS).read_to_end(&mut bytes).ok()?;
        // SAFETY: takes nothing and cannot fail.
        let user = unsafe { libc::geteuid() };
        if metadata.permissions().mode() & libc::S_ISUID != 0 && metadata.uid() != user {
            return Some(Self::OtherUser);
        }
        // The loader by itself, which is given a program.
        if path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"ld-")) {
            return None;
        }
        in_elf(&bytes)
    }

    /// The sentence for the user; `sees` says whether the program finds the devices in sysfs nevertheless.
    pub(crate) fn sentence(self, program: &OsStr, sees: bool) -> String {
        let why = match self {
            Self::Static => "is linked statically",
            Self::OtherLibrary => "has another C library than this launcher",
            Self::OtherCpu => "is for another CPU than this launcher",
            Self::OtherUser => "runs with the rights of another user",
        };
        let finds = if sees { "It sees the devices in /sys, and can open none." } else { "It finds no devices." };
        format!(
            "{} {why}, so nothing can be preloaded into it. {finds} The guest runs any program: its kernel drives \
            the device (softhca-vfio-user; ./run guest --shell stable in the source tree)",
            Path::new(program).display()
        )
    }
}

/// The file that a shell runs for `program`.
fn find(program: &OsStr) -> Option<PathBuf> {
    if program.as_encoded_bytes().contains(&b'/') {
        return Some(program.into());
    }
    let path = std::env::var_os("PATH")?;
    let executable = |file: &Path| file.metadata().is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0);
    std::env::split_paths(&path).map(|directory| directory.join(program)).find(|file| executable(file))
}

/// The obstacle of an ELF file that begins so.
fn in_elf(bytes: &[u8]) -> Option<Obstacle> {
    // gABI, "ELF Header" and "Program Header": offsets in files of 64 bits.
    const INTERPRETER: u32 = 3;
    const CLASS_64: u8 = 2;
    let half = |at: usize| Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let word = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let long = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?) as usize);
    if bytes.get(..4)? != b"\x7fELF" {
        return None;
    }
    let machine = if cfg!(target_arch = "x86_64") { 62 } else { 183 };
    if bytes.get(4) != Some(&CLASS_64) || half(18)? != machine {
        return Some(Obstacle::OtherCpu);
    }
    let (first, size, count) = (long(32)?, usize::from(half(54)?), usize::from(half(56)?));
    for at in (0..count).map(|index| first.saturating_add(index * size)) {
        if word(at)? == INTERPRETER {
            let (begin, len) = (long(at + 8)?, long(at + 32)?);
            let interpreter = bytes.get(begin..begin.checked_add(len)?)?;
            let is_musl = interpreter.windows(7).any(|part| part == b"ld-musl");
            return is_musl.then_some(Obstacle::OtherLibrary);
        }
    }
    Some(Obstacle::Static)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF file of this machine with one program header of `kind`, which names `interpreter`.
    fn elf(kind: u32, interpreter: &str) -> Vec<u8> {
        let mut bytes = vec![0; 64 + 56];
        bytes[..5].copy_from_slice(b"\x7fELF\x02");
        let machine: u16 = if cfg!(target_arch = "x86_64") { 62 } else { 183 };
        bytes[18..20].copy_from_slice(&machine.to_ne_bytes());
        bytes[32..40].copy_from_slice(&64_u64.to_ne_bytes());
        bytes[54..56].copy_from_slice(&56_u16.to_ne_bytes());
        bytes[56..58].copy_from_slice(&1_u16.to_ne_bytes());
        bytes[64..68].copy_from_slice(&kind.to_ne_bytes());
        bytes[72..80].copy_from_slice(&120_u64.to_ne_bytes());
        bytes[96..104].copy_from_slice(&(interpreter.len() as u64).to_ne_bytes());
        bytes.extend(interpreter.bytes());
        bytes
    }

    #[test]
    fn files_tell_whether_an_object_can_be_preloaded() {
        assert_eq!(in_elf(&elf(3, "/lib64/ld-linux-x86-64.so.2")), None);
        assert_eq!(in_elf(&elf(1, "/lib64/ld-linux-x86-64.so.2")), Some(Obstacle::Static));
        assert_eq!(in_elf(&elf(3, "/lib/ld-musl-x86_64.so.1")), Some(Obstacle::OtherLibrary));
        let mut other = elf(3, "");
        other[18] ^= 1;
        assert_eq!(in_elf(&other), Some(Obstacle::OtherCpu));
        assert_eq!(in_elf(b"#!/bin/sh\n"), None);
        assert_eq!(in_elf(&elf(3, "")[..70]), None, "cut off");
    }

    #[test]
    fn this_program_can_have_one() {
        let this = std::env::current_exe().unwrap();
        assert_eq!(Obstacle::of(this.as_os_str()), None);
        assert_eq!(Obstacle::of(OsStr::new("sh")), None);
        assert_eq!(Obstacle::of(OsStr::new("no such program")), None);
    }
}
