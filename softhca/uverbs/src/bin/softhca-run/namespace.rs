//! A mount namespace for the program, in which the launcher's tree lies over the machine's `/sys`. Listings,
//! shells, interpreters and programs without the preloaded object find the devices there. It must never know the
//! contents of the tree.
//!
//! ```text
//! tree (sysfs.rs)          the machine's /sys       in the namespace
//! class/infiniband/mlx5_0                           class/infiniband/mlx5_0
//!                          class/net         ─────> class/net (bound)
//! devices/pcica00:00       devices/pci0000:00 ────> both
//! ```
//!
//! No directory can be made or removed in sysfs. A directory that lacks one of the tree's entries, or has one of the
//! machine's RDMA devices, is therefore replaced as a whole: by a directory of the launcher's, onto which all else that
//! it hides is bound.

use super::machine;
use std::collections::BTreeSet;
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Where programs look.
const SYSFS: &str = "/sys";
const DEVICE_FILES: &str = "/dev/infiniband";
/// Directories whose entries are the launcher's alone, as without a namespace. The devices of the machine are hidden
/// there.
const OURS_ALONE: [&str; 5] = [
    "class/infiniband",
    "class/infiniband_verbs",
    "class/infiniband_mad",
    "devices/pcica00:00",
    "bus/pci/drivers/mlx5_core",
];

/// How the program gets its namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Right {
    /// By `CAP_SYS_ADMIN`: the program keeps all its rights.
    Mount,
    /// By a user namespace, in which user and group are as outside.
    User,
}

impl Right {
    /// The right of this process. `None` if a namespace would take capabilities away that the process has.
    pub(crate) fn of_this_process() -> Option<Self> {
        /// Of `capabilities(7)`.
        const SYS_ADMIN: u64 = 21;
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let set = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            u64::from_str_radix(line.trim(), 16).ok()
        };
        let (effective, permitted) = (set("CapEff:")?, set("CapPrm:")?);
        match (effective >> SYS_ADMIN & 1, permitted) {
            (1, _) => Some(Self::Mount),
            (_, 0) => Some(Self::User),
            _ => None,
        }
    }
}

/// A mount to make: `from` appears at `to`, with all that is mounted below it.
#[derive(Debug)]
struct Bind {
    from: CString,
    to: CString,
}

/// The mounts of a namespace, and the identity in it.
#[derive(Debug)]
pub(crate) struct Namespace {
    binds: Vec<Bind>,
    /// Texts for `/proc/self/uid_map` and `gid_map`, if there is to be a user namespace.
    identity: Option<[Vec<u8>; 2]>,
}

impl Namespace {
    /// A namespace in which `tree` lies over `/sys`. `scratch` is an empty directory for the places of mounts.
    pub(crate) fn prepare(right: Right, tree: &Path, scratch: &Path) -> io::Result<Self> {
        // SAFETY: both take nothing and cannot fail.
        let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
        let map = |id: u32| format!("{id} {id} 1\n").into_bytes();
        let identity = (right == Right::User).then(|| [map(user), map(group)]);
        let (hosts, hidden) = (Path::new(SYSFS), machine::rdma_entries(Path::new(SYSFS)));
        let mut overlay = Overlay { tree, scratch, hosts, hidden, binds: Vec::new() };
        overlay.hide()?;
        overlay.lay(Path::new(""))?;
        // Asked of the kernel itself: under another launcher, libc would tell of that one's files.
        if rustix::fs::access(DEVICE_FILES, rustix::fs::Access::EXISTS).is_ok() {
            // The preloaded object answers for the devices' files. Programs without it must not open the machine's.
            let empty = scratch.join("none");
            fs::create_dir(&empty)?;
            overlay.bind(&empty, Path::new(DEVICE_FILES))?;
        }
        Ok(Self { binds: overlay.binds, identity })
    }

