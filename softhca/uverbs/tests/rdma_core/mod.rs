//! rdma-core's own tests, as Debian's python3-pyverbs has them.
//!
//! Tests of rdma-core itself belong here, C programs of our own in the folder of their subject.

use crate::program::launch;
use std::path::Path;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// A shell script that copies the tests to `directory`, and then does `rest`, in which `run_tests` runs those that are
/// named.
///
/// A test of event queues hands scapy 8 bytes of an entry that has 64. Scapy 2.6 refuses that (`unpack requires a
/// buffer of 2 bytes`), so it gets 64. In rdma-core 65, `BaseResources` forgets the context that a test shares, and
/// VFIO has no second one (EBUSY): here it keeps it. Newer tests ask `rdma` for the network interfaces of ports.
pub(crate) fn script(directory: &Path, rest: &str) -> String {
    format!(
        "cp -r /usr/share/doc/rdma-core/tests '{0}' && gunzip -f '{0}'/tests/*.gz || exit 3
        sed -i 's/SwEqe(eqe_bytes)/SwEqe(eqe_bytes.ljust(64, bytes(1)))/' '{0}'/tests/test_mlx5_vfio.py
        sed -i 's/^        self.ctx = None$/        self.ctx = getattr(self, \"ctx\", None)/' '{0}'/tests/base.py
        export MLX5_CRYPTO_TEST_INFO='{1}/tests/mlx5_crypto_test.json'
        run_tests() {{ /usr/bin/python3 '{0}/tests/run_tests.py' -v \"$@\"; }}
        {rest}",
        directory.display(),
        env!("CARGO_MANIFEST_DIR"),
    )
}

/// Runs the tests of these modules on devices with these options: `passing` tests pass, and none fails.
fn pass(modules: &str, devices: &[&[&str]], passing: usize) {
    let directory = tempfile::tempdir().expect("a directory for the tests");
    let script = script(directory.path(), &format!("run_tests --dev mlx5_0 {modules}"));
    for options in devices {
        let (code, output) = launch(options, &["sh", "-c", &script], PATIENCE);
        // The device's warnings come between.
        let passed = output.lines().filter(|line| *line == "ok" || line.ends_with("... ok")).count();
        assert!(code == Some(0) && passed >= passing, "{output}");
    }
}

/// One of them skips itself, because the device lacks its feature: the queue pairs of address handles. Two use one
/// stream, and three use many.
#[test]
fn of_dynamic_connections() {
    pass("tests.test_mlx5_dc", &[&["--link", "infiniband"], &["--link", "ethernet"]], 6);
}

/// Lists, interleaved ones, invalidation, and signatures.
#[test]
fn of_memory_keys() {
    pass("tests.test_mlx5_mkey", &[&["--link", "infiniband"], &["--link", "ethernet"]], 9);
}

/// One data unit by the one generation, several by the other. OpenSSL encrypted the expected data. Tests of wrapped
/// keys skip themselves.
#[test]
fn of_encryption() {
    pass("tests.test_mlx5_crypto", &[&["--generation", "connectx6dx"]], 1);
    pass("tests.test_mlx5_crypto", &[&["--generation", "connectx7"]], 2);
}

/// By queues that need no leave to copy, and by those that do.
#[test]
fn of_memcpy() {
    pass("tests.test_mlx5_dma_memcpy", &[&["--generation", "connectx6dx"], &["--generation", "connectx7"]], 4);
}

/// On Ethernet libmlx5 makes no such queues: Linux refuses the address that it gives the queue pair for operations on
/// tags.
#[test]
fn of_tag_matching() {
    pass("tests.test_tag_matching", &[&["--strict"], &["--generation", "connectx7"]], 4);
}

/// None skips itself.
#[test]
fn of_flows_and_hashes() {
    pass("tests.test_flow tests.test_rss_traffic", &[&["--link", "ethernet"]], 6);
}
