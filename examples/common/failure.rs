//! The ways to fail, with the exit code of each.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;
use std::time::Duration;

/// What went wrong.
pub enum Failure {
    /// Setup or transport: exit code 1, or 2 if there is no such device.
    Setup(Box<dyn Error + Send + Sync>),
    /// Wrong data: exit code 3.
    Data(String),
    /// The peer said nothing for this time: exit code 4.
    Silence(Duration),
}

/// The text for people: `main` prints an error that it returns by this.
impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setup(error) => f.write_str(&told(&**error)),
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

/// Whether an error says that no device is there, or none of the name that was asked for.
#[must_use]
pub fn is_no_device(error: &(dyn Error + 'static)) -> bool {
    use blueflame::verbs::Error as Setup;
    let no =
        matches!(error.downcast_ref(), Some(Setup::NoDevices | Setup::UnknownDevice { .. } | Setup::NotMlx5 { .. }));
    no || error.source().is_some_and(is_no_device)
}

/// An error for people: its text, and those of its sources that it does not have itself.
#[must_use]
pub fn told(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        source = error.source();
    }
    text
}

/// Ends `main` of the program `name`: 0 when all went well; clap ends with 2 for a wrong call.
pub fn exit(name: &str, outcome: Result<(), Failure>) -> ExitCode {
    let Err(failure) = outcome else { return ExitCode::SUCCESS };
    eprintln!("{name}: {failure}");
    ExitCode::from(match failure {
        // A wrong call, too, or a wrong machine: nothing was tried.
        Failure::Setup(error) if is_no_device(&*error) => 2,
        Failure::Setup(_) => 1,
        Failure::Data(_) => 3,
        Failure::Silence(_) => 4,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Outer(&'static str, std::io::Error);

    impl fmt::Display for Outer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Outer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.1)
        }
    }

    #[test]
    fn errors_are_told_for_people() {
        let inner = || std::io::Error::other("no such thing");
        let text = |outer| format!("{:?}", Failure::from(Outer(outer, inner())));
        assert_eq!(text("cannot open"), "cannot open: no such thing");
        assert_eq!(text("cannot open: no such thing"), "cannot open: no such thing");
    }

    #[test]
    fn a_missing_device_is_told_apart() {
        use blueflame::verbs::Error as Setup;
        let unknown = Setup::UnknownDevice { name: "a".into(), known: vec!["b".into()] };
        assert!(is_no_device(&unknown) && is_no_device(&Setup::NoDevices));
        assert!(!is_no_device(&Setup::NoPort { port: 2, ports: 1 }));
        let code = |error: Setup| format!("{:?}", exit("test", Err(error.into())));
        assert_eq!(code(Setup::NoDevices), format!("{:?}", ExitCode::from(2)));
        assert_eq!(code(Setup::NoPort { port: 2, ports: 1 }), format!("{:?}", ExitCode::from(1)));
    }
}
