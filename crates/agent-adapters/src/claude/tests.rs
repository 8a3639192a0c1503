//! Recorded runs of Claude Code.

use std::path::Path;

use process::{FramedLine, LineFramer};
use proptest::prelude::*;
use protocol::{Event, Transcript, config::McpServer, sessions::PermissionMode, wait::PermissionAnswer};
use serde_json::{Value, json};

use super::{Options, adapt};
use crate::{
    Adapted, Fact, Heard, Order, Out, Reply,
    replay::{self, options_with, unsupported_feature},
};

fn with(change: impl FnOnce(&mut Options)) -> Adapted {
    adapt(&options_with(change)).unwrap()
}

fn check(case: &str) -> Transcript {
    replay::check("claude", case, with(|_| {}))
}

fn unsupported(change: impl FnOnce(&mut Options)) -> String {
    unsupported_feature(adapt(&options_with(change)))
}

/// sessions-11: "Conversion both ways … tested with recorded fixtures".
#[test]
fn text_and_thoughts_come_in_pieces_and_then_whole() {
    check("text");
}

/// sessions-5: "`POST …/permissions/{pid}/reply {reply: "once"|"always"|"reject"}`".
#[test]
fn a_permission_that_is_given_once_lets_the_command_run() {
    check("permission_once");
}

/// sessions-5: "`POST …/permissions/{pid}/reply {reply: "once"|"always"|"reject"}`".
#[test]
fn a_permission_that_is_refused_is_told_to_the_model() {
    check("permission_reject");
}

/// sessions-5: "`POST …/permissions/{pid}/reply {reply: "once"|"always"|"reject"}`".
#[test]
fn a_permission_that_is_given_for_good_holds_in_the_session_and_not_in_the_project() {
    check("permission_always");
}

/// sessions-9: "tool result (output, diff, terminal output)".
#[test]
fn an_edit_shows_what_it_changed() {
    check("edit");
}

/// sessions-5: "`POST …/questions/{qid}/reply {answers: string[][]}`, `…/reject {}`".
#[test]
fn questions_are_answered_or_not() {
    check("questions");
}

/// sessions-10: "Claude's ExitPlanMode is a question with approve/reject options."
#[test]
fn a_plan_is_rejected_with_a_word_and_then_approved() {
    replay::check("claude", "plan", with(|options| options.permission_mode = PermissionMode::Plan));
}

/// sessions-2: "`plan` restriction = read only until plan approval".
#[test]
fn nothing_is_run_before_the_plan_is_approved() {
    replay::check(
        "claude",
        "plan_reads_only",
        with(|options| options.permission_mode = PermissionMode::Plan),
    );
}

/// sessions-2: "`bypass` = no checks".
#[test]
fn nothing_is_asked_where_everything_is_allowed() {
    replay::check("claude", "bypass", with(|options| options.permission_mode = PermissionMode::Bypass));
}

/// sessions-2: "`bypass` = no checks".
#[test]
fn what_is_asked_all_the_same_is_allowed_where_everything_is() {
    replay::check("claude", "bypass_asked", with(|options| options.permission_mode = PermissionMode::Bypass));
}

/// sessions-5: "`POST …/permissions/{pid}/reply {reply: "once"|"always"|"reject"}`".
#[test]
fn what_is_allowed_for_good_without_a_rule_is_remembered_as_it_was() {
    check("always_without_a_rule");
}

/// sessions-6: "`POST …/cancel` (interrupt the turn)".
#[test]
fn an_interrupted_message_stays_as_far_as_it_came() {
    check("interrupt_streaming");
}

/// sessions-6: "`POST …/cancel` (interrupt the turn)".
#[test]
fn an_interrupted_command_is_cancelled() {
    check("interrupt_tool");
}

/// sessions-6: "`POST …/cancel` (interrupt the turn)".
#[test]
fn an_interrupt_takes_back_what_was_asked() {
    check("interrupt_ask");
}

/// sessions-9: "nothing an agent says is dropped"; a call that never ends is not left running.
#[test]
fn a_call_without_a_result_is_cancelled_with_its_turn() {
    check("lost_call");
}

/// sessions-3: "a second message while a turn runs is queued, refused or steered into the turn".
#[test]
fn what_steers_is_taken_into_the_turn_or_begins_one() {
    check("steer");
}

/// sessions-3: "Every input is a row with a receipt (`accepted → delivered → consumed | refused{reason}`".
#[test]
fn a_prompt_that_waits_for_a_turn_of_the_agents_own_is_not_ended_by_it() {
    check("busy_with_its_own");
}

/// sessions-9: "nothing an agent says is dropped": what an agent of the agent says hangs on its call.
#[test]
fn an_agent_in_the_background_goes_on_after_the_turn_and_begins_one() {
    check("subagent");
}

/// sessions-5: what still runs when a turn has ended still asks.
#[test]
fn what_an_agent_in_the_background_asks_outlives_the_turn() {
    check("background_ask");
}

/// sessions-7: "Agent errors are typed".
#[test]
fn an_overloaded_model_is_asked_again_and_then_an_error() {
    check("overload");
}

