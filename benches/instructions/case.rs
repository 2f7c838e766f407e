//! A counted case: a hot function, at work in a loop and behind a call.
use std::hint::black_box;

use serde::{Deserialize, Serialize};

use crate::memory::ENTRIES;
use crate::step::{Counts, count, mark};

/// A hot function with queues to work on.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Messages or completions of one operation.
    pub(crate) elements: u64,
    /// The most instructions that an operation is to take in a loop.
    pub(crate) goal: Option<u64>,
    run: Box<dyn Fn() -> Result<Figures, String>>,
}

/// The instructions of one operation.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Figures {
    /// Inlined into a loop over messages, with the loop's own instructions.
    pub(crate) in_a_loop: u64,
    /// Behind a call: from the function's first instruction to its return.
    pub(crate) by_call: u64,
}

/// One operation of each case uses at most this many entries of a ring, and each case does some operations.
const OPERATIONS: u64 = 32;

impl Case {
    /// Counts. For each count, a child process makes the queues and does the operations.
    pub(crate) fn figures(&self) -> Result<Figures, String> {
        (self.run)().map_err(|error| format!("{}: {error}", self.name))
    }

    pub(crate) fn new<S: 'static>(
        name: &'static str,
        elements: u64,
        entries: u64,
        make: fn() -> S,
        [looped, called]: [fn(&mut S, u64); 2],
        entry: usize,
    ) -> Self {
        let run = move || {
            // As many as fit a ring, three times: in a loop, twice as often, and some to spare.
            let operations = OPERATIONS.min(ENTRIES as u64 / 4 / entries);
            let in_loop = count(None, make, |queues| {
                marked(looped, queues, operations);
                marked(looped, queues, 2 * operations);
            })?;
            let by_call = count(Some(entry), make, |queues| marked(called, queues, operations))?;
            figures(operations, &in_loop, &by_call)
        };
        Self { name, elements, goal: None, run: Box::new(run) }
    }

    /// With a goal.
    pub(crate) fn goal(mut self, instructions: u64) -> Self {
        self.goal = Some(instructions);
        self
    }
}

/// Works between two marks.
#[inline(never)]
fn marked<S>(work: fn(&mut S, u64), state: &mut S, operations: u64) {
    mark();
    black_box(work)(state, operations);
    mark();
}

fn figures(operations: u64, in_loop: &Counts, by_call: &Counts) -> Result<Figures, String> {
    // The third part does twice the operations of the first; a loop's one-time work occurs once in each.
    let [once, _between, twice] = in_loop.parts[..] else { return Err(format!("three parts expected: {in_loop:?}")) };
    let more = twice - once;
    if !more.is_multiple_of(operations) {
        return Err(format!("{operations} operations take {more} instructions: not each the same"));
    }
    let [first, rest @ ..] = &by_call.calls[..] else { return Err("not called".to_owned()) };
    if rest.len() as u64 + 1 != operations || rest.iter().any(|count| count != first) {
        return Err(format!("{operations} calls of the same cost expected: {:?}", by_call.calls));
    }
    Ok(Figures { in_a_loop: more / operations, by_call: *first })
}

/// A case of the hot function `$function`. `$make` makes the objects, `$work` is operation `$n` on them. An operation
/// handles a number of messages or completions `in` a number of ring entries. If these are left out, both numbers are
/// one.
macro_rules! case {
    ($name:literal, $elements:literal, $($rest:tt)*) => {
        case!($name, $elements in $elements, $($rest)*)
    };
    ($name:literal, $elements:literal in $entries:literal, $make:expr, $function:ident, |$state:ident, $n:ident, $hot:ident| $work:expr) => {
        Case::new(
            $name,
            $elements,
            $entries,
            $make,
            [
                |$state, operations| {
                    use hot::inlined::$function as $hot;
                    (0..operations).for_each(|$n| $work);
                },
                |$state, operations| {
                    use hot::called::$function as $hot;
                    (0..operations).for_each(|$n| $work);
                },
            ],
            hot::called::$function as *const () as usize,
        )
    };
}
pub(crate) use case;
