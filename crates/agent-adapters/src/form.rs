//! Forms that agents and MCP servers ask a person to fill in (elicitation in ACP and MCP), as questions.

mod field_schema;

use std::fmt;

use protocol::wait::{QuestionItem, QuestionOption};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::{Map, Number, Value};

use self::field_schema::{FieldChoice, FieldSchema, FieldType, value_text};
use crate::lenient;

/// Ends of the name of a field that takes free text for a field with choices: `color` and `color_custom`.
const FREE_TEXT: [&str; 2] = ["_custom", "_note"];

/// A form to be filled in.
#[derive(Debug)]
pub(super) struct Form(Vec<FormField>);

#[derive(Debug)]
struct FormField {
    name: String,
    schema: FieldSchema,
    choices: Vec<FieldChoice>,
    is_required: bool,
    /// The name of the field that takes free text for this one.
    free_text: Option<String>,
}

/// The part of an elicitation request where order matters: `serde_json::Value` would sort the fields by name.
#[derive(Deserialize)]
struct ElicitationRequest {
    params: ElicitationParams,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ElicitationParams {
    requested_schema: RequestedSchema,
}

#[derive(Deserialize)]
struct RequestedSchema {
    #[serde(default, deserialize_with = "in_order")]
    properties: Vec<(String, FieldSchema)>,
    #[serde(default, deserialize_with = "lenient::list")]
    required: Vec<String>,
}

impl Form {
    /// Parses the form of a request, which is a JSON-RPC message. It has no fields if the request has no form, or one that is
    /// not understood.
    pub(super) fn from_request(line: &[u8]) -> Self {
        let request: Result<ElicitationRequest, _> = serde_json::from_slice(line);
        let Ok(ElicitationRequest { params: ElicitationParams { requested_schema } }) = request else {
            return Self::empty();
        };
        let RequestedSchema { properties, required } = requested_schema;
        let has_choices = |name: &str| {
            properties.iter().any(|(known, schema)| known == name && !schema.choices().is_empty())
        };
        let is_free_text =
            |name: &str| FREE_TEXT.iter().any(|end| name.strip_suffix(end).is_some_and(has_choices));
        let free_text_of = |name: &str| {
            let named =
                |end: &&str| properties.iter().find(|(known, _)| known.strip_suffix(*end) == Some(name));
            FREE_TEXT.iter().find_map(named).map(|(known, _)| known.clone())
        };
        let fields = properties.iter().filter(|(name, _)| !is_free_text(name)).map(|(name, schema)| {
            let choices = schema.choices();
            FormField {
                name: name.clone(),
                schema: schema.clone(),
                is_required: required.contains(name),
                free_text: free_text_of(name).filter(|_| !choices.is_empty()),
                choices,
            }
        });
        Self(fields.collect())
    }

    /// A form without fields.
    pub(super) fn empty() -> Self {
        Self(Vec::new())
    }

    /// Whether there is nothing to be filled in.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A question for each field, in the order of the form.
    pub(super) fn questions(&self, message: &str) -> Vec<QuestionItem> {
        self.0.iter().map(|field| field.question(message)).collect()
    }

    /// The form with its answers, one for each field. A field without an answer has its default, or is left out.
    pub(super) fn filled(&self, answers: &[Vec<String>]) -> Value {
        let mut content = Map::new();
        for (at, field) in self.0.iter().enumerate() {
            field.fill(answers.get(at).map(Vec::as_slice).unwrap_or_default(), &mut content);
        }
        content.into()
    }
}

impl FormField {
    fn question(&self, message: &str) -> QuestionItem {
        let (title, description) = (self.schema.title(), self.schema.description());
        // A field without a title and a description appears with its name.
        let name = Some(self.name.as_str()).filter(|_| title.is_none() && description.is_none());
        let mut lines: Vec<&str> = Vec::new();
        for line in [Some(message), title, description, name].into_iter().flatten() {
            if !line.is_empty() && !lines.contains(&line) {
                lines.push(line);
            }
        }
        let option = |choice: &FieldChoice| QuestionOption {
            label: choice.label.clone(),
            description: choice.description.clone(),
        };
        QuestionItem {
            question: lines.join("\n"),
            header: Some(title.unwrap_or(&self.name).to_owned()),
            options: self.choices.iter().map(option).collect(),
            allows_multiple: self.schema.is_list(),
            allows_custom: self.choices.is_empty() || self.free_text.is_some(),
            is_required: self.is_required,
            default_answer: self.default_answer(),
        }
    }

    fn default_answer(&self) -> Vec<String> {
        let label = |value: &Value| {
            let chosen = self.choices.iter().find(|choice| choice.value == *value);
            chosen.map_or_else(|| value_text(value), |choice| choice.label.clone())
        };
        match self.schema.default_value() {
            None => Vec::new(),
            Some(Value::Array(values)) => values.iter().map(label).collect(),
            Some(value) => vec![label(value)],
        }
    }

    fn fill(&self, answer: &[String], content: &mut Map<String, Value>) {
        if answer.is_empty() {
            if let Some(default) = self.schema.default_value() {
                content.insert(self.name.clone(), default.clone());
            }
            return;
        }
        let chosen = |label: &String| self.choices.iter().find(|choice| choice.label == *label);
        let (mut values, mut custom) = (Vec::new(), Vec::new());
        for label in answer {
            match chosen(label) {
                Some(choice) => values.push(choice.value.clone()),
                None if self.free_text.is_some() => custom.push(label.as_str()),
                None => values.push(self.typed(label)),
            }
        }
        if let Some(free_text) = self.free_text.as_ref().filter(|_| !custom.is_empty()) {
            content.insert(free_text.clone(), custom.join(", ").into());
        }
        if self.schema.is_list() {
            content.insert(self.name.clone(), values.into());
        } else if let Some(value) = values.into_iter().next() {
            content.insert(self.name.clone(), value);
        }
    }

