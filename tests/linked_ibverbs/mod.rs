//! libibverbs, linked, so that the linker exports a test's functions of its names. The crate calls these then.

#[link(name = "ibverbs")]
unsafe extern "C" {
    fn ibv_fork_init() -> std::ffi::c_int;
}

#[used]
static KEEPS_IT: unsafe extern "C" fn() -> std::ffi::c_int = ibv_fork_init;
