//! Texts that the tool writes about itself: completions for shells, and man pages.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Command};
use clap_complete::Shell;

/// Print completions for a shell
#[derive(Args)]
#[command(after_help = "\
  source <(blueflame completions bash)
  blueflame completions zsh > \"${fpath[1]}/_blueflame\"
  blueflame completions fish > ~/.config/fish/completions/blueflame.fish")]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

/// Write man pages, one for each command
#[derive(Args)]
#[command(after_help = "\
  blueflame man ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// The folder; it is made if there is none
    folder: PathBuf,
}

/// Prints completions.
///
/// # Errors
/// Standard output is closed.
pub(crate) fn completions(arguments: &Completions, mut command: Command) -> Result<ExitCode> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "blueflame", &mut text);
    io::stdout().lock().write_all(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes man pages.
///
/// # Errors
/// The folder cannot be written.
pub(crate) fn man(arguments: &Man, command: Command) -> Result<ExitCode> {
    let folder = &arguments.folder;
    let name = || folder.display().to_string();
    fs::create_dir_all(folder).with_context(name)?;
    clap_mangen::generate_to(command.disable_help_subcommand(true), folder).with_context(name)?;
    Ok(ExitCode::SUCCESS)
}
