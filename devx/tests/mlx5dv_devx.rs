//! The hand-declared part of mlx5dv against the installed header: a C program prints sizes, offsets and constants, and
//! compiles only if the functions have the types that are declared here.
//!
//! Declarations of devx belong here. Those of `src/verbs` belong in `tests/mlx5dv_layout.rs` of the workspace.

#[path = "../../tests/c_header/mod.rs"]
mod c_header;

use std::fmt::Write as _;
use std::mem::offset_of;

use blueflame_devx::ffi;

/// Size of a field, from a function that points to it.
fn field_size<S, F>(_: impl Fn(&S) -> *const F) -> usize {
    size_of::<F>()
}

/// The comparison: a C expression, and Rust's value.
fn table() -> Vec<(String, u64)> {
    let mut table = Vec::new();
    macro_rules! structure {
        ($rust:ty, $c:literal, [$($field:ident),+]) => {
            table.push((format!("sizeof(struct {})", $c), size_of::<$rust>() as u64));
            $(
                let field = stringify!($field);
                table.push((format!("offsetof(struct {}, {field})", $c), offset_of!($rust, $field) as u64));
                let size = field_size(|value: &$rust| &raw const value.$field);
                table.push((format!("sizeof(((struct {} *)0)->{field})", $c), size as u64));
            )+
        };
    }
    structure!(ffi::Mlx5dvDevxUmem, "mlx5dv_devx_umem", [umem_id]);
    structure!(ffi::Mlx5dvDevxUmemIn, "mlx5dv_devx_umem_in", [addr, size, access, pgsz_bitmap, comp_mask, dmabuf_fd]);
    structure!(ffi::Mlx5dvDevxUar, "mlx5dv_devx_uar", [reg_addr, base_addr, page_id, mmap_off, comp_mask]);
    structure!(ffi::Mlx5dvPp, "mlx5dv_pp", [index]);
    structure!(ffi::Mlx5dvDevxCmdComp, "mlx5dv_devx_cmd_comp", [fd]);
    structure!(ffi::Mlx5dvDevxEventChannel, "mlx5dv_devx_event_channel", [fd]);
    structure!(ffi::Mlx5dvDevxAsyncCmdHdr, "mlx5dv_devx_async_cmd_hdr", [wr_id]);
    structure!(ffi::Mlx5dvDevxAsyncEventHdr, "mlx5dv_devx_async_event_hdr", [cookie]);
    structure!(ffi::vfio::Mlx5dvVfioContextAttr, "mlx5dv_vfio_context_attr", [pci_name, flags, comp_mask]);
    structure!(ffi::Mlx5dvPd, "mlx5dv_pd", [pdn, comp_mask]);
    structure!(ffi::Mlx5dvAh, "mlx5dv_ah", [av, comp_mask]);
    structure!(
        ffi::Mlx5WqeAv,
        "mlx5_wqe_av",
        [key, dqp_dct, stat_rate_sl, fl_mlid, rlid, reserved0, rmac, tclass, hop_limit, grh_gid_fl, rgid]
    );
    let constants = [
        ("MLX5DV_OBJ_AH", ffi::MLX5DV_OBJ_AH),
        ("MLX5DV_OBJ_PD", ffi::MLX5DV_OBJ_PD),
        ("MLX5DV_VFIO_CTX_FLAGS_INIT_LINK_DOWN", ffi::vfio::MLX5DV_VFIO_CTX_FLAGS_INIT_LINK_DOWN.into()),
        ("MLX5DV_UMEM_MASK_DMABUF", ffi::MLX5DV_UMEM_MASK_DMABUF),
        ("MLX5DV_UAR_ALLOC_TYPE_BF", ffi::MLX5DV_UAR_ALLOC_TYPE_BF.into()),
        ("MLX5DV_UAR_ALLOC_TYPE_NC", ffi::MLX5DV_UAR_ALLOC_TYPE_NC.into()),
        (
            "MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA",
            ffi::MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA.into(),
        ),
    ];
    table.extend(constants.map(|(name, value)| (name.to_string(), value)));
    table
}

/// A type as C has it.
fn in_c(rust: &str) -> &'static str {
    match rust {
        "" => "void",
        "c_int" => "int",
        "usize" => "size_t",
        "isize" => "ssize_t",
        "u16" => "uint16_t",
        "u32" => "uint32_t",
        "u64" => "uint64_t",
        "*mut u32" => "uint32_t *",
        "*mut u16" => "uint16_t *",
        "*const c_void" => "const void *",
        "*mut c_void" => "void *",
        "*mut ibv_context" => "struct ibv_context *",
        "*mut *mut ibv_device" => "struct ibv_device **",
        "*mut Mlx5dvVfioContextAttr" => "struct mlx5dv_vfio_context_attr *",
        "*mut Mlx5dvDevxObj" => "struct mlx5dv_devx_obj *",
        "*mut Mlx5dvDevxUmem" => "struct mlx5dv_devx_umem *",
        "*mut Mlx5dvDevxUmemIn" => "struct mlx5dv_devx_umem_in *",
        "*mut Mlx5dvDevxUar" => "struct mlx5dv_devx_uar *",
        "*mut Mlx5dvPp" => "struct mlx5dv_pp *",
        "*mut Mlx5dvDevxCmdComp" => "struct mlx5dv_devx_cmd_comp *",
        "*mut Mlx5dvDevxAsyncCmdHdr" => "struct mlx5dv_devx_async_cmd_hdr *",
        "*mut Mlx5dvDevxEventChannel" => "struct mlx5dv_devx_event_channel *",
        "*mut Mlx5dvDevxAsyncEventHdr" => "struct mlx5dv_devx_async_event_hdr *",
        other => panic!("no type in C for {other}"),
    }
}

#[test]
fn declarations_agree_with_the_installed_header() {
    let mut source = String::from("#include <infiniband/mlx5dv.h>\n");
    for (name, arguments, returned) in ffi::DECLARED.iter().chain(ffi::vfio::DECLARED) {
        let arguments: Vec<&str> = arguments.iter().map(|ty| in_c(ty)).collect();
        // Declared anew: a type that differs is an error. The flags of event channels are an enumeration in C.
        let arguments = match *name {
            "mlx5dv_devx_create_event_channel" => {
                "struct ibv_context *, enum mlx5dv_devx_create_event_channel_flags".into()
            }
            _ => arguments.join(", "),
        };
        writeln!(source, "{} {name}({arguments});", in_c(returned)).expect("a string");
    }
    c_header::compare(&source, &table());
}

#[test]
fn the_installed_library_has_the_functions() {
    assert_eq!(ffi::available(), Ok(()));
}
