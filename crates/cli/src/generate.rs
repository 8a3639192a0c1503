//! What is made from the definition of the commands: completions, manual pages, the reference.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use ::agents::Catalog;
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

/// What is referred to.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Subject {
    /// Every command, in Markdown
    Cli,
    /// The OpenAPI document of the daemon
    Openapi,
    /// The OpenAPI document of the hub
    OpenapiHub,
    /// The JSON Schema of what is said on a relay connection
    Relay,
    /// Which endpoint each API command mirrors: command, method and path, with tabs between
    Operations,
    /// How each agent is installed, as JSON
    Agents,
}

/// Which reference.
#[derive(Debug, Args)]
pub(crate) struct ReferenceOptions {
    /// What it is about
    #[arg(value_enum, default_value = "cli")]
    subject: Subject,
}

fn installed() -> anyhow::Result<String> {
    let catalog = Catalog::new(Path::new(""), BTreeMap::new())?;
    let means = BTreeMap::from_iter(catalog.iter().map(|agent| (agent.id.to_string(), catalog.means(agent))));
    Ok(format!("{}\n", serde_json::to_string_pretty(&means)?))
}

/// Prints what is generated from the code and kept in `docs`.
pub(crate) fn reference(options: &ReferenceOptions) -> anyhow::Result<ExitCode> {
    let text = match options.subject {
        Subject::Cli => commands()?,
        Subject::Openapi => format!("{:#}\n", ::daemon::openapi()),
        Subject::OpenapiHub => format!("{:#}\n", ::hub::openapi()),
        Subject::Relay => format!("{:#}\n", serde_json::Value::Object(protocol::relay::schemas())),
        Subject::Operations => operations()?,
        Subject::Agents => installed()?,
    };
    print(text.as_bytes())
}

fn operations() -> anyhow::Result<String> {
    let mut text = String::new();
    for (resource, operations) in api::operations() {
        for operation in operations {
            writeln!(text, "{resource} {}\t{}\t{}", operation.verb, operation.method, operation.path)?;
        }
    }
    Ok(text)
}

fn commands() -> anyhow::Result<String> {
    let mut text = String::from(
        "# The command line\n\nMade by `cargo xtask codegen` from the definition of the commands: edit that, not this page.\n",
    );
    let mut definition = Tombolo::definition();
    definition.build();
    describe(&definition, &mut text)?;
    Ok(text)
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

#[cfg(test)]
mod tests;
