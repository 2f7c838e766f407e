//! `docs/operations.md`: the operations of each transport, each with its proof.
//!
//! The compiler says which operations there are, and `claims.rs` has their proofs. The two must agree, and the page is
//! made of both. Sentences in the crate name the operations of transports as well (`texts.rs`). After an intended
//! change, `BLESS=1 cargo test --no-default-features --test operations` writes the page, and the lists of each transport
//! in `src/transport.rs` and `src/wqe/operation.rs`.
//!
//! A check of the list of operations belongs here. Tests of the operations themselves belong in the files that
//! `claims.rs` names.
//!
//! Not under the address sanitizer: it executes nothing of the crate.

mod claims;
mod features;
mod page;
mod table;
mod texts;

use std::path::Path;

use blueflame::cq::WcOpcode;
use claims::{CLAIMS, IN_TURN, Proof};
use features::FEATURES;
use table::{TRANSPORTS, bare_frames, columns, destinations, rows};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every operation that a transport has is claimed once, and nothing else is.
#[test]
fn what_compiles_is_what_is_proved() {
    let columns = columns();
    for claim in CLAIMS {
        assert!(columns.iter().any(|column| column.name == claim.column), "no such column: {claim:?}");
        for operation in claim.operations {
            assert!(rows().iter().any(|row| row.name == *operation), "{operation} is no operation: {claim:?}");
        }
    }
    for row in rows() {
        for (column, supported) in columns.iter().zip(row.supported) {
            let claims =
                CLAIMS.iter().filter(|claim| claim.column == column.name && claim.operations.contains(&row.name));
            assert_eq!(
                claims.count(),
                usize::from(supported),
                "claims for {} of {}; that it compiles is {supported}",
                row.name,
                column.name
            );
        }
    }
}

/// A request that is chosen at run time is refused by a table of its own.
#[test]
fn what_is_chosen_at_run_time_is_taken_where_it_compiles() {
    for row in rows() {
        assert_eq!(row.erased, row.supported, "{}", row.name);
    }
}

/// A request names the destination that its transport needs, and no other; a request without one names none.
#[test]
fn each_transport_takes_its_own_destinations() {
    let taken = |forms: &[(&'static str, [bool; 7])]| -> Vec<(&'static str, Vec<&str>)> {
        let names = |taken: &[bool; 7]| {
            TRANSPORTS.iter().zip(taken).filter(|(_, taken)| **taken).map(|(name, _)| *name).collect()
        };
        forms
            .iter()
            .map(|(form, taken)| (*form, names(taken)))
            .filter(|(_, names): &(_, Vec<_>)| !names.is_empty())
            .collect()
    };
    let [send, memcpy] = destinations();
    assert_eq!(
        taken(&send),
        [
            ("Plain", vec!["RC", "UC"]),
            ("ToSrq", vec!["XRC"]),
            ("ToFull", vec!["UD"]),
            ("ToCompact", vec!["UD"]),
            ("ToTarget", vec!["DCI", "DCI with streams"]),
            ("ToNearTarget", vec!["DCI", "DCI with streams"]),
            ("ByStream", vec!["DCI with streams"]),
        ]
    );
    assert_eq!(taken(&memcpy), [("Plain", vec!["RC", "DCI", "DCI with streams"])]);
    assert_eq!(bare_frames(), [false, true]);
}

/// The crate's own table of operations has no row that is not here.
#[test]
fn no_operation_is_left_out() {
    let source = std::fs::read_to_string(root().join("src/wqe/table.rs")).expect("the crate's table");
    let (_, table) = source.split_once("\noperations! {").expect("it is called so");
    let (table, _) = table.split_once("\n}").expect("its end");
    let names: Vec<_> = table
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .filter_map(|line| line.split_once(':').map(|(name, _)| name.trim()))
        .collect();
    assert!(names.contains(&"Send"), "rows of the table: {names:?}");
    for name in names {
        assert!(rows().iter().any(|row| row.name == name), "{name} is not in tests/operations/table.rs");
    }
}

/// Its completion does, by the WQE's opcode.
#[test]
fn completions_name_each_operation() {
    for row in rows() {
        let named = WcOpcode::of_request(row.opcode);
        assert!(!matches!(named, WcOpcode::Unknown(_)), "{}: {named:?}, in src/cq/opcode.rs", row.name);
    }
}

#[test]
fn the_decoder_names_each_operation() {
    for row in rows() {
        let named = blueflame_decode::OPCODES.iter().any(|(opcode, _)| *opcode == row.opcode);
        assert!(named, "{} is not in decode/src/names.rs", row.name);
    }
}

#[test]
fn segments_are_as_long_as_the_operation_says() {
    for row in rows() {
        let ds: usize = row.segments.iter().map(|segment| segment.ds).sum();
        // Data whose place is fixed: a piece, from and to.
        let fixed = match row.name {
            "BindWindow" => 4,
            "Memcpy" => 2,
            _ => 0,
        };
        assert_eq!(ds + fixed, row.ds, "{}: {:?}", row.name, row.segments);
    }
    for column in columns() {
        let ds: usize = column.address.iter().map(|segment| segment.ds).sum();
        assert_eq!(ds, column.address_ds, "{}: {:?}", column.name, column.address);
    }
}

/// Each proof names an existing test. The differential tests check themselves that they compare those operations
/// (`Coverage::unproved` in `tests/differential/sends.rs`).
#[test]
fn every_test_that_is_named_exists() {
    let named = CLAIMS.iter().map(|claim| claim.test).chain(FEATURES.iter().map(|feature| feature.test));
    for (file, test) in named {
        let source = std::fs::read_to_string(root().join(file)).unwrap_or_else(|why| panic!("{file}: {why}"));
        assert!(source.contains(&format!("fn {test}(")), "{file} has no test {test}");
    }
}

/// Lists of random requests compare some operations, and the test of the claim compares the others. A claim has
/// operations of one kind only.
#[test]
fn what_is_compared_in_turn_is_compared_where_it_is_claimed() {
    for claim in CLAIMS.iter().filter(|claim| claim.proof == Proof::Libmlx5) {
        let in_turn = claim.operations.iter().filter(|name| IN_TURN.contains(name)).count();
        assert!(in_turn == 0 || in_turn == claim.operations.len(), "of two kinds: {claim:?}");
        let source = std::fs::read_to_string(root().join(claim.test.0)).expect("looked for above");
        let compares = source.contains("in_turn::run::<") && source.contains(&format!("&{:?},", claim.operations));
        assert_eq!(in_turn != 0, compares, "{claim:?}");
    }
}

#[test]
fn the_page_is_up_to_date() {
    let path = root().join("docs/operations.md");
    let page = page::page();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, page).expect("the page can be written");
        return;
    }
    let found = std::fs::read_to_string(&path).expect("docs/operations.md");
    assert!(
        found == page,
        "docs/operations.md is out of date: BLESS=1 cargo test --no-default-features --test operations"
    );
}
