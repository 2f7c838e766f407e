//! Error numbers of system calls, as programs print them: by number, by name, or by `strerror`'s text.

use super::fields::number_field;
use super::words::{Token, phrase};
use crate::report::Field;

/// The number, the name and the text of each that verbs and DevX calls return (Linux
/// `include/uapi/asm-generic/errno*.h`, glibc's texts).
const ALL: &[(u64, &str, &[&str])] = &[
    (1, "EPERM", &["Operation", "not", "permitted"]),
    (2, "ENOENT", &["No", "such", "file", "or", "directory"]),
    (5, "EIO", &["Input", "/", "output", "error"]),
    (6, "ENXIO", &["No", "such", "device", "or", "address"]),
    (9, "EBADF", &["Bad", "file", "descriptor"]),
    (11, "EAGAIN", &["Resource", "temporarily", "unavailable"]),
    (12, "ENOMEM", &["Cannot", "allocate", "memory"]),
    (13, "EACCES", &["Permission", "denied"]),
    (14, "EFAULT", &["Bad", "address"]),
    (16, "EBUSY", &["Device", "or", "resource", "busy"]),
    (17, "EEXIST", &["File", "exists"]),
    (19, "ENODEV", &["No", "such", "device"]),
    (22, "EINVAL", &["Invalid", "argument"]),
    (24, "EMFILE", &["Too", "many", "open", "files"]),
    (28, "ENOSPC", &["No", "space", "left", "on", "device"]),
    (34, "ERANGE", &["Numerical", "result", "out", "of", "range"]),
    (38, "ENOSYS", &["Function", "not", "implemented"]),
    (75, "EOVERFLOW", &["Value", "too", "large", "for", "defined", "data", "type"]),
    (93, "EPROTONOSUPPORT", &["Protocol", "not", "supported"]),
    (95, "EOPNOTSUPP", &["Operation", "not", "supported"]),
    (98, "EADDRINUSE", &["Address", "already", "in", "use"]),
    (99, "EADDRNOTAVAIL", &["Cannot", "assign", "requested", "address"]),
    (101, "ENETUNREACH", &["Network", "is", "unreachable"]),
    (103, "ECONNABORTED", &["Software", "caused", "connection", "abort"]),
    (104, "ECONNRESET", &["Connection", "reset", "by", "peer"]),
    (110, "ETIMEDOUT", &["Connection", "timed", "out"]),
    (111, "ECONNREFUSED", &["Connection", "refused"]),
    (113, "EHOSTUNREACH", &["No", "route", "to", "host"]),
    (121, "EREMOTEIO", &["Remote", "I", "/", "O", "error"]),
    (125, "ECANCELED", &["Operation", "canceled"]),
];

/// The name of a number.
pub(crate) fn name(number: u64) -> Option<&'static str> {
    ALL.iter().find(|(of, ..)| *of == number).map(|(_, name, _)| *name)
}

/// The number that the words at `at` name.
pub(crate) fn named(tokens: &[Token<'_>], at: usize) -> Option<u64> {
    // `No such device or address` is longer than `No such device`.
    let names = ALL.iter().filter(|(_, name, text)| tokens[at].text == *name || phrase(tokens, at, text));
    names.max_by_key(|(.., text)| text.len()).map(|(number, ..)| *number)
}

/// The field of an error number, with its name.
pub(crate) fn field(number: u64) -> Field {
    Field { meaning: name(number).map(str::to_owned), ..number_field("errno", number) }
}
