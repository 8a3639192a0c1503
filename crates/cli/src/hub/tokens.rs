//! `tombolo hub tokens`.

use clap::Subcommand;
use client::Client;
use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};
use protocol::{
    TokenId, TokenName, UserName, Workspace,
    hub::Role,
    people::{AddToken, Scope, Token},
};

use crate::{
    exit::{Failure, Outcome},
    output::{Output, or_dash, table, time},
};

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// List your tokens, or those of a user
    #[command(after_help = "Examples:\n  tombolo hub tokens list\n  tombolo hub tokens list --user ana")]
    List {
        /// Whose; needs a token that manages the hub
        #[arg(long)]
        user: Option<UserName>,
    },
    /// Make a token; it is shown once
    #[command(after_help = "\
Examples:
  tombolo hub tokens add laptop
  tombolo hub tokens add ci --user ana --role viewer --workspace lab --expires-in 30d
  export TOMBOLO_HUB_TOKEN=$(tombolo hub tokens add laptop --quiet)")]
    Add {
        /// What it is called
        name: TokenName,
        /// Whose it is to be; needs a token that manages the hub [default: yours]
        #[arg(long)]
        user: Option<UserName>,
        /// The most that it may do: `viewer`, `controller` or `owner` [default: what its user may]
        #[arg(long)]
        role: Option<Role>,
        /// A workspace that it is for; may be repeated [default: all]
        #[arg(long)]
        workspace: Vec<Workspace>,
        /// For how long it is good, such as `30d` or `12h` [default: for ever]
        #[arg(long, value_name = "DURATION", value_parser = duration)]
        expires_in: Option<SignedDuration>,
        /// Print the secret and nothing else
        #[arg(long)]
        quiet: bool,
    },
    /// Revoke a token, also where it is in use
    #[command(after_help = "Examples:\n  tombolo hub tokens revoke tok_0198c0de0198c0de0198c0de0198c0de")]
    Revoke {
        /// The token; not its secret
        id: TokenId,
    },
}

pub(super) fn duration(text: &str) -> Result<SignedDuration, String> {
    let span = text.parse::<Span>().map_err(|error| error.to_string())?;
    span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|error| error.to_string())
}

impl super::Verb for Verb {
    async fn run(self, hub: &Client, output: Output) -> Outcome {
        let tokens = hub.tokens();
        match self {
            Verb::List { user } => output.answer(&tokens.list(user.as_ref()).await?, |list| view(list.items)),
            Verb::Add { name, user, role, workspace, expires_in, quiet } => {
                let workspaces = (!workspace.is_empty()).then_some(workspace);
                let scope = (role.is_some() || workspaces.is_some()).then_some(Scope { role, workspaces });
                let expires_at = expires_in.map(|long| Timestamp::now().saturating_add(long));
                let expires_at = expires_at.transpose().map_err(|error| Failure::Local(error.into()))?;
                let answer = tokens.add(&AddToken { name, user, scope, expires_at }).await?;
                if quiet {
                    return output.line(&answer.read()?.secret);
                }
                output.answer(&answer, |added| {
                    format!("{}\n\nsecret, shown only now: {}", view(vec![added.token]), added.secret)
                })
            }
            Verb::Revoke { id } => {
                tokens.revoke(id).await?;
                output.done(&format!("revoked {id}"))
            }
        }
    }
}

fn view(tokens: Vec<Token>) -> String {
    let rows = tokens.into_iter().map(|token| {
        let scope = token.scope.as_ref().map(scope);
        let (created, expires) = (time(Some(token.created_at)), time(token.expires_at));
        [
            token.id.to_string(),
            token.user.to_string(),
            token.name.to_string(),
            or_dash(scope),
            created,
            expires,
        ]
    });
    table(["ID", "USER", "NAME", "SCOPE", "CREATED", "EXPIRES"], rows)
}

/// How much less than its user a token may do.
pub(super) fn scope(scope: &Scope) -> String {
    let role = scope.role.map_or("as its user".to_owned(), |role| role.to_string());
    let Some(workspaces) = &scope.workspaces else { return role };
    let workspaces: Vec<_> = workspaces.iter().map(Workspace::as_str).collect();
    format!("{role} in {}", workspaces.join(" "))
}
