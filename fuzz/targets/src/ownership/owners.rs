//! The owner of each buffer, and its expected contents: both follow from the calls alone.

use std::collections::{BTreeMap, BTreeSet};

/// Words of a buffer.
pub const WORDS: usize = 8;
/// A buffer's bytes.
pub const BYTES: usize = WORDS * 8;

/// The kind of a word, in its upper byte. The rest is a number that no other lending, or owner, has.
const MINE: u64 = 1 << 56;
const MESSAGE: u64 = 2 << 56;
const BLANK: u64 = 3 << 56;
const WINDOW: u64 = 4 << 56;
const KIND: u64 = 0xff << 56;

/// One of the queue pairs that were ever made, with its queues and its completion queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Label(pub u32);

/// The purpose for which a buffer is lent, and how many words of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// A message.
    Send(usize),
    /// A WRITE to a window.
    Write(usize),
    /// A READ of a window.
    Read(usize),
    /// A receive.
    Receive,
}

#[derive(Clone, Copy, Debug)]
enum Owner {
    /// The program, which has filled it with this word.
    Program(u64),
    /// The device, by a request of that queue pair.
    Device { by: Label, with: Use, word: u64 },
}

/// The model.
#[derive(Debug, Default)]
pub struct Owners {
    /// By address.
    buffers: BTreeMap<u64, Owner>,
    last: u64,
    /// Messages that have not arrived, and WRITEs.
    sent: BTreeSet<u64>,
    written: BTreeSet<u64>,
}

impl Owners {
    /// The first contents of a peer's window.
    #[must_use]
    pub fn window(&mut self) -> [u64; WORDS] {
        self.filled(WINDOW)
    }

    /// A buffer that is new, or the program's again; what to fill it with.
    pub fn mine(&mut self, addr: u64) -> [u64; WORDS] {
        let words = self.filled(MINE);
        self.buffers.insert(addr, Owner::Program(words[0]));
        words
    }

    /// The program drops a buffer of its own.
    pub fn dropped(&mut self, addr: u64) {
        assert!(matches!(self.buffers.remove(&addr), Some(Owner::Program(_))));
    }

    /// A buffer is about to be lent; what to fill it with.
    pub fn lend(&mut self, addr: u64, by: Label, with: Use) -> [u64; WORDS] {
        let words = self.filled(if matches!(with, Use::Send(_) | Use::Write(_)) { MESSAGE } else { BLANK });
        match with {
            Use::Send(_) => _ = self.sent.insert(words[0]),
            Use::Write(_) => _ = self.written.insert(words[0]),
            Use::Read(_) | Use::Receive => {}
        }
        let before = self.buffers.insert(addr, Owner::Device { by, with, word: words[0] });
        assert!(matches!(before, Some(Owner::Program(_))), "{addr:#x} was lent while it was {before:?}");
        words
    }

    /// A queue hands back the buffer of a completed request: with that many bytes of a message, if it is a receive;
    /// `None`: with an error. Returns what to fill it with.
    pub fn back(&mut self, addr: u64, from: Label, words: [u64; WORDS], completed: Option<usize>) -> [u64; WORDS] {
        let Some(&Owner::Device { by, with, word }) = self.buffers.get(&addr) else {
            panic!("{addr:#x}: handed back by {from:?}, but it was not lent");
        };
        assert_eq!(by, from, "{addr:#x}: handed back by another queue than it was lent to");
        let arrived = match (with, completed) {
            (Use::Send(_) | Use::Write(_), _) => 0,
            (Use::Read(count), Some(_)) => count,
            (Use::Receive, Some(bytes)) => bytes.div_ceil(8).min(WORDS),
            // It may have got anything that was sent.
            (Use::Read(_) | Use::Receive, None) => words.iter().take_while(|&&found| found != word).count(),
        };
        for &found in &words[arrived..] {
            assert_eq!(found, word, "{addr:#x}: changed behind what arrived, lent for {with:?}: {words:x?}");
        }
        for &found in &words[..arrived] {
            match with {
                Use::Receive => self.is_sent(found, completed.is_some(), words),
                _ => self.is_of_window(found, words),
            }
        }
        if let (Use::Receive, Some(1..)) = (with, completed) {
            self.sent.remove(&words[0]);
        }
        self.mine(addr)
    }

    /// A request was not posted. Returns what to fill its buffer with.
    pub fn refused(&mut self, addr: u64, by: Label) -> [u64; WORDS] {
        let Some(Owner::Device { by: lent, word, .. }) = self.buffers.get(&addr) else {
            panic!("{addr:#x} was not lent")
        };
        assert_eq!(*lent, by);
        self.sent.remove(word);
        self.written.remove(word);
        self.mine(addr)
    }

    /// A buffer of the program has not changed since it was filled.
    pub fn check(&self, addr: u64, words: [u64; WORDS]) {
        let Some(&Owner::Program(word)) = self.buffers.get(&addr) else { panic!("{addr:#x} is not the program's") };
        assert_eq!(words, [word; WORDS], "{addr:#x}: changed after it was handed back");
    }

    /// A window holds only its first contents, and words written to it.
    pub fn check_window(&self, words: [u64; WORDS]) {
        for word in words {
            self.is_of_window(word, words);
        }
    }

    /// Buffers that the queues of a queue pair have.
    #[must_use]
    pub fn lent_to(&self, label: Label) -> usize {
        self.buffers.values().filter(|owner| matches!(owner, Owner::Device { by, .. } if *by == label)).count()
    }

    fn is_sent(&self, word: u64, whole: bool, words: [u64; WORDS]) {
        assert_ne!(word & KIND, MINE, "the device read a buffer that was handed back: {words:x?}");
        assert!(self.sent.contains(&word), "no message, or one that has arrived before: {words:x?}");
        assert!(!whole || word == words[0], "parts of two messages: {words:x?}");
    }

    fn is_of_window(&self, word: u64, words: [u64; WORDS]) {
        assert_ne!(word & KIND, MINE, "the device read a buffer that was handed back: {words:x?}");
        assert!(word & KIND == WINDOW || self.written.contains(&word), "nothing that was written: {words:x?}");
    }

    fn filled(&mut self, kind: u64) -> [u64; WORDS] {
        self.last += 1;
        [kind | self.last; WORDS]
    }
}
