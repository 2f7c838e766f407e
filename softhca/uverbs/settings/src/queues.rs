//! The folder in which the devices of a launcher's programs show their queues, as long as it exists: a file for each
//! device of each process, `PID.mlx5_N`. A reader makes the folder, and removes it when it has seen enough.

use std::path::{Path, PathBuf};

/// The folder's name, in the root of the sysfs tree.
const NAME: &str = "queues";

/// The folder of queues in the tree at `sysfs`.
#[must_use]
pub fn queues_folder(sysfs: &Path) -> PathBuf {
    sysfs.join(NAME)
}
