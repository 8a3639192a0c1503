//! `tombolo api acp`.

mod stream;

use std::time::Duration;

use clap::Subcommand;
use client::{Client, Message, Reply};
use protocol::{
    AgentName, IdempotencyKey, ServerId,
    acp::{EventRange, Exit, Instance, InstanceList, Prepare, State},
};

use super::{
    input::{self, Variable},
    operations::{Operation, mirrors},
};
use crate::{
    exit::Outcome,
    output::{Output, card, or_dash, table, time},
};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List the instances
    #[command(
        after_help = "Examples:\n  tombolo api acp list\n  tombolo api acp list --json | jq '.items[].state'"
    )]
    List,
    /// Send one JSON-RPC message to an instance and print the agent's response
    #[command(after_help = "\
The first message to an instance starts its agent and needs --agent. A response is printed as the
agent wrote it; a message that wants none prints nothing.

Examples:
  tombolo api acp send demo --agent mock \\
    '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}'
  tombolo api acp send demo - < message.json")]
    Send {
        /// Your name for the instance
        id: ServerId,
        /// The message; `-` or nothing for standard input
        message: Option<String>,
        /// The agent to run
        #[arg(long)]
        agent: Option<AgentName>,
        /// How many milliseconds to wait for the response; the daemon's limit if left out
        #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
        timeout_ms: Option<u64>,
        /// Do not wait for the response: it is on the stream only
        #[arg(long = "async")]
        respond_async: bool,
        /// A key that makes it safe to send the message again: it is handed to the agent once
        #[arg(long, value_name = "KEY")]
        idempotency_key: Option<IdempotencyKey>,
        /// Delete an instance that is made by this once nobody was there for it for so many milliseconds: no reader of its
        /// stream, and no message on its way
        #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
        linger_ms: Option<u64>,
    },
    /// Print what an agent said, and with --follow what it says next
    #[command(after_help = "\
With --json each event is a line `{\"event\":…,\"id\":…,\"data\":…}`; `data` is what the agent wrote.
A cut connection is made anew and goes on after the last message. It ends when the agent does.

Examples:
  tombolo api acp stream demo
  tombolo api acp stream demo --follow --after 12
  tombolo api acp stream demo --follow --json | jq -c 'select(.event == \"message\") | .data'")]
    Stream {
        /// The instance
        id: ServerId,
        /// Only what came after the event of this id
        #[arg(long, value_name = "EVENT")]
        after: Option<u64>,
        /// Wait for what comes next
        #[arg(long, short)]
        follow: bool,
    },
    /// Prepare an instance with its own launch options; it starts with the first message
    #[command(
        after_help = "Examples:\n  tombolo api acp prepare demo --agent mock --cwd /workspace --env KEY=value -- --verbose"
    )]
    Prepare {
        /// Your name for the instance
        id: ServerId,
        /// The agent to run
        #[arg(long)]
        agent: AgentName,
        /// The directory it runs in
        #[arg(long, value_name = "DIRECTORY")]
        cwd: Option<String>,
        /// A variable added to its environment; may be repeated
        #[arg(long, value_name = "NAME=VALUE")]
        env: Vec<Variable>,
        /// Delete an instance that is made by this once nobody was there for it for so many milliseconds: no reader of its
        /// stream, and no message on its way
        #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
        linger_ms: Option<u64>,
        /// Arguments added after the agent's own
        #[arg(last = true)]
        args: Vec<String>,
    },
    /// End an instance and every process of it
    #[command(after_help = "Examples:\n  tombolo api acp delete demo")]
    Delete {
        /// The instance; it need not be there
        id: ServerId,
        /// How many milliseconds the agent may take to end by itself before it is killed; no more than the daemon gives
        /// every agent, which it is if left out
        #[arg(long, value_name = "MS")]
        grace_ms: Option<u32>,
    },
}

mirrors! { Verb:
    List = "list" GET "/v1/acp";
    Send = "send" POST "/v1/acp/{server_id}";
    Stream = "stream" GET "/v1/acp/{server_id}";
    Prepare = "prepare" PUT "/v1/acp/{server_id}";
    Delete = "delete" DELETE "/v1/acp/{server_id}";
}

impl super::Verb for Verb {
    fn operation(&self) -> &'static Operation {
        self.mirrored()
    }

    async fn run(self, client: &Client, output: Output) -> Outcome {
        let acp = client.acp();
        match self {
            Verb::List => output.answer(&acp.list().await?, list),
            Verb::Send { id, message, agent, timeout_ms, respond_async, idempotency_key, linger_ms } => {
                let mut message = Message::new(input::text(message, output).await?);
                if let Some(agent) = agent {
                    message = message.agent(agent);
                }
                if let Some(ms) = timeout_ms {
                    message = message.timeout(Duration::from_millis(ms));
                }
                if respond_async {
                    message = message.respond_async();
                }
                if let Some(key) = idempotency_key {
                    message = message.key(key);
                }
                if let Some(ms) = linger_ms {
                    message = message.linger(Duration::from_millis(ms));
                }
                match acp.send(&id, message).await? {
                    Reply::Response { answer, .. } if output.json => output.bytes(answer.body()),
                    Reply::Response { answer, .. } => output.line(&crate::output::plain_json(answer.body())),
                    Reply::Accepted => output.done("handed to the agent"),
                }
            }
            Verb::Stream { id, after, follow: true } => stream::follow(client, &id, after, output).await,
            Verb::Stream { id, after, follow: false } => stream::so_far(client, &id, after, output).await,
            Verb::Prepare { id, agent, cwd, env, linger_ms, args } => {
                let env = env.into_iter().map(|variable| (variable.name, variable.value)).collect();
                let options = Prepare { agent, cwd, env, args, linger_ms };
                output.answer(&acp.prepare(&id, &options).await?, |made| instance(&made))
            }
            Verb::Delete { id, grace_ms } => {
                let grace = grace_ms.map(|ms| Duration::from_millis(ms.into()));
                acp.delete(&id, grace).await?;
                output.done(&format!("instance {id} is gone"))
            }
        }
    }
}

fn list(list: InstanceList) -> String {
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

fn instance(instance: &Instance) -> String {
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

fn state(instance: &Instance) -> String {
    match (instance.state, &instance.exit) {
        (State::Starting, _) => "starting".into(),
        (State::Running, _) => "running".into(),
        (State::Exited, Some(Exit { code: Some(code), .. })) => format!("exited ({code})"),
        (State::Exited, Some(Exit { signal: Some(signal), .. })) => format!("exited (signal {signal})"),
        (State::Exited, _) => "exited".into(),
    }
}

fn range(range: EventRange) -> String {
    if range.newest == 0 { "-".into() } else { format!("{}-{}", range.oldest, range.newest) }
}
