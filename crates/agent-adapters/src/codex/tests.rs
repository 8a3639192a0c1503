//! Recorded runs of Codex 0.166 with this adapter and a scripted model.

mod properties;
mod session_options;
mod unexpected_types;

use std::collections::BTreeMap;

use protocol::{
    Transcript,
    config::{McpServer, McpServerCommand},
    message::PartContent,
    sessions::PermissionMode,
};
use serde_json::Value;

use super::adapt;
use crate::{Adapter, Heard, Options, Out, replay};

fn check(case: &str, change: impl FnOnce(&mut Options)) -> Transcript {
    replay::check("codex", case, adapt(&replay::options_with(change)).unwrap())
}

fn as_it_is(_: &mut Options) {}

fn bypass(options: &mut Options) {
    options.permission_mode = PermissionMode::Bypass;
}

fn plan(options: &mut Options) {
    options.permission_mode = PermissionMode::Plan;
}

/// All texts of a transcript.
fn text(transcript: &Transcript) -> String {
    let parts = transcript.messages().iter().flat_map(|message| &message.parts);
    let texts = parts.filter_map(|part| match &part.content {
        PartContent::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("|")
}

/// sessions-11: agent event → universal event.
#[test]
fn a_text_streams_and_is_told_whole() {
    assert_eq!(text(&check("text", as_it_is)), "hello app server");
}

/// sessions-9: A message has parts: text, reasoning.
#[test]
fn thoughts_are_told() {
    check("reasoning", as_it_is);
}

/// sessions-5: `permissions/{pid}/reply {reply: "once"}`.
#[test]
fn a_command_that_is_allowed_once_runs() {
    check("command-once", as_it_is);
}

/// sessions-5: `permissions/{pid}/reply {reply: "always"}`.
#[test]
fn a_command_that_is_always_allowed_is_not_asked_about_again() {
    check("command-always", as_it_is);
}

/// sessions-5: `permissions/{pid}/reply {reply: "reject"}`.
#[test]
fn a_command_that_is_rejected_is_cancelled_and_the_model_goes_on() {
    check("command-reject", as_it_is);
}

/// sessions-5: questions, permissions and plans are views of one wait; there may be several.
#[test]
fn commands_side_by_side_are_asked_about_one_by_one() {
    check("parallel-commands", as_it_is);
}

/// sessions-9: tool result (terminal output).
#[test]
fn the_output_of_a_command_streams_and_is_told_whole() {
    check("command-output", bypass);
}

/// sessions-9: tool result (diff).
#[test]
fn a_new_file_is_a_diff() {
    check("file-change", as_it_is);
}

/// sessions-9: tool result (diff).
#[test]
fn changes_of_files_are_diffs() {
    check("file-update", as_it_is);
}

/// sessions-5: `questions/{qid}/reply {answers: string[][]}`, `…/reject {}`.
#[test]
fn questions_are_answered_and_rejected() {
    check("question", as_it_is);
}

/// sessions-2: `plan` restriction = read only until plan approval.
#[test]
fn an_approved_plan_is_implemented_in_the_same_turn() {
    check("plan-approve", plan);
}

/// sessions-10: a question with approve/reject options.
#[test]
fn a_rejected_plan_ends_the_turn_and_a_comment_makes_another_plan() {
    check("plan-reject", plan);
}

/// sessions-6: `POST …/cancel` (interrupt the turn).
#[test]
fn an_interrupted_text_stays_as_far_as_it_came() {
    assert_eq!(text(&check("interrupt-text", as_it_is)), "one |next");
}

/// sessions-6: `POST …/cancel` (interrupt the turn).
#[test]
fn an_interrupted_command_is_ended_and_cancelled() {
    check("interrupt-command", bypass);
}

/// sessions-6: `POST …/cancel` (interrupt the turn).
#[test]
fn an_answer_after_an_interrupt_says_nothing() {
    check("interrupt-permission", as_it_is);
}

/// sessions-6: `POST …/cancel` (interrupt the turn).
#[test]
fn an_interrupt_before_the_turn_has_started_waits_for_that() {
    check("interrupt-early", as_it_is);
}

/// sessions-3: steered into the turn.
#[test]
fn what_is_steered_is_consumed_or_refused() {
    check("steer", bypass);
}

/// sessions-13: the next message resumes the agent's own session (`thread/resume`) with its memory intact.
#[test]
fn a_thread_goes_on_in_another_process() {
    check("resume", |options| {
        options.run = "r2".into();
        options.resume = Some("01a1e2a3-9b12-75f2-9405-d7f4adfec106".into());
    });
}

/// sessions-13: the next message resumes the agent's own session.
#[test]
fn a_thread_that_is_gone_begins_anew_and_says_so() {
    check("resume-unknown", |options| options.resume = Some("01a1e0b2-0000-7000-8000-000000000000".into()));
}

/// sessions-7: Agent errors are typed.
#[test]
fn what_the_model_answers_is_a_typed_error() {
    check("errors", as_it_is);
}

/// sessions-7: Agent errors are typed: token error.
#[test]
fn a_missing_key_is_a_token_error() {
    check("no-key", as_it_is);
}

/// sessions-16: MCP tool call.
#[test]
fn a_tool_of_an_mcp_server_is_called() {
    check("mcp", everything);
}

/// sessions-16: permission once/always/reject.
#[test]
fn a_tool_of_an_mcp_server_is_asked_about() {
    check("mcp-permission", everything);
}

fn everything(options: &mut Options) {
    let server = McpServer::Local {
        command: McpServerCommand::Line(vec!["npx".into(), "-y".into()]),
        args: vec!["@modelcontextprotocol/server-everything".into()],
        env: BTreeMap::from([("SECRET".into(), "s".into())]),
        enabled: None,
        timeout_ms: Some(1500),
    };
    options.mcp.insert("everything".into(), server);
}

/// sessions-1: `token?`.
#[test]
fn the_key_of_a_session_is_said_and_not_kept() {
    check("token", |options| options.token = Some("sk-hush".into()));
}

/// sessions-1: `[P]` also `skills?`.
#[test]
fn skills_are_named_before_the_thread_begins() {
    check("skill", |options| {
        options.skills.insert("frobnicate".into(), "/private/skills/frobnicate".into());
    });
}

/// sessions-9: the special *unparsed* part: nothing an agent says is dropped.
#[test]
fn what_is_not_understood_is_told_as_it_came() {
    check("strange", as_it_is);
}

/// sessions-11: what is not seen with a scripted model is read by the agent's own description of its protocol.
#[test]
fn what_other_items_and_notices_say_is_told() {
    check("described", as_it_is);
}

fn hear(adapter: &mut dyn Adapter, said: &Value, out: &mut Out) {
    adapter.hear(Heard::Line(said.to_string().as_bytes()), out);
}
