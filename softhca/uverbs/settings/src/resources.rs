//! The folder in which programs of a launcher count their resources, such as queue pairs. Each process has a file for
//! each device that it opens, `PID.mlx5_N`: a 64-bit number in the host's order for each kind. The first program that
//! opens a device makes the folder. The file of a process that was killed stays.

use crate::words::words;
use std::path::{Path, PathBuf};

/// The folder's name, in the root of the sysfs tree.
const NAME: &str = "resources";

words! {
    /// A kind of resource that Linux counts (`enum rdma_restrack_type`), in the order of its numbers, by the name that it
    /// has there (`fill_res_info` in `drivers/infiniband/core/nldev.c`).
    pub enum Resource {
        /// Protection domains.
        Pd = "pd",
        /// Completion queues.
        Cq = "cq",
        /// Queue pairs.
        Qp = "qp",
        /// Ids of the connection manager that have a port.
        CmId = "cm_id",
        /// Memory regions.
        Mr = "mr",
        /// Opens of the device.
        Context = "ctx",
        /// Shared receive queues.
        Srq = "srq",
    }
}

/// How many kinds there are.
pub const RESOURCES: usize = Resource::ALL.len();

/// The folder in the tree at `sysfs`.
#[must_use]
pub fn resources_folder(sysfs: &Path) -> PathBuf {
    sysfs.join(NAME)
}

/// The name of the file of device `device` of process `pid`.
#[must_use]
pub fn resources_file(pid: u32, device: u32) -> String {
    format!("{pid}.mlx5_{device}")
}

/// The process and the device of the file `name`; `None` for a name of another form.
#[must_use]
pub fn resources_owner(name: &str) -> Option<(u32, u32)> {
    let (pid, device) = name.split_once(".mlx5_")?;
    Some((pid.parse().ok()?, device.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_say_whose_they_are() {
        assert_eq!(resources_owner(&resources_file(4_000_000, 12)), Some((4_000_000, 12)));
        for name in ["", "5", "5.mlx5_", ".mlx5_0", "5.mlx5_x", "5.mlx4_0"] {
            assert_eq!(resources_owner(name), None, "{name}");
        }
        assert_eq!(Resource::ALL.map(|kind| kind as usize), [0, 1, 2, 3, 4, 5, 6]);
    }
}
