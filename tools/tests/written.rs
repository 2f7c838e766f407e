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

/// The commands that a help lists. Their texts go on in lines that are further in.
fn commands(help: &str) -> Vec<String> {
    let list = help.split_once("Commands:\n").map_or("", |(_, list)| list).lines().take_while(|line| !line.is_empty());
    let names = list.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.map(str::to_owned).collect()
}

/// The help of a command, and of all that it has.
fn helps(command: &[&str], found: &mut Vec<(String, String)>) {
    let output = blueflame(&[command, &["--help"]].concat());
    assert!(output.status.success(), "{command:?}: {output:?}");
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    let names = commands(&help);
    found.push((command.join(" "), help));
    for name in &names {
        helps(&[command, &[name]].concat(), found);
    }
}

#[test]
fn help_fits_a_terminal_of_80_columns() {
    let mut found = Vec::new();
    helps(&[], &mut found);
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    for name in ["", "info", "doctor", "perf", "perf send", "perf frame", "perf compare", "top", "man"] {
        assert!(names.contains(&name), "no {name:?} in {names:?}");
    }
    for (name, help) in &found {
        for line in help.lines() {
            assert!(line.chars().count() <= 80, "blueflame {name} --help: {} columns: {line}", line.chars().count());
        }
    }
}

#[test]
fn help_of_run_fits_a_terminal_of_80_columns() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/help");
    let texts: Vec<_> = fs::read_dir(folder).expect("the texts").map(|text| text.expect("a text").path()).collect();
    assert!(texts.len() > 20, "{} texts", texts.len());
    for text in texts {
        for line in fs::read_to_string(&text).expect("UTF-8").lines() {
            assert!(line.chars().count() <= 80, "{}: {} columns: {line}", text.display(), line.chars().count());
        }
    }
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
    for command in commands(&help) {
        let page = fs::read_to_string(folder.join(format!("blueflame-{command}.1"))).expect(&command);
        assert!(page.contains(".SH SYNOPSIS"), "{command}: {page}");
    }
    let page = fs::read_to_string(folder.join("blueflame-decode.1")).expect("a page");
    assert!(page.contains("transport") && page.contains("dmesg"), "{page}");
    assert_eq!(blueflame(&["man", "/proc/none"]).status.code(), Some(1));
}
