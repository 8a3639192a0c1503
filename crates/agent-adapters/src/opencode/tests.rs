use std::{
    fs,
    path::{Path, PathBuf},
};

use process::{FramedLine, LineFramer};
use proptest::prelude::*;
use protocol::{
    Transcript,
    message::{MessagePart, PartContent},
    sessions::PermissionMode,
};
use serde_json::Value;

use super::{
    super::{
        Fact, Heard, Options, Out, Transport,
        altered_run::{self, AlteredRun},
        replay::{self, options_with},
    },
    adapt,
    permission_policy::{PermissionDecision, PermissionPolicy},
};

fn check(case: &str, options: &Options) -> Transcript {
    replay::check("opencode", case, adapt(options).unwrap())
}

fn planning() -> Options {
    options_with(|options| options.permission_mode = PermissionMode::Plan)
}

/// The text parts of a transcript, in order.
fn texts<'a>(transcript: &'a Transcript) -> Vec<&'a str> {
    let parts = transcript.messages().iter().flat_map(|message| &message.parts);
    let text = |part: &'a MessagePart| match &part.content {
        PartContent::Text { text } => Some(text.as_str()),
        _ => None,
    };
    parts.filter_map(text).collect()
}

/// sessions-16: text, streamed deltas, reasoning, multi-turn memory.
#[test]
fn texts_and_thoughts_come_in_pieces_and_whole() {
    assert_eq!(texts(&check("text", &replay::options())), ["hello opencode", "again"]);
}

/// sessions-16: shell tool call + result, permission once/always/reject. What is allowed always is allowed in this session
/// alone, and in the running turn too, which the server's rules do not reach.
#[test]
fn a_permission_is_given_once_or_for_the_session_or_not() {
    let transcript = check("permission", &replay::options());
    let rejected = texts(&transcript).into_iter().find(|text| text.contains("does not allow this"));
    assert!(rejected.is_some(), "the model is told");
}

/// sessions-5: rejecting one rejects every open request of the server's session: the others are withdrawn, and the agent,
/// which stops for it, is told to go on.
#[test]
fn rejecting_one_permission_withdraws_the_others_and_does_not_end_the_turn() {
    let transcript = check("parallel", &replay::options());
    assert_eq!(texts(&transcript).len(), 1, "it has gone on");
}

/// sessions-16: file edit with diff.
#[test]
fn an_edit_tells_what_it_changed() {
    let transcript = check("edit", &replay::options());
    let parts = transcript.messages().iter().flat_map(|message| &message.parts);
    let results = parts.filter_map(|part| match &part.content {
        PartContent::ToolResult(result) => Some(result),
        _ => None,
    });
    let diffs: Vec<_> = results.flat_map(|result| &result.diffs).collect();
    assert_eq!(diffs.len(), 2);
    assert!(diffs.iter().all(|diff| diff.path == "/home/user/project/w.txt"));
    assert!(diffs.iter().all(|diff| diff.unified.as_ref().is_some_and(|text| text.contains("\n+"))));
}

/// sessions-16: question reply/reject.
#[test]
fn a_question_is_answered_or_not() {
    check("question", &replay::options());
}

/// sessions-8: `plan`.
#[test]
fn a_list_of_things_to_do_is_a_plan() {
    check("todo", &replay::options());
}

/// sessions-2: `plan` restriction = read only until plan approval.
#[test]
fn only_reading_is_allowed_until_the_plan_is_approved() {
    check("plan-approved", &planning());
}

/// sessions-2: the same for calls that are made together.
#[test]
fn calls_that_are_not_allowed_before_the_plan_do_not_end_the_turn() {
    let transcript = check("plan-parallel", &planning());
    assert_eq!(texts(&transcript).len(), 1, "it has gone on");
}

/// sessions-2: after approval the rules are those of the default mode, in the running turn too.
#[test]
fn what_is_allowed_changes_with_the_approval_of_the_plan() {
    let mut policy = PermissionPolicy::new(PermissionMode::Plan);
    let mut check = |expected: [PermissionDecision; 4]| {
        let asked =
            [("bash", "ls"), ("everything_echo", "*"), ("edit", "a.rs"), ("external_directory", "/etc/*")];
        assert_eq!(asked.map(|(permission, pattern)| policy.decide(permission, &[pattern.into()])), expected);
        policy.approve_plan();
    };
    use PermissionDecision::{Allow, Ask, Refuse};
    check([Refuse, Refuse, Refuse, Ask]);
    check([Ask, Allow, Ask, Ask]);
}

