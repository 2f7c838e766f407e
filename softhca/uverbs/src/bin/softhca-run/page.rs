//! `docs/options.md`: the page of the options is written from the options themselves.

use std::fmt::Write;

use clap::{Arg, CommandFactory};

use super::{AFTER_HELP, Options};

const INTRODUCTION: &str = "\
# Options of the software device

`softhca-run [OPTIONS] [--] CMD...` runs a program with software mlx5 devices. `./run soft` builds `softhca-run` and
calls it. [Test your own program](howto/testing.md) shows when to use which option.

`softhca-run --help` prints the same. A test writes this page from it (`BLESS=1 cargo test -p softhca-uverbs --bin
softhca-run`).

";

/// One row: the option, its default, and its effect with the values it takes.
fn row(arg: &Arg) -> String {
    let name = arg.get_long().expect("every option is a long one");
    let takes = arg.get_action().takes_values();
    let value = arg.get_value_names().unwrap_or_default().first().filter(|_| takes);
    let is_optional = arg.get_num_args().is_some_and(|count| count.min_values() == 0);
    let option = match value {
        None => format!("--{name}"),
        Some(value) if is_optional => format!("--{name}[={value}]"),
        Some(value) => format!("--{name} {value}"),
    };
    let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    let default = if takes && !defaults.is_empty() { format!("`{}`", defaults.join(",")) } else { String::new() };
    let mut effect = arg.get_help().expect("every option has a text").to_string();
    let values = arg.get_possible_values();
    for value in values.iter().filter(|_| takes) {
        // The names of shells need no text.
        let help = value.get_help().map_or(String::new(), |help| format!(": {help}"));
        write!(effect, "<br>`{}`{help}", value.get_name()).expect("a string takes any text");
    }
    format!("| `{option}` | {default} | {effect} |\n")
}

fn page() -> String {
    let command = Options::command();
    let options = command.get_arguments().filter(|arg| !arg.is_positional());
    let rows: String = options.map(row).collect();
    format!(
        "{INTRODUCTION}| option | default | effect |\n|---|---|---|\n{rows}\n## More\n\n```text\n{AFTER_HELP}\n```\n"
    )
}

#[test]
fn the_page_is_true() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/options.md");
    let page = page();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, page).expect("docs/options.md is writable");
        return;
    }
    let found = std::fs::read_to_string(path).expect("docs/options.md");
    assert!(
        page == found,
        "docs/options.md is out of date: BLESS=1 cargo test -p softhca-uverbs --bin softhca-run\n{page}"
    );
}
