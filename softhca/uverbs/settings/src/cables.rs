//! Cables that somebody pulls while programs run: a file `DEVICE-PORT.down`, such as `mlx5_0-1.down`, in the fabric's directory
//! takes the link of that port down in every process; without the file it is up again.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often the files are looked for.
const PERIOD: Duration = Duration::from_millis(20);

/// The cables of a device.
#[derive(Debug)]
pub struct Cables {
    ports: Vec<Cable>,
    next_look: Duration,
}

#[derive(Debug)]
struct Cable {
    file: PathBuf,
    pulled: bool,
}

impl Cables {
    /// Those of device `index` with so many ports, all plugged in; `fabric` is the directory in which the processes meet.
    #[must_use]
    pub fn new(fabric: &Path, index: u32, ports: u32) -> Self {
        let file = |port| fabric.join(format!("mlx5_{index}-{port}.down"));
        let ports = (1..=ports).map(|port| Cable { file: file(port), pulled: false }).collect();
        Self { ports, next_look: Duration::ZERO }
    }

    /// Has `set` take every port, from 1, whose cable was pulled or plugged in since the last look, down (`false`) or up.
    /// `now` is a clock that never goes back.
    pub fn look(&mut self, now: Duration, mut set: impl FnMut(u8, bool)) {
        if now < self.next_look {
            return;
        }
        self.next_look = now + PERIOD;
        for (port, cable) in (1..).zip(&mut self.ports) {
            let pulled = Path::exists(&cable.file);
            if pulled != cable.pulled {
                cable.pulled = pulled;
                set(port, !pulled);
            }
        }
    }
}
