//! Counters that the kernel keeps in sysfs: of ports, of devices, and of the network interfaces of ports.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::exit::NoDevice;
use crate::machine::text;

/// Counters of one place, by name.
type Counters = BTreeMap<String, u64>;

/// Counters of the wire that are in units of four octets (IBTA vol. 1, `PortXmitData` and `PortRcvData`).
const WORDS: [&str; 3] = ["port_xmit_data", "port_rcv_data", "port_multicast_rcv_data"];

/// A port, or a device as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) device: String,
    /// `None` for counters of the device.
    pub(super) port: Option<u8>,
    folder: PathBuf,
    /// The folder of the network interface's statistics.
    interface: Option<PathBuf>,
}

/// All counters of a place at a time.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    pub(super) place: Place,
    pub(super) state: Option<String>,
    pub(super) rate: Option<String>,
    counters: Counters,
    at: Instant,
}

/// A counter, and its speed since the reading before.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Counter {
    pub(super) name: String,
    pub(super) value: u64,
    pub(super) per_second: f64,
}

/// A place at work.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Activity {
    pub(super) device: String,
    pub(super) port: Option<u8>,
    pub(super) state: Option<String>,
    pub(super) rate: Option<String>,
    pub(super) seconds: f64,
    /// Bytes and packets a second of a port, by the port's counters.
    pub(super) sent: Option<Speed>,
    pub(super) received: Option<Speed>,
    /// Errors a second, of all counters that count errors.
    pub(super) errors_per_second: f64,
    pub(super) counters: Vec<Counter>,
}

/// A direction of a port.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Speed {
    pub(super) bytes_per_second: f64,
    pub(super) packets_per_second: f64,
}

/// The places of these devices, or of all.
///
/// # Errors
/// No devices, or none of this name.
pub(super) fn places(root: &Path, wanted: Option<&str>) -> Result<Vec<Place>, NoDevice> {
    let names = |folder: &Path| -> Vec<String> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort_by_key(|name| (name.len(), name.clone()));
        names
    };
    let class = root.join("class/infiniband");
    let mut places = Vec::new();
    for device in names(&class).into_iter().filter(|name| wanted.is_none_or(|wanted| wanted == name)) {
        let folder = class.join(&device);
        for port in names(&folder.join("ports")) {
            let port_folder = folder.join("ports").join(&port);
            let interface = text(port_folder.join("gid_attrs/ndevs/0"));
            let interface = interface.map(|name| root.join("class/net").join(name).join("statistics"));
            let port = port.parse().ok();
            places.push(Place { device: device.clone(), port, folder: port_folder, interface });
        }
        if folder.join("hw_counters").is_dir() {
            places.push(Place { device, port: None, folder, interface: None });
        }
    }
    if places.is_empty() {
        return Err(NoDevice(wanted.map(str::to_owned)));
    }
    Ok(places)
}

impl Place {
    /// The name for people: `mlx5_0/1`.
    #[cfg(test)]
    fn name(&self) -> String {
        self.port.map_or_else(|| self.device.clone(), |port| format!("{}/{port}", self.device))
    }

    /// Reads all counters now. Those that a device does not have cannot be read, and are left out.
    pub(super) fn read(&self) -> Reading {
        let mut counters = Counters::new();
        for (folder, prefix) in [
            (Some(self.folder.join("counters")), ""),
            (Some(self.folder.join("hw_counters")), ""),
            (self.interface.clone(), "net/"),
        ] {
            for entry in folder.into_iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                // The kernel's own cache time is no counter.
                if name == "lifespan" {
                    continue;
                }
                if let Some(value) = text(entry.path()).and_then(|value| value.parse().ok()) {
                    counters.insert(format!("{prefix}{name}"), value);
                }
            }
        }
        let state = text(self.folder.join("state")).map(|state| match state.split_once(": ") {
            Some((_, word)) => word.to_owned(),
            None => state,
        });
        let rate = text(self.folder.join("rate"));
        Reading { place: self.clone(), state, rate, counters, at: Instant::now() }
    }
}

