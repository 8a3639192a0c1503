//! `tombolo api acp`.

mod stream;

use std::time::Duration;

use clap::{Args, Subcommand};
use client::{AcpMessage, AcpReply, Client};
use protocol::{
    AgentName, IdempotencyKey, ServerId,
    acp::{
        AcpInstance, AcpInstanceList, AcpInstanceState, AcpProcessExit, EventRange, PrepareInstanceRequest,
    },
};

use super::{
    input::{self, EnvironmentVariable},
    operations::mirrors,
};
use crate::{
    duration::{self, VALUE_NAME},
    exit::CommandResult,
    output::{CommandOutput, card, or_dash, table, time},
    server_args::RequestCommand,
};

#[derive(Debug, Subcommand)]
pub(crate) enum AcpCommand {
    /// List the running ACP instances
    #[command(
        after_help = "Examples:\n  tombolo api acp list\n  tombolo api acp list --json | jq '.items[].state'"
    )]
    List,
    /// Send a JSON-RPC message to an instance and print the agent's response
    #[command(after_help = "\
The first message to an instance starts its agent and needs --agent. The response is printed as the
agent wrote it. A notification has no response and prints nothing.

Examples:
  tombolo api acp send demo --agent mock \\
    '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}'
  tombolo api acp send demo - < message.json")]
    Send {
        /// Name of the instance; you choose it
        id: ServerId,
        /// The message as JSON; `-` or nothing reads standard input
        message: Option<String>,
        /// Start this agent if the instance does not exist yet
        #[arg(long)]
        agent: Option<AgentName>,
        /// Wait this long for the response [default: the daemon's limit]
        #[arg(long, value_name = VALUE_NAME, value_parser = duration::parse_positive)]
        timeout: Option<Duration>,
        /// Deprecated: use --timeout, for example --timeout 30s
        #[arg(long, value_name = "MS", hide = true, value_parser = clap::value_parser!(u64).range(1..))]
        timeout_ms: Option<u64>,
        /// Return at once; the response appears on the event stream only
        #[arg(long = "async")]
        respond_async: bool,
        /// Deliver the message once even if this command is repeated with the same key
        #[arg(long, value_name = "KEY")]
        idempotency_key: Option<IdempotencyKey>,
        #[command(flatten)]
        linger: LingerArgs,
    },
    /// Print the messages of an agent, and with --follow also new ones as they arrive
    #[command(after_help = "\
With --json each event is one line `{\"event\":…,\"id\":…,\"data\":…}`; `data` is what the agent wrote.
A lost connection is re-established and continues after the last message. The command ends when the
agent exits.

Examples:
  tombolo api acp stream demo
  tombolo api acp stream demo --follow --after 12
  tombolo api acp stream demo --follow --json | jq -c 'select(.event == \"message\") | .data'")]
    Stream {
        /// The instance
        id: ServerId,
        /// Print only events after the one with this id
        #[arg(long, value_name = "EVENT")]
        after: Option<u64>,
        /// Keep running and print new events
        #[arg(long, short)]
        follow: bool,
    },
    /// Create an instance with launch options; its agent starts with the first message
    #[command(
        after_help = "Examples:\n  tombolo api acp prepare demo --agent mock --cwd /workspace --env KEY=value -- --verbose"
    )]
    Prepare {
        /// Name of the instance; you choose it
        id: ServerId,
        /// Run this agent
        #[arg(long)]
        agent: AgentName,
        /// Run the agent in this directory
        #[arg(long, value_name = "DIRECTORY")]
        cwd: Option<String>,
        /// Add a variable to the agent's environment, by default with the value that it has here; may be
        /// repeated
        #[arg(long, value_name = input::VARIABLE)]
        env: Vec<EnvironmentVariable>,
        #[command(flatten)]
        linger: LingerArgs,
        /// Arguments to append to the agent's own
        #[arg(last = true)]
        args: Vec<String>,
    },
    /// Stop the agent of an instance with all its processes, and delete the instance
    #[command(after_help = "Examples:\n  tombolo api acp delete demo")]
    Delete {
        /// The instance; deleting one that does not exist succeeds
        id: ServerId,
        /// Kill the agent if it has not exited after this long; cannot exceed the daemon's own limit [default: the
        /// daemon's limit]
        #[arg(long, value_name = VALUE_NAME, value_parser = duration::parse)]
        grace: Option<Duration>,
        /// Deprecated: use --grace, for example --grace 2s
        #[arg(long, value_name = "MS", hide = true)]
        grace_ms: Option<u32>,
    },
}

