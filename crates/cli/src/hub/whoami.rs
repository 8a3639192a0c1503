//! `tombolo hub whoami`: the user and token that a request authenticates as.

use clap::Args;
use client::Client;

use super::{tokens::scope, users::roles};
use crate::{
    exit::CommandResult,
    output::{CommandOutput, card, or_dash, time, yes_no},
    server_args::RequestCommand,
};

/// Show your user and token; takes no options.
#[derive(Debug, Args)]
pub(super) struct HubWhoamiArgs {}

impl RequestCommand for HubWhoamiArgs {
    async fn run(self, hub: &Client, output: CommandOutput) -> CommandResult {
        output.answer(&hub.users().whoami().await?, |me| {
            card([
                ("user", me.user.name.to_string()),
                ("admin", yes_no(me.user.is_admin)),
                ("everywhere", or_dash(me.user.default_role)),
                ("roles", roles(&me.user)),
                ("token", format!("{} ({})", me.token.id, me.token.name)),
                ("scope", or_dash(me.token.scope.as_ref().map(scope))),
                ("expires", time(me.token.expires_at)),
            ])
        })
    }
}
