//! The commands that the device carries out in these tests: all that the crate describes, and those that
//! `docs/firmware.md` says are proved by them.
//!
//! Lists of commands belong here, their effects in the other files.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use blueflame::verbs::device::LinkLayer;
use blueflame_devx::cmd::{AllocXrcdIn, COMMANDS, Opcode, QueryIssiIn};

use crate::carried_out::{ask_for_list, carried_out, is_asked};
use crate::ground::ground;

/// The test here, by the name that the test harness gives it.
const THIS: &str = "every_command_is_carried_out_for_some_test";
/// Described, and carried out by no test here, with the reason. Most are refused to programs; of all, the device has
/// tests of its own (`docs/firmware.md`). Linux' `drivers/infiniband/hw/mlx5/devx.c` lists the commands that it lets
/// through.
const BY_NO_TEST: &[(Opcode, &str)] = &[
    (Opcode::QUERY_SPECIAL_CONTEXTS, "Linux keeps it: it is none of devx_is_general_cmd"),
    (Opcode::RTS2SQD_QP, "Linux keeps it: it is none of devx_is_obj_modify_cmd"),
    (Opcode::SQD_RTS_QP, "Linux keeps it: it is none of devx_is_obj_modify_cmd"),
    (Opcode::ALLOC_UAR, "Linux keeps it: programs get pages by MLX5_IB_METHOD_UAR_OBJ_ALLOC"),
    (Opcode::CREATE_SRQ, "its mailbox names no user memory, and the ring is in no other"),
    (Opcode::QUERY_SRQ, "needs such a queue"),
    (Opcode::ARM_RQ, "needs such a queue"),
    (Opcode::CREATE_XRC_SRQ, "no public header says where its mailbox names user memory"),
    (Opcode::QUERY_XRC_SRQ, "needs such a queue"),
    (Opcode::ARM_XRC_SRQ, "needs such a queue"),
    (Opcode::MODIFY_GENERAL_OBJECT, "the device has no objects that can be changed"),
];

/// Opcodes of the rows of `docs/firmware.md` that say so.
fn documented(page: &str) -> BTreeSet<u16> {
    let rows = page.lines().filter_map(|line| {
        let cells: Vec<&str> = line.strip_prefix("| 0x")?.split('|').map(str::trim).collect();
        let proofs = cells.get(4)?;
        proofs.split(", ").any(|word| word == "crate").then(|| u16::from_str_radix(cells[0], 16).expect("an opcode"))
    });
    rows.collect()
}

fn names(opcodes: impl IntoIterator<Item = u16>) -> Vec<String> {
    opcodes.into_iter().map(|opcode| format!("{:#x} {:?}", opcode, Opcode(opcode))).collect()
}

#[test]
fn every_command_is_carried_out_for_some_test() {
    if carried_out(0).is_none() || is_asked() {
        return;
    }
    // On InfiniBand there are no queues of Ethernet.
    if ground().path.port.link_layer != LinkLayer::Ethernet {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("list");
    let program = std::env::current_exe().expect("this program's path");
    let mut all = Command::new(program);
    ask_for_list(all.args(["--skip", THIS]), &file);
    let output = all.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let list = std::fs::read_to_string(&file).expect("the list");
    let done: BTreeSet<u16> = list.lines().map(|line| line.parse().expect("an opcode")).collect();

    let described: BTreeSet<u16> = COMMANDS.iter().map(|command| command.opcode).collect();
    let missing: BTreeSet<u16> = described.difference(&done).copied().collect();
    let expected: BTreeSet<u16> = BY_NO_TEST.iter().map(|(opcode, _)| opcode.0).collect();
    assert_eq!(
        names(missing),
        names(expected),
        "what no test here has the device carry out, and what is said to be so"
    );
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/firmware.md");
    let page = std::fs::read_to_string(page).expect("docs/firmware.md");
    let claimed = documented(&page);
    assert!(!claimed.is_empty(), "no rows");
    let unproved = names(claimed.difference(&done).copied());
    assert!(unproved.is_empty(), "docs/firmware.md says that the crate proves {unproved:#?}");
    let unsaid = names(done.difference(&claimed).copied());
    assert!(unsaid.is_empty(), "docs/firmware.md does not say that the crate proves {unsaid:#?}");
}

#[test]
fn commands_that_no_object_here_sends() {
    let ground = ground();
    let issi = ground.context.execute(&QueryIssiIn::new()).expect("QUERY_ISSI");
    assert_eq!(issi.current_issi(), 1, "{issi:?}");
    // SAFETY: a domain names no memory.
    let alloc = || unsafe { ground.context.create(&AllocXrcdIn::new()) }.expect("ALLOC_XRCD");
    let ((_domain, out), (_other, another)) = (alloc(), alloc());
    assert_ne!(out.xrcd(), another.xrcd());
}