/// sessions-13: that a plan was approved is known in the next process.
#[test]
fn an_approved_plan_stays_approved() {
    let mut policy = PermissionPolicy::new(PermissionMode::Plan);
    let planning = policy.rules();
    let mut left = planning.clone();
    left.extend(policy.approve_plan());
    let mut next = PermissionPolicy::new(PermissionMode::Plan);
    assert!(next.restore(&planning) && next.is_planning());
    assert!(next.restore(&left) && !next.is_planning());
    assert!(!next.restore(&[]) && next.is_planning());
}

/// sessions-16: plan approve/reject. The server takes any other text than a no for a yes.
#[test]
fn a_plan_is_rejected_with_words_that_the_agent_is_told() {
    check("plan-rejected", &planning());
}

/// sessions-2: `bypass` = no checks: not those of a subagent either.
#[test]
fn nothing_is_asked_where_all_is_allowed() {
    check("bypass", &options_with(|options| options.permission_mode = PermissionMode::Bypass));
}

/// sessions-9: what a subagent does is the inside of the call that started it, and it asks like any other.
#[test]
fn a_subagent_is_the_inside_of_its_call() {
    let transcript = check("subagent", &replay::options());
    let inside = transcript.messages().iter().filter(|message| message.parent_tool_call_id.is_some());
    assert_eq!(inside.count(), 2);
}

/// sessions-5: a subagent asks before the call that started it says which session it got.
#[test]
fn a_subagent_that_was_not_announced_asks_too() {
    check("subagent-unannounced", &replay::options());
}