    /// Whether this process may enter it: a child of its own tries, and ends.
    pub(crate) fn check(&self) -> io::Result<()> {
        // SAFETY: the launcher has one thread yet, and the child makes system calls only.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                let errno = self.enter().err().map_or(0, |error| error.raw_os_error().unwrap_or(libc::EIO));
                // SAFETY: ends the child, with nothing of the parent's to clean up.
                unsafe { libc::_exit(errno) }
            }
            child => {
                let mut status = 0;
                // SAFETY: the child is ours, and `status` a place for its end.
                while unsafe { libc::waitpid(child, &mut status, 0) } < 0 {
                    let error = io::Error::last_os_error();
                    if error.kind() != io::ErrorKind::Interrupted {
                        return Err(error);
                    }
                }
                match libc::WEXITSTATUS(status) {
                    0 if libc::WIFEXITED(status) => Ok(()),
                    // A system may also kill the child for a call that it does not permit.
                    _ if !libc::WIFEXITED(status) => Err(io::Error::from_raw_os_error(libc::EPERM)),
                    errno => Err(io::Error::from_raw_os_error(errno)),
                }
            }
        }
    }

    /// Puts the calling process into the namespace. For a child between fork and exec: it makes system calls only.
    pub(crate) fn enter(&self) -> io::Result<()> {
        let user = if self.identity.is_some() { libc::CLONE_NEWUSER } else { 0 };
        // SAFETY: takes no pointers.
        done(unsafe { libc::unshare(libc::CLONE_NEWNS | user) })?;
        if let Some([users, groups]) = &self.identity {
            write(c"/proc/self/setgroups", b"deny")?;
            write(c"/proc/self/uid_map", users)?;
            write(c"/proc/self/gid_map", groups)?;
        }
        // Mounts of the machine arrive here, ours do not leave.
        mount(None, c"/", libc::MS_REC | libc::MS_SLAVE)?;
        self.binds.iter().try_for_each(|bind| mount(Some(&bind.from), &bind.to, libc::MS_BIND | libc::MS_REC))
    }
}

fn done(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn mount(from: Option<&std::ffi::CStr>, to: &std::ffi::CStr, flags: libc::c_ulong) -> io::Result<()> {
    let from = from.map_or(std::ptr::null(), |from| from.as_ptr());
    // SAFETY: strings that end with a zero byte, or null where the call looks at none.
    done(unsafe { libc::mount(from, to.as_ptr(), std::ptr::null(), flags, std::ptr::null()) })
}

/// Writes a file of the kernel's in one call.
fn write(path: &std::ffi::CStr, text: &[u8]) -> io::Result<()> {
    // SAFETY: a string that ends with a zero byte.
    let file = unsafe { libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC) };
    done(file)?;
    // SAFETY: the bytes of `text`.
    let written = unsafe { libc::write(file, text.as_ptr().cast(), text.len()) };
    let error = io::Error::last_os_error();
    // SAFETY: opened above.
    unsafe { libc::close(file) };
    if usize::try_from(written) == Ok(text.len()) { Ok(()) } else { Err(error) }
}

/// Finds the directories to replace.
struct Overlay<'a> {
    tree: &'a Path,
    scratch: &'a Path,
    hosts: &'a Path,
    /// Entries of the machine's that are not to be seen.
    hidden: BTreeSet<PathBuf>,
    binds: Vec<Bind>,
}

