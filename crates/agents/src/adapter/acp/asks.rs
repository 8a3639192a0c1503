//! What an agent asks: permissions, plans and forms.

use std::collections::BTreeMap;

use protocol::wait::{APPROVE, PermissionAnswer, QuestionItem, QuestionOption, REJECT};
use serde_json::{Map, Value, json};

use super::{
    super::{Asking, Fact, Out, PermissionAsk, QuestionAsk, Reply},
    text,
    tools::tool_kind,
};

/// How the names of a field end that takes free text for another.
const FREE_TEXT: [&str; 2] = ["_custom", "_note"];

/// What an agent asks and nobody has answered, by its id as JSON.
#[derive(Default)]
pub(super) struct Asks(BTreeMap<String, Ask>);

enum Ask {
    Permission { options: Vec<Value> },
    Plan { options: Vec<Value> },
    Form { fields: Vec<Field> },
}

/// One question of a form.
struct Field {
    name: String,
    /// What it takes for each label.
    values: Vec<(String, Value)>,
    multiple: bool,
    /// Where free text goes, if not here.
    free: Option<String>,
}

impl Asks {
    /// The agent asks for permission, or for the approval of a plan. Where everything is allowed, it has the permission.
    pub(super) fn permission(
        &mut self,
        id: &Value,
        params: &Value,
        plan: Option<String>,
        free: bool,
        out: &mut Out,
    ) {
        let call = &params["toolCall"];
        let options = params["options"].as_array().cloned().unwrap_or_default();
        let call_id = call["toolCallId"].as_str().map(str::to_owned);
        if let Some(plan) = plan {
            let asking = Asking::Question(QuestionAsk {
                call_id,
                questions: vec![approval(text(&call["title"]))],
                plan: Some(plan),
            });
            self.0.insert(id.to_string(), Ask::Plan { options });
            return out.facts.push(Fact::Asked { key: id.to_string(), asking });
        }
        if free {
            return out.line(&selected(id, &options, &["allow_once", "allow_always"]));
        }
        let title = text(&call["title"]);
        let always = options.iter().filter(|option| option["kind"] == "allow_always");
        let asking = Asking::Permission(PermissionAsk {
            call_id,
            tool: call["name"].as_str().unwrap_or(&title).to_owned(),
            kind: tool_kind(call["kind"].as_str().unwrap_or_default()),
            reason: None,
            input: call["rawInput"].clone(),
            always_allows: always.map(|option| text(&option["name"])).collect(),
            title,
        });
        self.0.insert(id.to_string(), Ask::Permission { options });
        out.facts.push(Fact::Asked { key: id.to_string(), asking });
    }

    /// The agent has a form to fill in.
    pub(super) fn form(&mut self, id: &Value, params: &Value, out: &mut Out) {
        let properties = params["requestedSchema"]["properties"].as_object().cloned().unwrap_or_default();
        let (fields, mut questions): (Vec<_>, Vec<_>) = fields(&properties).into_iter().unzip();
        if params["mode"] != "form" || fields.is_empty() {
            return out.line(&json!({ "jsonrpc": "2.0", "id": id, "result": { "action": "decline" } }));
        }
        // A form with one question says it in its message.
        if let ([question], Some(message)) = (&mut questions[..], params["message"].as_str())
            && question.question.is_empty()
        {
            question.question = message.into();
        }
        let call_id = params["toolCallId"].as_str().map(str::to_owned);
        let asking = Asking::Question(QuestionAsk { call_id, questions, plan: None });
        self.0.insert(id.to_string(), Ask::Form { fields });
        out.facts.push(Fact::Asked { key: id.to_string(), asking });
    }

    /// Tells the agent what was answered.
    pub(super) fn answer(&mut self, key: &str, reply: &Reply, out: &mut Out) {
        let Some(ask) = self.0.remove(key) else { return };
        let id: Value = serde_json::from_str(key).unwrap_or_default();
        let answer = match (ask, reply) {
            (Ask::Permission { options }, Reply::Permission(PermissionAnswer::Once)) => {
                selected(&id, &options, &["allow_once", "allow_always"])
            }
            (Ask::Permission { options }, Reply::Permission(PermissionAnswer::Always)) => {
                selected(&id, &options, &["allow_always", "allow_once"])
            }
            (Ask::Plan { options }, Reply::Answers(answers)) if approves(answers) => {
                selected(&id, &options, &["allow_once", "allow_always"])
            }
            (Ask::Permission { options } | Ask::Plan { options }, _) => {
                selected(&id, &options, &["reject_once", "reject_always"])
            }
            (Ask::Form { fields }, Reply::Answers(answers)) => {
                let result = json!({ "action": "accept", "content": content(&fields, answers) });
                json!({ "jsonrpc": "2.0", "id": id, "result": result })
            }
            (Ask::Form { .. }, _) => json!({ "jsonrpc": "2.0", "id": id, "result": { "action": "decline" } }),
        };
        out.line(&answer);
    }

