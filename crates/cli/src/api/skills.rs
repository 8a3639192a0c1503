//! `tombolo api skills`.

use clap::Subcommand;
use client::Client;
use protocol::config::{Skill, SkillList, SkillSource, SkillSourceKind};

use super::{input, operations::mirrors};
use crate::{
    exit::CommandResult,
    output::{CommandOutput, or_dash, table},
    server_args::RequestCommand,
};

#[derive(Debug, Subcommand)]
pub(crate) enum SkillsCommand {
    /// List the skills that are configured for a directory
    #[command(after_help = "Examples:\n  tombolo api skills list --directory /workspace")]
    List {
        /// The directory, an absolute path in the sandbox
        #[arg(long, short)]
        directory: String,
    },
    /// Show the sources of one skills entry
    #[command(after_help = "Examples:\n  tombolo api skills get --directory /workspace review")]
    Get {
        /// The name of the entry
        name: String,
        /// The directory, an absolute path in the sandbox
        #[arg(long, short)]
        directory: String,
    },
    /// Add a skills entry, or replace the one with the same name
    #[command(after_help = "\
Examples:
  tombolo api skills set -d /w review '{\"sources\":[{\"type\":\"github\",\"source\":\"owner/name\"}]}'
  tombolo api skills set -d /w review - < review.json

A source is {\"type\":\"github\"|\"git\"|\"local\",\"source\":…,\"skills\":[…],\"ref\":…,\"subpath\":…}.")]
    Set {
        /// The name of the entry
        name: String,
        /// The entry as JSON; `-` or nothing reads standard input
        entry: Option<String>,
        /// The directory, an absolute path in the sandbox
        #[arg(long, short)]
        directory: String,
    },
    /// Delete a skills entry
    #[command(after_help = "Examples:\n  tombolo api skills delete --directory /workspace review")]
    Delete {
        /// The name of the entry; deleting one that does not exist succeeds
        name: String,
        /// The directory, an absolute path in the sandbox
        #[arg(long, short)]
        directory: String,
    },
}

mirrors! { SkillsCommand:
    List = "list" GET "/v1/config/skills";
    Get = "get" GET "/v1/config/skills";
    Set = "set" PUT "/v1/config/skills";
    Delete = "delete" DELETE "/v1/config/skills";
}

impl RequestCommand for SkillsCommand {
    fn describe(&self) -> String {
        self.operation().to_string()
    }

    async fn run(self, client: &Client, output: CommandOutput) -> CommandResult {
        let skills = client.skills();
        match self {
            SkillsCommand::List { directory } => output.answer(&skills.list(&directory).await?, list),
            SkillsCommand::Get { name, directory } => {
                output.answer(&skills.get(&directory, &name).await?, entry)
            }
            SkillsCommand::Set { name, entry, directory } => {
                skills.set_json(&directory, &name, &input::json(entry, output).await?).await?;
                output.done(&format!("stored skills entry {name}"))
            }
            SkillsCommand::Delete { name, directory } => {
                skills.delete(&directory, &name).await?;
                output.done(&format!("deleted skills entry {name}"))
            }
        }
    }
}

fn list(list: SkillList) -> String {
    let rows = list.items.into_iter().flat_map(|(name, skill)| {
        skill.sources.into_iter().map(move |source| {
            let [kind, source, reference, skills] = row(source);
            [name.clone(), kind, source, reference, skills]
        })
    });
    table(["NAME", "TYPE", "SOURCE", "REF", "SKILLS"], rows)
}

fn entry(skill: Skill) -> String {
    table(["TYPE", "SOURCE", "REF", "SKILLS"], skill.sources.into_iter().map(row))
}

fn row(source: SkillSource) -> [String; 4] {
    let kind = match source.kind {
        SkillSourceKind::Github => "github",
        SkillSourceKind::Git => "git",
        SkillSourceKind::Local => "local",
    };
    let origin = match source.subpath {
        Some(subpath) => format!("{} / {subpath}", source.source),
        None => source.source,
    };
    let skills = source.skills.map_or_else(|| "all".into(), |skills| skills.join(", "));
    [kind.into(), origin, or_dash(source.reference), skills]
}