impl Overlay<'_> {
    /// Replaces each directory with hidden entries that the tree lacks. Later mounts take these along, and an outer
    /// directory takes an inner one along.
    fn hide(&mut self) -> io::Result<()> {
        let holders: BTreeSet<PathBuf> =
            self.hidden.iter().filter_map(|hidden| hidden.parent()).map(Into::into).collect();
        let lacking = holders.iter().rev().filter(|holder| !is_directory(&self.tree.join(holder)));
        for (number, holder) in lacking.enumerate() {
            let whole = self.scratch.join("without").join(number.to_string());
            self.unite(holder, &whole)?;
            self.bind(&whole, &self.hosts.join(holder))?;
        }
        Ok(())
    }

    /// Whether the machine's directory `name` has a hidden entry that no entry of the tree replaces.
    fn hides_in(&self, name: &Path) -> bool {
        let mut hidden = self.hidden.iter().filter(|hidden| hidden.parent() == Some(name));
        hidden.any(|hidden| !is_directory(&self.tree.join(hidden)))
    }

    /// Lays the tree's directory `name` over the machine's.
    fn lay(&mut self, name: &Path) -> io::Result<()> {
        let host = self.hosts.join(name);
        if is_ours_alone(name) {
            return self.bind(&self.tree.join(name), &host);
        }
        let ours = self.entries(name)?;
        if !self.hides_in(name)
            && ours.iter().all(|entry| is_directory(&self.tree.join(entry)) && is_directory(&self.hosts.join(entry)))
        {
            return ours.iter().try_for_each(|entry| self.lay(entry));
        }
        let whole = self.scratch.join(name);
        self.unite(name, &whole)?;
        self.bind(&whole, &host)
    }

    /// Makes `into` a directory with the entries of both; the tree's hide the machine's. Those to hide are left out.
    fn unite(&mut self, name: &Path, into: &Path) -> io::Result<()> {
        fs::create_dir_all(into)?;
        let ours = self.entries(name)?;
        for entry in fs::read_dir(self.hosts.join(name))? {
            let entry = entry?;
            let (path, to) = (entry.path(), into.join(entry.file_name()));
            let is_hidden = self.hidden.contains(&name.join(entry.file_name()));
            if is_hidden || ours.iter().any(|ours| ours.file_name() == Some(&entry.file_name())) {
                continue;
            }
            self.place(&path, &to)?;
        }
        for entry in ours {
            let (path, to) = (self.tree.join(&entry), into.join(entry.strip_prefix(name).unwrap_or(&entry)));
            let both = is_directory(&path) && is_directory(&self.hosts.join(&entry));
            if both && !is_ours_alone(&entry) {
                self.unite(&entry, &to)?;
            } else {
                self.place(&path, &to)?;
            }
        }
        Ok(())
    }

    /// Has the file, link or directory `path` appear at `to`, where there is nothing yet.
    fn place(&mut self, path: &Path, to: &Path) -> io::Result<()> {
        let kind = fs::symlink_metadata(path)?.file_type();
        if kind.is_symlink() {
            return symlink(fs::read_link(path)?, to);
        }
        if kind.is_dir() {
            fs::create_dir(to)?;
        } else {
            fs::File::create(to)?;
        }
        self.bind(path, to)
    }

    fn bind(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let text = |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other);
        self.binds.push(Bind { from: text(from)?, to: text(to)? });
        Ok(())
    }

    /// Entries of the tree's directory `name`, if the tree has it. Those of the root that are no directories are none
    /// of sysfs'.
    fn entries(&self, name: &Path) -> io::Result<Vec<PathBuf>> {
        let mut entries = Vec::new();
        if !is_directory(&self.tree.join(name)) {
            return Ok(entries);
        }
        for entry in fs::read_dir(self.tree.join(name))? {
            let entry = entry?;
            if !name.as_os_str().is_empty() || entry.file_type()?.is_dir() {
                entries.push(name.join(entry.file_name()));
            }
        }
        Ok(entries)
    }
}

fn is_ours_alone(name: &Path) -> bool {
    OURS_ALONE.iter().any(|alone| name == Path::new(alone))
}

