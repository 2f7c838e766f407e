//! Queues of the software device: its programs write a file each, while a folder exists that the reader makes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::queue::{Kind, Queue};

/// The folder of such files (`softhca_settings::queues_folder`). It is removed when it is dropped.
pub(crate) struct Folder(PathBuf);

/// A device of a process.
#[derive(Debug, Deserialize)]
struct File {
    pid: u32,
    device: String,
    queue_pairs: Vec<Pair>,
    completion_queues: Vec<Completions>,
}

#[derive(Debug, Deserialize)]
struct Pair {
    number: u32,
    r#type: String,
    state: String,
    peer: Option<u32>,
    wqebbs: u64,
    wqebbs_waiting: u64,
    receives: u64,
    receives_posted: u64,
    messages: u64,
}

#[derive(Debug, Deserialize)]
struct Completions {
    number: u32,
    entries: u64,
    completions: u64,
    unread: u64,
    failed: bool,
}

impl Folder {
    pub(super) fn in_tree(tree: &Path) -> Self {
        Self(tree.join("queues"))
    }

    /// The queues of all processes that live.
    pub(super) fn queues(&self) -> io::Result<Vec<Queue>> {
        // Another reader may have removed it.
        fs::create_dir_all(&self.0)?;
        let entries = match fs::read_dir(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut queues = Vec::new();
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.extension().is_some_and(|end| end == "new") {
                continue;
            }
            // A file that is replaced at this moment is read the next time.
            let Ok(text) = fs::read_to_string(&path) else { continue };
            match serde_json::from_str::<File>(&text) {
                Ok(file) if Path::new("/proc").join(file.pid.to_string()).exists() => queues.extend(file.queues()),
                // The process has ended.
                Ok(_) => drop(fs::remove_file(&path)),
                Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
            }
        }
        Ok(queues)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl File {
    fn queues(self) -> Vec<Queue> {
        let pid = Some(self.pid);
        let pairs = self.queue_pairs.into_iter().map(|pair| {
            let mut queue = Queue::new(&self.device, pid, Kind::Pair, pair.number);
            (queue.transport, queue.state, queue.peer) = (Some(pair.r#type), Some(pair.state), pair.peer);
            queue.counters =
                [("WQEBBs fetched", pair.wqebbs), ("receives taken", pair.receives), ("messages", pair.messages)]
                    .into();
            queue.waiting = [("WQEBBs waiting", pair.wqebbs_waiting), ("receives posted", pair.receives_posted)].into();
            queue
        });
        let completions = self.completion_queues.into_iter().map(|cq| {
            let mut queue = Queue::new(&self.device, pid, Kind::Completions, cq.number);
            queue.entries = Some(cq.entries);
            queue.state = cq.failed.then(|| "failed".to_owned());
            queue.counters = [("completions", cq.completions)].into();
            queue.waiting = [("CQEs unread", cq.unread)].into();
            queue
        });
        pairs.chain(completions).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file that `softhca/uverbs/src/device/queues_file.rs` writes.
    fn file(pid: u32) -> String {
        format!(
            "{{\"pid\":{pid},\"device\":\"mlx5_1\",\"queue_pairs\":[{{\"number\":5,\"type\":\"RC\",\"state\":\"RTS\",\
             \"peer\":6,\"send_cq\":1,\"recv_cq\":2,\"wqebbs\":70000,\"wqebbs_waiting\":1,\"receives\":3,\
             \"receives_posted\":4,\"messages\":2}}],\"completion_queues\":[{{\"number\":1,\"entries\":64,\
             \"completions\":9,\"unread\":8,\"failed\":true}}]}}\n"
        )
    }

    #[test]
    fn files_of_processes_that_live_are_read() {
        let tree = tempfile::tempdir().expect("a folder");
        let folder = Folder::in_tree(tree.path());
        assert_eq!(folder.queues().expect("made"), []);
        let place = tree.path().join("queues");
        let own = std::process::id();
        for (pid, name) in [(own, "own.mlx5_1"), (u32::MAX, "gone.mlx5_1"), (own, "half.new")] {
            fs::write(place.join(name), file(pid)).expect("written");
        }
        let queues = folder.queues().expect("read");
        let [pair, completions] = &queues[..] else { panic!("{queues:?}") };
        assert_eq!((pair.pid, pair.peer, pair.counters["WQEBBs fetched"]), (Some(own), Some(6), 70_000));
        assert_eq!((completions.state.as_deref(), completions.waiting["CQEs unread"]), (Some("failed"), 8));
        assert!(!place.join("gone.mlx5_1").exists());
        fs::write(place.join("own.mlx5_1"), "{").expect("written");
        assert!(folder.queues().is_err());
        drop(folder);
        assert!(!place.exists());
    }
}
