//! The page, as text.

use std::fmt::Write as _;

use blueflame::wqe::seg::IbvWrOpcode;

use crate::claims::{CLAIMS, Claim, Proof};
use crate::features::FEATURES;
use crate::table::{Segment, columns, rows};

const HEAD: &str = "\
# Operations, transports, and the proof of each

This page tells which operations each kind of queue can post, and how the bytes of each are known to be right.

`tests/operations` makes this page. It asks the compiler which operations each queue accepts: an operation that is not
in the table does not compile. Each cell names the proof of the bytes:

- **libmlx5**: it writes the same bytes. The differential tests fail if they have not compared the operation.
- **golden**: libmlx5 cannot write it, or copies it from the program (`Nop`). The bytes were worked out by hand from the
  layout of another driver (`Nop`: from rdma-core's header).

All operations also run on the software device. The control segment (1 DS of 16 bytes) comes first. Then come the
address vector if the transport has one, the segments of the operation, and the data. [The evidence](proved.md) has more
about each test.
";

/// All of it.
pub(crate) fn page() -> String {
    let mut page = HEAD.to_owned();
    operations(&mut page);
    tests(&mut page);
    features(&mut page);
    page
}

fn segments(list: &[Segment]) -> String {
    let names: Vec<_> = list.iter().map(|segment| segment.name).collect();
    if names.is_empty() { "-".to_owned() } else { names.join(", ") }
}

fn line(page: &mut String, cells: impl IntoIterator<Item = impl AsRef<str>>) {
    for cell in cells {
        write!(page, "| {} ", cell.as_ref()).expect("a string");
    }
    page.push_str("|\n");
}

fn operations(page: &mut String) {
    let columns = columns();
    page.push('\n');
    let mut head = vec!["operation", "verbs", "opcode", "segments", "data"];
    head.extend(columns.iter().map(|column| column.name));
    line(page, &head);
    line(page, head.iter().map(|_| "---"));
    for row in rows() {
        let mut cells = vec![
            format!("`{}`", row.name),
            row.verbs.to_owned(),
            format!("{:#04x}", row.opcode),
            segments(row.segments),
            row.data.to_owned(),
        ];
        cells.extend(columns.iter().map(|column| short(claim(column.name, row.name)).to_owned()));
        line(page, cells);
    }
    page.push_str("\nSegments of addresses:\n\n");
    line(page, ["transport", "segment"]);
    line(page, ["---"; 2]);
    for column in columns.iter().filter(|column| !column.address.is_empty()) {
        line(page, [column.name.to_owned(), segments(column.address)]);
    }
    let missing = IbvWrOpcode::ALL.iter().filter_map(|opcode| opcode.opcode().err());
    let missing: Vec<_> = missing.map(|error| format!("`{:?}`", error.0)).collect();
    let names = missing.join(" and ");
    writeln!(page, "\nOperations of verbs without a published mlx5 opcode: {names}.").expect("a string");
}

fn claim(column: &str, operation: &str) -> Option<&'static Claim> {
    CLAIMS.iter().find(|claim| claim.column == column && claim.operations.contains(&operation))
}

fn short(claim: Option<&Claim>) -> &'static str {
    match claim.map(|claim| claim.proof) {
        None => "",
        Some(Proof::Libmlx5) => "libmlx5",
        Some(Proof::Golden(_)) => "golden",
    }
}

fn long(proof: Proof) -> String {
    match proof {
        Proof::Libmlx5 => "libmlx5".to_owned(),
        Proof::Golden(source) => format!("golden: {source}"),
    }
}

fn test((file, name): (&str, &str)) -> String {
    format!("`{name}` in [{file}](../{file})")
}

fn tests(page: &mut String) {
    page.push_str("\n## The tests\n\n");
    line(page, ["transport", "operations", "proof", "test"]);
    line(page, ["---"; 4]);
    for claim in CLAIMS {
        line(page, [claim.column.to_owned(), claim.operations.join(", "), long(claim.proof), test(claim.test)]);
    }
}

fn features(page: &mut String) {
    page.push_str("\n## Further features of the data path\n\n");
    line(page, ["area", "feature", "proof", "test"]);
    line(page, ["---"; 4]);
    for feature in FEATURES {
        line(page, [feature.area.to_owned(), feature.what.to_owned(), long(feature.proof), test(feature.test)]);
    }
}
