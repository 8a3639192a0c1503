//! What is made from the definition of the commands: completions, manual pages, the reference.

use std::{
    fmt::Write as _,
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use anyhow::Context;
use clap::{Args, Command, ValueEnum};
use clap_complete::Shell;

use crate::{
    api,
    args::{SANDBOX_DAEMON, SandboxDaemon, Tombolo},
};

/// The names that this program goes by.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Name {
    Tombolo,
    SandboxDaemon,
}

impl Name {
    fn definition(self) -> (&'static str, Command) {
        match self {
            Name::Tombolo => ("tombolo", Tombolo::definition()),
            Name::SandboxDaemon => (SANDBOX_DAEMON, SandboxDaemon::definition()),
        }
    }
}

/// Which completions.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tombolo completions bash > ~/.local/share/bash-completion/completions/tombolo
  tombolo completions zsh > ~/.zfunc/_tombolo
  tombolo completions fish > ~/.config/fish/completions/tombolo.fish")]
pub(crate) struct CompletionsOptions {
    /// The shell
    shell: Shell,
    /// The name that the program is called by
    #[arg(long, value_enum, default_value = "tombolo")]
    name: Name,
}

/// Prints the completions of a shell.
pub(crate) fn completions(options: &CompletionsOptions) -> anyhow::Result<ExitCode> {
    let (name, mut definition) = options.name.definition();
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut definition, name, &mut script);
    print(&script)
}

/// Which manual pages.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tombolo man | man -l -\n  tombolo man --dir ~/.local/share/man/man1")]
pub(crate) struct ManOptions {
    /// Write a page for every command into this directory
    #[arg(long, value_name = "DIRECTORY")]
    dir: Option<PathBuf>,
}

/// Prints the manual page of the program, or writes those of all commands.
pub(crate) fn man(options: &ManOptions) -> anyhow::Result<ExitCode> {
    let Some(directory) = &options.dir else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Tombolo::definition()).render(&mut page)?;
        return print(&page);
    };
    std::fs::create_dir_all(directory)
        .with_context(|| format!("could not make `{}`", directory.display()))?;
    for name in [Name::Tombolo, Name::SandboxDaemon] {
        clap_mangen::generate_to(name.definition().1, directory)
            .with_context(|| format!("could not write to `{}`", directory.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What kind of reference.
#[derive(Debug, Args)]
pub(crate) struct ReferenceOptions {
    /// Only which endpoint each API command mirrors
    #[arg(long)]
    operations: bool,
}

/// Prints the reference of all commands.
pub(crate) fn reference(options: &ReferenceOptions) -> anyhow::Result<ExitCode> {
    let mut text = String::new();
    if options.operations {
        for (resource, operations) in api::operations() {
            for operation in operations {
                writeln!(text, "{resource} {}\t{}\t{}", operation.verb, operation.method, operation.path)?;
            }
        }
        return print(text.as_bytes());
    }
    text += "# The command line\n\nMade by `tombolo reference > docs/cli.md`; edit the definitions, not this page.\n";
    let mut definition = Tombolo::definition();
    definition.build();
    describe(&definition, &mut text)?;
    print(text.as_bytes())
}

/// One section per command that is shown, from the program down.
fn describe(command: &Command, text: &mut String) -> anyhow::Result<()> {
    // Wide enough for every line, however wide the terminal is.
    let help = command.clone().term_width(100).render_long_help();
    let name = command.get_bin_name().unwrap_or(command.get_name());
    writeln!(text, "\n## {name}\n\n```text")?;
    for line in help.to_string().trim_end().lines() {
        writeln!(text, "{}", line.trim_end())?;
    }
    writeln!(text, "```")?;
    for subcommand in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
        describe(subcommand, text)?;
    }
    Ok(())
}

fn print(bytes: &[u8]) -> anyhow::Result<ExitCode> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()?;
    Ok(ExitCode::SUCCESS)
}
