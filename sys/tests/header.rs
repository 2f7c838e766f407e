//! Everything that is declared in this package, against the headers of rdma-core that are installed: a C program prints
//! sizes, offsets and constants, and compiles only if the functions have the types that are declared here.

#[path = "../../tests/c_header/mod.rs"]
mod c_header;

use std::fmt::Write as _;
use std::io::Write as _;
use std::mem::offset_of;
use std::process::{Command, Stdio};

use blueflame_sys::{Function, Structure, declared, mlx5dv_dc_init_attr, mlx5dv_obj, mlx5dv_qp, mlx5dv_wq};

/// Structures that have no name in C: parts of another one, whose fields' sizes and offsets are compared.
const NAMELESS: &[&str] = &[
    "ibv_gid_global",
    "ibv_odp_transport_caps",
    "ibv_send_wr_peer",
    "ibv_send_wr_rdma",
    "ibv_send_wr_atomic",
    "ibv_send_wr_ud",
    "ibv_send_wr_qp_type",
    "ibv_send_wr_own",
    "ibv_send_wr_bind_mw",
    "ibv_send_wr_tso",
    "ibv_ops_wr_tm",
    "ibv_ops_wr_add",
    "ibv_async_event_element",
    "mlx5dv_wq",
    "mlx5dv_bf",
];

/// Structures that end with an array, which has no length in C.
const ENDLESS: &[&str] = &["mlx5dv_flow_match_parameters"];

/// Constants of later headers than the oldest that this test runs with, and of headers that are not installed.
const ELSEWHERE: &[&str] = &["MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED"];

/// Structures that are longer in the header, at least of later releases. libmlx5 touches only the asked-for pairs of
/// `mlx5dv_obj`, and does not read an action's counter offset. The query of a port is told the size. The library itself
/// makes queue pairs. A registration reads the fields that its mask names.
const BEGINNINGS: &[&str] =
    &["mlx5dv_obj", "mlx5dv_flow_action_attr", "ibv_port_attr", "ibv_qp_ex", "ibv_mr_init_attr"];

/// The structure that grows at its beginning. Its `sz` counts from its end, and so does this test.
const FROM_THE_END: &str = "verbs_context";

/// Rows about one structure.
fn rows(structure: &Structure) -> Vec<(String, u64)> {
    let Structure { kind, name, size, fields } = structure;
    let mut rows = Vec::new();
    if NAMELESS.contains(name) {
        return rows;
    }
    // `comp_mask` tells libmlx5 which fields count, so a later release may have more of them.
    let grows = name.starts_with("mlx5dv") && fields.iter().any(|field| field.name == "comp_mask");
    if *name == FROM_THE_END {
        return fields
            .iter()
            .map(|field| {
                (format!("sizeof({kind} {name}) - offsetof({kind} {name}, {})", field.name), *size - field.offset)
            })
            .map(|(expression, value)| (expression, value as u64))
            .collect();
    }
    if grows || BEGINNINGS.contains(name) {
        rows.push((format!("sizeof({kind} {name}) >= {size}"), 1));
    } else if !ENDLESS.contains(name) {
        rows.push((format!("sizeof({kind} {name})"), *size as u64));
    }
    for field in *fields {
        let path = field.name;
        rows.push((format!("offsetof({kind} {name}, {path})"), field.offset as u64));
        let endless = ENDLESS.contains(name) && path == "match_buf" || path == "out_data";
        if !endless {
            rows.push((format!("sizeof((({kind} {name} *)0)->{path})"), field.size as u64));
        }
    }
    rows
}