/// Whether there is a directory, and no link to one.
fn is_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes directories (names that end with a slash), links (`NAME -> TARGET`) and files.
    fn make(root: &Path, names: &[&str]) {
        for name in names {
            let (name, target) = name.split_once(" -> ").map_or((*name, None), |(name, target)| (name, Some(target)));
            let path = root.join(name);
            fs::create_dir_all(if name.ends_with('/') { &path } else { path.parent().unwrap() }).unwrap();
            match target {
                Some(target) => symlink(target, &path).unwrap(),
                None if name.ends_with('/') => {}
                None => fs::write(&path, name).unwrap(),
            }
        }
    }

    /// The mounts over `hosts`, with the roots by name.
    fn binds(hosts: &[&str], tree: &[&str]) -> Vec<(String, String)> {
        let directory = tempfile::tempdir().unwrap();
        let root = |name: &str| directory.path().join(name);
        for (name, names) in [("host", hosts), ("tree", tree), ("scratch", &[])] {
            fs::create_dir(root(name)).unwrap();
            make(&root(name), names);
        }
        let (ours, scratch, host) = (root("tree"), root("scratch"), root("host"));
        let hidden = machine::rdma_entries(&host);
        let mut overlay = Overlay { tree: &ours, scratch: &scratch, hosts: &host, hidden, binds: Vec::new() };
        overlay.hide().unwrap();
        overlay.lay(Path::new("")).unwrap();
        let short = |path: CString| path.to_str().unwrap()[directory.path().to_str().unwrap().len() + 1..].to_owned();
        let mut binds: Vec<_> = overlay.binds.into_iter().map(|bind| (short(bind.from), short(bind.to))).collect();
        // The directory that replaces another comes last.
        let last = binds.pop();
        binds.sort();
        binds.extend(last);
        binds
    }

    fn pairs(binds: &[(&str, &str)]) -> Vec<(String, String)> {
        binds.iter().map(|(from, to)| (from.to_string(), to.to_string())).collect()
    }

    #[test]
    fn a_directory_that_lacks_an_entry_is_replaced() {
        let found = binds(&["class/net/", "class/one"], &["class/infiniband/mlx5_0 -> ../../devices/x"]);
        let expected = [
            ("host/class/net", "scratch/class/net"),
            ("host/class/one", "scratch/class/one"),
            ("tree/class/infiniband", "scratch/class/infiniband"),
            ("scratch/class", "host/class"),
        ];
        assert_eq!(found, pairs(&expected));
    }

    #[test]
    fn devices_of_the_machine_are_hidden_and_nothing_else_is() {
        let found = binds(&["class/infiniband/real_0", "class/net/"], &["class/infiniband/mlx5_0", "counters.bin"]);
        assert_eq!(found, pairs(&[("tree/class/infiniband", "host/class/infiniband")]));
    }

    #[test]
    fn what_tells_of_a_card_of_the_machine_is_left_out() {
        let card = "devices/pci/0:1.0";
        let names =
            ["infiniband/mlx5_0/", "infiniband_verbs/uverbs0/", "part.sf/infiniband/mlx5_1/", "net/eth0/", "vendor"];
        let mut hosts: Vec<String> = names.map(|name| format!("{card}/{name}")).to_vec();
        for (class, device) in [("infiniband", "mlx5_0"), ("infiniband_verbs", "uverbs0"), ("infiniband_cm", "ucm0")] {
            hosts.push(format!("class/{class}/{device} -> ../../{card}/{class}/{device}"));
        }
        hosts.push(format!("class/infiniband/mlx5_1 -> ../../{card}/part.sf/infiniband/mlx5_1"));
        let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
        let found = binds(&hosts, &["class/infiniband/mlx5_0", "class/infiniband_verbs/uverbs0"]);
        // The inner directory is replaced first.
        let part = ("scratch/without/0".to_owned(), format!("host/{card}/part.sf"));
        let whole = ("scratch/without/1".to_owned(), format!("host/{card}"));
        let kept =
            ["net", "part.sf", "vendor"].map(|name| (format!("host/{card}/{name}"), format!("{}/{name}", whole.0)));
        for bind in kept.iter().chain([&part, &whole]) {
            assert!(found.contains(bind), "{bind:?} is not in {found:?}");
        }
        let is_of_rdma = |(from, _): &&(String, String)| from.starts_with("host") && from.contains("infiniband");
        assert_eq!(found.iter().find(is_of_rdma), None);
        assert_eq!(found.last(), Some(&("scratch/class".to_owned(), "host/class".to_owned())));
    }

    #[test]
    fn directories_of_both_are_united_below_one_that_is_replaced() {
        let found = binds(
            &["bus/pci/devices/0000:00 -> ../x", "bus/pci/rescan", "bus/pci/drivers/other/"],
            &["bus/pci/devices/ca00:01 -> ../y", "bus/pci/drivers/mlx5_core/"],
        );
        let expected = [
            ("host/bus/pci/drivers/other", "scratch/bus/pci/drivers/other"),
            ("tree/bus/pci/drivers/mlx5_core", "scratch/bus/pci/drivers/mlx5_core"),
        ];
        // Each of the two is replaced by itself; links are copied.
        assert!(expected.iter().all(|(from, to)| found.contains(&(from.to_string(), to.to_string()))), "{found:?}");
        for replaced in ["bus/pci/devices", "bus/pci/drivers"] {
            let bind = (format!("scratch/{replaced}"), format!("host/{replaced}"));
            assert!(found.contains(&bind), "{found:?}");
        }
        assert!(!found.iter().any(|(from, _)| from.contains("rescan")), "{found:?}");
    }

    #[test]
    fn a_machine_without_sysfs_gets_the_tree_alone() {
        let found = binds(&[], &["class/infiniband/mlx5_0"]);
        assert_eq!(found, pairs(&[("tree/class", "scratch/class"), ("scratch/", "host/")]));
    }
}
