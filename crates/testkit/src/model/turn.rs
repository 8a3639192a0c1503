//! Determines the steps that the next answer plays.
//!
//! The model stores no position in the script. It counts the tool calls in the conversation that the agent sends, so
//! that several sessions, a resumed session and a retried request all get the right steps.

use std::collections::HashSet;

use super::{
    conversation::{Conversation, Turn},
    reply::{Answer, Part, Reply, Stop},
    scenario::Scenario,
    schema,
    script::Step,
};

/// How much of a tool result the model repeats.
const RESULT_CHARS_MAX: usize = 400;

/// How much of the end of a prompt without a script the model repeats.
const PROMPT_CHARS_MAX: usize = 60;

/// The steps `err1` and `cut1` that were played, by prompt and index. They leave no trace in the conversation, so the
/// model must remember them.
pub(super) type Done = HashSet<(String, usize)>;

/// The reply to a request. The newest user message with a script counts.
pub(super) fn next(conversation: &Conversation, scenario: &Scenario, done: &mut Done) -> Reply {
    if let Some(wanted) = &conversation.schema {
        return Reply::Answer(Answer::text(schema::fitting(wanted).to_string()));
    }
    // Agents add messages in the user's name after the prompt, so messages without a script are skipped.
    let script = conversation.turns.iter().enumerate().rev().find_map(|(at, turn)| match turn {
        Turn::User(text) => Some((at, text, scenario.steps(text))).filter(|(_, _, steps)| !steps.is_empty()),
        _ => None,
    });
    if conversation.tools.is_empty() {
        return Reply::Answer(Answer::text(without_tools(
            conversation,
            script.as_ref().map(|(_, _, steps)| steps.as_slice()),
        )));
    }
    let Some((at, prompt, steps)) = script else {
        return Reply::Answer(Answer::text(format!("ack: {}", last_words(conversation))));
    };
    let since = &conversation.turns[at + 1..];
    let spent = spent(&steps, since, conversation.plan_file.is_some());
    let mut first = |index: usize| done.insert((prompt.clone(), index));
    play(conversation, &steps, spent, since, &mut first)
}

/// The answer to a request without tools. Agents send such requests for a title or a summary, and quote the prompt in
/// them, so a script in it is not played. A single message without a system prompt is a conversation of its own, and
/// its first `say:` is the answer.
fn without_tools(conversation: &Conversation, steps: Option<&[Step]>) -> String {
    match steps {
        Some([Step::Say(text), ..]) if conversation.turns.len() == 1 && !conversation.instructed => {
            text.clone()
        }
        _ => "scripted title".into(),
    }
}

/// The end of the last user message.
fn last_words(conversation: &Conversation) -> String {
    let last = conversation.turns.iter().rev().find_map(|turn| match turn {
        Turn::User(text) => Some(text.trim()),
        _ => None,
    });
    let last = last.unwrap_or_default();
    last.chars().skip(last.chars().count().saturating_sub(PROMPT_CHARS_MAX)).collect()
}

/// The number of steps that earlier answers played: all up to the last tool call since the prompt.
fn spent(steps: &[Step], since: &[Turn], plan_has_file: bool) -> usize {
    let calls = |turn: &Turn| if let Turn::Model { calls } = turn { *calls } else { 0 };
    let mut made: usize = since.iter().map(calls).sum();
    let mut spent = 0;
    for step in steps {
        if made == 0 {
            break;
        }
        if step.is_call() {
            // A plan with a file takes two calls: one writes the file, the other submits the plan.
            let calls = if matches!(step, Step::Plan(_)) && plan_has_file { 2 } else { 1 };
            made = made.saturating_sub(calls);
        }
        spent += 1;
    }
    spent
}

