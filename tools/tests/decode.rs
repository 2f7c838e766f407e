//! `blueflame decode` as a program: its output on each stream, and its exit codes.
//!
//! Options, streams and exit codes belong here. The meaning of a dump belongs in `decode/tests`.

use std::io::Write;
use std::process::{Command, Output, Stdio};

const DUMP: &str = "mlx5: cn10: got completion with error:
00000000 00000000 00000000 00000000
00000000 00000000 00000000 00000000
00000002 00000000 00000000 00000000
00000000 00008813 10012abe 0dd0c1d3
";

fn decode(arguments: &[&str], environment: &[(&str, &str)], input: &[u8]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_blueflame"));
    command.arg("decode").args(arguments).env_remove("NO_COLOR").envs(environment.iter().copied());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("runs");
    // It may have ended before it read everything.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    child.wait_with_output().expect("ends")
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

#[test]
fn exit_codes() {
    let codes = |arguments: &[&str], input: &str| decode(arguments, &[], input.as_bytes()).status.code();
    assert_eq!(codes(&[], DUMP), Some(0));
    assert_eq!(codes(&["-"], DUMP), Some(0));
    assert_eq!(codes(&[], "nothing of the kind\n"), Some(1));
    assert_eq!(codes(&["/no/such/file"], ""), Some(2));
    assert_eq!(codes(&["--kind", "fish"], ""), Some(2));
    let missing = decode(&["/no/such/file"], &[], b"");
    assert!(String::from_utf8_lossy(&missing.stderr).contains("/no/such/file: No such file"), "{missing:?}");
}

#[test]
fn files_and_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, binary) = (folder.path().join("log"), folder.path().join("cqe.bin"));
    std::fs::write(&log, DUMP).expect("written");
    let mut cqe = [0; 64];
    cqe[54..].copy_from_slice(&[0x88, 0x13, 0x10, 0x01, 0x2a, 0xbe, 0x0d, 0xd0, 0xc1, 0xd3]);
    std::fs::write(&binary, cqe).expect("written");
    let names = [&log, &binary].map(|path| path.to_str().expect("a name").to_owned());
    let output = decode(&[&names[0], &names[1], "--json"], &[], b"");
    assert!(output.status.success());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let records = json["records"].as_array().expect("records");
    assert_eq!(records.len(), 2);
    for record in records {
        assert_eq!(record["kind"], "cqe");
        let fields = record["parts"][0]["fields"].as_array().expect("fields");
        let syndrome = fields.iter().find(|field| field["name"] == "syndrome").expect("a syndrome");
        assert_eq!((&syndrome["value"], &syndrome["offset"]), (&"0x13".into(), &55.into()));
        assert!(record["diagnosis"]["summary"].as_str().is_some_and(|text| text.contains("IBV_WC_REM_ACCESS_ERR")));
    }
    assert_eq!(records[0]["line"], 2);
    // Of several files, each has its name in front.
    let shown = text(&decode(&[&names[0], &names[1]], &[], b""));
    assert_eq!(shown.matches("==> ").count(), 2, "{shown}");
}

#[test]
fn colours_are_for_terminals() {
    let escape = |arguments: &[&str], environment: &[(&str, &str)]| {
        text(&decode(arguments, environment, DUMP.as_bytes())).contains('\x1b')
    };
    assert!(!escape(&[], &[]), "a pipe");
    assert!(escape(&["--color", "always"], &[]));
    assert!(escape(&["--color", "always"], &[("NO_COLOR", "1")]), "who asks gets them");
    assert!(!escape(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
    assert!(escape(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!escape(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), "NO_COLOR wins");
}

#[test]
fn who_reads_may_stop() {
    let many = DUMP.repeat(2000);
    let mut command = Command::new(env!("CARGO_BIN_EXE_blueflame"));
    let mut child = command.arg("decode").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("runs");
    drop(child.stdout.take());
    let _ = child.stdin.take().expect("a pipe").write_all(many.as_bytes());
    assert!(child.wait().expect("ends").success());
}

/// The help fits a terminal of 80 columns, and names the words that options take.
#[test]
fn the_help_fits_a_terminal() {
    let help = text(&decode(&["--help"], &[], b""));
    let wide: Vec<_> = help.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(wide.is_empty(), "{wide:#?}");
    let words = "auto wqe recv-wqe srq-wqe cqe mini-cqes qp-record cq-record sq-doorbell cq-doorbell rc uc ud dc xrc eth \
                 big little 64 128 always never";
    for word in words.split(' ') {
        assert!(help.contains(word), "{word}");
    }
}

/// The tool prints the example of `docs/howto/decode.md`.
#[test]
fn the_documentation_is_true() {
    let page = include_str!("../../docs/howto/decode.md");
    let mut blocks = page.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix("text\n"));
    let (input, shown) = (blocks.next().expect("an input"), blocks.next().expect("what is shown"));
    let output = decode(&[], &[], input.as_bytes());
    assert_eq!(text(&output), shown, "docs/howto/decode.md");
}
