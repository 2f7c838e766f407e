//! How many resources programs have of a device. Each process counts its own in a file, which the others read
//! ([`softhca_settings::resources_folder`]).

use crate::process::lock;
use softhca_settings::{RESOURCES, Resource, Settings, resources_file, resources_folder, resources_owner};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Bytes of a file.
const BYTES: usize = RESOURCES * size_of::<u64>();

/// The counts of this process for a device.
pub(crate) struct Resources {
    /// The mapped file; memory of this process if there is no file.
    numbers: memmap2::MmapRaw,
    /// The file, until it is removed.
    file: Mutex<Option<PathBuf>>,
    /// The process that counts. The child of a fork has a copy of this, and not its parent's resources.
    process: u32,
}

/// A resource, as long as this lives.
pub(crate) struct Counted {
    resources: Arc<Resources>,
    kind: Resource,
}

impl Resources {
    /// None yet, of device `index`.
    pub(crate) fn new(settings: &Settings, index: u32) -> io::Result<Self> {
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
            let mut file = File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
            // Where there is no room, this is an error, and a store to the mapping would be a signal.
            file.write_all(&[0; BYTES])?;
            Ok((memmap2::MmapOptions::new().len(BYTES).map_raw(&file)?, path))
        };
        let (numbers, file) = match settings.sysfs.as_deref().map(in_file) {
            Some(Ok((numbers, path))) => (numbers, Some(path)),
            // Without a tree, or without the right to write there, the counts are this process' secret.
            not => {
                if let Some(Err(error)) = not {
                    log::debug!("other programs see no resources of mlx5_{index}: {error}");
                }
                (memmap2::MmapOptions::new().len(BYTES).map_anon()?.into(), None)
            }
        };
        Ok(Self { numbers, file: Mutex::new(file), process })
    }

    fn number(&self, kind: Resource) -> &AtomicU64 {
        // SAFETY: the file has a number for each kind, and is a page of memory, which this keeps mapped; it is only
        // accessed by atomics of this size.
        unsafe { AtomicU64::from_ptr(self.numbers.as_mut_ptr().cast::<u64>().add(kind as usize)) }
    }

    /// Counts one more, as long as the result lives.
    pub(crate) fn count(self: &Arc<Self>, kind: Resource) -> Counted {
        if self.process == std::process::id() {
            self.number(kind).fetch_add(1, Ordering::Relaxed);
        }
        Counted { resources: self.clone(), kind }
    }

    /// Takes the file away, at the end of the process.
    pub(super) fn end(&self) {
        if let Some(file) = lock(&self.file).take() {
            // The launcher may have removed the tree.
            let _ = fs::remove_file(file);
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if self.resources.process == std::process::id() {
            self.resources.number(self.kind).fetch_sub(1, Ordering::Relaxed);
        }
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
