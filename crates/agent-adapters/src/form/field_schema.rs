//! JSON Schemas of the fields of a form.

use serde::Deserialize;
use serde_json::Value;

use crate::lenient;

/// The choices of a field that is true or false.
const YES: &str = "Yes";
const NO: &str = "No";

/// The schema of a field, or of each item of a list.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct FieldSchema {
    #[serde(rename = "type")]
    kind: Option<FieldType>,
    title: Option<String>,
    description: Option<String>,
    default: Value,
    /// The schema of the items of a list. It is parsed when needed: an MCP server may nest schemas without end.
    items: Value,
    #[serde(deserialize_with = "lenient::list")]
    one_of: Vec<TitledValue>,
    #[serde(deserialize_with = "lenient::list")]
    any_of: Vec<TitledValue>,
    #[serde(rename = "enum", deserialize_with = "lenient::list")]
    values: Vec<Value>,
    /// The labels of `values`.
    #[serde(deserialize_with = "lenient::list")]
    enum_names: Vec<Value>,
}

/// The types that matter for a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum FieldType {
    Array,
    Boolean,
    Integer,
    Number,
    /// Text, and any other type.
    #[serde(other)]
    Other,
}

/// An alternative of `oneOf` or `anyOf`. Alternatives without a value are no choices.
#[derive(Debug, Clone, Deserialize)]
struct TitledValue {
    #[serde(rename = "const")]
    value: Value,
    #[serde(default)]
    title: Value,
    #[serde(default)]
    description: Value,
}

/// A value from which a person can choose.
#[derive(Debug)]
pub(super) struct FieldChoice {
    pub(super) value: Value,
    pub(super) label: String,
    pub(super) description: Option<String>,
}

impl FieldSchema {
    pub(super) fn title(&self) -> Option<&str> {
        self.title.as_deref().filter(|title| !title.is_empty())
    }

    pub(super) fn description(&self) -> Option<&str> {
        self.description.as_deref().filter(|description| !description.is_empty())
    }

    pub(super) fn default_value(&self) -> Option<&Value> {
        Some(&self.default).filter(|default| !default.is_null())
    }

    pub(super) fn is_list(&self) -> bool {
        self.kind == Some(FieldType::Array)
    }

    /// The type of the field, or of each item of a list.
    pub(super) fn value_type(&self) -> Option<FieldType> {
        if self.is_list() { self.item_schema()?.kind } else { self.kind }
    }

    fn item_schema(&self) -> Option<Self> {
        self.items.is_object().then(|| lenient::object(&self.items))
    }

    /// The values from which a person can choose; none if the field takes any text.
    pub(super) fn choices(&self) -> Vec<FieldChoice> {
        if self.kind == Some(FieldType::Boolean) {
            let choice = |value: bool, label: &str| FieldChoice {
                value: value.into(),
                label: label.into(),
                description: None,
            };
            return vec![choice(true, YES), choice(false, NO)];
        }
        let items = self.item_schema();
        let schema = items.as_ref().unwrap_or(self);
        let titled = schema.one_of.iter().chain(&schema.any_of).map(|choice| FieldChoice {
            value: choice.value.clone(),
            label: value_text(if choice.title.is_null() { &choice.value } else { &choice.title }),
            description: choice.description.as_str().map(str::to_owned),
        });
        let plain = schema.values.iter().enumerate().map(|(at, value)| FieldChoice {
            value: value.clone(),
            label: value_text(schema.enum_names.get(at).unwrap_or(value)),
            description: None,
        });
        titled.chain(plain).collect()
    }
}

/// The text that stands for a value.
pub(super) fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
