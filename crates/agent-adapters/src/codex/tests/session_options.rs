//! The options of a session and the prompts of a client as Codex gets them.

use std::collections::BTreeMap;

use protocol::{
    config::{McpOauth, McpOauthClient, McpServer, McpTransport},
    sessions::{AgentError, MessageAttachment, PermissionMode},
};
use serde_json::{Value, json};

use super::{
    super::{adapt, turn_input},
    everything, hear,
};
use crate::{Adapter, Fact, Options, Order, Out, Prompt, Saying, replay};

/// sessions-7: agent unsupported feature.
#[test]
fn a_mode_or_a_server_that_codex_cannot_have_is_unsupported() {
    let unsupported = |change: &dyn Fn(&mut Options)| {
        let mut options = replay::options();
        change(&mut options);
        match adapt(&options).err() {
            Some(AgentError::Unsupported { feature, .. }) => feature,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(unsupported(&|options| options.agent_mode = "wild".into()), "agentMode");
    let remote = |transport, oauth| McpServer::Remote {
        url: "https://example.com/mcp".into(),
        transport,
        headers: BTreeMap::new(),
        oauth,
        enabled: None,
        timeout_ms: None,
    };
    let sse = remote(Some(McpTransport::Sse), None);
    assert_eq!(unsupported(&|options| drop(options.mcp.insert("x".into(), sse.clone()))), "mcp");
    let client = McpOauthClient { client_id: Some("c".into()), client_secret: None, scope: None };
    let client = remote(None, Some(McpOauth::Client(client)));
    assert_eq!(unsupported(&|options| drop(options.mcp.insert("x".into(), client.clone()))), "mcp");
}

/// sessions-2: `agentMode` is behaviour, `permissionMode` is restriction; they are separate.
#[test]
fn modes_become_a_sandbox_a_policy_and_a_behaviour() {
    let check = |agent: &str, permissions, sandbox: &str, policy: &str, mode: Option<&str>| {
        let mut options = replay::options();
        (options.agent_mode, options.permission_mode) = (agent.into(), permissions);
        let said = opened(&options);
        let (thread, turn) = (&said[2]["params"], &said[3]["params"]);
        assert_eq!(thread["sandbox"], sandbox);
        assert_eq!(thread["approvalPolicy"], policy);
        assert_eq!(turn["collaborationMode"]["mode"].as_str(), mode);
    };
    check("build", PermissionMode::Default, "workspace-write", "untrusted", None);
    check("plan", PermissionMode::Default, "workspace-write", "untrusted", Some("plan"));
    check("plan", PermissionMode::Bypass, "danger-full-access", "never", Some("plan"));
    check("default", PermissionMode::Bypass, "danger-full-access", "never", None);
    check("build", PermissionMode::Plan, "read-only", "never", Some("plan"));
}

/// sessions-1: `model?, variant?`.
#[test]
fn what_a_session_wants_is_said_when_its_thread_begins() {
    let mut options = replay::options();
    options.model = Some("gpt-5.5".into());
    options.variant = Some("high".into());
    everything(&mut options);
    let remote = McpServer::Remote {
        url: "https://example.com/mcp".into(),
        transport: Some(McpTransport::Http),
        headers: BTreeMap::from([("Authorization".into(), "Bearer s".into())]),
        oauth: None,
        enabled: Some(false),
        timeout_ms: None,
    };
    options.mcp.insert("far".into(), remote);
    let wanted = json!({
        "cwd": "/home/user/project",
        "model": "gpt-5.5",
        "sandbox": "workspace-write",
        "approvalPolicy": "untrusted",
        "config": {
            "features": { "default_mode_request_user_input": true },
            "suppress_unstable_features_warning": true,
            "model_reasoning_effort": "high",
            "mcp_servers": {
                "everything": {
                    "command": "npx",
                    "args": ["-y", "@modelcontextprotocol/server-everything"],
                    "env": { "SECRET": "s" },
                    "enabled": true,
                    "tool_timeout_sec": 1.5,
                },
                "far": {
                    "url": "https://example.com/mcp",
                    "http_headers": { "Authorization": "Bearer s" },
                    "enabled": false,
                },
            },
        },
    });
    let said = opened(&options);
    let thread = said.iter().find(|said| said["method"] == "thread/start").unwrap();
    assert_eq!(thread["params"], wanted);
}

/// sessions-1: `token?`: Secrets are never in the arguments of a child.
#[test]
fn a_key_is_kept_in_memory_and_out_of_the_arguments() {
    let mut options = replay::options();
    assert!(adapt(&options).unwrap().args.is_empty());
    options.token = Some("sk-hush".into());
    assert_eq!(adapt(&options).unwrap().args, ["-c", "cli_auth_credentials_store=\"ephemeral\""]);
}

/// A provider of the user's own configuration has a key of its own: it is not sent another one.
#[test]
fn a_key_is_for_providers_that_want_a_login() {
    let second_and_third = |account: &Value| {
        let mut options = replay::options();
        options.token = Some("sk-hush".into());
        let (mut adapter, mut out) = (adapt(&options).unwrap().adapter, Out::default());
        adapter.start(&mut out);
        hear(adapter.as_mut(), &json!({ "id": 1, "result": {} }), &mut out);
        hear(adapter.as_mut(), account, &mut out);
        let said = out.says.iter().filter_map(|saying| match saying {
            Saying::Line(line) => {
                serde_json::from_slice::<Value>(line).unwrap()["method"].as_str().map(str::to_owned)
            }
            other => panic!("{other:?}"),
        });
        said.skip(2).collect::<Vec<_>>()
    };
    let read = |wants: bool| json!({ "id": 2, "result": { "account": null, "requiresOpenaiAuth": wants } });
    assert_eq!(second_and_third(&read(true)), ["account/read", "account/login/start"]);
    assert_eq!(second_and_third(&read(false)), ["account/read", "thread/start"]);
    let unknown = json!({ "id": 2, "error": { "code": -32601, "message": "no such method" } });
    assert_eq!(second_and_third(&unknown), ["account/read", "account/login/start"]);
}

/// sessions-3: attachments (text, file, image).
#[test]
fn attachments_are_input() {
    let attachments = vec![
        MessageAttachment::Text { name: Some("notes.md".into()), text: "words".into() },
        MessageAttachment::Text { name: None, text: "more".into() },
        MessageAttachment::File { path: "/etc/hosts".into() },
        MessageAttachment::Image { mime_type: "image/png".into(), data: "AAAA".into() },
    ];
    let said = Prompt { id: replay::input(1), text: "look".into(), attachments };
    let wanted = json!([
        { "type": "text", "text": "look" },
        { "type": "text", "text": "notes.md:\nwords" },
        { "type": "text", "text": "more" },
        { "type": "text", "text": "Attached file: /etc/hosts" },
        { "type": "image", "url": "data:image/png;base64,AAAA" },
    ]);
    assert_eq!(turn_input::prompt_input(&said), wanted);
}

/// sessions-16: MCP tool call: the tools are there when the first turn begins.
#[test]
fn the_first_turn_waits_for_mcp_servers_unless_it_is_interrupted() {
    let mut options = replay::options();
    everything(&mut options);
    let (mut adapter, mut out) = (adapt(&options).unwrap().adapter, Out::default());
    adapter.start(&mut out);
    hear(adapter.as_mut(), &json!({ "id": 1, "result": {} }), &mut out);
    hear(adapter.as_mut(), &json!({ "id": 2, "result": { "thread": { "id": "t" } } }), &mut out);
    let said = out.says.len();
    let prompt = |n| Order::Prompt(Prompt { id: replay::input(n), text: "go".into(), attachments: vec![] });
    adapter.tell(prompt(1), &mut out);
    adapter.tell(Order::Interrupt, &mut out);
    assert!(matches!(out.facts[..], [.., Fact::Refused { .. }, Fact::TurnEnded { .. }]), "{:?}", out.facts);
    adapter.tell(prompt(2), &mut out);
    let status = |status: &str| {
        let params = json!({ "threadId": "t", "name": "everything", "status": status });
        json!({ "method": "mcpServer/startupStatus/updated", "params": params })
    };
    hear(adapter.as_mut(), &status("starting"), &mut out);
    assert_eq!(out.says.len(), said);
    hear(adapter.as_mut(), &status("failed"), &mut out);
    assert_eq!(out.says.len(), said + 1);
}

/// Responds to the requests of the adapter until a thread is open.
fn begin(adapter: &mut dyn Adapter, provider: &str, out: &mut Out) {
    hear(adapter, &json!({ "id": 1, "result": {} }), out);
    let model = |name: &str, hidden| {
        let efforts = json!([{ "reasoningEffort": "low" }, { "reasoningEffort": "high" }]);
        json!({ "model": name, "displayName": name, "hidden": hidden, "supportedReasoningEfforts": efforts })
    };
    for id in 2..=3 {
        let said = out.says.iter().filter_map(|saying| match saying {
            Saying::Line(line) => serde_json::from_slice::<Value>(line).ok(),
            _ => None,
        });
        let answer = match said.into_iter().find(|said| said["id"] == id).map(|said| said["method"].clone()) {
            Some(method) if method == "model/list" => {
                json!({ "data": [model("gpt-5.5", false), model("gpt-5", true)] })
            }
            Some(_) => json!({ "thread": { "id": "t" }, "model": "gpt-5.5", "modelProvider": provider }),
            None => return,
        };
        hear(adapter, &json!({ "id": id, "result": answer }), out);
    }
}

/// sessions-1, daemon-5: a model or a variant that Codex does not have is refused with the list, unless the provider is one of
/// which Codex cannot know the models.
#[test]
fn a_model_that_codex_does_not_have_is_refused() {
    let failure = |model: &str, variant: Option<&str>, provider: &str| {
        let mut options = replay::options();
        (options.model, options.variant) = (Some(model.into()), variant.map(Into::into));
        let mut adapter = adapt(&options).unwrap().adapter;
        let mut out = Out::default();
        adapter.start(&mut out);
        begin(adapter.as_mut(), provider, &mut out);
        out.facts.into_iter().find_map(|fact| match fact {
            Fact::Failed(AgentError::Unsupported { message, .. }) => Some(message),
            _ => None,
        })
    };
    assert_eq!(failure("gpt-5.5", Some("high"), "openai"), None);
    assert_eq!(failure("gpt-5", None, "openai"), None, "a model that is hidden works");
    assert_eq!(failure("gtp", None, "openai").unwrap(), "there is no model `gtp`; choose one of gpt-5.5");
    assert_eq!(failure("llama", None, "mine"), None);
    let variant = failure("gpt-5.5", Some("odd"), "mine").unwrap();
    assert_eq!(variant, "there is no variant `odd`; choose one of low, high");
}

/// The messages to Codex up to the first prompt.
fn opened(options: &Options) -> Vec<Value> {
    let mut adapter = adapt(options).unwrap().adapter;
    let mut out = Out::default();
    adapter.start(&mut out);
    begin(adapter.as_mut(), "openai", &mut out);
    adapter.tell(
        Order::Prompt(Prompt { id: replay::input(1), text: "go".into(), attachments: vec![] }),
        &mut out,
    );
    let said = out.says.iter().map(|saying| match saying {
        Saying::Line(line) => serde_json::from_slice(line).unwrap(),
        other => panic!("{other:?}"),
    });
    said.collect()
}
