//! The search of the documentation finds items by their names in C: those of libibverbs, `mlx5dv` and the PRM.
//!
//! Names that `doc(alias)` must have belong here. Links and code of pages belong in `book.rs`, names in pages in
//! `pages.rs`.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders with the public items.
const SOURCES: &[&str] = &["src", "devx/src"];
/// Functions with these words end an object. A drop calls them, so no item has their names.
const ENDS: &[&str] = &["_destroy_", "_dealloc_", "_dereg", "_close_", "_free_", "_obj_destroy"];

/// Names of `enum ibv_wr_opcode` and `enum ibv_ops_wr_opcode` (rdma-core `libibverbs/verbs.h`) that the crate posts.
const REQUESTS: &[&str] = &[
    "IBV_WR_RDMA_WRITE",
    "IBV_WR_RDMA_WRITE_WITH_IMM",
    "IBV_WR_SEND",
    "IBV_WR_SEND_WITH_IMM",
    "IBV_WR_RDMA_READ",
    "IBV_WR_ATOMIC_CMP_AND_SWP",
    "IBV_WR_ATOMIC_FETCH_AND_ADD",
    "IBV_WR_LOCAL_INV",
    "IBV_WR_BIND_MW",
    "IBV_WR_SEND_WITH_INV",
    "IBV_WR_TAG_ADD",
    "IBV_WR_TAG_DEL",
    "IBV_WR_TAG_SYNC",
];

/// Functions of the data path in rdma-core `libibverbs/verbs.h` and `providers/mlx5/mlx5dv.h` for which the crate has
/// calls of its own.
const DATA_PATH: &[&str] = &[
    "ibv_post_send",
    "ibv_post_recv",
    "ibv_post_srq_recv",
    "ibv_post_srq_ops",
    "ibv_poll_cq",
    "ibv_start_poll",
    "ibv_next_poll",
    "ibv_req_notify_cq",
    "ibv_wr_start",
    "ibv_wr_complete",
    "ibv_wr_atomic_cmp_swp",
    "ibv_wr_atomic_fetch_add",
    "ibv_wr_bind_mw",
    "ibv_wr_local_inv",
    "ibv_wr_rdma_read",
    "ibv_wr_rdma_write",
    "ibv_wr_rdma_write_imm",
    "ibv_wr_send",
    "ibv_wr_send_imm",
    "ibv_wr_send_inv",
    "ibv_wr_set_ud_addr",
    "ibv_wr_set_xrc_srqn",
    "ibv_wr_set_inline_data",
    "ibv_wr_set_inline_data_list",
    "ibv_wr_set_sge",
    "ibv_wr_set_sge_list",
    "mlx5dv_wr_memcpy",
    "mlx5dv_wr_mkey_configure",
    "mlx5dv_wr_mr_interleaved",
    "mlx5dv_wr_mr_list",
    "mlx5dv_wr_set_dc_addr",
    "mlx5dv_wr_set_dc_addr_stream",
    "mlx5dv_wr_set_mkey_access_flags",
    "mlx5dv_wr_set_mkey_crypto",
    "mlx5dv_wr_set_mkey_layout_interleaved",
    "mlx5dv_wr_set_mkey_layout_list",
    "mlx5dv_wr_set_mkey_sig_block",
    "mlx5dv_mkey_check",
    "ibv_wc_read_byte_len",
    "ibv_wc_read_completion_ts",
    "ibv_wc_read_cvlan",
    "ibv_wc_read_dlid_path_bits",
    "ibv_wc_read_flow_tag",
    "ibv_wc_read_imm_data",
    "ibv_wc_read_invalidated_rkey",
    "ibv_wc_read_opcode",
    "ibv_wc_read_qp_num",
    "ibv_wc_read_sl",
    "ibv_wc_read_slid",
    "ibv_wc_read_src_qp",
    "ibv_wc_read_tm_info",
    "ibv_wc_read_wc_flags",
];