/// `--linger`, for the commands that create an instance.
#[derive(Debug, Args)]
pub(crate) struct LingerArgs {
    /// Delete the new instance after it has had no reader and no pending request for this long
    #[arg(long, value_name = VALUE_NAME, value_parser = duration::parse_positive)]
    linger: Option<Duration>,
    /// Deprecated: use --linger, for example --linger 10m
    #[arg(long, value_name = "MS", hide = true, value_parser = clap::value_parser!(u64).range(1..))]
    linger_ms: Option<u64>,
}

impl LingerArgs {
    fn duration(&self) -> Option<Duration> {
        self.linger_ms.map(Duration::from_millis).or(self.linger)
    }
}

mirrors! { AcpCommand:
    List = "list" GET "/v1/acp";
    Send = "send" POST "/v1/acp/{server_id}";
    Stream = "stream" GET "/v1/acp/{server_id}";
    Prepare = "prepare" PUT "/v1/acp/{server_id}";
    Delete = "delete" DELETE "/v1/acp/{server_id}";
}

impl RequestCommand for AcpCommand {
    fn describe(&self) -> String {
        self.operation().to_string()
    }

    async fn run(self, client: &Client, output: CommandOutput) -> CommandResult {
        let acp = client.acp();
        match self {
            AcpCommand::List => output.answer(&acp.list().await?, list),
            AcpCommand::Send {
                id,
                message,
                agent,
                timeout,
                timeout_ms,
                respond_async,
                idempotency_key,
                linger,
            } => {
                let mut message = AcpMessage::new(input::text(message, output).await?);
                if let Some(agent) = agent {
                    message = message.agent(agent);
                }
                if let Some(timeout) = timeout_ms.map(Duration::from_millis).or(timeout) {
                    message = message.timeout(timeout);
                }
                if respond_async {
                    message = message.respond_async();
                }
                if let Some(key) = idempotency_key {
                    message = message.key(key);
                }
                if let Some(linger) = linger.duration() {
                    message = message.linger(linger);
                }
                match acp.send(&id, message).await? {
                    AcpReply::Response { response, .. } if output.json => output.bytes(response.body()),
                    AcpReply::Response { response, .. } => {
                        output.line(&crate::output::plain_json(response.body()))
                    }
                    AcpReply::Accepted => output.done("sent to the agent"),
                }
            }
            AcpCommand::Stream { id, after, follow: true } => {
                stream::follow(client, &id, after, output).await
            }
            AcpCommand::Stream { id, after, follow: false } => {
                stream::so_far(client, &id, after, output).await
            }
            AcpCommand::Prepare { id, agent, cwd, env, linger, args } => {
                let linger_ms = linger.duration().map(duration::milliseconds);
                let env = EnvironmentVariable::pairs(&env);
                let options = PrepareInstanceRequest { agent, cwd, env, args, linger_ms };
                output.answer(&acp.prepare(&id, &options).await?, |created| instance(&created))
            }
            AcpCommand::Delete { id, grace, grace_ms } => {
                let grace = grace_ms.map(|ms| Duration::from_millis(ms.into())).or(grace);
                acp.delete(&id, grace).await?;
                output.done(&format!("deleted instance {id}"))
            }
        }
    }
}

fn list(list: AcpInstanceList) -> String {
    let rows = list.items.into_iter().map(|instance| {
        [
            instance.server_id.to_string(),
            instance.agent.to_string(),
            state(&instance),
            or_dash(instance.pid),
            time(instance.started_at),
            instance.pending_requests.to_string(),
            instance.subscribers.to_string(),
            range(instance.events),
        ]
    });
    table(["ID", "AGENT", "STATE", "PID", "STARTED", "PENDING", "READERS", "EVENTS"], rows)
}

fn instance(instance: &AcpInstance) -> String {
    card([
        ("id", instance.server_id.to_string()),
        ("agent", instance.agent.to_string()),
        ("state", state(instance)),
        ("pid", or_dash(instance.pid)),
        ("started", time(instance.started_at)),
        ("pending", instance.pending_requests.to_string()),
        ("readers", instance.subscribers.to_string()),
        ("linger", instance.linger_ms.map_or_else(|| "-".into(), |ms| format!("{ms} ms"))),
        ("events", range(instance.events)),
    ])
}

fn state(instance: &AcpInstance) -> String {
    match (instance.state, &instance.exit) {
        (AcpInstanceState::Starting, _) => "starting".into(),
        (AcpInstanceState::Running, _) => "running".into(),
        (AcpInstanceState::Exited, Some(AcpProcessExit { code: Some(code), .. })) => {
            format!("exited ({code})")
        }
        (AcpInstanceState::Exited, Some(AcpProcessExit { signal: Some(signal), .. })) => {
            format!("exited (signal {signal})")
        }
        (AcpInstanceState::Exited, _) => "exited".into(),
    }
}

fn range(range: EventRange) -> String {
    if range.newest == 0 { "-".into() } else { format!("{}-{}", range.oldest, range.newest) }
}
