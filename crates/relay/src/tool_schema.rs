//! Validates the arguments of a tool against its JSON Schema.
//!
//! Both the sender of a call and the device validate it. The schema is untrusted, so it is limited in size, in depth, in patterns and
//! in the number of evaluations of the same value. Only references within the schema are followed, so nothing is loaded from
//! elsewhere.

mod bounds;
mod names;

use jsonschema::{PatternOptions, Validator};
use protocol::relay::{RelayError, RelayErrorCode};
use serde_json::{Map, Value};

use bounds::Bounds;

/// The largest schema, in bytes of JSON. The largest one seen in practice has 20 KiB.
pub const SCHEMA_BYTES_MAX: usize = 64 << 10;

/// The nesting depth of a schema.
pub const SCHEMA_DEPTH_MAX: usize = 32;

/// The number of backtracking steps after which a pattern counts as not matched.
const BACKTRACKS_MAX: usize = 100_000;

/// The largest compiled pattern, in bytes: `^\S{1,255}$` takes more than half of it.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// The number of patterns in a schema. Compiled, they take at most 64 MiB.
const PATTERNS_MAX: usize = 64;

/// The length of an error message. A model has no use for more.
const REASON_CHARS_MAX: usize = 300;

/// The compiled JSON Schema of the arguments of a tool.
#[derive(Debug)]
pub struct ToolSchema {
    validator: Validator,
    bounds: Bounds,
}

/// Why a schema is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSchema {
    /// It is too large.
    #[error("the schema has {actual} bytes; at most {SCHEMA_BYTES_MAX} are allowed")]
    Large {
        /// Its size.
        actual: usize,
    },
    /// It is nested too deep.
    #[error("the schema is nested deeper than {SCHEMA_DEPTH_MAX} levels")]
    Deep,
    /// It does not describe an object.
    #[error("the `type` of a tool's schema must be `object`")]
    NoObject,
    /// It has a reference to something outside of it, or of a kind that is not supported.
    #[error("the schema refers to `{0}`, which it does not contain")]
    Elsewhere(String),
    /// It refers to itself without end.
    #[error("the schema refers to itself without end")]
    Endless,
    /// Validating a value could take too much time or memory.
    #[error("the schema is too expensive to check: too many combinations or patterns")]
    Costly,
    /// It is not a JSON Schema.
    #[error("not a valid JSON Schema: {0}")]
    Invalid(String),
}

impl ToolSchema {
    /// Compiles a schema.
    ///
    /// # Errors
    /// If it is not valid, or exceeds a limit.
    pub fn new(schema: &Map<String, Value>) -> Result<Self, BadSchema> {
        let schema = Value::Object(schema.clone());
        if bounds::depth(&schema) > SCHEMA_DEPTH_MAX {
            return Err(BadSchema::Deep);
        }
        let actual = schema.to_string().len();
        if actual > SCHEMA_BYTES_MAX {
            return Err(BadSchema::Large { actual });
        }
        if schema.get("type").is_some_and(|kind| kind != "object") {
            return Err(BadSchema::NoObject);
        }
        if let Some(keyword) = names::within(&schema) {
            return Err(BadSchema::Elsewhere(keyword.into()));
        }
        if bounds::patterns(&schema) > PATTERNS_MAX {
            return Err(BadSchema::Costly);
        }
        let bounds = Bounds::of(&schema)?;
        let patterns =
            PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS_MAX).size_limit(PATTERN_BYTES_MAX);
        let options = jsonschema::options().offline().with_pattern_options(patterns);
        let validator =
            options.build(&schema).map_err(|error| BadSchema::Invalid(cut(&error.to_string())))?;
        Ok(Self { validator, bounds })
    }

    /// Validates the arguments of a call.
    ///
    /// # Errors
    /// `invalid_request` with the JSON pointer of the invalid value, but not the value, which may be a secret.
    pub fn check(&self, arguments: &Map<String, Value>) -> Result<(), RelayError> {
        let arguments = Value::Object(arguments.clone());
        if !self.bounds.allow(&arguments) {
            return Err(RelayError::new(
                RelayErrorCode::InvalidRequest,
                "the arguments are nested too deeply",
            )
            .with("pointer", ""));
        }
        self.validator.validate(&arguments).map_err(|error| {
            let (pointer, reason) = (error.instance_path().as_str(), cut(&error.masked().to_string()));
            let place = if pointer.is_empty() { "themselves".into() } else { format!("at `{pointer}`") };
            let message = format!("the arguments do not match the tool's schema, {place}: {reason}");
            RelayError::new(RelayErrorCode::InvalidRequest, message).with("pointer", pointer)
        })
    }
}

fn cut(text: &str) -> String {
    text.chars().take(REASON_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests;
