//! Each step of making objects fails in turn, and nothing is left behind. Nothing is left in any order of drops,
//! either.
//!
//! Leaks after a failed command belong here. The error values belong in `device`.
//!
//! The software device has each command refused in turn, by the kernel and by the firmware, and says what objects there
//! are. All is one test, because objects of a test in another thread would count.
//!
//! ```text
//! softhca-run --
//! softhca-run --generation connectx7 --
//! ```

mod control;
mod destruction;
mod kernel;
mod tree;

use std::fs::read_dir;

use blueflame_devx::cmd::Status;
use blueflame_devx::{Context, Error};
use control::{commands, objects, refuse_mailbox};
use kernel::refuse_command;
use tree::Tree;

/// Possible leftovers: objects of the device, files, and mappings of memory.
#[derive(Debug, PartialEq)]
struct Left {
    objects: String,
    files: usize,
}

fn left() -> Left {
    Left { objects: objects(), files: read_dir("/proc/self/fd").expect("Linux").count() }
}

/// Has each command that `make` gives refused in turn by `refuse`, until it gives no more. How many there were, and the
/// errors.
fn each_step(make: &dyn Fn() -> Result<Tree, Error>, refuse: &dyn Fn(u64)) -> (u64, Vec<Error>) {
    let mut errors = Vec::new();
    let clean = left();
    for nth in 1.. {
        refuse(nth);
        let before = commands();
        let made = make();
        let given = commands() - before;
        refuse(0);
        match made {
            Ok(made) => {
                drop(made);
                assert_eq!(left(), clean, "all was made although step {nth} failed");
                // Some failures are not the end: another kind of register does, too.
                if given < nth {
                    return (nth - 1, errors);
                }
            }
            Err(error) => {
                assert_eq!(left(), clean, "step {nth} failed: {error}");
                errors.push(error);
            }
        }
        assert!(nth < 1000, "there is no end of steps");
    }
    unreachable!("the loop has no end of its own")
}

#[test]
fn whatever_fails_and_whatever_goes_first_nothing_is_left() {
    let context = Context::open_first().expect("an mlx5 device with DevX");
    let make = || tree::make(&context);
    // libmlx5 keeps allocated registers for later queues, and the context keeps the device's answers.
    drop(make().expect("all of it"));

    // The kernel refuses, by an error that says so: after others, the device may have the object, and all stays.
    let (steps, errors) = each_step(&make, &|nth| refuse_command(nth, libc::EPERM));
    assert!(steps >= tree::LEAST_STEPS, "{steps} steps");
    assert!(errors.len() as u64 >= steps - 2, "{} of {steps} steps failed", errors.len());
    for error in &errors {
        assert!(error.to_string().contains("Operation not permitted"), "{error}");
    }

    // The firmware refuses, and the error repeats its status.
    let refuse = |nth| refuse_mailbox(nth, Status::NO_RES_ERR);
    let (_, errors) = each_step(&make, &refuse);
    let said: Vec<_> = errors
        .iter()
        .filter_map(|error| match error {
            Error::Command(command) => Some(command),
            _ => None,
        })
        .collect();
    assert!(said.len() as u64 >= tree::LEAST_MAILBOXES, "{said:#?}");
    for command in said {
        assert_eq!(command.status, Status::NO_RES_ERR, "{command}");
        assert!(command.syndrome != 0, "{command}");
    }

    // Any of them may go first, and any after it.
    let clean = left();
    let count = make().expect("all of it").len();
    for first in 0..count {
        for step in (1..count).filter(|step| count % *step != 0 || *step == 1) {
            let mut made: Vec<_> = make().expect("all of it").into_iter().map(Some).collect();
            (0..count).for_each(|n| drop(made[(first + n * step) % count].take()));
            drop(made);
            assert_eq!(left(), clean, "from {first} by {step}");
        }
    }
    // And a context whose objects go after it.
    let open = || Context::open_first().map(|context| tree::make(&context));
    let other = open().expect("another").expect("all of it");
    drop(other);
    assert_eq!(left(), clean);
    // With the device opened each time, of which nothing is at hand then: capabilities, registers.
    let (more, _) = each_step(&|| open()?, &|nth| refuse_command(nth, libc::EPERM));
    assert!(more > steps + 5, "{more} steps with opening, {steps} without");
    destruction::check(&context);
}
