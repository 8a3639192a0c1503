//! Recorded runs in which one value of one line is another: an agent of another version.

use proptest::{
    prelude::*,
    sample::Index,
    test_runner::{TestCaseError, TestCaseResult},
};
use serde_json::Value;

use crate::{Adapter, Out, replay};

/// Members whose text clients should see.
const TEXTS: [&str; 4] = ["aggregatedOutput", "delta", "output", "text"];

/// A recorded run in which one value of one line from the agent is another.
#[derive(Debug)]
pub(crate) struct AlteredRun {
    original: Vec<Value>,
    altered: Vec<Value>,
    /// The line that differs.
    at: usize,
}

impl AlteredRun {
    /// Replaces one value of one line of `run`.
    pub(crate) fn new(run: &[Value], at: Index, field: Index, value: &Value) -> Self {
        let from_agent: Vec<_> = (0..run.len()).filter(|&at| run[at].get("hear").is_some()).collect();
        let mut altered = run.to_vec();
        let at = if from_agent.is_empty() { 0 } else { *at.get(&from_agent) };
        if let Some(line) = altered[at].get_mut("hear") {
            let mut position = field.index(count(line));
            replace(line, &mut position, value);
        }
        Self { original: run.to_vec(), altered, at }
    }

    /// Checks that each text of the other lines comes out where it does in the original run.
    pub(crate) fn check_other_lines(&self, adapter: impl Fn() -> Box<dyn Adapter>) -> TestCaseResult {
        let (original, altered) =
            (facts(&self.original, adapter().as_mut()), facts(&self.altered, adapter().as_mut()));
        let ended_turns = |facts: &[String]| facts.iter().filter(|facts| facts.contains("turnEnded")).count();
        for at in (0..self.original.len()).filter(|&at| at != self.at) {
            // An adapter drops the rest of a turn that has ended, and the altered line may change when one ends.
            if ended_turns(&altered[..at]) != ended_turns(&original[..at]) {
                break;
            }
            check_line(&self.altered[at], &original[at], &altered[at])?;
        }
        Ok(())
    }

    /// Checks that each text that is left in the altered line comes out where it does in the original run.
    pub(crate) fn check_altered_line(&self, adapter: impl Fn() -> Box<dyn Adapter>) -> TestCaseResult {
        let (original, altered) =
            (facts(&self.original, adapter().as_mut()), facts(&self.altered, adapter().as_mut()));
        check_line(&self.altered[self.at], &original[self.at], &altered[self.at])
    }
}

/// Any JSON, not deep.
pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z é\"\\\\]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("(id|type|status|text|[a-z]{1,4})", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn check_line(line: &Value, original: &str, altered: &str) -> TestCaseResult {
    let mut texts = Vec::new();
    collect_texts(line, &mut texts);
    for text in texts.iter().filter(|text| original.contains(text.as_str())) {
        if !altered.contains(text.as_str()) {
            return Err(TestCaseError::fail(format!("{text} of {line} is lost: {altered}")));
        }
    }
    Ok(())
}

/// The facts of each line, as JSON.
fn facts(run: &[Value], adapter: &mut dyn Adapter) -> Vec<String> {
    let (mut out, mut inputs) = (Out::default(), 0);
    adapter.start(&mut out);
    let facts_of_line = |line: &Value| {
        out.facts.clear();
        replay::play(adapter, line, &mut inputs, &mut out);
        serde_json::to_string(&out.facts).unwrap()
    };
    run.iter().map(facts_of_line).collect()
}

/// Adds the texts of a line in the form that they have in JSON.
fn collect_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(text) if TEXTS.contains(&name.as_str()) && !text.is_empty() => {
                        texts.push(member.to_string());
                    }
                    _ => collect_texts(member, texts),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        _ => {}
    }
}

/// The number of values in a value, itself included.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Object(members) => members.values().map(count).sum(),
        Value::Array(items) => items.iter().map(count).sum(),
        _ => 0,
    }
}

/// Replaces the value at a position in the order of [`count`].
fn replace(value: &mut Value, position: &mut usize, with: &Value) -> bool {
    if *position == 0 {
        *value = with.clone();
        return true;
    }
    *position -= 1;
    match value {
        Value::Object(members) => members.values_mut().any(|member| replace(member, position, with)),
        Value::Array(items) => items.iter_mut().any(|item| replace(item, position, with)),
        _ => false,
    }
}
