//! `tombolo hub tokens`: tokens for people and programs.

use std::{path::PathBuf, time::Duration};

use ::hub::recover_token;
use clap::Subcommand;
use client::Client;
use protocol::{
    TokenId, TokenName, UserName, WorkspaceName,
    hub::Role,
    people::{AccessToken, CreateTokenRequest, TokenScope},
};
use secrecy::ExposeSecret;

use super::serve::hub_directory;
use crate::{
    duration::{self, VALUE_NAME},
    exit::{CommandError, CommandResult},
    output::{CommandOutput, or_dash, table, time},
    server_args::RequestCommand,
};

#[derive(Debug, Subcommand)]
pub(super) enum HubTokensCommand {
    /// List your tokens, or those of a user
    #[command(after_help = "Examples:\n  tombolo hub tokens list\n  tombolo hub tokens list --user ana")]
    List {
        /// List the tokens of this user; needs the token of an administrator
        #[arg(long)]
        user: Option<UserName>,
    },
    /// Create a token and print its secret once
    #[command(after_help = "\
Examples:
  tombolo hub tokens add laptop
  tombolo hub tokens add ci --user ana --role viewer --workspace lab --expires-in 30d
  export TOMBOLO_HUB_TOKEN=$(tombolo hub tokens add laptop --quiet)")]
    Add {
        /// The name of the token; you choose it
        name: TokenName,
        /// Create the token for this user; needs the token of an administrator [default: you]
        #[arg(long)]
        user: Option<UserName>,
        /// Limit the token to this role: viewer, controller or owner [default: the roles of its user]
        #[arg(long)]
        role: Option<Role>,
        /// Limit the token to this workspace; may be repeated [default: all]
        #[arg(long)]
        workspace: Vec<WorkspaceName>,
        /// Let the token expire after this long, for example 30d or 12h [default: never]
        #[arg(long, value_name = VALUE_NAME, value_parser = duration::parse_positive)]
        expires_in: Option<Duration>,
        /// Print only the secret
        #[arg(long)]
        quiet: bool,
    },
    /// Create another administrator's token on the machine of the hub, if all are lost
    #[command(after_help = "\
Run this as the user that runs the hub. It needs no token, as it uses the files of the hub. The hub
accepts the new token from its first use on, whether it runs now or not, and records that in its
audit log. All other tokens stay valid: revoke the lost one if somebody else may have it.

Examples:
  tombolo hub tokens recover
  tombolo hub tokens recover --data-dir /var/lib/tombolo/hub
  export TOMBOLO_HUB_TOKEN=$(tombolo hub tokens recover --quiet)")]
    Recover {
        /// The directory with the files of the hub [default: that of a hub without --data-dir]
        #[arg(long, value_name = "DIRECTORY")]
        data_dir: Option<PathBuf>,
        /// Print only the token
        #[arg(long)]
        quiet: bool,
    },
    /// Revoke a token and close the connections that use it
    #[command(after_help = "Examples:\n  tombolo hub tokens revoke tok_0198c0de0198c0de0198c0de0198c0de")]
    Revoke {
        /// The id of the token, not its secret
        id: TokenId,
    },
}

impl RequestCommand for HubTokensCommand {
    async fn run(self, hub: &Client, output: CommandOutput) -> CommandResult {
        let tokens = hub.tokens();
        match self {
            HubTokensCommand::List { user } => {
                output.answer(&tokens.list(user.as_ref()).await?, |list| view(list.items))
            }
            HubTokensCommand::Add { name, user, role, workspace, expires_in, quiet } => {
                let workspaces = (!workspace.is_empty()).then_some(workspace);
                let scope =
                    (role.is_some() || workspaces.is_some()).then_some(TokenScope { role, workspaces });
                let expires_at = expires_in.map(duration::from_now).transpose()?;
                let answer = tokens
                    .add(&CreateTokenRequest { name, user, scope, expires_at, current_token: None })
                    .await?;
                if quiet {
                    return output.line(&answer.read()?.secret);
                }
                output.answer(&answer, |added| {
                    format!("{}\n\nsecret, shown once: {}", view(vec![added.token]), added.secret)
                })
            }
            HubTokensCommand::Recover { data_dir, quiet } => {
                let directory = hub_directory(data_dir.as_deref()).map_err(CommandError::Local)?;
                let new = recover_token(&directory).map_err(|error| CommandError::Local(error.into()))?;
                if !quiet && !output.json {
                    output.print_note("this token is shown once; the hub accepts it from now on");
                }
                output.line(new.expose_secret())
            }
            HubTokensCommand::Revoke { id } => {
                tokens.revoke(id).await?;
                output.done(&format!("revoked {id}"))
            }
        }
    }
}

fn view(tokens: Vec<AccessToken>) -> String {
    let rows = tokens.into_iter().map(|token| {
        let scope = token.scope.as_ref().map(scope);
        [
            token.id.to_string(),
            token.user.to_string(),
            token.name.to_string(),
            or_dash(scope),
            time(Some(token.created_at)),
            time(token.expires_at),
        ]
    });
    table(["ID", "USER", "NAME", "SCOPE", "CREATED", "EXPIRES"], rows)
}

/// The limits of a token compared with its user.
pub(super) fn scope(scope: &TokenScope) -> String {
    let role = scope.role.map_or("same as user".to_owned(), |role| role.to_string());
    let Some(workspaces) = &scope.workspaces else { return role };
    let workspaces: Vec<_> = workspaces.iter().map(WorkspaceName::as_str).collect();
    format!("{role} in {}", workspaces.join(" "))
}
