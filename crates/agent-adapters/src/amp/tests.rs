//! Recorded runs of Amp.

use proptest::prelude::*;
use protocol::{Transcript, sessions::PermissionMode};
use serde_json::{Value, json};

use super::{Options, adapt};
use crate::{
    Adapted, Heard, Out,
    offers::mode,
    replay::{self, options_with, unsupported_feature},
};

fn with(change: impl FnOnce(&mut Options)) -> Adapted {
    adapt(&options_with(change)).unwrap()
}

fn check(case: &str) -> Transcript {
    replay::check("amp", case, with(|_| {}))
}

fn unsupported(change: impl FnOnce(&mut Options)) -> String {
    unsupported_feature(adapt(&options_with(change)))
}

/// sessions-11: "Conversion both ways … tested with recorded fixtures".
#[test]
fn a_turn_ends_with_a_message_that_calls_no_tool() {
    check("turns");
}

/// sessions-9: "tool result (output, diff, terminal output)".
#[test]
fn commands_edits_and_mcp_tools_show_what_they_gave() {
    check("tools");
}

/// sessions-3: "a second message while a turn runs is queued, refused or steered into the turn".
#[test]
fn a_message_is_cut_by_what_steers_or_by_the_limit() {
    check("cut");
}

/// sessions-13: "the next message resumes the agent's own session (`--resume`, …)".
#[test]
fn a_thread_goes_on_in_another_process() {
    let adapted = with(|options| options.resume = Some("T-01".into()));
    assert_eq!(adapted.args[..3], ["threads", "continue", "T-01"]);
    replay::check("amp", "resume", adapted);
}

/// sessions-6: "`POST …/cancel` (interrupt the turn)".
#[test]
fn an_interrupt_is_a_signal_after_which_it_leaves() {
    check("interrupt");
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
fn without_a_key_it_is_a_token_error_and_the_way_to_log_in_is_not_told() {
    let transcript = check("no_key");
    assert!(transcript.messages().is_empty());
}

/// sessions-17: "a feature an agent lacks is reported as unsupported by capability".
#[test]
fn a_rule_that_asks_is_unsupported() {
    check("permission_ask");
}

/// sessions-9: "tool call (id, name, kind, input, status)".
#[test]
fn a_rule_that_rejects_cancels_the_call() {
    check("permission_reject");
}

/// sessions-2: "`bypass` = no checks", sessions-1: "`mcp?, skills?`".
#[test]
fn the_choices_of_a_session_are_arguments() {
    let plain = with(|_| {});
    let chosen = with(|options| {
        options.modes = vec![mode("rush", "Rush", "")];
        options.agent_mode = "rush".into();
        options.permission_mode = PermissionMode::Bypass;
        options.skills = [("a".into(), "/skills/a".into()), ("b".into(), "/skills/b".into())].into();
        let servers = json!({
            "files": { "type": "local", "command": "files", "env": { "KEY": "secret" }, "timeoutMs": 5000 },
            "far": { "type": "remote", "url": "https://example.com/mcp", "headers": { "Authorization": "secret" } },
        });
        options.mcp = serde_json::from_value(servers).unwrap();
    });
    assert!(!format!("{:?}{:?}", chosen.args, chosen.env).contains("secret"));
    let (path, bytes) = &chosen.files[0];
    let file = json!([path, serde_json::from_slice::<Value>(bytes).unwrap()]);
    insta::assert_json_snapshot!(json!([[plain.args, plain.env], [chosen.args, chosen.env], file]));
}

/// sessions-7: "agent unsupported feature".
#[test]
fn models_plans_and_modes_that_it_does_not_have_are_unsupported() {
    assert_eq!(unsupported(|options| options.model = Some("gpt".into())), "model");
    assert_eq!(unsupported(|options| options.variant = Some("high".into())), "variant");
    assert_eq!(unsupported(|options| options.agent_mode = "dance".into()), "agentMode");
    assert_eq!(unsupported(|options| options.permission_mode = PermissionMode::Plan), "permissionMode");
}

proptest! {
    /// sessions-9: "nothing an agent says is dropped".
    #[test]
    fn bytes_that_are_no_json_are_kept_whatever_they_are(line in prop::collection::vec(any::<u8>(), 1..200)) {
        prop_assume!(!line.trim_ascii().is_empty());
        let mut out = Out::default();
        with(|_| {}).adapter.hear(Heard::Line(&line), &mut out);
        prop_assert_eq!(out.facts.len(), 1);
    }
}
