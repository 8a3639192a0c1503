use protocol::{
    Event,
    message::{PartContent, ToolStatus},
};

use super::{
    super::{
        Saying,
        replay::{self, check, input, options},
    },
    *,
};

#[track_caller]
fn replayed(case: &str, options: &Options) -> protocol::Transcript {
    check("acp", case, adapt(options).unwrap())
}

fn in_mode(agent_mode: &str) -> Options {
    Options { agent_mode: agent_mode.into(), ..options() }
}

/// sessions-11: a recorded conversation with its tool calls and permissions.
#[test]
fn claude_over_acp() {
    let transcript = replayed("claude-basic", &options());
    let parts = transcript.messages().iter().flat_map(|message| &message.parts);
    let done = parts.filter(
        |part| matches!(&part.content, PartContent::ToolCall(call) if call.status == ToolStatus::Completed),
    );
    assert_eq!(done.count(), 1, "one was allowed and one was not");
}

/// sessions-10: a plan is a question with two options.
#[test]
fn a_plan_over_acp_is_a_question() {
    replayed("claude-plan", &Options { permission_mode: PermissionMode::Plan, ..options() });
}

/// sessions-5: forms are questions, whatever their fields are called.
#[test]
fn forms_are_questions() {
    replayed("claude-question", &options());
    replayed("codex-question", &in_mode("workspace-write"));
}

/// sessions-6: an interrupted turn ends, and what was asked in it is moot.
#[test]
fn an_interrupted_turn_over_acp_ends() {
    replayed("claude-cancel", &options());
}

/// sessions-9: what an edit changes is told as a diff.
#[test]
fn an_edit_over_acp_has_a_diff() {
    let transcript = replayed("claude-edit", &options());
    let parts = transcript.messages().iter().flat_map(|message| &message.parts);
    let diffs = parts
        .filter(|part| matches!(&part.content, PartContent::ToolResult(result) if !result.diffs.is_empty()));
    assert!(diffs.count() > 0);
}

/// sessions-11: the same for agents that leave out half of it.
#[test]
fn other_agents_over_acp() {
    replayed("codex-permission", &in_mode("workspace-write"));
    replayed("gemini-basic", &options());
    replayed("pi-basic", &options());
    replayed("opencode-basic", &options());
}

/// sessions-7: what goes wrong is told by its kind.
#[test]
fn errors_over_acp_have_kinds() {
    replayed("claude-errors", &options());
    let of = |error: Value| RpcError::from_value(&error).into_agent_error();
    assert!(matches!(of(json!({ "code": 401, "message": "no" })), AgentError::TokenError { .. }));
    assert!(matches!(of(json!({ "code": -32000, "message": "log in" })), AgentError::TokenError { .. }));
    assert!(matches!(
        of(json!({ "code": -32603, "message": "API Error: 529 Overloaded" })),
        AgentError::ModelError { status: Some(529), .. }
    ));
    assert!(matches!(of(json!({ "code": -32603, "message": "oh" })), AgentError::Other { .. }));
}

/// What the adapter says to an agent that opened a session with `opened`.
fn said(options: Options, opened: &Value) -> (Vec<Value>, Vec<Fact>) {
    let mut adapter = Acp::new(options);
    let mut out = Out::default();
    adapter.start(&mut out);
    let mut hear =
        |message: Value, out: &mut Out| adapter.hear(Heard::Line(message.to_string().as_bytes()), out);
    let can = json!({ "loadSession": true, "mcpCapabilities": { "http": true } });
    hear(json!({ "id": 1, "result": { "agentCapabilities": can } }), &mut out);
    hear(json!({ "id": 2, "result": opened }), &mut out);
    for id in 3..6 {
        hear(json!({ "id": id, "result": {} }), &mut out);
    }
    let lines = out.says.iter().filter_map(|saying| match saying {
        Saying::Line(line) => serde_json::from_slice(line).ok(),
        _ => None,
    });
    (lines.collect(), out.facts)
}