    /// The turn is interrupted: what is asked is answered by that, and the agent may wait for the answer.
    pub(super) fn cancel_all(&mut self, out: &mut Out) {
        for (key, ask) in std::mem::take(&mut self.0) {
            let id: Value = serde_json::from_str(&key).unwrap_or_default();
            let result = match ask {
                Ask::Form { .. } => json!({ "action": "cancel" }),
                Ask::Permission { .. } | Ask::Plan { .. } => json!({ "outcome": { "outcome": "cancelled" } }),
            };
            out.line(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
            out.facts.push(Fact::Withdrawn { key });
        }
    }

    /// The agent no longer asks.
    pub(super) fn withdraw(&mut self, id: &Value, out: &mut Out) {
        let key = id.to_string();
        if self.0.remove(&key).is_some() {
            out.facts.push(Fact::Withdrawn { key });
        }
    }

    /// The turn is over, and with it what was asked.
    pub(super) fn withdraw_all(&mut self, out: &mut Out) {
        let open = std::mem::take(&mut self.0);
        out.facts.extend(open.into_keys().map(|key| Fact::Withdrawn { key }));
    }
}

/// Whether somebody approves a plan.
fn approves(answers: &[Vec<String>]) -> bool {
    matches!(answers, [chosen] if matches!(&chosen[..], [label] if label == APPROVE))
}

fn approval(question: String) -> QuestionItem {
    let choice = |label: &str| QuestionOption { label: label.into(), description: None };
    QuestionItem {
        question,
        header: Some("Plan".into()),
        options: vec![choice(APPROVE), choice(REJECT)],
        allows_multiple: false,
        allows_custom: true,
    }
}

/// Chooses the first option of one of these kinds; what options are called differs from agent to agent.
fn selected(id: &Value, options: &[Value], kinds: &[&str]) -> Value {
    let found = kinds.iter().find_map(|kind| options.iter().find(|option| option["kind"] == **kind));
    let outcome = match found {
        Some(option) => json!({ "outcome": "selected", "optionId": option["optionId"] }),
        None => json!({ "outcome": "cancelled" }),
    };
    json!({ "jsonrpc": "2.0", "id": id, "result": { "outcome": outcome } })
}

fn fields(properties: &Map<String, Value>) -> Vec<(Field, QuestionItem)> {
    let partner = |name: &str| {
        FREE_TEXT.iter().map(|end| format!("{name}{end}")).find(|free| properties.contains_key(free))
    };
    let is_partner = |name: &str| {
        FREE_TEXT.iter().any(|end| name.strip_suffix(end).is_some_and(|of| properties.contains_key(of)))
    };
    properties
        .iter()
        .filter(|(name, _)| !is_partner(name))
        .map(|(name, schema)| {
            let multiple = schema["type"] == "array";
            let of = if multiple { &schema["items"] } else { schema };
            let named = of["oneOf"].as_array().or(of["anyOf"].as_array());
            let values: Vec<(String, Value, Option<String>)> = match (named, of["enum"].as_array()) {
                (Some(named), _) => named
                    .iter()
                    .map(|one| {
                        let label = one["title"].as_str().map_or_else(|| text(&one["const"]), str::to_owned);
                        (label, one["const"].clone(), one["description"].as_str().map(str::to_owned))
                    })
                    .collect(),
                (None, Some(values)) => {
                    values.iter().map(|value| (text(value), value.clone(), None)).collect()
                }
                (None, None) if schema["type"] == "boolean" => {
                    vec![("Yes".into(), true.into(), None), ("No".into(), false.into(), None)]
                }
                (None, None) => Vec::new(),
            };
            let free = partner(name);
            let item = QuestionItem {
                // The longer of the two is the question.
                question: longer(&schema["title"], &schema["description"]),
                header: schema["title"].as_str().map(str::to_owned),
                options: values
                    .iter()
                    .map(|(label, _, description)| QuestionOption {
                        label: label.clone(),
                        description: description.clone(),
                    })
                    .collect(),
                allows_multiple: multiple,
                allows_custom: free.is_some() || values.is_empty(),
            };
            let values = values.into_iter().map(|(label, value, _)| (label, value)).collect();
            (Field { name: name.clone(), values, multiple, free }, item)
        })
        .collect()
}

fn longer(title: &Value, description: &Value) -> String {
    let (title, description) = (title.as_str().unwrap_or_default(), description.as_str().unwrap_or_default());
    if title.contains('?') || title.len() > description.len() { title.into() } else { description.into() }
}

/// The form as it was filled in.
fn content(fields: &[Field], answers: &[Vec<String>]) -> Value {
    let mut content = Map::new();
    for (field, chosen) in fields.iter().zip(answers) {
        let value = |label: &String| {
            field.values.iter().find(|(known, _)| known == label).map(|(_, value)| value.clone())
        };
        let (known, free): (Vec<_>, Vec<_>) = chosen.iter().partition(|label| value(label).is_some());
        let known: Vec<Value> = known.into_iter().filter_map(value).collect();
        let free = free.into_iter().cloned().collect::<Vec<_>>().join(", ");
        match &field.free {
            Some(place) if !free.is_empty() => drop(content.insert(place.clone(), free.into())),
            None if !free.is_empty() => drop(content.insert(field.name.clone(), free.into())),
            _ => {}
        }
        if field.multiple {
            content.insert(field.name.clone(), known.into());
        } else if let Some(one) = known.into_iter().next() {
            content.insert(field.name.clone(), one);
        }
    }
    content.into()
}
