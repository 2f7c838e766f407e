//! Constants, sizes and offsets as an installed C header has them: a C program prints them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

/// Compares each C expression of `table` with the number beside it. `declarations` are the program's lines before
/// `main`: includes, and declarations that must agree with those of the headers.
///
/// # Panics
/// If a number differs, or the program does not compile.
pub(crate) fn compare(declarations: &str, table: &[(String, u64)]) {
    let mut source = format!("#include <stddef.h>\n#include <stdio.h>\n{declarations}\nint main(void) {{\n");
    for (expression, _) in table {
        writeln!(source, "printf(\"%s=%llu\\n\", \"{expression}\", (unsigned long long)({expression}));")
            .expect("a string");
    }
    source.push_str("return 0; }\n");

    let dir = tempfile::tempdir().expect("a directory for the C program");
    let (c, exe) = (dir.path().join("layout.c"), dir.path().join("layout"));
    std::fs::write(&c, source).expect("write the C program");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let compiled = Command::new(&compiler).arg(&c).arg("-o").arg(&exe).output().expect("a C compiler (cc, or CC)");
    assert!(compiled.status.success(), "{compiler}: {}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(&exe).output().expect("run the C program");
    assert!(ran.status.success());

    let text = String::from_utf8(ran.stdout).expect("text");
    let header: BTreeMap<&str, u64> = text
        .lines()
        .map(|line| {
            let (name, value) = line.rsplit_once('=').expect("name=value");
            (name, value.parse().expect("a number"))
        })
        .collect();
    assert_eq!(header.len(), table.len(), "every entry once");
    let wrong: Vec<String> = table
        .iter()
        .filter(|(name, rust)| header[name.as_str()] != *rust)
        .map(|(name, rust)| format!("{name}: C {}, Rust {rust}", header[name.as_str()]))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