/// sessions-2: modes, models and variants are set in the agent's own words, or refused by name.
#[test]
fn wishes_are_fulfilled_or_refused() {
    let opened = json!({ "sessionId": "s", "modes": { "availableModes": [{ "id": "plan" }, { "id": "auto" }] },
        "configOptions": [{ "id": "model", "options": [{ "value": "m" }] },
            { "id": "effort", "options": [{ "group": "g", "options": [{ "value": "high" }] }] }] });
    let wishes = Options {
        model: Some("m".into()),
        variant: Some("high".into()),
        permission_mode: PermissionMode::Plan,
        ..options()
    };
    let (lines, facts) = said(wishes, &opened);
    let params: Vec<_> = lines[2..].iter().map(|line| line["params"].clone()).collect();
    assert_eq!(
        params,
        [
            json!({ "sessionId": "s", "configId": "model", "value": "m" }),
            json!({ "sessionId": "s", "configId": "effort", "value": "high" }),
            json!({ "sessionId": "s", "modeId": "plan" }),
        ]
    );
    assert!(facts.contains(&Fact::Ready));
    for (wish, feature) in [
        (in_mode("dance"), "agentMode"),
        (Options { variant: Some("x".into()), ..options() }, "variant"),
        (Options { model: Some("x".into()), ..options() }, "model"),
        (Options { permission_mode: PermissionMode::Plan, ..options() }, "permissionMode"),
    ] {
        let (_, facts) = said(wish.clone(), &json!({ "sessionId": "s" }));
        let modes = opened["modes"].clone();
        assert!(
            feature == "permissionMode" || is_refused(&said(wish, &opened).1, "choose one of "),
            "{modes}"
        );
        let refused = facts.iter().any(
            |fact| matches!(fact, Fact::Failed(AgentError::Unsupported { feature: named, .. }) if named == feature),
        );
        assert!(refused && !facts.contains(&Fact::Ready), "{facts:?}");
    }
}

fn is_refused(facts: &[Fact], why: &str) -> bool {
    let refused = |fact: &Fact| matches!(fact, Fact::Failed(AgentError::Unsupported { message, .. }) if message.contains(why));
    facts.iter().any(refused)
}

/// daemon-5: what is listed is what is accepted; the model that is set is accepted although it is not listed.
#[test]
fn an_agent_offers_its_modes_and_models() {
    let opened = json!({ "sessionId": "s",
        "modes": { "availableModes": [{ "id": "plan", "name": "Plan", "description": "Reads" }] },
        "models": { "currentModelId": "mine", "availableModels": [{ "modelId": "m", "name": "M" }] } });
    let (_, facts) = said(Options { model: Some("mine".into()), ..options() }, &opened);
    assert!(facts.contains(&Fact::Ready));
    let Some(Fact::Offers(offers)) = facts.iter().find(|fact| matches!(fact, Fact::Offers(_))) else {
        panic!()
    };
    let ids: Vec<_> = offers.modes.iter().map(|mode| (mode.id.as_str(), mode.description.as_str())).collect();
    assert_eq!(ids, [("build", "The default behaviour of the agent"), ("plan", "Reads")]);
    assert_eq!(offers.models.as_ref().unwrap()[0].id, "m");
}

fn heard(adapter: &mut Acp, message: &Value, out: &mut Out) {
    adapter.hear(Heard::Line(message.to_string().as_bytes()), out);
}

fn update(update: &Value) -> Value {
    json!({ "method": "session/update", "params": { "sessionId": "s", "update": update } })
}

