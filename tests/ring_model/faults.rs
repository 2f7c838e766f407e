//! Faults of the program's side: a barrier that is not there, a store that comes late, loads that come early.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::panic::Location;

use crate::memory;

/// A function of a checked file: the end of the file's path, and the function's name.
pub(crate) type Function = (&'static str, &'static str);

/// A fault of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// The function lacks its barrier of this name.
    Lacks { barrier: &'static str, function: Function },
    /// Stores of `function` are made behind the next store of `behind`.
    Late { function: Function, behind: Function },
    /// The other words of a CQE are loaded before the word with the owner bit, which `function` loads.
    Early { function: Function },
}

thread_local! {
    /// The fault. (The model's threads are one of the system's.)
    static FAULT: Cell<Option<Fault>> = const { Cell::new(None) };
    /// How often it was made.
    static MADE: Cell<usize> = const { Cell::new(0) };
    /// Late stores that wait.
    static WAITING: RefCell<Vec<(usize, u32)>> = const { RefCell::new(Vec::new()) };
    /// Words of a CQE that were loaded early.
    static LOADED: RefCell<BTreeMap<usize, u32>> = const { RefCell::new(BTreeMap::new()) };
    /// The functions of each line of a file.
    static FUNCTIONS: RefCell<BTreeMap<&'static str, Vec<String>>> = const { RefCell::new(BTreeMap::new()) };
}

/// Words of a CQE.
const CQE_WORDS: usize = 16;

/// Makes a fault from here on, or none.
pub(crate) fn make(fault: Option<Fault>) {
    FAULT.set(fault);
    MADE.set(0);
}

/// How often the fault was made.
pub(crate) fn made() -> usize {
    MADE.get()
}

/// A new schedule begins.
pub(crate) fn begin() {
    WAITING.take();
    LOADED.take();
}

fn count() {
    MADE.set(MADE.get() + 1);
}

/// The place of an access.
#[derive(Clone, Copy)]
pub(crate) struct Caller(&'static Location<'static>);

impl Caller {
    #[track_caller]
    pub(crate) fn here() -> Self {
        Self(Location::caller())
    }

    fn is_in(self, (file, function): Function) -> bool {
        self.0.file().ends_with(file)
            && FUNCTIONS.with_borrow_mut(|known| {
                let lines = known.entry(self.0.file()).or_insert_with(|| functions(self.0.file()));
                lines[self.0.line() as usize - 1] == function
            })
    }
}

/// The function of each line.
fn functions(file: &str) -> Vec<String> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut function = String::new();
    let lines = text.lines().map(|line| {
        let code = line.trim_start();
        if let Some((before, rest)) = code.split_once("fn ")
            && before
                .split(' ')
                .all(|word| ["", "const", "unsafe"].contains(&word) || word.starts_with("pub") || word.ends_with(')'))
        {
            function = rest.split(['(', '<']).next().unwrap_or(rest).to_owned();
        }
        function.clone()
    });
    lines.collect()
}

/// Whether the barrier of this name is there.
pub(crate) fn has_barrier(barrier: &str, caller: Caller) -> bool {
    match FAULT.get() {
        Some(Fault::Lacks { barrier: lacking, function }) if lacking == barrier && caller.is_in(function) => {
            count();
            false
        }
        _ => true,
    }
}

/// A store of the program.
pub(crate) fn store(word: usize, value: u32, caller: Caller) {
    let Some(Fault::Late { function, behind }) = FAULT.get() else { return memory::store(word, value) };
    if caller.is_in(function) {
        return WAITING.with_borrow_mut(|waiting| waiting.push((word, value)));
    }
    memory::store(word, value);
    if caller.is_in(behind) {
        for (word, value) in WAITING.take() {
            count();
            memory::store(word, value);
        }
    }
}

/// A load of the program.
pub(crate) fn load(word: usize, caller: Caller) -> u32 {
    let Some(Fault::Early { function }) = FAULT.get() else { return memory::load(word) };
    let start = word & !(CQE_WORDS - 1);
    if caller.is_in(function) {
        count();
        let others = (start..start + CQE_WORDS).filter(|&other| other != word);
        let loaded = others.map(|other| (other, memory::load(other))).collect();
        LOADED.set(loaded);
        return memory::load(word);
    }
    LOADED.with_borrow(|loaded| loaded.get(&word).copied()).unwrap_or_else(|| memory::load(word))
}
