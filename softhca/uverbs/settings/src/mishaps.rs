//! Accidents of a device while programs run, caused by files in the fabric's directory. `DEVICE-PORT.down`, such as
//! `mlx5_0-1.down`, takes the link of that port down in every process; without the file it is up again. When
//! `DEVICE.failed` appears, the device fails. To make a recovered device fail again, remove the file and create it
//! again.

use softhca::device::Device;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often the files are looked for.
const PERIOD: Duration = Duration::from_millis(20);

/// The accidents of a device so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mishap {
    /// The cable of a port, from 1, was pulled, or plugged in again (`up`).
    Cable { port: u8, up: bool },
    /// The device fails, as by an internal error of its firmware.
    Failure,
}

/// The file that, while it exists, says that the cable of port `port` of device `index` is pulled.
#[must_use]
pub fn cable_file(fabric: &Path, index: u32, port: u32) -> PathBuf {
    fabric.join(format!("mlx5_{index}-{port}.down"))
}

/// The files of a device.
#[derive(Debug)]
pub struct Mishaps {
    cables: Vec<Watched>,
    failure: Watched,
    next_look: Duration,
}

/// A file, and whether it was there at the last look.
#[derive(Debug)]
struct Watched {
    file: PathBuf,
    there: bool,
}

impl Watched {
    /// None was there yet.
    fn new(file: PathBuf) -> Self {
        Self { file, there: false }
    }

    /// Whether the file is there, if that has changed since the last look.
    fn change(&mut self) -> Option<bool> {
        let there = Path::exists(&self.file);
        let changed = there != self.there;
        self.there = there;
        changed.then_some(there)
    }
}

impl Mishaps {
    /// The mishaps of device `index` with `ports` ports; none has happened yet. `fabric` is the directory in which the
    /// processes meet.
    #[must_use]
    pub fn new(fabric: &Path, index: u32, ports: u32) -> Self {
        let cable = |port| Watched::new(cable_file(fabric, index, port));
        Self {
            cables: (1..=ports).map(cable).collect(),
            failure: Watched::new(fabric.join(format!("mlx5_{index}.failed"))),
            next_look: Duration::ZERO,
        }
    }

    /// Applies to `device` the accidents since the last look. `now` is a clock that never goes back.
    pub fn befall(&mut self, now: Duration, device: &mut Device) {
        self.look(now, |mishap| match mishap {
            Mishap::Cable { port, up } => {
                // A port that the device has not got has no link either.
                let _ = device.set_port_up(port, up);
            }
            Mishap::Failure => device.fail(),
        });
    }

    fn look(&mut self, now: Duration, mut suffer: impl FnMut(Mishap)) {
        if now < self.next_look {
            return;
        }
        self.next_look = now + PERIOD;
        for (port, cable) in (1..).zip(&mut self.cables) {
            if let Some(pulled) = cable.change() {
                suffer(Mishap::Cable { port, up: !pulled });
            }
        }
        if self.failure.change() == Some(true) {
            suffer(Mishap::Failure);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result of a look.
    fn look(mishaps: &mut Mishaps, now: u64) -> Vec<Mishap> {
        let mut suffered = Vec::new();
        mishaps.look(Duration::from_millis(now), |mishap| suffered.push(mishap));
        suffered
    }

    #[test]
    fn each_file_that_comes_or_goes_is_said_once() {
        let fabric = std::env::temp_dir().join(format!("softhca-mishaps-{}", std::process::id()));
        std::fs::create_dir_all(&fabric).expect("a directory");
        let touch = |name: &str| std::fs::write(fabric.join(name), []).expect("a file");
        let remove = |name: &str| std::fs::remove_file(fabric.join(name)).expect("the file");
        let mut mishaps = Mishaps::new(&fabric, 3, 2);
        assert_eq!(look(&mut mishaps, 0), []);
        for name in ["mlx5_3-2.down", "mlx5_3-3.down", "mlx5_1.failed", "mlx5_3.failed"] {
            touch(name);
        }
        assert_eq!(look(&mut mishaps, 1), [], "too early");
        assert_eq!(look(&mut mishaps, 20), [Mishap::Cable { port: 2, up: false }, Mishap::Failure]);
        assert_eq!(look(&mut mishaps, 40), []);
        remove("mlx5_3-2.down");
        remove("mlx5_3.failed");
        assert_eq!(look(&mut mishaps, 60), [Mishap::Cable { port: 2, up: true }]);
        touch("mlx5_3.failed");
        assert_eq!(look(&mut mishaps, 80), [Mishap::Failure], "once more");
        std::fs::remove_dir_all(&fabric).expect("removed");
    }
}
