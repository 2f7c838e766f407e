//! The ways to fail, with the exit code of each.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;
use std::time::Duration;

/// What went wrong.
#[derive(Debug)]
pub enum Failure {
    /// Setup or transport: exit code 1.
    Setup(Box<dyn Error + Send + Sync>),
    /// Wrong data: exit code 3.
    Data(String),
    /// The peer said nothing for so long: exit code 4.
    Silence(Duration),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setup(error) => error.fmt(f),
            Self::Data(what) => write!(f, "wrong data: {what}"),
            Self::Silence(time) => write!(f, "nothing for {} s: is the peer still there?", time.as_secs()),
        }
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Setup(error.into())
    }
}

/// Ends `main` of the program `name`: 0 when all went well; clap ends with 2 for a wrong call.
pub fn exit(name: &str, outcome: Result<(), Failure>) -> ExitCode {
    let Err(failure) = outcome else { return ExitCode::SUCCESS };
    eprintln!("{name}: {failure}");
    ExitCode::from(match failure {
        Failure::Setup(_) => 1,
        Failure::Data(_) => 3,
        Failure::Silence(_) => 4,
    })
}
