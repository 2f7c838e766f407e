//! Files of the sysfs tree that change while programs run. Counters of ports are text that follows the devices' own
//! file of counters; the state of links follows pulled cables.

use super::sysfs::{link_is_down, put, write_link};
use softhca::device::{HW_COUNTERS, hw_counter_names};
use softhca_settings::{Settings, all_counters, counters_file};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How old the text can be. A kernel shows counters that are up to 10 ms old (`RDMA_HW_STATS_DEFAULT_LIFESPAN`).
const INTERVAL: Duration = Duration::from_millis(20);

/// A thread that writes the text as long as this lives.
pub(crate) struct Counters {
    thread: Option<JoinHandle<()>>,
    end: Option<Sender<()>>,
}

impl Counters {
    /// Makes the devices' file and shows its numbers in the tree at `sysfs`, which exists.
    pub(crate) fn show(settings: &Settings, sysfs: &Path) -> io::Result<Self> {
        let bytes = counters_file(sysfs);
        fs::write(&bytes, vec![0; all_counters(settings) * size_of::<u64>()])?;
        let mut texts = Vec::new();
        let mut links = Vec::new();
        for device in 0..settings.devices {
            for port in 1..=settings.ports {
                let number = port;
                let port = sysfs.join(format!("class/infiniband/mlx5_{device}/ports/{port}"));
                links.push((device, number, port.clone(), true));
                for (directory, name) in hw_counter_names() {
                    let is_of_bond = directory.starts_with("bond");
                    let directory = port.join(directory);
                    if !is_of_bond || settings.bond {
                        put(&directory, name, "0")?;
                    }
                    texts.push(directory.join(name));
                }
            }
        }
        debug_assert_eq!(texts.len() % HW_COUNTERS, 0);
        let (end, ended) = mpsc::channel();
        let mut shown = vec![0; texts.len()];
        let settings = settings.clone();
        let follow = move || {
            while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                // The tree may be gone; then nobody reads it either.
                let _ = update(&bytes, &texts, &mut shown);
                for (device, port, directory, shown) in &mut links {
                    let up = !link_is_down(&settings, *device, *port);
                    if up != *shown && write_link(directory, up).is_ok() {
                        *shown = up;
                    }
                }
            }
        };
        let thread = thread::Builder::new().name("counters".to_owned()).spawn(follow)?;
        Ok(Self { thread: Some(thread), end: Some(end) })
    }
}

/// Writes the text of the numbers that have changed.
fn update(bytes: &Path, texts: &[PathBuf], shown: &mut [u64]) -> io::Result<()> {
    let bytes = fs::read(bytes)?;
    let numbers = bytes.chunks_exact(8).filter_map(|number| number.try_into().ok()).map(u64::from_ne_bytes);
    for ((number, text), shown) in numbers.zip(texts).zip(shown) {
        if number != *shown {
            // Readers see the old text or the new one.
            let new = text.with_extension("new");
            fs::write(&new, format!("{number}\n"))?;
            fs::rename(&new, text)?;
            *shown = number;
        }
    }
    Ok(())
}

impl Drop for Counters {
    fn drop(&mut self) {
        self.end.take();
        self.thread.take().map(JoinHandle::join);
    }
}