/// sessions-12: the server tells messages of earlier turns again, and begins a turn by itself.
#[test]
fn old_messages_neither_begin_nor_hold_up_a_turn() {
    assert_eq!(texts(&check("old-messages", &replay::options())), ["hello opencode", "by itself"]);

    // The first event of a new process is an old message with its summary.
    let mut adapter = adapt(&replay::options()).unwrap().adapter;
    let (mut out, mut inputs) = (Out::default(), 0);
    adapter.start(&mut out);
    let lines = recorded("old-messages");
    let old = lines.iter().position(|line| line.to_string().contains(r#""summary":{"#)).unwrap();
    for line in &lines[..=old] {
        replay::play(adapter.as_mut(), line, &mut inputs, &mut out);
    }
    assert!(!out.facts.iter().any(|fact| matches!(fact, Fact::Consumed(_))), "{:?}", out.facts);
}

/// sessions-16: interrupt: of a text, of a command that waits for permission, and before the server has begun.
#[test]
fn an_interrupted_turn_ends_once_its_last_message_is_closed() {
    check("interrupt", &replay::options());
}

/// sessions-3: steered into the turn.
#[test]
fn what_is_said_in_a_turn_is_answered_in_it() {
    assert_eq!(texts(&check("steer", &replay::options())), ["one two three four five six", "steered"]);
}

/// sessions-7: agent errors are typed.
#[test]
fn failures_of_the_model_are_told_by_their_kind() {
    check("errors", &replay::options());
}

/// sessions-7: a model that does not exist; said twice by the server and once by us.
#[test]
fn a_model_that_is_not_there_fails_the_turn() {
    check("wrong-model", &replay::options());
}

/// sessions-7: agent unsupported feature.
#[test]
fn a_mode_that_is_not_there_is_not_supported() {
    check("wrong-mode", &options_with(|options| options.agent_mode = "nope".into()));
}

/// sessions-16: model/variant/mode selection.
#[test]
fn model_variant_and_mode_are_said_with_every_prompt() {
    let options = options_with(|options| {
        options.model = Some("scripted/scripted-2".into());
        options.variant = Some("high".into());
        options.agent_mode = "plan".into();
    });
    check("choice", &options);
}

/// sessions-13: the next message resumes the agent's own session; what was allowed in it still is.
#[test]
fn a_session_goes_on_in_another_process() {
    let id = "ses_e1d5ec5c2ffeqwR2BnT6K6HEF8";
    check("resume", &options_with(|options| options.resume = Some(id.into())));
}

/// sessions-15: one that cannot be found is begun anew, and that is told.
#[test]
fn a_session_that_is_gone_is_begun_anew() {
    check("resume-missing", &options_with(|options| options.resume = Some("ses_nothere".into())));
}

/// sessions-16: MCP tool call; one that cannot be started is told.
#[test]
fn the_tools_of_an_mcp_server_are_used() {
    let local =
        |command: &str| serde_json::from_value(serde_json::json!({ "type": "local", "command": command }));
    let options = options_with(|options| {
        options.mcp = [("every thing", "node"), ("broken", "/nonexistent")]
            .map(|(name, command)| (name.to_owned(), local(command).unwrap()))
            .into();
    });
    check("mcp", &options);
}

/// sessions-9: nothing an agent says is dropped. What other sessions say is.
#[test]
fn what_is_not_understood_is_kept() {
    let transcript = check("unparsed", &replay::options());
    let parts = transcript.messages().iter().flat_map(|message| &message.parts);
    assert_eq!(parts.filter(|part| matches!(part.content, PartContent::Unparsed { .. })).count(), 6);
}

/// sessions-1: what the server is started with: no secret in its arguments, MCP servers and skills in its environment.
#[test]
fn the_server_is_started_with_the_mcp_servers_and_skills_of_the_session() {
    let options = options_with(|options| {
        let remote = serde_json::json!({
            "type": "remote", "url": "https://mcp.test", "headers": { "Authorization": "hush" },
            "oauth": { "clientId": "me" }, "timeoutMs": 5000,
        });
        let local =
            serde_json::json!({ "type": "local", "command": ["a", "b"], "args": ["c"], "env": { "D": "e" } });
        let servers = [("far", remote), ("near", local)];
        options.mcp =
            servers.map(|(name, server)| (name.into(), serde_json::from_value(server).unwrap())).into();
        options.skills = [("shout".into(), PathBuf::from("/skills/shout"))].into();
    });
    let adapted = adapt(&options).unwrap();
    assert_eq!(adapted.transport, Transport::Server);
    insta::assert_debug_snapshot!((adapted.args, adapted.env));
}

#[test]
fn a_model_or_a_variant_that_is_not_there_is_not_supported() {
    let failure = |model: &str, variant: &str| {
        let options = options_with(|options| {
            (options.model, options.variant) = (Some(model.into()), Some(variant.into()));
        });
        let (mut adapter, mut out) = (adapt(&options).unwrap().adapter, Out::default());
        adapter.start(&mut out);
        let mut inputs = 0;
        for line in recorded("choice").iter().filter(|line| line.get("answer").is_some()).take(2) {
            replay::play(adapter.as_mut(), line, &mut inputs, &mut out);
        }
        out.facts.into_iter().find_map(|fact| match fact {
            Fact::Failed(protocol::sessions::AgentError::Unsupported { feature, message }) => {
                Some((feature, message))
            }
            _ => None,
        })
    };
    assert_eq!(failure("scripted/scripted-1", "high"), None);
    let (feature, message) = failure("scripted-1", "high").unwrap();
    assert_eq!(
        (feature.as_str(), message.as_str()),
        ("model", "there is no model `scripted-1`; choose one of scripted/scripted-1, scripted/scripted-2")
    );
    let (feature, message) = failure("scripted/scripted-1", "odd").unwrap();
    assert_eq!(
        (feature.as_str(), message.as_str()),
        ("variant", "there is no variant `odd`; choose one of high, low, medium")
    );
}

/// sessions-9: nothing an agent says is dropped. A message whose error has an unexpected shape has failed all the same.
#[test]
fn an_unexpected_type_does_not_lose_other_fields_or_items() {
    let (mut adapter, mut out, mut inputs) = (adapt(&replay::options()).unwrap().adapter, Out::default(), 0);
    adapter.start(&mut out);
    let lines = [
        r#"{ "answer": { "call": 1, "status": 200, "body": [7, { "name": [] }, { "name": "build", "hidden": 0 }] } }"#,
        r#"{ "answer": { "call": 2, "status": 200, "body": { "model": 5 } } }"#,
        r#"{ "answer": { "call": 3, "status": 200, "body": { "id": "s", "version": 1, "permission": {} } } }"#,
        r#"{ "prompt": "go" }"#,
        r#"{ "hear": { "type": "session.status", "properties": { "sessionID": "s", "status": { "type": "busy" } } } }"#,
        r#"{ "hear": { "type": "message.updated", "properties": { "sessionID": "s", "info": { "id": "m1", "role": "user" } } } }"#,
        r#"{ "hear": { "type": "question.asked", "properties": { "sessionID": "s", "id": "q", "tool": 5, "questions": [
            { "question": "Which?", "options": [{ "label": "X", "description": 1 }, 5] }, null, { "question": "Name?" }] } } }"#,
        r#"{ "hear": { "type": "message.updated", "properties": { "sessionID": "s", "info": { "id": "m2", "role": "assistant",
            "parentID": "m1", "time": 7, "error": "broken" } } } }"#,
        r#"{ "hear": { "type": "session.idle", "properties": { "sessionID": "s" } } }"#,
    ];
    for line in lines {
        replay::play(adapter.as_mut(), &serde_json::from_str(line).unwrap(), &mut inputs, &mut out);
    }
    let facts = serde_json::to_value(&out.facts).unwrap();
    let find = |name: &str| facts.as_array().unwrap().iter().find_map(|fact| fact.get(name)).unwrap();
    let questions = find("asked")["asking"]["question"]["questions"].as_array().unwrap();
    let texts: Vec<_> = questions.iter().map(|question| question["question"].as_str().unwrap()).collect();
    assert_eq!(texts, ["Which?", "", "Name?"]);
    assert_eq!(questions[0]["options"][0]["label"], "X");
    assert_eq!(find("turnEnded")["reason"], "failed");
}

