//! `tombolo hub users`: users and their roles.

use clap::{Args, Subcommand};
use client::Client;
use protocol::{
    UserName, WorkspaceName,
    hub::Role,
    people::{CreateUserRequest, UpdateUserRequest, User},
};

use crate::{
    exit::CommandResult,
    output::{CommandOutput, or_dash, table, time, yes_no},
    server_args::RequestCommand,
};

#[derive(Debug, Subcommand)]
pub(super) enum HubUsersCommand {
    /// List the users, by name
    #[command(after_help = "Examples:\n  tombolo hub users list")]
    List,
    /// Add a user; create a token for them with `tombolo hub tokens add`
    #[command(after_help = "\
Examples:
  tombolo hub users add ana --role default=controller --role lab=owner
  tombolo hub users add ops --admin --everywhere owner")]
    Add {
        /// The name of the user; you choose it
        name: UserName,
        #[command(flatten)]
        roles: RoleArgs,
    },
    /// Show a user and their roles
    #[command(after_help = "Examples:\n  tombolo hub users get ana")]
    Get {
        /// The user
        name: UserName,
    },
    /// Replace all roles of a user with the given ones
    #[command(after_help = "Examples:\n  tombolo hub users set ana --role default=viewer")]
    Set {
        /// The user
        name: UserName,
        #[command(flatten)]
        roles: RoleArgs,
    },
    /// Remove a user and revoke their tokens
    #[command(after_help = "Examples:\n  tombolo hub users remove ana")]
    Remove {
        /// The user
        name: UserName,
    },
}

/// The roles of a user.
#[derive(Debug, Args)]
pub(super) struct RoleArgs {
    /// Let the user manage users, tokens and runtimes
    #[arg(long)]
    admin: bool,
    /// Set the role in a workspace: viewer, controller or owner; may be repeated
    #[arg(long, value_name = "WORKSPACE=ROLE", value_parser = parse_role)]
    role: Vec<(WorkspaceName, Role)>,
    /// Set the role in all other workspaces, including future ones
    #[arg(long, value_name = "ROLE")]
    everywhere: Option<Role>,
}

/// Parses `WORKSPACE=ROLE`.
fn parse_role(text: &str) -> Result<(WorkspaceName, Role), String> {
    let (workspace, role) = text.split_once('=').ok_or("write WORKSPACE=ROLE, for example default=viewer")?;
    let workspace = workspace.parse::<WorkspaceName>().map_err(|error| error.to_string())?;
    Ok((workspace, role.parse::<Role>().map_err(|error| error.to_string())?))
}

impl RequestCommand for HubUsersCommand {
    async fn run(self, hub: &Client, output: CommandOutput) -> CommandResult {
        let users = hub.users();
        match self {
            HubUsersCommand::List => output.answer(&users.list().await?, |list| view(list.items)),
            HubUsersCommand::Add { name, roles: RoleArgs { admin, role, everywhere } } => {
                let user = CreateUserRequest {
                    name,
                    is_admin: admin,
                    default_role: everywhere,
                    roles: role.into_iter().collect(),
                };
                output.answer(&users.add(&user).await?, |user| view(vec![user]))
            }
            HubUsersCommand::Get { name } => output.answer(&users.get(&name).await?, |user| view(vec![user])),
            HubUsersCommand::Set { name, roles: RoleArgs { admin, role, everywhere } } => {
                let permissions = UpdateUserRequest {
                    is_admin: admin,
                    default_role: everywhere,
                    roles: role.into_iter().collect(),
                };
                output.answer(&users.update(&name, &permissions).await?, |user| view(vec![user]))
            }
            HubUsersCommand::Remove { name } => {
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
            yes_no(user.is_admin),
            or_dash(user.default_role),
            roles(&user),
            time(Some(user.created_at)),
        ]
    });
    table(["NAME", "ADMIN", "EVERYWHERE", "ROLES", "CREATED"], rows)
}

/// The roles of a user as `--role` spells them.
pub(super) fn roles(user: &User) -> String {
    let roles: Vec<_> = user.roles.iter().map(|(workspace, role)| format!("{workspace}={role}")).collect();
    or_dash((!roles.is_empty()).then(|| roles.join(" ")))
}