/// sessions-7: "Agent errors are typed".
#[test]
fn a_request_that_the_model_refuses_is_an_error_of_the_model() {
    check("bad_request");
}

/// sessions-7: "Agent errors are typed: token error".
#[test]
fn a_wrong_key_is_a_token_error() {
    check("bad_key");
}

/// sessions-7: "Agent errors are typed: token error".
#[test]
fn a_missing_key_is_a_token_error() {
    check("no_key");
}

/// sessions-8: "`turnEnded{reason,usage}`".
#[test]
fn a_message_that_is_too_long_ends_the_turn_with_that_reason() {
    check("max_tokens");
}

/// sessions-8: "`plan`".
#[test]
fn todos_are_a_plan() {
    check("todos");
}

/// sessions-8: "`plan`".
#[test]
fn tasks_are_a_plan() {
    check("tasks");
}

/// sessions-8: "`status`".
#[test]
fn a_conversation_that_is_shortened_is_a_status() {
    check("compact");
}

/// sessions-13: "the next message resumes the agent's own session (`--resume`, …)".
#[test]
fn a_session_goes_on_in_another_process() {
    replay::check("claude", "resume", with(|options| options.resume = Some("11111111-2222".into())));
}

/// sessions-13: "the next message resumes the agent's own session (`--resume`, …)".
#[test]
fn a_session_that_is_gone_cannot_go_on() {
    replay::check("claude", "resume_missing", with(|options| options.resume = Some("99999999-2222".into())));
}

/// sessions-16: "MCP tool call".
#[test]
fn a_tool_of_an_mcp_server_is_called() {
    check("mcp");
}

/// sessions-9: "the special *unparsed* part that carries the raw JSON and the error".
#[test]
fn what_is_not_understood_is_kept() {
    check("unparsed");
}

/// sessions-1: "model?, variant?", sessions-2: "`agentMode` is behaviour, `permissionMode` is restriction".
#[test]
fn the_choices_of_a_session_are_arguments() {
    let plain = with(|_| {});
    let chosen = with(|options| {
        options.model = Some("opus".into());
        options.variant = Some("max".into());
        options.resume = Some("abc".into());
        options.agent_mode = "acceptEdits".into();
        options.skills = [("greeter".into(), "/skills/greeter".into())].into();
    });
    let planning = with(|options| options.permission_mode = PermissionMode::Plan);
    let both = with(|options| {
        options.permission_mode = PermissionMode::Bypass;
        options.agent_mode = "plan".into();
    });
    let shown: Vec<_> =
        [plain, chosen, planning, both].map(|adapted| json!([adapted.args, adapted.env])).into();
    insta::assert_json_snapshot!(shown);
}

/// sessions-1: "`mcp?`": what a server is told in secret is in no argument.
#[test]
fn mcp_servers_are_in_a_file_and_not_in_an_argument() {
    let servers = json!({
        "files": { "type": "local", "command": ["npx", "-y"], "args": ["files"], "env": { "KEY": "secret" }, "timeoutMs": 5000 },
        "far": { "type": "remote", "url": "https://example.com/mcp", "headers": { "Authorization": "secret" } },
        "older": { "type": "remote", "url": "https://example.com/sse", "transport": "sse" },
        "off": { "type": "local", "command": "off", "enabled": false },
    });
    let adapted = with(|options| options.mcp = serde_json::from_value(servers).unwrap());
    assert!(!format!("{:?}{:?}", adapted.args, adapted.env).contains("secret"));
    let (path, bytes) = &adapted.files[0];
    insta::assert_json_snapshot!(json!([path, serde_json::from_slice::<Value>(bytes).unwrap()]));
}

/// sessions-7: "agent unsupported feature".
#[test]
fn a_mode_or_variant_that_it_does_not_have_is_unsupported() {
    assert_eq!(unsupported(|options| options.agent_mode = "dance".into()), "agentMode");
    assert_eq!(unsupported(|options| options.variant = Some("bogus".into())), "variant");
}

#[test]
fn a_server_that_is_switched_off_is_not_started() {
    let off = json!({ "off": { "type": "local", "command": "off", "enabled": false } });
    let mcp: std::collections::BTreeMap<String, McpServer> = serde_json::from_value(off).unwrap();
    assert!(with(|options| options.mcp = mcp).files.is_empty());
}

/// What a recorded run says, as bytes.
fn recorded(case: &str) -> Vec<u8> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/claude").join(case);
    let lines = replay::lines(&directory);
    lines
        .iter()
        .filter_map(|line| line.get("hear"))
        .flat_map(|said| format!("{said}\n").into_bytes())
        .collect()
}

