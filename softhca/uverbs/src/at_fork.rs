//! Locks at a fork. The child has a copy of each lock, and of its threads only the one that has forked: a lock that
//! another thread held would stay held for ever. So a fork first takes all locks that last as long as the process, and
//! both processes let them go.
//!
//! - Every static lock of this object is listed in the `LOCKS` of its module, those whose holders take others first.
//! - A value that is made once is made under one of these locks ([`forked::once`]).
//! - Two locks are only tried, and a child goes on without them: those of the lines that repeat (`launch::log`,
//!   `launch::report`). A child's log takes no lock of standard error.
//! - Locks of objects are not listed. Those of the parent's devices and files stay the parent's: a child that has a
//!   copy refuses before it takes one (`process::forked`).
//!
//! Not covered is the table of waiting threads in `parking_lot`, which a device's lock uses while threads contend for
//! it. A thread holds a part of that table for some instructions, and calls nothing meanwhile.

use crate::process::forked::{self, StaticLock};
use std::any::Any;
use std::cell::Cell;

thread_local! {
    /// The locks that this thread holds while it forks.
    static HELD: Cell<Vec<Box<dyn Any>>> = const { Cell::new(Vec::new()) };
}

/// All locks, in the order in which they are taken.
fn locks() -> impl Iterator<Item = &'static &'static dyn StaticLock> {
    use crate::{context, device, interpose, process, rdma_cm, umad, vfio};
    let files = &context::device_file::LOCKS;
    let of_devices = rdma_cm::LOCKS.iter().chain(&vfio::LOCKS).chain(&device::LOCKS).chain(files);
    of_devices.chain(&interpose::LOCKS).chain(&umad::LOCKS).chain(&process::LOCKS)
}

extern "C" fn before() {
    let held = locks().filter_map(|lock| lock.held_soon()).collect();
    // A thread that ends holds nothing.
    let _ = HELD.try_with(|place| place.set(held));
}

extern "C" fn after() {
    let _ = HELD.try_with(Cell::take);
}

extern "C" fn after_in_child() {
    forked::note_child();
    after();
}

extern "C" fn register() {
    // If there is no memory for it, forks do not wait.
    // SAFETY: the functions lock and unlock mutexes in the thread that forks, and store an integer.
    let _ = unsafe { libc::pthread_atfork(Some(before), Some(after), Some(after_in_child)) };
}

/// Called when the object is loaded, before there are threads that fork or take a lock.
#[used]
#[unsafe(link_section = ".init_array")]
static REGISTER: extern "C" fn() = register;

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    use crate::process::is_repeated_alone;

    /// Each is taken by another thread, and let go soon; a child finds all of them free.
    #[test]
    fn a_child_finds_every_static_lock_free() {
        if is_repeated_alone("at_fork::tests::a_child_finds_every_static_lock_free") {
            return;
        }
        let goes_on = AtomicBool::new(true);
        thread::scope(|scope| {
            for lock in locks() {
                scope.spawn(|| {
                    while goes_on.load(Ordering::Relaxed) {
                        let held = lock.held_soon();
                        thread::sleep(Duration::from_micros(50));
                        drop(held);
                        thread::sleep(Duration::from_micros(200));
                    }
                });
            }
            for _ in 0..100 {
                // SAFETY: the child tries locks, and ends without running anything of its parent's.
                let child = unsafe { libc::fork() };
                if child == 0 {
                    let stuck = locks().filter(|lock| lock.held_soon().is_none()).count();
                    // SAFETY: the child ends without running anything of its parent's.
                    unsafe { libc::_exit(stuck as i32) };
                }
                let mut status = 0;
                // SAFETY: a child of this process, and a place for its status.
                assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
                assert_eq!(libc::WEXITSTATUS(status), 0, "locks that stay held");
                assert!(libc::WIFEXITED(status), "{status:#x}");
            }
            goes_on.store(false, Ordering::Relaxed);
        });
    }

    /// The sources have no other static with a lock.
    #[test]
    fn every_static_lock_is_listed() {
        /// Those that are only tried, and those whose making is [`forked::once`]'s.
        const OTHERS: [&str; 8] =
            ["COMPLAINTS", "EXPLANATIONS", "LOG", "SETTINGS", "CHAOS", "REFUSALS", "INBOX", "TAKES_MADS"];
        let mut folders = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))];
        let mut found = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() && !path.ends_with("bin") {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let text = std::fs::read_to_string(&path).unwrap();
                    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
                    for (_, after) in code.match_indices("static ").map(|(at, word)| code.split_at(at + word.len())) {
                        let Some((name, kind)) = after.split_once(": ") else { continue };
                        let kind = kind.split(" =").next().unwrap_or_default();
                        let is_name = name.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_');
                        let locks = ["Mutex", "RwLock", "Once", "LazyLock", "Condvar", "Barrier"];
                        if is_name && locks.iter().any(|lock| kind.contains(lock)) {
                            found.push(name.to_owned());
                        }
                    }
                }
            }
        }
        found.retain(|name| !OTHERS.contains(&name.as_str()));
        assert_eq!(found.len(), locks().count(), "{found:?}: list a lock in its module's LOCKS");
    }
}
