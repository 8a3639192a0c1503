//! Determines the steps that the next answer plays.
//!
//! The model stores no position in the script. It counts the tool calls in the conversation that the agent sends, so
//! that several sessions, a resumed session and a retried request all get the right steps.

use std::collections::HashSet;

use super::{
    conversation::{Conversation, ConversationTurn},
    model_reply::{AnswerPart, ModelAnswer, ModelReply, StopReason},
    scenario::Scenario,
    schema_example,
    script::ScriptStep,
};

/// How much of a tool result the model repeats.
const RESULT_CHARS_MAX: usize = 400;

/// How much of the end of a prompt without a script the model repeats.
const PROMPT_CHARS_MAX: usize = 60;

/// The steps `err1` and `cut1` that were played, by prompt and index. They leave no trace in the conversation, so the
/// model must remember them.
pub(super) type PlayedOnceSteps = HashSet<(String, usize)>;

/// The reply to a request. The newest user message with a script counts.
pub(super) fn next_reply(
    conversation: &Conversation,
    scenario: &Scenario,
    played_once: &mut PlayedOnceSteps,
) -> ModelReply {
    if let Some(wanted) = &conversation.schema {
        return ModelReply::Answer(ModelAnswer::text(schema_example::example_value(wanted).to_string()));
    }
    // Agents add messages in the user's name after the prompt, so messages without a script are skipped.
    let script = conversation.turns.iter().enumerate().rev().find_map(|(at, turn)| match turn {
        ConversationTurn::User(text) => {
            Some((at, text, scenario.steps(text))).filter(|(_, _, steps)| !steps.is_empty())
        }
        _ => None,
    });
    if conversation.tools.is_empty() {
        return ModelReply::Answer(ModelAnswer::text(answer_without_tools(
            conversation,
            script.as_ref().map(|(_, _, steps)| steps.as_slice()),
        )));
    }
    let Some((at, prompt, steps)) = script else {
        return ModelReply::Answer(ModelAnswer::text(format!("ack: {}", prompt_end(conversation))));
    };
    let since = &conversation.turns[at + 1..];
    let played = count_played(&steps, since, conversation.plan_file.is_some());
    let mut first = |index: usize| played_once.insert((prompt.clone(), index));
    play(conversation, &steps, played, since, &mut first)
}

/// The answer to a request without tools. Agents send such requests for a title or a summary, and quote the prompt in
/// them, so a script in it is not played. A single message without a system prompt is a conversation of its own, and
/// its first `say:` is the answer.
fn answer_without_tools(conversation: &Conversation, steps: Option<&[ScriptStep]>) -> String {
    match steps {
        Some([ScriptStep::Say(text), ..])
            if conversation.turns.len() == 1 && !conversation.has_system_prompt =>
        {
            text.clone()
        }
        _ => "scripted title".into(),
    }
}

/// The end of the last user message.
fn prompt_end(conversation: &Conversation) -> String {
    let last = conversation.turns.iter().rev().find_map(|turn| match turn {
        ConversationTurn::User(text) => Some(text.trim()),
        _ => None,
    });
    let last = last.unwrap_or_default();
    last.chars().skip(last.chars().count().saturating_sub(PROMPT_CHARS_MAX)).collect()
}

/// The number of steps that earlier answers played: all up to the last tool call since the prompt.
fn count_played(steps: &[ScriptStep], since: &[ConversationTurn], plan_has_file: bool) -> usize {
    let calls =
        |turn: &ConversationTurn| if let ConversationTurn::Model { calls } = turn { *calls } else { 0 };
    let mut made: usize = since.iter().map(calls).sum();
    let mut played = 0;
    for step in steps {
        if made == 0 {
            break;
        }
        if step.is_call() {
            // A plan with a file takes two calls: one writes the file, the other submits the plan.
            let calls = if matches!(step, ScriptStep::Plan(_)) && plan_has_file { 2 } else { 1 };
            made = made.saturating_sub(calls);
        }
        played += 1;
    }
    played
}

