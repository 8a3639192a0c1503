//! Which server a command talks to: the options for it, and the requests that use them.

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, Subcommand};
use client::{Client, Endpoint, Token};
use protocol::ProblemKind;
use secrecy::ExposeSecret;

use crate::{
    daemon_token, environment,
    exit::{self, CommandError, CommandResult},
    output::CommandOutput,
    secret::{self, HUB_TOKEN_VARIABLE, SecretString, TOKEN_VARIABLE},
};

/// The URL of a daemon that was started without options.
pub(crate) const DEFAULT_ENDPOINT: &str = "http://127.0.0.1:2468";

/// The URL of a hub that was started without options.
pub(crate) const DEFAULT_HUB: &str = "http://127.0.0.1:2470";

/// The options that find a server and authenticate to it. `U` is [`DaemonUrl`], [`HubUrl`] or [`HubOrDaemonUrl`].
#[derive(Debug, Args)]
#[command(next_help_heading = "Connection")]
pub(crate) struct ServerArgs<U: Args> {
    #[command(flatten)]
    url: U,
    /// Read the token from this file
    #[arg(long, global = true, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

/// [`ServerArgs`] for a command that sends requests and prints their answers.
#[derive(Debug, Args)]
#[command(next_help_heading = "Connection")]
pub(crate) struct RequestArgs<U: Args> {
    #[command(flatten)]
    server: ServerArgs<U>,
    /// Use this token; it is visible in the process list, so prefer --token-file or the variable
    /// TOMBOLO_TOKEN (daemon) or TOMBOLO_HUB_TOKEN (hub)
    #[arg(long, global = true, conflicts_with = "token_file")]
    token: Option<SecretString>,
    /// Print the response body unchanged, for programs
    #[arg(long, global = true)]
    json: bool,
}

/// The URL options of one kind of server.
pub(crate) trait ServerUrl: Args {
    /// The URL that was chosen.
    fn url(&self) -> &str;

    /// The kind of server that has this URL.
    fn kind(&self) -> &'static ServerKind;
}

/// How messages describe one kind of server.
#[derive(Debug)]
pub(crate) struct ServerKind {
    /// The option that sets the URL.
    url_option: &'static str,
    /// The environment variable with the token.
    token_variable: &'static str,
    /// The command that starts such a server.
    start_command: &'static str,
    /// Whether such a server generates a token that commands of the same user find.
    generates_token: bool,
    /// How to replace a lost token, as a further sentence.
    recovery: &'static str,
}

const DAEMON: ServerKind = ServerKind {
    url_option: "--endpoint",
    token_variable: TOKEN_VARIABLE,
    start_command: "tombolo up",
    generates_token: true,
    recovery: "",
};

const HUB: ServerKind = ServerKind {
    url_option: "--hub",
    token_variable: HUB_TOKEN_VARIABLE,
    start_command: "tombolo hub",
    generates_token: false,
    recovery: " If it is lost, run `tombolo hub tokens recover` on the machine of the hub.",
};

/// `--endpoint`.
#[derive(Debug, Args)]
pub(crate) struct DaemonUrl {
    /// Send requests to the daemon at this URL
    #[arg(
        long,
        global = true,
        env = "TOMBOLO_ENDPOINT",
        hide_env_values = true,
        default_value = DEFAULT_ENDPOINT,
        value_name = "URL"
    )]
    endpoint: String,
}

impl ServerUrl for DaemonUrl {
    fn url(&self) -> &str {
        &self.endpoint
    }

    fn kind(&self) -> &'static ServerKind {
        &DAEMON
    }
}

/// `--hub`.
#[derive(Debug, Args)]
pub(crate) struct HubUrl {
    /// Send requests to the hub at this URL
    #[arg(
        long,
        global = true,
        env = "TOMBOLO_HUB",
        hide_env_values = true,
        default_value = DEFAULT_HUB,
        value_name = "URL"
    )]
    hub: String,
    /// Deprecated: use --hub URL
    #[arg(long = "endpoint", global = true, hide = true, value_name = "URL")]
    endpoint: Option<String>,
}

impl ServerUrl for HubUrl {
    fn url(&self) -> &str {
        self.endpoint.as_deref().unwrap_or(&self.hub)
    }

    fn kind(&self) -> &'static ServerKind {
        &HUB
    }
}

/// `--hub` or `--endpoint`: a daemon is asked where no hub is configured.
#[derive(Debug, Args)]
pub(crate) struct HubOrDaemonUrl {
    /// Send requests to the hub at this URL
    #[arg(long, global = true, env = "TOMBOLO_HUB", hide_env_values = true, value_name = "URL")]
    hub: Option<String>,
    /// Send requests to the daemon at this URL, if no hub is set [default: http://127.0.0.1:2468]
    #[arg(long, global = true, env = "TOMBOLO_ENDPOINT", hide_env_values = true, value_name = "URL")]
    endpoint: Option<String>,
}

impl HubOrDaemonUrl {
    /// The URL of the hub. A user who has a token of a hub and names no server means the hub on this machine. An empty
    /// variable counts as unset.
    pub(crate) fn hub(&self) -> Option<&str> {
        let has_token = || environment::variable(HUB_TOKEN_VARIABLE).is_some();
        let named = self.hub.as_deref().filter(|hub| !hub.is_empty());
        named.or_else(|| (self.endpoint().is_none() && has_token()).then_some(DEFAULT_HUB))
    }

    fn endpoint(&self) -> Option<&str> {
        self.endpoint.as_deref().filter(|endpoint| !endpoint.is_empty())
    }
}

impl ServerUrl for HubOrDaemonUrl {
    fn url(&self) -> &str {
        self.hub().or(self.endpoint()).unwrap_or(DEFAULT_ENDPOINT)
    }

