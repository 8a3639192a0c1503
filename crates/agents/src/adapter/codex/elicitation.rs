//! Forms of MCP servers, as questions.

use protocol::wait::{QuestionItem, QuestionOption};
use serde_json::{Map, Value, json};

/// What a form that asks yes or no is answered with.
const YES: &str = "Yes";
const NO: &str = "No";

/// A form to be filled in.
#[derive(Debug)]
pub(super) struct Form(Vec<Field>);

#[derive(Debug)]
struct Field {
    name: String,
    schema: Value,
    /// What can be chosen from: the value and what people know it as.
    choices: Vec<(Value, String)>,
}

impl Form {
    /// What an elicitation asks for; nothing if it only wants to go on.
    pub(super) fn read(params: &Value) -> Result<Self, String> {
        match params["mode"].as_str() {
            Some("form" | "openai/form" | "openaiForm") => {}
            Some("url") => return Ok(Self(Vec::new())),
            mode => {
                return Err(format!("unknown elicitation mode `{}`", mode.unwrap_or_default()));
            }
        }
        let fields = params["requestedSchema"]["properties"].as_object().into_iter().flatten();
        let field = |(name, schema): (&String, &Value)| Field {
            name: name.clone(),
            choices: choices(schema),
            schema: schema.clone(),
        };
        Ok(Self(fields.map(field).collect()))
    }

    /// Whether there is nothing to be filled in.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A question for each field.
    pub(super) fn questions(&self, message: &str) -> Vec<QuestionItem> {
        let question = |field: &Field| {
            let title = field.schema["title"].as_str().unwrap_or(&field.name);
            let about = field.schema["description"].as_str().unwrap_or(title);
            let choice =
                |(_, label): &(Value, String)| QuestionOption { label: label.clone(), description: None };
            QuestionItem {
                question: format!("{message}\n{about}"),
                header: Some(title.to_owned()),
                options: field.choices.iter().map(choice).collect(),
                allows_multiple: field.schema["type"] == "array",
                allows_custom: field.choices.is_empty(),
            }
        };
        self.0.iter().map(question).collect()
    }

    /// The form with its answers, one for each field; fields without an answer are left out.
    pub(super) fn filled(&self, answers: &[Vec<String>]) -> Value {
        let given = self.0.iter().zip(answers).filter(|(_, answer)| !answer.is_empty());
        given.map(|(field, answer)| (field.name.clone(), field.value(answer))).collect::<Map<_, _>>().into()
    }
}

impl Field {
    fn value(&self, answer: &[String]) -> Value {
        let values = answer.iter().map(|label| {
            let chosen = self.choices.iter().find(|(_, known)| known == label);
            chosen.map_or_else(|| self.parsed(label), |(value, _)| value.clone())
        });
        let values: Vec<Value> = values.collect();
        if self.schema["type"] == "array" {
            json!(values)
        } else {
            values.into_iter().next().unwrap_or_default()
        }
    }

    /// What was written, as what the field wants.
    fn parsed(&self, text: &str) -> Value {
        let number = match self.schema["type"].as_str() {
            Some("integer") => text.trim().parse::<i64>().ok().map(Value::from),
            Some("number") => text.trim().parse::<f64>().ok().map(Value::from),
            _ => None,
        };
        // If it does not fit the server says so.
        number.unwrap_or_else(|| text.into())
    }
}

fn choices(schema: &Value) -> Vec<(Value, String)> {
    if schema["type"] == "boolean" {
        return vec![(true.into(), YES.into()), (false.into(), NO.into())];
    }
    // Of each of many, or of the one.
    let of = if schema["items"].is_object() { &schema["items"] } else { schema };
    let list = |key: &str| of[key].as_array().into_iter().flatten();
    let label = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let titled = list("oneOf").chain(list("anyOf"));
    let titled = titled.map(|one| (one["const"].clone(), label(one.get("title").unwrap_or(&one["const"]))));
    let names: Vec<_> = list("enumNames").map(label).collect();
    let plain = list("enum").enumerate();
    let plain =
        plain.map(|(at, value)| (value.clone(), names.get(at).cloned().unwrap_or_else(|| label(value))));
    titled.chain(plain).collect()
}
