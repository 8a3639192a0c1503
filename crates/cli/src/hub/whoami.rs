//! `tombolo hub whoami`.

use clap::Args;
use client::Client;

use super::{Verb, tokens::scope, users::roles};
use crate::{
    exit::Outcome,
    output::{Output, card, or_dash, time, yes_no},
};

/// Nothing needs to be said.
#[derive(Debug, Args)]
pub(super) struct WhoAmI {}

impl Verb for WhoAmI {
    async fn run(self, hub: &Client, output: Output) -> Outcome {
        output.answer(&hub.users().whoami().await?, |who| {
            card([
                ("user", who.user.name.to_string()),
                ("admin", yes_no(who.user.admin)),
                ("everywhere", or_dash(who.user.everywhere)),
                ("roles", roles(&who.user)),
                ("token", format!("{} ({})", who.token.id, who.token.name)),
                ("scope", or_dash(who.token.scope.as_ref().map(scope))),
                ("expires", time(who.token.expires_at)),
            ])
        })
    }
}