/// Plays the steps after the first `spent` ones, up to the next call that ends the answer. `first` returns whether a
/// step that is played only once has not been played before.
fn play(
    conversation: &Conversation,
    steps: &[Step],
    spent: usize,
    since: &[Turn],
    first: &mut impl FnMut(usize) -> bool,
) -> Reply {
    let mut answer = Answer { parts: Vec::new(), stop: Stop::End };
    for (index, step) in steps.iter().enumerate().skip(spent) {
        match step {
            Step::Say(text) => answer.parts.push(Part::Text(text.clone())),
            Step::Think(text) => answer.parts.push(Part::Think(text.clone())),
            Step::Slow { over, text } => answer.parts.push(Part::Slow { over: *over, text: text.clone() }),
            Step::Wait(time) => answer.parts.push(Part::Wait(*time)),
            Step::Max(text) => {
                answer.parts.push(Part::Text(text.clone()));
                answer.stop = Stop::Tokens;
            }
            Step::Fail { once, .. } | Step::Cut { once } if *once && !first(index) => {}
            Step::Fail { status, message, .. } => {
                return Reply::Fail { status: *status, message: message.clone() };
            }
            Step::Cut { .. } => answer.parts.push(Part::Cut),
            call => {
                answer.parts.extend(conversation.tools.parts(call, conversation.plan_file.as_deref()));
                if !joins(call) {
                    break;
                }
            }
        }
    }
    if answer.parts.is_empty() {
        return Reply::Answer(Answer::text(format!("tool-result: {}", last_result(since))));
    }
    if answer.parts.iter().any(|part| matches!(part, Part::Call(_))) {
        answer.stop = Stop::Calls;
    }
    Reply::Answer(answer)
}

fn joins(step: &Step) -> bool {
    matches!(step, Step::Bash { join: true, .. } | Step::Tool { join: true, .. })
}

fn last_result(since: &[Turn]) -> String {
    let last = since.iter().rev().find_map(|turn| match turn {
        Turn::Result(text) => Some(text.trim()),
        _ => None,
    });
    last.unwrap_or("(none)").chars().take(RESULT_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::tools::{Tool, Tools};

    fn conversation(turns: Vec<Turn>) -> Conversation {
        let mut tools = Tools::default();
        tools.add(&json!("bash"), Tool::default());
        Conversation { turns, tools, ..Conversation::default() }
    }

    fn user(text: &str) -> Turn {
        Turn::User(text.into())
    }

    #[track_caller]
    fn check(turns: Vec<Turn>, expected: &str) {
        let reply = next(&conversation(turns), &Scenario::default(), &mut Done::default());
        assert_eq!(shown(&reply), expected);
    }

    fn shown(reply: &Reply) -> String {
        let Reply::Answer(answer) = reply else { return format!("{reply:?}") };
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Call(call) => format!("{}({})", call.name, call.input.as_text()),
            other => format!("{other:?}"),
        };
        answer.parts.iter().map(part).collect::<Vec<_>>().join(" + ")
    }

    #[test]
    fn steps_are_done_in_order_one_call_an_answer() {
        let script = user("say:a ;; tool:bash one ;; say:b ;; tool:bash two");
        let (call, result) = (Turn::Model { calls: 1 }, Turn::Result(" denied \n".into()));
        check(vec![script.clone()], r#"a + bash({"command":"one"})"#);
        check(vec![script.clone(), call.clone(), result.clone()], r#"b + bash({"command":"two"})"#);
        check(vec![script.clone(), call.clone(), result.clone(), call, result], "tool-result: denied");
        check(
            vec![user("tool:bash old"), Turn::Model { calls: 1 }, script, user("reminder")],
            r#"a + bash({"command":"one"})"#,
        );
    }

    #[test]
    fn joined_calls_make_one_answer() {
        let script = user("tool+:bash one ;; tool:bash two ;; say:end");
        check(vec![script.clone()], r#"bash({"command":"one"}) + bash({"command":"two"})"#);
        check(vec![script, Turn::Model { calls: 2 }], "end");
    }

    #[test]
    fn a_prompt_without_a_script_is_acknowledged() {
        check(vec![user("hello")], "ack: hello");
    }

    #[test]
    fn what_is_done_once_is_not_done_again() {
        let conversation = conversation(vec![user("err1:429 slow down ;; say:now")]);
        let mut done = Done::default();
        let mut next = || next(&conversation, &Scenario::default(), &mut done);
        assert_eq!(next(), Reply::Fail { status: 429, message: "slow down".into() });
        assert_eq!(shown(&next()), "now");
    }

    #[test]
    fn a_request_without_tools_is_for_a_title() {
        let mut titled = conversation(vec![user("say:hello")]);
        titled.tools = Tools::default();
        titled.instructed = true;
        let next = |conversation: &Conversation| {
            shown(&super::next(conversation, &Scenario::default(), &mut Done::default()))
        };
        assert_eq!(next(&titled), "scripted title");
        titled.instructed = false;
        assert_eq!(next(&titled), "hello");
    }
}