    /// The text of an answer as a value of the field's type. The text itself if it does not fit: then the agent refuses it.
    fn typed(&self, text: &str) -> Value {
        let integer = || text.trim().parse::<i64>().ok().map(Number::from);
        let number = match self.schema.value_type() {
            Some(FieldType::Integer) => integer(),
            Some(FieldType::Number) => integer().or_else(|| Number::from_f64(text.trim().parse().ok()?)),
            _ => None,
        };
        number.map_or_else(|| text.into(), Value::Number)
    }
}

/// The fields of a form in their order.
fn in_order<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, FieldSchema)>, D::Error> {
    struct FieldsVisitor;

    impl<'de> Visitor<'de> for FieldsVisitor {
        type Value = Vec<(String, FieldSchema)>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = Vec::new();
            while let Some((name, schema)) = map.next_entry::<String, Value>()? {
                entries.push((name, lenient::object(&schema)));
            }
            Ok(entries)
        }
    }

    deserializer.deserialize_map(FieldsVisitor)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A request in the text of an agent, so that its fields keep their order.
    const DEPLOY: &str = r#"{ "id": 1, "method": "elicitation/create", "params": {
        "mode": "form", "message": "Fill in the deploy form", "requestedSchema": { "type": "object", "properties": {
            "name": { "type": "string" },
            "count": { "type": "integer", "description": "How many", "default": 2 },
            "ratio": { "type": "number", "title": "Ratio", "description": "Between 0 and 1" },
            "dry": { "type": "boolean", "default": true },
            "tags": { "type": "array", "items": { "type": "string", "enum": ["a", "b"] } },
            "color": { "type": "string", "oneOf": [
                { "const": "r", "title": "Red", "description": "Red it is" }, { "const": "b", "title": "Blue" }] },
            "color_custom": { "type": "string" }
        }, "required": ["name", "ratio"] } } }"#;

    fn answers(answers: &[&[&str]]) -> Vec<Vec<String>> {
        answers.iter().map(|answer| answer.iter().map(|&label| label.to_owned()).collect()).collect()
    }

    /// sessions-5: the message, the order, names, defaults and what is required are those of the form.
    #[test]
    fn a_form_is_a_question_for_each_field_in_its_order() {
        let questions = Form::from_request(DEPLOY.as_bytes()).questions("Fill in the deploy form");
        let shown: Vec<_> = questions
            .iter()
            .map(|item| {
                let labels: Vec<_> = item.options.iter().map(|option| option.label.as_str()).collect();
                let lines: Vec<_> = item.question.lines().collect();
                (
                    item.header.as_deref().unwrap(),
                    lines,
                    labels,
                    item.is_required,
                    item.default_answer.join(","),
                )
            })
            .collect();
        let message = "Fill in the deploy form";
        let expected = [
            ("name", vec![message, "name"], vec![], true, ""),
            ("count", vec![message, "How many"], vec![], false, "2"),
            ("Ratio", vec![message, "Ratio", "Between 0 and 1"], vec![], true, ""),
            ("dry", vec![message, "dry"], vec!["Yes", "No"], false, "Yes"),
            ("tags", vec![message, "tags"], vec!["a", "b"], false, ""),
            ("color", vec![message, "color"], vec!["Red", "Blue"], false, ""),
        ];
        let expected = expected.map(|(header, lines, labels, required, default)| {
            (header, lines, labels, required, default.to_owned())
        });
        assert_eq!(shown, expected);
        let multiple: Vec<_> = questions.iter().map(|item| item.allows_multiple).collect();
        assert_eq!(multiple, [false, false, false, false, true, false]);
        let custom: Vec<_> = questions.iter().map(|item| item.allows_custom).collect();
        assert_eq!(custom, [true, true, true, false, false, true]);
        assert_eq!(questions[5].options[0].description.as_deref(), Some("Red it is"));
    }

    /// sessions-5: what was answered goes back as the types of the form.
    #[test]
    fn answers_have_the_types_of_the_form() {
        let form = Form::from_request(DEPLOY.as_bytes());
        let given = [&["Ada"][..], &["3"], &["0.7"], &["No"], &["b"], &["Blue"]];
        assert_eq!(
            form.filled(&answers(&given)),
            json!({ "name": "Ada", "count": 3, "ratio": 0.7, "dry": false, "tags": ["b"], "color": "b" })
        );
        let given = [&["7"][..], &[], &["1"], &[], &[], &["Green"]];
        let expected = json!({ "name": "7", "count": 2, "ratio": 1, "dry": true, "color_custom": "Green" });
        assert_eq!(form.filled(&answers(&given)), expected);
        // The agent refuses a value that does not fit.
        let given = [&["x"][..], &["many"], &["NaN"], &["Yes"], &["a", "b"], &[]];
        let expected =
            json!({ "name": "x", "count": "many", "ratio": "NaN", "dry": true, "tags": ["a", "b"] });
        assert_eq!(form.filled(&answers(&given)), expected);
    }

    #[test]
    fn a_request_without_a_form_has_no_fields() {
        for request in [
            r#"{ "params": { "mode": "url", "url": "http://example.com" } }"#,
            r#"{ "params": { "requestedSchema": { "properties": [] } } }"#,
            r#"{ "params": { "requestedSchema": { "type": "object" } } }"#,
        ] {
            assert!(Form::from_request(request.as_bytes()).is_empty(), "{request}");
        }
    }
}