/// Plays the steps after the first `played` ones, up to the next call that ends the answer. `first` returns whether a
/// step that is played only once has not been played before.
fn play(
    conversation: &Conversation,
    steps: &[ScriptStep],
    played: usize,
    since: &[ConversationTurn],
    first: &mut impl FnMut(usize) -> bool,
) -> ModelReply {
    let mut answer = ModelAnswer { parts: Vec::new(), stop: StopReason::End };
    for (index, step) in steps.iter().enumerate().skip(played) {
        match step {
            ScriptStep::Say(text) => answer.parts.push(AnswerPart::Text(text.clone())),
            ScriptStep::Think(text) => answer.parts.push(AnswerPart::Think(text.clone())),
            ScriptStep::Slow { over, text } => {
                answer.parts.push(AnswerPart::Slow { over: *over, text: text.clone() })
            }
            ScriptStep::Wait(time) => answer.parts.push(AnswerPart::Wait(*time)),
            ScriptStep::Max(text) => {
                answer.parts.push(AnswerPart::Text(text.clone()));
                answer.stop = StopReason::Tokens;
            }
            ScriptStep::Fail { once, .. } | ScriptStep::Cut { once } if *once && !first(index) => {}
            ScriptStep::Fail { status, message, .. } => {
                return ModelReply::Fail { status: *status, message: message.clone() };
            }
            ScriptStep::Cut { .. } => answer.parts.push(AnswerPart::Cut),
            call => {
                answer.parts.extend(conversation.tools.parts(call, conversation.plan_file.as_deref()));
                if !joins_next_call(call) {
                    break;
                }
            }
        }
    }
    if answer.parts.is_empty() {
        return ModelReply::Answer(ModelAnswer::text(format!("tool-result: {}", last_result(since))));
    }
    if answer.parts.iter().any(|part| matches!(part, AnswerPart::Call(_))) {
        answer.stop = StopReason::Calls;
    }
    ModelReply::Answer(answer)
}

fn joins_next_call(step: &ScriptStep) -> bool {
    matches!(step, ScriptStep::Bash { join: true, .. } | ScriptStep::Tool { join: true, .. })
}

fn last_result(since: &[ConversationTurn]) -> String {
    let last = since.iter().rev().find_map(|turn| match turn {
        ConversationTurn::Result(text) => Some(text.trim()),
        _ => None,
    });
    last.unwrap_or("(none)").chars().take(RESULT_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::offered_tools::{OfferedTool, OfferedTools};

    fn conversation(turns: Vec<ConversationTurn>) -> Conversation {
        let mut tools = OfferedTools::default();
        tools.add(&json!("bash"), OfferedTool::default());
        Conversation { turns, tools, ..Conversation::default() }
    }

    fn user(text: &str) -> ConversationTurn {
        ConversationTurn::User(text.into())
    }

    #[track_caller]
    fn check(turns: Vec<ConversationTurn>, expected: &str) {
        let reply = next_reply(&conversation(turns), &Scenario::default(), &mut PlayedOnceSteps::default());
        assert_eq!(shown(&reply), expected);
    }

    fn shown(reply: &ModelReply) -> String {
        let ModelReply::Answer(answer) = reply else { return format!("{reply:?}") };
        let part = |part: &AnswerPart| match part {
            AnswerPart::Text(text) => text.clone(),
            AnswerPart::Call(call) => format!("{}({})", call.name, call.input.as_text()),
            other => format!("{other:?}"),
        };
        answer.parts.iter().map(part).collect::<Vec<_>>().join(" + ")
    }

    #[test]
    fn steps_are_done_in_order_one_call_an_answer() {
        let script = user("say:a ;; tool:bash one ;; say:b ;; tool:bash two");
        let (call, result) =
            (ConversationTurn::Model { calls: 1 }, ConversationTurn::Result(" denied \n".into()));
        check(vec![script.clone()], r#"a + bash({"command":"one"})"#);
        check(vec![script.clone(), call.clone(), result.clone()], r#"b + bash({"command":"two"})"#);
        check(vec![script.clone(), call.clone(), result.clone(), call, result], "tool-result: denied");
        check(
            vec![user("tool:bash old"), ConversationTurn::Model { calls: 1 }, script, user("reminder")],
            r#"a + bash({"command":"one"})"#,
        );
    }

    #[test]
    fn joined_calls_make_one_answer() {
        let script = user("tool+:bash one ;; tool:bash two ;; say:end");
        check(vec![script.clone()], r#"bash({"command":"one"}) + bash({"command":"two"})"#);
        check(vec![script, ConversationTurn::Model { calls: 2 }], "end");
    }

    #[test]
    fn a_prompt_without_a_script_is_acknowledged() {
        check(vec![user("hello")], "ack: hello");
    }

    #[test]
    fn a_step_that_fails_once_succeeds_on_retry() {
        let conversation = conversation(vec![user("err1:429 slow down ;; say:now")]);
        let mut played_once = PlayedOnceSteps::default();
        let mut next = || next_reply(&conversation, &Scenario::default(), &mut played_once);
        assert_eq!(next(), ModelReply::Fail { status: 429, message: "slow down".into() });
        assert_eq!(shown(&next()), "now");
    }

    #[test]
    fn a_request_without_tools_is_for_a_title() {
        let mut titled = conversation(vec![user("say:hello")]);
        titled.tools = OfferedTools::default();
        titled.has_system_prompt = true;
        let next = |conversation: &Conversation| {
            shown(&next_reply(conversation, &Scenario::default(), &mut PlayedOnceSteps::default()))
        };
        assert_eq!(next(&titled), "scripted title");
        titled.has_system_prompt = false;
        assert_eq!(next(&titled), "hello");
    }
}