fn table() -> Vec<(String, u64)> {
    let mut table = Vec::new();
    for structure in declared::STRUCTURES.iter().copied().flatten() {
        table.extend(rows(structure));
    }
    for constant in declared::CONSTANTS.iter().copied().flatten() {
        if !ELSEWHERE.contains(&constant.name) {
            table.push((format!("(unsigned long long)(long long)({})", constant.name), constant.value as u64));
        }
    }
    // The insides of nameless structures.
    let sq = offset_of!(mlx5dv_qp, sq);
    for (path, offset) in [
        ("ibv_send_wr, wr.rdma.rkey", offset_of!(blueflame_sys::ibv_send_wr, wr) + 8),
        ("ibv_send_wr, wr.atomic.compare_add", offset_of!(blueflame_sys::ibv_send_wr, wr) + 8),
        ("ibv_send_wr, wr.atomic.swap", offset_of!(blueflame_sys::ibv_send_wr, wr) + 16),
        ("ibv_send_wr, wr.atomic.rkey", offset_of!(blueflame_sys::ibv_send_wr, wr) + 24),
        ("ibv_send_wr, wr.ud.remote_qpn", offset_of!(blueflame_sys::ibv_send_wr, wr) + 8),
        ("ibv_send_wr, wr.ud.remote_qkey", offset_of!(blueflame_sys::ibv_send_wr, wr) + 12),
        ("ibv_send_wr, bind_mw.rkey", offset_of!(blueflame_sys::ibv_send_wr, own) + 8),
        ("ibv_send_wr, bind_mw.bind_info", offset_of!(blueflame_sys::ibv_send_wr, own) + 16),
        ("ibv_send_wr, tso.hdr_sz", offset_of!(blueflame_sys::ibv_send_wr, own) + 8),
        ("ibv_send_wr, tso.mss", offset_of!(blueflame_sys::ibv_send_wr, own) + 10),
        ("ibv_ops_wr, tm.handle", offset_of!(blueflame_sys::ibv_ops_wr, tm) + 4),
        ("ibv_ops_wr, tm.add.recv_wr_id", offset_of!(blueflame_sys::ibv_ops_wr, tm) + 8),
        ("ibv_ops_wr, tm.add.tag", offset_of!(blueflame_sys::ibv_ops_wr, tm) + 32),
        ("ibv_ops_wr, tm.add.mask", offset_of!(blueflame_sys::ibv_ops_wr, tm) + 40),
        ("mlx5dv_qp, sq.buf", sq + offset_of!(mlx5dv_wq, buf)),
        ("mlx5dv_qp, sq.wqe_cnt", sq + offset_of!(mlx5dv_wq, wqe_cnt)),
        ("mlx5dv_qp, sq.stride", sq + offset_of!(mlx5dv_wq, stride)),
        ("mlx5dv_qp, bf.reg", offset_of!(mlx5dv_qp, bf.reg)),
        ("mlx5dv_qp, bf.size", offset_of!(mlx5dv_qp, bf.size)),
        ("mlx5dv_obj, qp.in", offset_of!(mlx5dv_obj, qp.r#in)),
        ("mlx5dv_obj, srq.out", offset_of!(mlx5dv_obj, srq.out)),
        // Here, a DCI has these two bytes at the place of a target's key.
        ("mlx5dv_dc_init_attr, dci_streams", offset_of!(mlx5dv_dc_init_attr, dct_access_key)),
        ("mlx5dv_dci_streams, log_num_concurent", 0),
        ("mlx5dv_dci_streams, log_num_errored", 1),
    ] {
        table.push((format!("offsetof(struct {path})"), offset as u64));
    }
    table.push(("(uintptr_t)IBV_ALLOCATOR_USE_DEFAULT".into(), blueflame_sys::IBV_ALLOCATOR_USE_DEFAULT.addr() as u64));
    table
}

/// A type as C has it.
fn in_c(rust: &str) -> String {
    if let Some(pointee) = rust.strip_prefix("*mut ") {
        return format!("{} *", in_c(pointee));
    }
    if let Some(pointee) = rust.strip_prefix("*const ") {
        return format!("const {} *", in_c(pointee));
    }
    match rust {
        "" | "c_void" => "void",
        "c_int" => "int",
        "c_char" => "char",
        "usize" => "size_t",
        "isize" => "ssize_t",
        "bool" => "bool",
        "u8" => "uint8_t",
        "u16" => "uint16_t",
        "u32" => "uint32_t",
        "u64" => "uint64_t",
        "ibv_wr_opcode" => "enum ibv_wr_opcode",
        structure => return format!("struct {structure}"),
    }
    .into()
}

/// The prototypes of these functions. Declared anew, a function whose type differs is an error.
fn prototypes<'a>(functions: impl IntoIterator<Item = &'a Function>) -> String {
    let mut source =
        String::from("#include <stdint.h>\n#include <infiniband/verbs.h>\n#include <infiniband/mlx5dv.h>\n");
    // Macros of `verbs.h` that stand before functions of the same name.
    for name in ["ibv_reg_mr", "ibv_reg_mr_iova", "ibv_query_port"] {
        writeln!(source, "#undef {name}").expect("a string");
    }
    for function in functions {
        let arguments: Vec<String> = function.arguments.iter().map(|argument| in_c(argument)).collect();
        let arguments = match function.name {
            // The flags are an enumeration in C.
            "mlx5dv_devx_create_event_channel" => {
                "struct ibv_context *, enum mlx5dv_devx_create_event_channel_flags".into()
            }
            _ => arguments.join(", "),
        };
        writeln!(source, "{} {}({arguments});", in_c(function.result), function.name).expect("a string");
    }
    source
}

#[test]
fn declarations_agree_with_the_installed_headers() {
    let functions = declared::FUNCTIONS.iter().flat_map(|(_, functions)| *functions);
    c_header::compare(&prototypes(functions), &table());
}

/// Headers of older releases lack them.
#[test]
fn later_declarations_agree_with_headers_that_have_them() {
    for later in declared::SEARCHED_ALWAYS {
        if !header_has(later.header, later.functions[0].name) {
            println!("the installed header is older: no {}", later.functions[0].name);
            continue;
        }
        let mut table: Vec<_> = later.structures.iter().flat_map(rows).collect();
        table.extend(
            later
                .constants
                .iter()
                .map(|constant| (format!("(unsigned long long)(long long)({})", constant.name), constant.value as u64)),
        );
        c_header::compare(&prototypes(later.functions), &table);
    }
}

/// Whether an installed header declares a function.
fn header_has(header: &str, function: &str) -> bool {
    let mut compiler = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".into()))
        .args(["-fsyntax-only", "-x", "c", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a C compiler (cc, or CC)");
    let source = format!("#include <{header}>\nvoid *found = {function};\n");
    compiler.stdin.take().expect("a pipe").write_all(source.as_bytes()).expect("the compiler reads");
    compiler.wait().expect("the compiler ends").success()
}