impl Reading {
    /// The change since an earlier reading of the same place.
    pub(super) fn since(&self, before: &Self) -> Activity {
        self.after(before, self.at.saturating_duration_since(before.at))
    }

    fn after(&self, before: &Self, time: Duration) -> Activity {
        let seconds = time.as_secs_f64();
        let speed = |name: &str| {
            let (now, then) = (self.counters.get(name)?, before.counters.get(name)?);
            // A counter that was reset begins again.
            let change = now.checked_sub(*then).unwrap_or(*now);
            Some(if seconds > 0.0 { change as f64 / seconds } else { 0.0 })
        };
        let direction = |words: &str, packets: &str| {
            Some(Speed { bytes_per_second: 4.0 * speed(words)?, packets_per_second: speed(packets)? })
        };
        let counters: Vec<Counter> = self
            .counters
            .iter()
            .map(|(name, &value)| Counter { name: name.clone(), value, per_second: speed(name).unwrap_or(0.0) })
            .collect();
        Activity {
            device: self.place.device.clone(),
            port: self.place.port,
            state: self.state.clone(),
            rate: self.rate.clone(),
            seconds,
            sent: direction("port_xmit_data", "port_xmit_packets"),
            received: direction("port_rcv_data", "port_rcv_packets"),
            errors_per_second: counters.iter().filter(|c| counts_errors(&c.name)).map(|c| c.per_second).sum(),
            counters,
        }
    }
}

/// Whether a counter rises when something goes wrong.
pub(super) fn counts_errors(name: &str) -> bool {
    const SIGNS: [&str; 9] =
        ["err", "discard", "dropped", "out_of_", "exceeded", "timeout", "invalid", "downed", "constraint"];
    SIGNS.iter().any(|sign| name.contains(sign))
}

/// The unit of a counter, where it is no plain number.
pub(super) fn unit(name: &str) -> &'static str {
    if WORDS.contains(&name) { "4 bytes" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, value: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, value).expect("written");
    }

    #[test]
    fn speeds_are_those_between_two_readings() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        let port = "class/infiniband/mlx5_0/ports/1";
        write(root, &format!("{port}/state"), "4: ACTIVE\n");
        write(root, &format!("{port}/gid_attrs/ndevs/0"), "eth7\n");
        for (counter, value) in [("port_xmit_data", "100"), ("port_xmit_packets", "10"), ("lifespan", "10")] {
            write(root, &format!("{port}/counters/{counter}"), value);
        }
        write(root, &format!("{port}/hw_counters/out_of_buffer"), "5");
        write(root, "class/net/eth7/statistics/rx_bytes", "1");
        write(root, "class/infiniband/mlx5_0/hw_counters/rp_cnp_ignored", "0");
        write(root, "class/infiniband/mlx5_0/ports/2/counters/port_rcv_errors", "unreadable");
        let places = places(root, None).expect("places");
        assert_eq!(places.iter().map(Place::name).collect::<Vec<_>>(), ["mlx5_0/1", "mlx5_0/2", "mlx5_0"]);
        let before = places[0].read();
        write(root, &format!("{port}/counters/port_xmit_data"), "1100");
        write(root, &format!("{port}/counters/port_xmit_packets"), "15");
        // It was reset in between.
        write(root, &format!("{port}/hw_counters/out_of_buffer"), "3");
        write(root, "class/net/eth7/statistics/rx_bytes", "21");
        let seen = places[0].read().after(&before, Duration::from_millis(500));
        assert_eq!(seen.state.as_deref(), Some("ACTIVE"));
        assert_eq!(seen.sent, Some(Speed { bytes_per_second: 8000.0, packets_per_second: 10.0 }));
        assert_eq!((seen.received, seen.errors_per_second), (None, 6.0));
        let names: Vec<_> = seen.counters.iter().map(|counter| counter.name.as_str()).collect();
        assert_eq!(names, ["net/rx_bytes", "out_of_buffer", "port_xmit_data", "port_xmit_packets"]);
        assert_eq!(seen.counters[0].per_second, 40.0);
        assert!(places[1].read().counters.is_empty());
        assert!(super::places(root, Some("mlx5_9")).is_err());
    }
}