/// sessions-10: gemini-cli asks for the approval of a file, which it wrote before.
#[test]
fn a_plan_in_a_file_is_shown_and_approved() {
    let mut adapter = Acp::new(options());
    let mut out = Out::default();
    let (path, other) = ("/home/user/.gemini/tmp/p/plans/sail.md", "/home/user/project/code.rs");
    for (id, path, text) in [
        ("write_file__1", path, "# sail at noon"),
        ("write_file__2", other, "fn main() {}"),
        ("replace__3", path, "# sail at dawn"),
    ] {
        heard(
            &mut adapter,
            &update(&json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "kind": "edit",
            "content": [{ "type": "diff", "path": path, "oldText": "", "newText": text }] })),
            &mut out,
        );
    }
    let options =
        json!([{ "optionId": "yes", "kind": "allow_once" }, { "optionId": "no", "kind": "reject_once" }]);
    let ask = |id: u64, path: &str| {
        json!({ "id": id, "method": "session/request_permission", "params": { "options": options, "toolCall": {
            "toolCallId": format!("exit_plan_mode__{id}"), "kind": "other", "content": [], "locations": [],
            "title": format!("Requesting plan approval for: {path}") } } })
    };
    out.facts.clear();
    heard(&mut adapter, &ask(4, path), &mut out);
    let asked = |out: &Out| {
        out.facts.iter().find_map(|fact| match fact {
            Fact::Asked { key, asking: super::super::Asking::Question(ask) } => {
                Some((key.clone(), ask.plan.clone().unwrap()))
            }
            _ => None,
        })
    };
    let (key, plan) = asked(&out).expect("a plan");
    assert_eq!(plan, "# sail at dawn");
    out.says.clear();
    let reply = super::super::Reply::Answers(vec![vec!["Approve".into()]]);
    adapter.tell(Order::Answer { key, reply }, &mut out);
    let Saying::Line(line) = &out.says[0] else { panic!() };
    let answer: Value = serde_json::from_slice(line).unwrap();
    assert_eq!(answer["result"]["outcome"]["optionId"], "yes");
    // Of a file that an earlier process wrote, only the name is known.
    out.facts.clear();
    heard(&mut adapter, &ask(5, "/plans/old.md"), &mut out);
    assert!(asked(&out).expect("a plan").1.contains("/plans/old.md"));
}

/// sessions-9: gemini-cli reports its mode as if the model had said it.
#[test]
fn a_notice_of_the_mode_is_not_the_models_text() {
    let mut adapter = Acp::new(options());
    let mut out = Out::default();
    adapter.start(&mut out);
    heard(&mut adapter, &json!({ "id": 1, "result": {} }), &mut out);
    let modes = json!({ "availableModes": [{ "id": "plan", "name": "Plan" }] });
    heard(&mut adapter, &json!({ "id": 2, "result": { "sessionId": "s", "modes": modes } }), &mut out);
    out.facts.clear();
    let say = |text: &str| {
        update(
            &json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } }),
        )
    };
    heard(&mut adapter, &say("[MODE_UPDATE] plan"), &mut out);
    assert_eq!(out.facts, []);
    heard(&mut adapter, &say("[MODE_UPDATE] of mine"), &mut out);
    assert!(!out.facts.is_empty(), "this is text");
}

/// sessions-2: where nothing is checked, nobody is asked.
#[test]
fn bypass_answers_by_itself() {
    let mut adapter = Acp::new(Options { permission_mode: PermissionMode::Bypass, ..options() });
    let mut out = Out::default();
    let options =
        json!([{ "optionId": "no", "kind": "reject_once" }, { "optionId": "yes", "kind": "allow_once" }]);
    let ask = json!({ "id": 7, "method": "session/request_permission",
        "params": { "toolCall": { "toolCallId": "c" }, "options": options } });
    adapter.hear(Heard::Line(ask.to_string().as_bytes()), &mut out);
    let Some(Saying::Line(line)) = out.says.first() else { panic!("{out:?}") };
    let answer: Value = serde_json::from_slice(line).unwrap();
    assert_eq!(answer["result"]["outcome"]["optionId"], "yes");
    assert!(!out.facts.iter().any(|fact| matches!(fact, Fact::Asked { .. })));
}

/// sessions-13: a session goes on where it was, without telling again what was told.
#[test]
fn a_loaded_session_does_not_repeat_itself() {
    let mut adapter = Acp::new(Options { resume: Some("old".into()), ..options() });
    let mut out = Out::default();
    adapter.start(&mut out);
    for message in [
        json!({ "id": 1, "result": { "agentCapabilities": { "loadSession": true } } }),
        json!({ "method": "session/update", "params": { "update": { "sessionUpdate": "agent_message_chunk",
            "content": { "type": "text", "text": "old words" } } } }),
        json!({ "id": 2, "result": null }),
    ] {
        adapter.hear(Heard::Line(message.to_string().as_bytes()), &mut out);
    }
    assert_eq!(out.facts.len(), 3, "{:?}", out.facts);
    assert!(
        matches!(&out.facts[1], Fact::Started { agent_session_id: Some(id), started } if id == "old" && started.resumed)
    );
    out.facts.clear();
    adapter
        .tell(Order::Prompt(Prompt { id: input(1), text: "hi".into(), attachments: Vec::new() }), &mut out);
    assert!(out.says.len() == 3, "initialize, load, prompt");
}