    fn kind(&self) -> &'static ServerKind {
        if self.hub().is_some() { &HUB } else { &DAEMON }
    }
}

impl<U: ServerUrl> ServerArgs<U> {
    /// The URL of the server.
    pub(crate) fn url(&self) -> &str {
        self.url.url()
    }

    /// A client for the server, with the token from the file or the environment, or the one that a daemon of this user
    /// generated.
    pub(crate) fn connect(&self) -> Result<Client, CommandError> {
        self.connect_with(None)
    }

    /// Suggests a remedy if the server cannot be reached or wants a token.
    pub(crate) fn hint(&self, failure: &CommandError) -> Option<String> {
        self.hint_with(failure, false)
    }

    /// The same; `has_token_option` tells whether the token is an argument of the command.
    fn hint_with(&self, failure: &CommandError, has_token_option: bool) -> Option<String> {
        let ServerKind { url_option, token_variable, start_command, recovery, .. } = self.url.kind();
        match failure {
            CommandError::Unreachable(_) => Some(format!(
                "Is the server running? Start one with `{start_command}`, or set its URL with {url_option}."
            )),
            CommandError::Refused(refusal) if refusal.urn == ProblemKind::Unauthorized.urn() => {
                let remedy = format!(
                    "Pass a token with --token-file FILE or the variable {token_variable}.{recovery}"
                );
                Some(match self.token_origin(has_token_option) {
                    Some(origin) => format!(
                        "The token that was sent, from {origin}, is wrong, expired, revoked or for another server. {remedy}"
                    ),
                    None => format!("No token was sent. {remedy}"),
                })
            }
            _ => None,
        }
    }

    /// Where the token came from that was sent; never the token itself.
    fn token_origin(&self, has_token_option: bool) -> Option<String> {
        let ServerKind { token_variable, generates_token, .. } = self.url.kind();
        if has_token_option {
            return Some("--token".into());
        }
        if let Some(file) = &self.token_file {
            return Some(format!("the file `{}`", file.display()));
        }
        if environment::variable(token_variable).is_some() {
            return Some(format!("the variable {token_variable}"));
        }
        let endpoint: Endpoint = self.url().parse().ok()?;
        let is_own = *generates_token && daemon_token::connect(&endpoint).is_some();
        is_own.then(|| "the data directory of your own daemon".into())
    }

    /// A client for the server; `token` takes precedence over the file, the file over the environment, and the environment over
    /// a generated token.
    fn connect_with(&self, token: Option<&SecretString>) -> Result<Client, CommandError> {
        let ServerKind { url_option, token_variable, generates_token, .. } = self.url.kind();
        let endpoint: Endpoint = self.url().parse().map_err(|error: client::InvalidEndpoint| {
            CommandError::Usage(format!("{url_option}: {error}"))
        })?;
        let token = secret::token(token, self.token_file.as_deref(), token_variable);
        let token = token
            .map_err(CommandError::Local)?
            .map(|token| token.expose_secret().parse::<Token>())
            .transpose();
        let token = token.map_err(|error| CommandError::Usage(format!("--token: {error}")))?;
        if token.is_none()
            && *generates_token
            && let Some(client) = daemon_token::connect(&endpoint)
        {
            return Ok(client?);
        }
        Ok(Client::new(endpoint, token.as_ref())?)
    }
}

/// A command that sends requests to one server and prints the answers.
pub(crate) trait RequestCommand {
    /// Sends the requests and prints the answers.
    async fn run(self, client: &Client, output: CommandOutput) -> CommandResult;

    /// The request in a few words, for error messages: `GET /v1/sessions`.
    fn describe(&self) -> String {
        "request".into()
    }
}

impl<U: ServerUrl> RequestArgs<U> {
    /// The URL options.
    pub(crate) fn url(&self) -> &U {
        &self.server.url
    }

    /// Where the command prints, and in which form.
    pub(crate) fn output(&self) -> CommandOutput {
        CommandOutput { json: self.json }
    }

    /// Runs `command` to its end, and reports a failure on stderr.
    pub(crate) fn run(&self, command: impl RequestCommand) -> ExitCode {
        let context = format!("{} at {}", command.describe(), self.server.url());
        let outcome = self.server.connect_with(self.token.as_ref()).and_then(|client| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let outcome = runtime.block_on(command.run(&client, self.output()));
            // Do not wait for the thread that reads standard input: its read may never return.
            runtime.shutdown_background();
            outcome
        });
        let hint =
            outcome.as_ref().err().and_then(|failure| self.server.hint_with(failure, self.token.is_some()));
        let code = exit::report(outcome, self.json, &context);
        if let Some(hint) = hint.filter(|_| !self.json) {
            exit::say(&hint);
        }
        code
    }
}

/// The commands of one resource, and the server they talk to.
#[derive(Debug, Args)]
pub(crate) struct ResourceArgs<U: Args, C: Subcommand> {
    #[command(flatten)]
    request: RequestArgs<U>,
    #[command(subcommand)]
    command: C,
}

impl<U: ServerUrl, C: Subcommand + RequestCommand> ResourceArgs<U, C> {
    pub(crate) fn run(self) -> ExitCode {
        self.request.run(self.command)
    }
}

/// A command that is not part of a resource, and the server it talks to.
#[derive(Debug, Args)]
pub(crate) struct SingleCommandArgs<U: Args, C: Args> {
    #[command(flatten)]
    request: RequestArgs<U>,
    #[command(flatten)]
    command: C,
}

impl<U: ServerUrl, C: Args + RequestCommand> SingleCommandArgs<U, C> {
    pub(crate) fn run(self) -> ExitCode {
        self.request.run(self.command)
    }
}
