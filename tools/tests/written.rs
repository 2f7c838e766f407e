//! `blueflame completions` and `blueflame man`: each shell's text is one that the shell reads, and each command has a
//! page.
//!
//! Texts that the tool writes about itself belong here.

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

fn blueflame(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_blueflame")).args(arguments).output().expect("runs")
}

#[test]
fn bash_completes_commands() {
    let output = blueflame(&["completions", "bash"]);
    assert!(output.status.success());
    // As bash calls it for `blueflame dec<Tab>`.
    let script =
        "COMP_WORDS=(blueflame dec); COMP_CWORD=1; _blueflame blueflame dec blueflame; echo \"${COMPREPLY[@]}\"";
    let mut bash =
        Command::new("bash").arg("-s").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("bash starts");
    let mut input = bash.stdin.take().expect("a pipe");
    input.write_all(&output.stdout).and_then(|()| writeln!(input, "\n{script}")).expect("written");
    drop(input);
    let completed = bash.wait_with_output().expect("ends");
    assert_eq!(String::from_utf8_lossy(&completed.stdout).trim(), "decode");
}

#[test]
fn other_shells_have_completions() {
    for (shell, part) in [("zsh", "#compdef blueflame"), ("fish", "complete -c blueflame")] {
        let output = blueflame(&["completions", shell]);
        assert!(String::from_utf8_lossy(&output.stdout).contains(part), "{shell}");
    }
    assert_eq!(blueflame(&["completions", "cmd"]).status.code(), Some(2));
}

#[test]
fn each_command_has_a_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().join("man1");
    let output = blueflame(&["man", folder.to_str().expect("a name")]);
    assert!(output.status.success(), "{output:?}");
    let help = String::from_utf8_lossy(&blueflame(&["--help"]).stdout).into_owned();
    let (_, commands) = help.split_once("Commands:\n").expect("a list of commands");
    let commands = commands.lines().map_while(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    for command in commands {
        let page = fs::read_to_string(folder.join(format!("blueflame-{command}.1"))).expect(command);
        assert!(page.contains(".SH SYNOPSIS"), "{command}: {page}");
    }
    let page = fs::read_to_string(folder.join("blueflame-decode.1")).expect("a page");
    assert!(page.contains("transport") && page.contains("dmesg"), "{page}");
    assert_eq!(blueflame(&["man", "/proc/none"]).status.code(), Some(1));
}
