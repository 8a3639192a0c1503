//! Recorded runs as tests: `fixtures/<agent>/<case>/in.jsonl` has the agent's output and the session's commands in order, and
//! `out.snap` beside it the results of each line.
//!
//! A line of `in.jsonl` is one of
//! `{"hear": <output of the agent: JSON, or a text that is not JSON>}`, `{"answer": {"call": 1, "status": 200, "body": …}}`,
//! `{"prompt": "text"}`, `{"steer": "text"}`, `{"interrupt": true}`,
//! `{"reply": {"key": "…", "permission": "once"}}`, `{"reply": {"key": "…", "answers": [["Red"]]}}` and
//! `{"reply": {"key": "…"}}` for a request that the user dismisses.

use std::{fmt::Write, fs, path::Path};

use protocol::{Event, InputId, Transcript, sessions::AgentError};
use serde_json::{Value, json};

use super::{Adapted, Adapter, Fact, Heard, Options, Order, Out, Prompt, Reply, Saying};

/// Options that a test can change.
pub(super) fn options() -> Options {
    Options {
        run: "r1".into(),
        directory: "/home/user/project".into(),
        private: "/private".into(),
        agent_mode: "build".into(),
        permission_mode: protocol::sessions::PermissionMode::Default,
        model: None,
        variant: None,
        token: None,
        resume: None,
        mcp: Default::default(),
        skills: Default::default(),
        modes: Vec::new(),
        asks_models: false,
    }
}

/// The options of a replay, changed by `change`.
pub(super) fn options_with(change: impl FnOnce(&mut Options)) -> Options {
    let mut options = options();
    change(&mut options);
    options
}

/// The feature that an adapter rejects as unsupported.
///
/// # Panics
/// If the adapter accepts the options or fails for another reason.
pub(super) fn unsupported_feature(adapted: Result<Adapted, AgentError>) -> String {
    match adapted.map(|_| ()) {
        Err(AgentError::Unsupported { feature, .. }) => feature,
        other => panic!("the adapter did not reject a feature: {other:?}"),
    }
}

/// The id of the `n`th input of a replay.
pub(super) fn input(n: u64) -> InputId {
    format!("inp_{n:032x}").parse().unwrap()
}

/// Replays a recorded run, compares the results with their snapshot, and returns the transcript.
pub(super) fn check(agent: &str, case: &str, adapted: Adapted) -> Transcript {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(agent).join(case);
    let mut adapter = adapted.adapter;
    let (mut shown, mut transcript) = (String::new(), Transcript::default());
    let mut out = Out::default();
    adapter.start(&mut out);
    show("start", &mut out, &mut shown, &mut transcript);
    let mut inputs = 0;
    for line in lines(&directory) {
        play(adapter.as_mut(), &line, &mut inputs, &mut out);
        let what = line.as_object().unwrap().keys().next().unwrap().clone();
        show(&what, &mut out, &mut shown, &mut transcript);
    }
    insta::with_settings!({ snapshot_path => directory, prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("out", shown);
    });
    transcript
}

/// Passes one line of a recorded run to the adapter.
pub(super) fn play(adapter: &mut dyn Adapter, line: &Value, inputs: &mut u64, out: &mut Out) {
    let mut prompt = |text: &Value| {
        *inputs += 1;
        Prompt { id: input(*inputs), text: text.as_str().unwrap().into(), attachments: Vec::new() }
    };
    if let Some(said) = line.get("hear") {
        let text = said.as_str().map_or_else(|| said.to_string(), str::to_owned);
        adapter.hear(Heard::Line(text.as_bytes()), out);
    } else if let Some(answer) = line.get("answer") {
        let body = answer["body"].to_string();
        let (call, status) = (answer["call"].as_u64().unwrap(), answer["status"].as_u64().unwrap() as u16);
        adapter.hear(Heard::Answer { call, status, body: body.as_bytes() }, out);
    } else if let Some(text) = line.get("prompt") {
        adapter.turn_begins(out);
        adapter.tell(Order::Prompt(prompt(text)), out);
    } else if let Some(text) = line.get("steer") {
        adapter.tell(Order::Steer(prompt(text)), out);
    } else if line.get("interrupt").is_some() {
        adapter.tell(Order::Interrupt, out);
    } else if let Some(answer) = line.get("reply") {
        let key = answer["key"].as_str().unwrap().to_owned();
        adapter.tell(Order::Answer { key, reply: reply(answer) }, out);
    } else {
        panic!("no such line: {line}");
    }
}

fn reply(answer: &Value) -> Reply {
    if let Some(permission) = answer.get("permission") {
        return Reply::Permission(serde_json::from_value(permission.clone()).unwrap());
    }
    match answer.get("answers") {
        Some(answers) => Reply::Answers(serde_json::from_value(answers.clone()).unwrap()),
        None => Reply::Dismissed,
    }
}

/// The lines of a recorded run.
pub(super) fn lines(directory: &Path) -> Vec<Value> {
    let text = fs::read_to_string(directory.join("in.jsonl")).unwrap();
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn show(what: &str, out: &mut Out, shown: &mut String, transcript: &mut Transcript) {
    for saying in out.says.drain(..) {
        let said = match saying {
            Saying::Line(line) => serde_json::from_slice(&line).unwrap(),
            Saying::Call(call) => json!({ "call": call.id, call.method: call.path, "body": call.body }),
            Saying::Interrupt => json!("SIGINT"),
            Saying::Close => json!("EOF"),
        };
        writeln!(shown, "{what} → {said}").unwrap();
    }
    for fact in out.facts.drain(..) {
        // Long lists, which other tests check.
        if matches!(fact, Fact::Offers(_)) {
            continue;
        }
        writeln!(shown, "{what} ← {}", serde_json::to_value(&fact).unwrap()).unwrap();
        if let Fact::Event(event @ (Event::Message(_) | Event::MessageDelta(_))) = &fact {
            transcript.apply_event(event);
        }
    }
}
