//! Texts that the launcher writes about itself: completions for shells, and the man page.

use std::io::{self, Write};

use clap::{Args, Command};
use clap_complete::Shell;

/// The texts that may be asked for, in place of a program.
#[derive(Debug, Args)]
pub(crate) struct Written {
    /// Print completions for a shell, and run nothing: source <(softhca-run --completions bash)
    #[arg(long, value_name = "SHELL", exclusive = true)]
    completions: Option<Shell>,

    /// Print the man page, and run nothing: softhca-run --man > softhca-run.1
    #[arg(long, exclusive = true)]
    man: bool,
}

impl Written {
    /// Prints the text about `command` that was asked for. False: none was.
    pub(crate) fn print(&self, mut command: Command) -> io::Result<bool> {
        let mut text = Vec::new();
        if let Some(shell) = self.completions {
            clap_complete::generate(shell, &mut command, "softhca-run", &mut text);
        } else if self.man {
            clap_mangen::Man::new(command).render(&mut text)?;
        } else {
            return Ok(false);
        }
        match io::stdout().lock().write_all(&text) {
            // The reader has seen enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(true),
            written => written.map(|()| true),
        }
    }
}
