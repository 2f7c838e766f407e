//! Open MPI and MPICH, unmodified, on the software device: `mpi_data.c` compares every byte that its ranks exchange.
//!
//! Programs of MPI belong here, programs of UCX alone in `ucx.rs`.

use crate::pair::{Device, launch_on, long};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(300);

type Variables = &'static [(&'static str, &'static str)];

/// UCX's transports, by libmlx5 and by UCX's own driver. No TCP, and no shared memory.
const UCX: [Variables; 5] = [
    &[("UCX_TLS", "rc_v,self")],
    &[("UCX_TLS", "ud_v,self")],
    &[("UCX_TLS", "rc_x,self")],
    &[("UCX_TLS", "ud_x,self")],
    &[("UCX_TLS", "dc_x,self")],
];

/// Open MPI starts nothing for root unless told twice. MPICH has windows in shared memory unless it takes the ranks for
/// processes of different hosts.
const MPI: [(&str, &str); 3] =
    [("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"), ("MPIR_CVAR_NOLOCAL", "1")];
/// More ranks than CPUs.
const OPEN_MPI: &[&str] = &["mpirun.openmpi", "--oversubscribe"];
const MPICH: &[&str] = &["mpirun.mpich"];

/// `mpi_data.c`, compiled for one of the two.
fn compiled(directory: &Path, compiler: &str) -> String {
    let program = directory.join(compiler).display().to_string();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mpi_data.c");
    let mut command = Command::new(compiler);
    command.args(["-Wall", "-Wextra", "-O1", "-o", &program, source]);
    assert!(command.status().is_ok_and(|status| status.success()), "{command:?}");
    program
}

/// Runs all ranks on one network, and expects them to find what they have sent one another.
fn run(link: &str, environment: Variables, start: &[&str], ranks: usize, program: &[&str]) {
    let options = ["--link", link];
    let environment = [environment, &MPI].concat();
    let device = Device { environment: &environment, ..Device::new(&options) };
    let number = ranks.to_string();
    let (code, output) = launch_on(&device, &[start, &["-np", &number], program].concat(), PATIENCE);
    let compared = output.contains(&format!("{ranks} ranks compared "));
    assert!(code == Some(0) && compared, "{link} {environment:?} {start:?} {ranks}: {code:?}\n{output}");
}

/// Links and numbers of ranks.
fn sizes() -> &'static [(&'static str, usize)] {
    const ALL: &[(&str, usize)] = &[("infiniband", 3), ("infiniband", 2), ("infiniband", 16), ("ethernet", 6)];
    if long() { ALL } else { &ALL[..1] }
}

#[test]
fn open_mpi_runs_over_ucx() {
    let directory = tempfile::tempdir().expect("a directory for the program");
    let program = compiled(directory.path(), "mpicc.openmpi");
    let start = [OPEN_MPI, &["--mca", "pml", "ucx", "--mca", "osc", "ucx"]].concat();
    for transport in UCX {
        for &(link, ranks) in sizes() {
            run(link, transport, &start, ranks, &[&program]);
        }
    }
}

#[test]
fn mpich_runs_over_ucx() {
    let directory = tempfile::tempdir().expect("a directory for the program");
    let program = compiled(directory.path(), "mpicc.mpich");
    for transport in UCX {
        for &(link, ranks) in sizes() {
            run(link, transport, MPICH, ranks, &[&program]);
        }
    }
}

/// Whether Open MPI was built with this component.
fn open_mpi_has(component: &str) -> bool {
    let information = Command::new("ompi_info").output().expect("Open MPI is installed (openmpi-bin)");
    String::from_utf8_lossy(&information.stdout).contains(&format!(" {component} "))
}

/// libfabric's provider connects its queue pairs by librdmacm. The other settings keep Open MPI from shared memory. Only
/// Open MPI 4 has windows without it.
#[test]
fn open_mpi_runs_over_libfabric() {
    let directory = tempfile::tempdir().expect("a directory for the program");
    let program = compiled(directory.path(), "mpicc.openmpi");
    let provider = ["--mca", "pml", "cm", "--mca", "mtl", "ofi", "--mca", "mtl_ofi_provider_include", "verbs;ofi_rxm"];
    let mut start = [OPEN_MPI, &provider, &["--mca", "btl", "self"]].concat();
    let mut program = vec![program.as_str()];
    if open_mpi_has("osc: pt2pt") {
        start.extend(["--mca", "osc", "pt2pt"]);
    } else {
        program.push("no-windows");
    }
    for ranks in if long() { 2..=6 } else { 3..=3 } {
        run("ethernet", &[("FI_PROVIDER", "verbs;ofi_rxm")], &start, ranks, &program);
    }
}

/// The transport that Open MPI had for verbs itself, without UCX. Open MPI 5 has none.
#[test]
fn open_mpi_runs_over_verbs() {
    if !open_mpi_has("btl: openib") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory for the program");
    let program = compiled(directory.path(), "mpicc.openmpi");
    let verbs = ["--mca", "pml", "ob1", "--mca", "btl", "openib,self", "--mca", "btl_openib_allow_ib", "1"];
    let start = [OPEN_MPI, &verbs, &["--mca", "osc", "pt2pt"]].concat();
    for ranks in if long() { 2..=6 } else { 3..=3 } {
        run("infiniband", &[], &start, ranks, &[&program]);
    }
}