fn recorded(case: &str) -> Vec<Value> {
    replay::lines(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/opencode").join(case))
}

/// Replays a run whose lines come in pieces of these sizes, over and over; all facts.
fn replayed(case: &str, sizes: &[usize]) -> Vec<Fact> {
    let mut adapter = adapt(&replay::options()).unwrap().adapter;
    let (mut out, mut framer, mut inputs) = (Out::default(), LineFramer::new(1 << 20), 0);
    adapter.start(&mut out);
    let mut sizes = sizes.iter().cycle();
    let mut waiting = Vec::new();
    for line in recorded(case) {
        if let Some(said) = line.get("hear") {
            waiting.extend_from_slice(said.to_string().as_bytes());
            waiting.push(b'\n');
            continue;
        }
        let mut rest = &waiting[..];
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.len().min(*sizes.next().unwrap()));
            rest = after;
            framer.space().extend_from_slice(piece);
            for said in framer.chunk() {
                let FramedLine::Line(said) = said else { panic!("{said:?}") };
                adapter.hear(Heard::Line(said), &mut out);
            }
        }
        waiting.clear();
        replay::play(adapter.as_mut(), &line, &mut inputs, &mut out);
    }
    out.facts
}

/// The recorded runs in which every turn begins with a prompt. Where the server begins one, only one event reveals it: without
/// it the messages of that turn look like the rest of an earlier one.
fn prompted_runs() -> Vec<Vec<Value>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/opencode");
    let mut cases: Vec<_> = fs::read_dir(directory).unwrap().map(|case| case.unwrap().path()).collect();
    cases.retain(|case| !case.ends_with("old-messages"));
    cases.sort();
    cases.iter().map(|case| replay::lines(case)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// sessions-9: nothing an agent says is dropped, whatever one field of one event holds.
    #[test]
    fn one_unexpected_value_does_not_lose_other_events(
        run in prop::sample::select(prompted_runs()),
        at in any::<prop::sample::Index>(),
        field in any::<prop::sample::Index>(),
        value in altered_run::any_value(),
    ) {
        let altered = AlteredRun::new(&run, at, field, &value);
        altered.check_other_lines(|| adapt(&replay::options()).unwrap().adapter)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// sessions-11: converting a recorded run and folding it gives the same transcript however the bytes were chunked.
    #[test]
    fn a_run_is_the_same_however_its_bytes_are_cut(sizes in prop::collection::vec(1..2000usize, 1..20)) {
        prop_assert_eq!(replayed("permission", &sizes), replayed("permission", &[usize::MAX]));
    }

    /// sessions-11: bad JSON from the agent, at any moment, in any form.
    #[test]
    fn arbitrary_bytes_never_panic(
        garbage in prop::collection::vec(any::<u8>(), 0..200),
        at in 0..2000usize,
        with in any::<u8>(),
        before in 0..60usize,
    ) {
        let mut adapter = adapt(&replay::options()).unwrap().adapter;
        let (mut out, mut inputs) = (Out::default(), 0);
        adapter.start(&mut out);
        for line in recorded("subagent").into_iter().take(before) {
            if let Some(said) = line.get("hear") {
                let mut broken = said.to_string().into_bytes();
                let at = at % broken.len();
                broken[at] = with;
                adapter.hear(Heard::Line(&broken), &mut out);
                adapter.hear(Heard::Line(&broken[..at]), &mut out);
            }
            replay::play(adapter.as_mut(), &line, &mut inputs, &mut out);
        }
        adapter.hear(Heard::Line(&garbage), &mut out);
        adapter.hear(Heard::Answer { call: at as u64, status: 200, body: &garbage }, &mut out);
        adapter.hear(Heard::TooLong { bytes: 1 }, &mut out);
    }
}
