//! The fuzz targets' seeds: written here, kept under `fuzz/seeds`, and run by every `cargo test` without libFuzzer.
//!
//! `BLESS_SEEDS=1 cargo test --test fuzz_seeds` writes them again.
//!
//! A seed for a fuzz target belongs here. The targets belong in `fuzz/targets`.
//!
//! Not under the address sanitizer: `./run test` runs these seeds with it by the program `replay`.

mod cable;
mod frames;
mod hostile;
mod owners;
mod packets;
mod pci_function;
mod seeds;
mod sessions;
mod striding;
mod texts;

use std::fs;
use std::path::PathBuf;

use arbitrary::{Arbitrary, Unstructured};
use blueflame_fuzz_targets::encode::Encode;
use blueflame_fuzz_targets::{
    cqe_parse, decode, device_fetch, devx_outbox, firmware, mini_cqe, ownership, queue_ops, wqe_build,
};

/// Compares the seeds of a target with its files, reads them back, and runs the target on them.
fn check<I: Encode + for<'a> Arbitrary<'a> + PartialEq + std::fmt::Debug>(
    target: &str,
    seeds: &[(&str, I)],
    run: impl Fn(&I),
) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(target);
    let bless = std::env::var_os("BLESS_SEEDS").is_some();
    if bless {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder for the seeds");
    }
    for (name, input) in seeds {
        let mut bytes = Vec::new();
        input.encode(&mut bytes);
        let read = I::arbitrary_take_rest(Unstructured::new(&bytes)).expect("an input");
        assert_eq!(read, *input, "{target}/{name} is read as something else");
        run(input);
        let file = folder.join(name);
        if bless {
            fs::write(&file, &bytes).expect("the seed's file");
        }
        let found = fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert!(found == bytes, "{} is out of date: BLESS_SEEDS=1 writes it anew", file.display());
    }
    let files = fs::read_dir(&folder).expect("the seeds' folder").count();
    assert_eq!(files, seeds.len(), "{} has files that are no seeds", folder.display());
}

#[test]
fn cqe_parse() {
    check("cqe_parse", &seeds::cqe_parse(), cqe_parse::run);
}

#[test]
fn mini_cqe() {
    check("mini_cqe", &seeds::mini_cqe(), mini_cqe::run);
}

#[test]
fn wqe_build() {
    check("wqe_build", &seeds::wqe_build(), wqe_build::run);
}

#[test]
fn queue_ops() {
    check("queue_ops", &seeds::queue_ops(), queue_ops::run);
}

#[test]
fn ownership() {
    check("ownership", &owners::seeds(), ownership::run);
}

#[test]
fn decode() {
    check("decode", &texts::decode(), decode::run);
}

#[test]
fn packets() {
    check("packets", &packets::seeds(), blueflame_fuzz_targets::packets::run);
}

#[test]
fn device_fetch() {
    check("device_fetch", &seeds::device_fetch(), device_fetch::run);
}

#[test]
fn cable() {
    check("cable", &cable::seeds(), blueflame_fuzz_targets::cable::run);
}

#[test]
fn frames() {
    check("frames", &frames::frames(), blueflame_fuzz_targets::frames::run);
}

#[test]
fn firmware() {
    check("firmware", &seeds::firmware(), firmware::run);
}

#[test]
fn devx_outbox() {
    check("devx_outbox", &seeds::devx_outbox(), devx_outbox::run);
}

#[test]
fn pci_function() {
    check("pci_function", &pci_function::seeds(), blueflame_fuzz_targets::pci_function::run);
}

#[test]
fn striding() {
    let seeds = striding::seeds();
    let seeds: Vec<_> = seeds.iter().map(|(name, input)| (name.as_str(), input.clone())).collect();
    check("striding", &seeds, blueflame_fuzz_targets::striding::run);
}

#[test]
fn hostile() {
    let seeds = hostile::seeds();
    let seeds: Vec<_> = seeds.iter().map(|(name, input)| (name.as_str(), input.clone())).collect();
    check("hostile", &seeds, blueflame_fuzz_targets::hostile::run);
}

#[test]
fn sessions() {
    check("sessions", &sessions::seeds(), blueflame_fuzz_targets::sessions::run);
}