/// The names of `MLX5_OPCODE_*` in rdma-core `providers/mlx5/mlx5dv.h`.
const OPCODES: &[&str] = &[
    "NOP",
    "SEND_INVAL",
    "RDMA_WRITE",
    "RDMA_WRITE_IMM",
    "SEND",
    "SEND_IMM",
    "TSO",
    "RDMA_READ",
    "ATOMIC_CS",
    "ATOMIC_FA",
    "ATOMIC_MASKED_CS",
    "ATOMIC_MASKED_FA",
    "FMR",
    "LOCAL_INVAL",
    "CONFIG_CMD",
    "SET_PSV",
    "UMR",
    "TAG_MATCHING",
    "FLOW_TBL_ACCESS",
    "MMO",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The names in one file: aliases, calls of functions of C, and segments.
#[derive(Default)]
struct Names {
    aliases: BTreeSet<String>,
    calls: BTreeSet<String>,
    /// Public layouts named `…Seg` that have no alias.
    bare_segments: BTreeSet<String>,
}

impl Names {
    fn read(&mut self, file: &Path) {
        let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.scan(tokens);
    }

    fn scan(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let is_ident =
            |at: usize, wanted: &str| matches!(tokens.get(at), Some(TokenTree::Ident(word)) if word == wanted);
        let mut has_alias = false;
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(group) => {
                    let inside: Vec<TokenTree> = group.stream().into_iter().collect();
                    let is_alias = matches!(inside.first(), Some(TokenTree::Ident(word)) if word == "alias");
                    if at > 0 && is_ident(at - 1, "doc") && is_alias {
                        literals(group.stream(), &mut self.aliases);
                    }
                    match group.delimiter() {
                        Delimiter::Bracket => has_alias |= is_alias_of(&inside),
                        Delimiter::Brace => has_alias = false,
                        _ => {}
                    }
                    self.scan(group.stream());
                }
                TokenTree::Ident(word) if word == "struct" && at > 0 && is_ident(at - 1, "pub") => {
                    if let (Some(TokenTree::Ident(name)), Some(TokenTree::Group(_))) =
                        (tokens.get(at + 1), tokens.get(at + 2))
                        && name.to_string().ends_with("Seg")
                        && !has_alias
                    {
                        self.bare_segments.insert(name.to_string());
                    }
                    has_alias = false;
                }
                TokenTree::Ident(word) => {
                    let name = word.to_string();
                    let is_called = matches!(tokens.get(at + 1), Some(TokenTree::Group(group))
                        if group.delimiter() == Delimiter::Parenthesis);
                    let is_declared = at > 0 && is_ident(at - 1, "fn");
                    let is_of_c = name.starts_with("ibv_") || name.starts_with("mlx5dv_");
                    if is_called && !is_declared && is_of_c {
                        self.calls.insert(name);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Whether an attribute, given without its brackets, is `doc(alias…)`.
fn is_alias_of(attribute: &[TokenTree]) -> bool {
    let is_doc = matches!(attribute.first(), Some(TokenTree::Ident(word)) if word == "doc");
    let inside = attribute.get(1).map(ToString::to_string).unwrap_or_default();
    is_doc && inside.replace(' ', "").starts_with("(alias")
}

/// Adds the string literals of `tokens`, without their quotes.
fn literals(tokens: TokenStream, found: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Literal(literal) => {
                found.insert(literal.to_string().trim_matches('"').to_owned());
            }
            TokenTree::Group(group) => literals(group.stream(), found),
            _ => {}
        }
    }
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.extension() {
            _ if path.is_dir() => files(&path, found),
            Some(extension) if extension == "rs" => found.push(path),
            _ => {}
        }
    }
}

fn names() -> Names {
    let mut found = Vec::new();
    SOURCES.iter().for_each(|folder| files(&root().join(folder), &mut found));
    let mut names = Names::default();
    found.iter().for_each(|file| names.read(file));
    names
}

/// Fails with all of `wanted` that are no aliases.
fn assert_aliases<'a>(wanted: impl IntoIterator<Item = &'a str>) {
    let aliases = names().aliases;
    let missing: Vec<&str> = wanted.into_iter().filter(|&name| !aliases.contains(name)).collect();
    assert!(missing.is_empty(), "no item has `#[doc(alias = …)]` with these names: {missing:#?}");
}

#[test]
fn requests_have_the_names_of_verbs() {
    assert_aliases(REQUESTS.iter().copied());
}

#[test]
fn the_data_path_has_the_names_of_the_functions_in_its_place() {
    assert_aliases(DATA_PATH.iter().copied());
}

#[test]
fn opcodes_have_the_names_of_mlx5dv() {
    let names: Vec<String> = OPCODES.iter().map(|name| format!("MLX5_OPCODE_{name}")).collect();
    assert_aliases(names.iter().map(String::as_str));
}

#[test]
fn setup_has_the_names_of_the_functions_that_it_calls() {
    let calls = names().calls;
    assert!(calls.len() > 50, "only {} calls were found", calls.len());
    assert_aliases(calls.iter().map(String::as_str).filter(|name| !ENDS.iter().any(|end| name.contains(end))));
}

#[test]
fn operations_of_the_reference_have_the_names_of_verbs() {
    let page = fs::read_to_string(root().join("docs/operations.md")).expect("the page of operations");
    let table = page.split("## The tests").next().expect("the first part");
    let verbs = table.lines().filter_map(|line| line.split(" | ").nth(1));
    let wanted: BTreeSet<&str> = verbs
        .flat_map(|cell| cell.split('`'))
        .filter(|word| word.starts_with("IBV_") || word.starts_with("mlx5dv_"))
        .collect();
    assert!(wanted.len() > 15, "{wanted:?}");
    assert_aliases(wanted);
}

#[test]
fn segments_have_the_names_of_their_structs() {
    let bare: BTreeSet<String> = names().bare_segments;
    // libmlx5 of MLNX_OFED 4 writes these operands without a struct.
    let unnamed: BTreeSet<String> = ["Masked128Seg"].map(str::to_owned).into();
    assert_eq!(bare, unnamed, "segments without `#[doc(alias = …)]`");
}

#[test]
fn mailboxes_have_the_names_of_the_prm() {
    let macros = fs::read_to_string(root().join("devx/src/mailbox/structure.rs")).expect("the macro of mailboxes");
    assert!(macros.contains("#[doc(alias = $name)]"), "the macro gives each structure its name in the PRM");
}
