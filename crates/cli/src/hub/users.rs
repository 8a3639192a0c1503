//! `tombolo hub users`.

use clap::{Args, Subcommand};
use client::Client;
use protocol::{
    UserName, Workspace,
    hub::Role,
    people::{AddUser, SetUser, User},
};

use crate::{
    exit::Outcome,
    output::{Output, or_dash, table, time, yes_no},
};

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// List the users, by name
    #[command(after_help = "Examples:\n  tombolo hub users list")]
    List,
    /// Add a user, who then needs a token
    #[command(after_help = "\
Examples:
  tombolo hub users add ana --role default=controller --role lab=owner
  tombolo hub users add ops --admin --everywhere owner")]
    Add {
        /// The name that they get
        name: UserName,
        #[command(flatten)]
        allowed: Allowed,
    },
    /// Say what a user may do
    #[command(after_help = "Examples:\n  tombolo hub users get ana")]
    Get {
        /// The user
        name: UserName,
    },
    /// Say what a user may do from now on; what is not said they may no longer do
    #[command(after_help = "Examples:\n  tombolo hub users set ana --role default=viewer")]
    Set {
        /// The user
        name: UserName,
        #[command(flatten)]
        allowed: Allowed,
    },
    /// Remove a user and all tokens of theirs
    #[command(after_help = "Examples:\n  tombolo hub users remove ana")]
    Remove {
        /// The user
        name: UserName,
    },
}

/// What somebody may do.
#[derive(Debug, Args)]
pub(super) struct Allowed {
    /// They manage users, tokens and runtimes
    #[arg(long)]
    admin: bool,
    /// What they may do in a workspace: `viewer`, `controller` or `owner`; may be repeated
    #[arg(long, value_name = "WORKSPACE=ROLE", value_parser = role)]
    role: Vec<(Workspace, Role)>,
    /// What they may do in all other workspaces, also in those of later
    #[arg(long, value_name = "ROLE")]
    everywhere: Option<Role>,
}

/// What an argument says that somebody may do, and where.
fn role(text: &str) -> Result<(Workspace, Role), String> {
    let (workspace, role) = text.split_once('=').ok_or("a workspace, `=` and a role")?;
    let workspace = workspace.parse::<Workspace>().map_err(|error| error.to_string())?;
    Ok((workspace, role.parse::<Role>().map_err(|error| error.to_string())?))
}

impl super::Verb for Verb {
    async fn run(self, hub: &Client, output: Output) -> Outcome {
        let users = hub.users();
        match self {
            Verb::List => output.answer(&users.list().await?, |list| view(list.items)),
            Verb::Add { name, allowed: Allowed { admin, role, everywhere } } => {
                let add = AddUser { name, admin, everywhere, roles: role.into_iter().collect() };
                output.answer(&users.add(&add).await?, |user| view(vec![user]))
            }
            Verb::Get { name } => output.answer(&users.get(&name).await?, |user| view(vec![user])),
            Verb::Set { name, allowed: Allowed { admin, role, everywhere } } => {
                let set = SetUser { admin, everywhere, roles: role.into_iter().collect() };
                output.answer(&users.set(&name, &set).await?, |user| view(vec![user]))
            }
            Verb::Remove { name } => {
                users.remove(&name).await?;
                output.done(&format!("removed {name}"))
            }
        }
    }
}

fn view(users: Vec<User>) -> String {
    let rows = users.into_iter().map(|user| {
        [
            user.name.to_string(),
            yes_no(user.admin),
            or_dash(user.everywhere),
            roles(&user),
            time(Some(user.created_at)),
        ]
    });
    table(["NAME", "ADMIN", "EVERYWHERE", "ROLES", "CREATED"], rows)
}

/// What somebody may do where, as it is typed.
pub(super) fn roles(user: &User) -> String {
    let roles: Vec<_> = user.roles.iter().map(|(workspace, role)| format!("{workspace}={role}")).collect();
    or_dash((!roles.is_empty()).then(|| roles.join(" ")))
}