/// sessions-9: nothing that an agent says is dropped.
#[test]
fn what_is_not_understood_is_kept() {
    let mut adapter = Acp::new(options());
    for line in [
        "not json",
        "[1]",
        r#"{"method":"session/what"}"#,
        r#"{"id":"x","result":1}"#,
        r#"{"id":99,"result":1}"#,
    ] {
        let mut out = Out::default();
        adapter.hear(Heard::Line(line.as_bytes()), &mut out);
        let unparsed = |fact: &Fact| {
            matches!(fact, Fact::Event(Event::Message(message))
                if matches!(message.parts[0].content, PartContent::Unparsed { .. }))
        };
        assert!(out.facts.iter().any(unparsed), "{line}: {out:?}");
    }
    let mut out = Out::default();
    adapter.hear(Heard::TooLong { bytes: 1 << 30 }, &mut out);
    assert_eq!(out.facts.len(), 1);
}

/// sessions-9: nothing that an agent says is dropped because something beside it has another form.
#[test]
fn one_bad_item_does_not_lose_the_others() {
    let opened = json!({ "sessionId": "s", "modes": { "currentModeId": 3, "availableModes": [7, { "id": "plan" }, {}] },
        "models": "none", "configOptions": [null, { "id": "effort", "currentValue": true, "options": [{}, { "value": "high" }] }] });
    let (lines, facts) = said(Options { variant: Some("high".into()), ..in_mode("plan") }, &opened);
    assert!(facts.contains(&Fact::Ready), "{facts:?}");
    let methods: Vec<_> = lines[2..].iter().map(|line| line["method"].as_str().unwrap()).collect();
    assert_eq!(methods, ["session/set_config_option", "session/set_mode"]);

    let mut adapter = Acp::new(options());
    let mut out = Out::default();
    for update in [
        json!({ "sessionUpdate": "available_commands_update", "availableCommands": [{ "name": 1 }, { "name": "fold" }] }),
        json!({ "sessionUpdate": "plan", "entries": ["x", { "content": "sail" }] }),
        json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "title": { "text": "x" }, "kind": "edit", "_meta": [],
            "content": [3, { "type": "diff", "path": "a.rs", "newText": "new" }, { "type": "shiny" }] }),
    ] {
        heard(&mut adapter, &self::update(&update), &mut out);
    }
    let shown = format!("{:?}", out.facts);
    for expected in ["fold", "sail", "a.rs", "kind: Edit"] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    out.says.clear();
    let choices = json!([{ "optionId": 1 }, { "optionId": "yes", "kind": "allow_once" }]);
    let ask = json!({ "id": 7, "method": "session/request_permission",
        "params": { "toolCall": { "toolCallId": "c", "title": 5 }, "options": choices } });
    heard(&mut adapter, &ask, &mut out);
    let reply = super::super::Reply::Permission(protocol::wait::PermissionAnswer::Once);
    adapter.tell(Order::Answer { key: "7".into(), reply }, &mut out);
    let Some(Saying::Line(line)) = out.says.last() else { panic!("{out:?}") };
    assert!(String::from_utf8_lossy(line).contains("\"optionId\":\"yes\""));
}

proptest::proptest! {
    /// sessions-11: whatever an agent says, in whatever order, it is heard to its end.
    #[test]
    fn no_line_is_too_much(lines in proptest::collection::vec(".{0,80}", 0..20), cut in 0..60usize) {
        let mut adapter = Acp::new(options());
        let (mut out, mut inputs) = (Out::default(), 0);
        adapter.start(&mut out);
        let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/acp/claude-basic");
        for line in replay::lines(&directory).iter().skip(cut) {
            replay::play(&mut adapter, line, &mut inputs, &mut out);
        }
        for line in lines {
            adapter.hear(Heard::Line(line.as_bytes()), &mut out);
        }
    }
}
