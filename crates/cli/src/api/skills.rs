//! `tombolo api skills`.

use clap::Subcommand;
use client::Client;
use protocol::config::{Skill, SkillList, SkillSource, SkillSourceKind};

use super::{
    input,
    operations::{Operation, mirrors},
};
use crate::{
    exit::Outcome,
    output::{Output, or_dash, table},
};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List the skills of a directory
    #[command(after_help = "Examples:\n  tombolo api skills list --directory /workspace")]
    List {
        /// The directory that they belong to, as an absolute path in the sandbox
        #[arg(long, short)]
        directory: String,
    },
    /// Show one entry: where its skills come from
    #[command(after_help = "Examples:\n  tombolo api skills get --directory /workspace review")]
    Get {
        /// Its name
        name: String,
        /// The directory that it belongs to, as an absolute path in the sandbox
        #[arg(long, short)]
        directory: String,
    },
    /// Store one entry, in place of what has its name
    #[command(after_help = "\
Examples:
  tombolo api skills set -d /w review '{\"sources\":[{\"type\":\"github\",\"source\":\"owner/name\"}]}'
  tombolo api skills set -d /w review - < review.json

A source is {\"type\":\"github\"|\"git\"|\"local\",\"source\":…,\"skills\":[…],\"ref\":…,\"subpath\":…}.")]
    Set {
        /// Its name
        name: String,
        /// The entry as JSON; `-` or nothing for standard input
        entry: Option<String>,
        /// The directory that it belongs to, as an absolute path in the sandbox
        #[arg(long, short)]
        directory: String,
    },
    /// Forget one entry
    #[command(after_help = "Examples:\n  tombolo api skills delete --directory /workspace review")]
    Delete {
        /// Its name; it need not be there
        name: String,
        /// The directory that it belongs to, as an absolute path in the sandbox
        #[arg(long, short)]
        directory: String,
    },
}

mirrors! { Verb:
    List = "list" GET "/v1/config/skills";
    Get = "get" GET "/v1/config/skills";
    Set = "set" PUT "/v1/config/skills";
    Delete = "delete" DELETE "/v1/config/skills";
}

impl super::Verb for Verb {
    fn operation(&self) -> &'static Operation {
        self.mirrored()
    }

    async fn run(self, client: &Client, output: Output) -> Outcome {
        let skills = client.skills();
        match self {
            Verb::List { directory } => output.answer(&skills.list(&directory).await?, list),
            Verb::Get { name, directory } => output.answer(&skills.get(&directory, &name).await?, entry),
            Verb::Set { name, entry, directory } => {
                skills.set_json(&directory, &name, &input::json(entry, output).await?).await?;
                output.done(&format!("skills {name} are stored"))
            }
            Verb::Delete { name, directory } => {
                skills.delete(&directory, &name).await?;
                output.done(&format!("skills {name} are gone"))
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
    let place = match source.subpath {
        Some(subpath) => format!("{} / {subpath}", source.source),
        None => source.source,
    };
    let skills = source.skills.map_or_else(|| "all".into(), |skills| skills.join(", "));
    [kind.into(), place, or_dash(source.reference), skills]
}
