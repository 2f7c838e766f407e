//! The tables of fields against the installed `mlx5dv.h`: a C program prints where each field is.
//!
//! Offsets of fields belong here. Their meaning belongs in `wqes.rs` and `dumps.rs`.

#[path = "../../tests/c_header/mod.rs"]
mod c_header;

use std::collections::BTreeMap;

use blueflame_decode::layout::{Layout, cqe, wqe};

/// Adds the first byte and the end of each field of `layout`. Fields that are parts of one in C are one here.
fn fields(layout: &Layout, table: &mut BTreeMap<String, u64>) {
    let mut ends: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for field in layout.fields {
        let name = field.name.split(':').next().unwrap_or(field.name);
        // Parts of reserved bytes that other drivers name are part of the reserved ones.
        let (start, end) = ends.entry(name).or_insert((field.bit, field.bit));
        assert_eq!(*end, field.bit, "{}.{name} is in one place", layout.name);
        *end = field.bit + field.width;
        assert_eq!(*start % 8, 0, "{}.{name}", layout.name);
    }
    for (name, (start, end)) in ends {
        let of = layout.name;
        assert_eq!(end % 8, 0, "{of}.{name}");
        table.insert(format!("offsetof(struct {of}, {name})"), start as u64 / 8);
        table.insert(format!("sizeof(((struct {of} *)0)->{name})"), (end - start) as u64 / 8);
    }
}

#[test]
fn tables_agree_with_the_installed_header() {
    let mut table = BTreeMap::new();
    for layout in wqe::OF_MLX5DV.iter().chain(cqe::OF_MLX5DV) {
        fields(layout, &mut table);
        // The table of Ethernet segments ends where the inline headers' rest begins.
        if layout.name != "mlx5_wqe_eth_seg" {
            table.insert(format!("sizeof(struct {})", layout.name), layout.bytes as u64);
        }
    }
    // Completions of tag matching have these in place of the first fields.
    for field in [&cqe::TM_CQE, &cqe::TMH_CQE].iter().flat_map(|layout| layout.fields) {
        let name = field.name.split(':').next().unwrap_or(field.name);
        if name.starts_with("tm") && name.contains('.') {
            table.insert(format!("offsetof(struct mlx5_cqe64, {name})"), field.bit as u64 / 8);
            table.insert(format!("sizeof(((struct mlx5_cqe64 *)0)->{name})"), field.width as u64 / 8);
        }
    }
    // A compact address vector is the beginning of a full one.
    for field in wqe::BASE_AV.fields {
        let name = field.name.split(':').next().unwrap_or(field.name);
        assert!(table.contains_key(&format!("offsetof(struct mlx5_wqe_av, {name})")), "{name}");
    }
    assert!(
        wqe::BASE_AV
            .fields
            .iter()
            .zip(wqe::DATAGRAM.fields)
            .all(|(a, b)| (a.name, a.bit, a.width) == (b.name, b.bit, b.width))
    );
    for (opcode, name) in blueflame_decode::OPCODES {
        if !NOT_IN_MLX5DV.contains(name) {
            table.insert((*name).to_owned(), u64::from(*opcode));
        }
    }
    assert!(table.len() > 190, "{}", table.len());
    c_header::compare("#include <infiniband/mlx5dv.h>", &table.into_iter().collect::<Vec<_>>());
}

/// Opcodes of Linux' `include/linux/mlx5/device.h` and of DPDK's `mlx5_prm.h`.
const NOT_IN_MLX5DV: &[&str] = &[
    "MLX5_OPCODE_WAIT",
    "MLX5_OPCODE_RCV_EN",
    "MLX5_OPCODE_SEND_EN",
    "MLX5_OPCODE_BIND_MW",
    "MLX5_OPCODE_GET_PSV",
    "MLX5_OPCODE_CHECK_PSV",
    "MLX5_OPCODE_DUMP",
    "MLX5_OPCODE_RGET_PSV",
    "MLX5_OPCODE_RCHECK_PSV",
    "MLX5_OPCODE_ENHANCED_MPSW",
    "MLX5_OPCODE_ACCESS_ASO",
];
