//! How many resources programs have of a device. Each process counts its own in a file, which the others read
//! ([`softhca_settings::resources_folder`]).

use super::numbers_file::NumbersFile;
use crate::process::lock;
use softhca_settings::{RESOURCES, Resource, Settings, resources_file, resources_folder, resources_owner};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The counts of this process for a device.
pub(crate) struct Resources {
    counts: Mutex<Counts>,
    /// The process that counts. The child of a fork has a copy of this, and not its parent's resources.
    process: u32,
}

struct Counts {
    numbers: [u64; RESOURCES],
    /// Where others read them, until the process ends.
    file: Option<(NumbersFile, PathBuf)>,
}

/// A resource, as long as this lives.
pub(crate) struct Counted {
    resources: Arc<Resources>,
    kind: Resource,
}

impl Resources {
    /// None yet, of device `index`.
    pub(crate) fn new(settings: &Settings, index: u32) -> Self {
        let process = std::process::id();
        let in_file = |sysfs: &Path| -> io::Result<_> {
            let folder = resources_folder(sysfs);
            // Not the tree, which the launcher may have removed.
            if let Err(error) = fs::create_dir(&folder) {
                if error.kind() != io::ErrorKind::AlreadyExists {
                    return Err(error);
                }
            }
            let path = folder.join(resources_file(process, index));
            let file = File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
            let file = NumbersFile::new(file);
            file.write(0, &[0; RESOURCES])?;
            Ok((file, path))
        };
        // Without a tree, or without the right to write there, the counts are this process' secret.
        let file = settings.sysfs.as_deref().map(in_file).transpose().unwrap_or_else(|error| {
            log::debug!("other programs see no resources of mlx5_{index}: {error}");
            None
        });
        Self { counts: Mutex::new(Counts { numbers: [0; RESOURCES], file }), process }
    }

    /// Changes the number of this kind.
    fn change(&self, kind: Resource, change: impl FnOnce(u64) -> u64) {
        if self.process != std::process::id() {
            return;
        }
        let mut counts = lock(&self.counts);
        let number = &mut counts.numbers[kind as usize];
        *number = change(*number);
        if let Some((file, _)) = &counts.file {
            // All, because another process may have made the file shorter.
            if let Err(error) = file.write(0, &counts.numbers) {
                log::debug!("other programs see no resources of this one: {error}");
            }
        }
    }

    /// Counts one more, as long as the result lives.
    pub(crate) fn count(self: &Arc<Self>, kind: Resource) -> Counted {
        self.change(kind, |number| number + 1);
        Counted { resources: self.clone(), kind }
    }

    /// Takes the file away, at the end of the process.
    pub(super) fn end(&self) {
        if let Some((_, path)) = lock(&self.counts).file.take() {
            // The launcher may have removed the tree.
            let _ = fs::remove_file(path);
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.resources.change(self.kind, |number| number.saturating_sub(1));
    }
}

/// The counts of device `index` of all processes that live.
pub(crate) fn all(settings: &Settings, index: u32) -> [u64; RESOURCES] {
    let mut sums = [0_u64; RESOURCES];
    let Some(folder) = settings.sysfs.as_deref().map(resources_folder) else { return sums };
    // Without a folder, no device was opened.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let owner = entry.file_name().to_str().and_then(resources_owner);
        let Some((pid, _)) = owner.filter(|&(_, device)| device == index) else { continue };
        if !Path::new("/proc").join(pid.to_string()).exists() {
            let _ = fs::remove_file(entry.path());
            continue;
        }
        // Its process may just have ended.
        let bytes = fs::read(entry.path()).unwrap_or_default();
        let numbers = bytes.chunks_exact(8).filter_map(|number| number.try_into().ok()).map(u64::from_ne_bytes);
        sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum = sum.saturating_add(number));
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page that a mapped file has no longer raises SIGBUS when it is touched.
    #[test]
    fn a_file_that_another_process_makes_shorter_counts_on() {
        let tree = tempfile::tempdir().unwrap();
        let settings = Settings { sysfs: Some(tree.path().into()), ..crate::umad::test_settings("ethernet") };
        let resources = Arc::new(Resources::new(&settings, 1));
        let kept = resources.count(Resource::Qp);
        let path = resources_folder(tree.path()).join(resources_file(std::process::id(), 1));
        for len in [0, 3] {
            File::options().write(true).open(&path).unwrap().set_len(len).unwrap();
            let more = resources.count(Resource::Srq);
            assert_eq!(all(&settings, 1), [0, 0, 1, 0, 0, 0, 1], "{len} bytes left");
            drop(more);
        }
        drop(kept);
        assert_eq!(all(&settings, 1), [0; RESOURCES]);
        resources.end();
        assert!(!path.exists());
    }
}