/// The messages that come of `bytes`, which are read in pieces of these sizes.
fn transcript(bytes: &[u8], sizes: &[usize]) -> Transcript {
    let mut adapter = with(|_| {}).adapter;
    let (mut framer, mut out, mut transcript) =
        (LineFramer::new(1 << 20), Out::default(), Transcript::default());
    let (mut rest, mut sizes) = (bytes, sizes.iter().cycle());
    adapter.start(&mut out);
    while !rest.is_empty() {
        let (piece, later) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
        framer.space().extend_from_slice(piece);
        rest = later;
        for piece in framer.chunk() {
            let FramedLine::Line(line) = piece else { panic!("a recorded line is too long") };
            adapter.hear(Heard::Line(line), &mut out);
        }
    }
    for fact in out.facts {
        if let Fact::Event(event @ (Event::Message(_) | Event::MessageDelta(_))) = &fact {
            transcript.apply_event(event);
        }
    }
    transcript
}

proptest! {
    /// sessions-11: "converting a recorded run and folding it gives the same transcript however the bytes were chunked".
    #[test]
    fn a_run_gives_the_same_transcript_however_it_is_cut(sizes in prop::collection::vec(1..5000usize, 1..20)) {
        for case in ["text", "plan", "subagent"] {
            let bytes = recorded(case);
            let whole = transcript(&bytes, &[bytes.len()]);
            prop_assert!(whole.messages().len() > 1);
            prop_assert_eq!(transcript(&bytes, &sizes), whole);
        }
    }

    /// sessions-9: "nothing an agent says is dropped".
    #[test]
    fn bytes_that_are_no_json_are_kept_whatever_they_are(line in prop::collection::vec(any::<u8>(), 1..200)) {
        prop_assume!(!line.trim_ascii().is_empty());
        let mut out = Out::default();
        with(|_| {}).adapter.hear(Heard::Line(&line), &mut out);
        prop_assert_eq!(out.facts.len(), 1);
    }
}

/// sessions-9: "nothing an agent says is dropped" because something beside it has another form.
#[test]
fn one_bad_item_does_not_lose_the_others() {
    let (mut adapter, mut out) = (with(|_| {}).adapter, Out::default());
    for line in [
        json!({ "type": "control_response", "response": { "subtype": "success", "request_id": "1", "error": {}, "response": {
            "commands": [3, { "name": "fold", "description": 3 }], "models": [{ "value": 1 }, { "value": "opus", "displayName": "Opus" }] } } }),
        json!({ "type": "system", "subtype": "init", "session_id": "s", "model": 4, "mcp_servers": [{}, 3] }),
        json!({ "type": "assistant", "parent_tool_use_id": 3, "message": { "id": "m", "usage": [], "content": [
            7, { "type": "text", "text": "hello" }, { "type": "tool_use", "id": "c", "name": "Bash", "input": [] }] } }),
        json!({ "type": "user", "tool_result_meta": [3, { "id": "c", "non_execution_kind": "x" }], "message": { "content": [
            { "type": "tool_result", "tool_use_id": "c", "is_error": null, "content": "ok" }] } }),
        json!({ "type": "result", "is_error": "no", "errors": {}, "usage": { "input_tokens": 5, "output_tokens": "x" },
            "modelUsage": { "a": 3, "b": { "contextWindow": 9 } } }),
    ] {
        adapter.hear(Heard::Line(line.to_string().as_bytes()), &mut out);
    }
    let shown = format!("{:?}", out.facts);
    for expected in
        ["fold", "Opus", "hello", "Cancelled", "output: \"ok\"", "input_tokens: 5", "context_window: Some(9)"]
    {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    assert!(shown.contains("Completed"), "the turn ends: {shown}");
}

/// sessions-9: "nothing an agent says is dropped", and nothing it says ends the daemon.
#[test]
fn lines_of_every_type_with_anything_in_them_are_survived() {
    let kinds = [
        "assistant",
        "command_lifecycle",
        "control_cancel_request",
        "control_request",
        "control_response",
        "result",
        "stream_event",
        "system",
        "user",
    ];
    let values = [
        json!(null),
        json!([]),
        json!("x"),
        json!({ "type": "content_block_delta", "index": -1 }),
        json!({ "content": [{ "type": "tool_use" }, { "type": "tool_result" }, 3] }),
        json!({ "subtype": "can_use_tool", "tool_name": "AskUserQuestion", "input": 3 }),
        json!({ "subtype": "can_use_tool", "tool_name": "ExitPlanMode", "input": [] }),
        json!({ "subtype": "can_use_tool", "tool_name": "Bash", "input": "x", "permission_suggestions": [{ "type": "addRules" }, 3] }),
    ];
    for kind in kinds {
        for key in ["event", "message", "request", "response", "subtype", "tool_result_meta"] {
            for value in &values {
                survives(&json!({ "type": kind, "request_id": "k", key: value }));
            }
        }
    }
}

/// Hears a line, with every answer to what it may ask.
fn survives(line: &Value) {
    let line = line.to_string();
    let (mut adapter, mut out) = (with(|_| {}).adapter, Out::default());
    let answers = Reply::Answers(vec![vec!["Approve".into()]]);
    for reply in [answers, Reply::Dismissed, Reply::Permission(PermissionAnswer::Always)] {
        adapter.hear(Heard::Line(line.as_bytes()), &mut out);
        adapter.tell(Order::Answer { key: "k".into(), reply }, &mut out);
    }
}
