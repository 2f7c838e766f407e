//! The libraries, the memory that may be locked, and the bus.

use std::time::Instant;

use blueflame::verbs::{Access, Pool};

use super::check::Check;
use super::found::{Failure, Seen, ensure};
use super::lab::Lab;
use crate::machine;
use crate::need::Need;

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "environment.libraries",
        title: "libibverbs and libmlx5 are of one release, 44 or later",
        fault: "Releases before 44 were never tried with this crate, and two releases in one process do not fit. \
                Install rdma-core of your distribution as a whole.",
        needs: &[],
        run: libraries,
    },
    Check {
        id: "environment.memory",
        title: "4 MiB of memory can be registered",
        fault: "The limit of locked memory (`ulimit -l`, LimitMEMLOCK= of systemd) is too low for queues and buffers.",
        needs: &[],
        run: registration,
    },
    Check {
        id: "environment.pcie",
        title: "PCIe carries the rate of the port",
        fault: "The NIC is in a slot with too few lanes or of an older generation, or the link was trained down: the \
                port's rate cannot be reached. `lspci -vv` shows both ends.",
        needs: &[Need::PciLink],
        run: pcie,
    },
];

/// The oldest release of rdma-core that this repository is tested with.
const OLDEST: u32 = 44;

fn libraries(_: &Lab) -> Result<Seen, Failure> {
    let found = machine::libraries().ok_or("the names of the mapped libraries have no release")?;
    one_release(found)?;
    Ok(Seen::new("one release for both").figure("release of rdma-core", found[0]))
}

fn one_release([ibverbs, mlx5]: [u32; 2]) -> Result<(), Failure> {
    ensure(ibverbs == mlx5, || format!("libibverbs is of release {ibverbs}, libmlx5 of {mlx5}"))?;
    ensure(mlx5 >= OLDEST, || format!("release {mlx5} is older than {OLDEST}"))
}

fn registration(lab: &Lab) -> Result<Seen, Failure> {
    const BYTES: usize = 4 << 20;
    let begin = Instant::now();
    let pool = Pool::new(lab.pd(), BYTES, Access::ALL)?;
    let took = begin.elapsed();
    let seen = Seen::new("4 MiB registered, all rights").figure("pages", format!("{:?}", pool.pages()));
    Ok(seen.figure("mapping and registration took", format!("{took:?}")))
}

fn pcie(lab: &Lab) -> Result<Seen, Failure> {
    let sysfs = lab.subject.sysfs();
    let link = machine::pci_link(&sysfs).ok_or("no link in sysfs")?;
    let carried = link.gigabits().ok_or_else(|| format!("{} x{} is no rate", link.speed, link.width))?;
    let rate = machine::text(sysfs.join(format!("ports/{}/rate", lab.subject.port.number)));
    let rate = rate.as_deref().and_then(machine::number).ok_or("the port has no rate in sysfs")?;
    let text = format!("PCIe carries {carried:.0} Gbit/s before its packets' headers, the port {rate:.0} Gbit/s");
    ensure(carried >= rate, || text.clone())?;
    Ok(Seen::new("the bus is at least as fast as the port").figure("rates", text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_mixed_libraries_are_told() {
        assert!(one_release([44, 44]).is_ok());
        assert_eq!(one_release([43, 43]).expect_err("old").to_string(), "release 43 is older than 44");
        let mixed = one_release([56, 44]).expect_err("mixed").to_string();
        assert_eq!(mixed, "libibverbs is of release 56, libmlx5 of 44");
    }
}
