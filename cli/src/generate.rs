//! Completions and manual pages, from the definition of the command line.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::args::Cli;
use crate::failure::{Failure, Outcome};
use crate::output::Output;

/// For which shell.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  spanlog completions bash > \
    ~/.local/share/bash-completion/completions/spanlog")]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// Which page.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  spanlog man | man -l -\n  spanlog man append\n  \
    spanlog man --dir ~/.local/share/man/man1")]
pub struct ManArgs {
    /// The page of this command rather than of all
    #[arg(conflicts_with = "dir")]
    pub command: Option<String>,
    /// Writes all pages into this directory
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// Prints completions.
///
/// # Errors
/// What writing says.
pub fn completions(args: &CompletionsArgs, output: &mut Output) -> Outcome<()> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "spanlog", &mut text);
    output.bytes(&text)
}

/// Prints or writes manual pages.
///
/// # Errors
/// A usage error for a command that does not exist; what writing says.
pub fn man(args: &ManArgs, output: &mut Output) -> Outcome<()> {
    let mut all = Cli::command().disable_help_subcommand(true);
    all.build();
    if let Some(dir) = &args.dir {
        return write_all(&all, dir);
    }
    let page = match &args.command {
        None => all,
        Some(name) => all
            .find_subcommand(name)
            .cloned()
            .ok_or_else(|| Failure::usage(format!("there is no command {name}")))?,
    };
    let text = render(page).map_err(|error| Failure::other("make the page", &error))?;
    output.bytes(&text)
}

fn render(command: Command) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    Man::new(command).render(&mut text)?;
    Ok(text)
}

fn write_all(all: &Command, dir: &Path) -> Outcome<()> {
    fs::create_dir_all(dir).map_err(|error| Failure::file("make the directory", dir, &error))?;
    for command in all.get_subcommands().chain([all]) {
        // As `man` finds it: spanlog-append.
        let name = command.get_display_name().unwrap_or(command.get_name());
        let path = dir.join(format!("{name}.1"));
        let written = render(command.clone()).and_then(|text| fs::write(&path, text));
        written.map_err(|error| Failure::file("write the page", &path, &error))?;
    }
    Ok(())
}
