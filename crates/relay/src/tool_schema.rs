//! Whether the arguments of a tool are what its JSON Schema says.
//!
//! The runtime asks before it sends a call, and the device before it does anything. Both got the schema from somebody else, so
//! a schema is bounded: in size, in depth, in patterns, and in how often it can have the same value looked at. It never leads
//! anywhere else, as only references into itself are followed.

mod bounds;
mod names;

use jsonschema::{PatternOptions, Validator};
use protocol::relay::{RelayError, RelayErrorCode};
use serde_json::{Map, Value};

use bounds::Bounds;

/// The largest schema, in bytes of JSON. That of the largest tool we have met has 20 KiB.
pub const SCHEMA_BYTES_MAX: usize = 64 << 10;

/// How deep a schema may be nested.
pub const SCHEMA_DEPTH_MAX: usize = 32;

/// How often a pattern may try another way to match before it counts as not matched.
const BACKTRACKS_MAX: usize = 100_000;

/// The largest compiled pattern, in bytes: `^\S{1,255}$` takes more than half of it.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// How many patterns a schema may have: compiled they take at most 64 MiB.
const PATTERNS_MAX: usize = 64;

/// How much of what is wrong is told: more is of no use to a model.
const REASON_CHARS_MAX: usize = 300;

/// The JSON Schema of the arguments of a tool, ready to be used.
#[derive(Debug)]
pub struct ToolSchema {
    validator: Validator,
    bounds: Bounds,
}

/// Why something cannot be the schema of a tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSchema {
    /// It is too large.
    #[error("the schema has {actual} bytes; at most {SCHEMA_BYTES_MAX} are allowed")]
    Large {
        /// How large it is.
        actual: usize,
    },
    /// It is nested too deep.
    #[error("the schema is nested deeper than {SCHEMA_DEPTH_MAX} levels")]
    Deep,
    /// It has arguments that are no object.
    #[error("the `type` of a tool's schema must be `object`")]
    NoObject,
    /// It refers to something outside, or in a way that is not followed.
    #[error("the schema refers to `{0}`, which it does not contain")]
    Elsewhere(String),
    /// It refers to itself without end.
    #[error("the schema refers to itself without end")]
    Endless,
    /// To check a value would take too long, or too much memory.
    #[error("the schema is too expensive to check: too many combinations or patterns")]
    Costly,
    /// It is no JSON Schema.
    #[error("not a valid JSON Schema: {0}")]
    Invalid(String),
}

impl ToolSchema {
    /// Makes a schema ready.
    ///
    /// # Errors
    /// If it is none, or is not bounded.
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

    /// Whether these are arguments of the tool.
    ///
    /// # Errors
    /// `invalid_request`, which names the place (a JSON pointer) but says nothing of the value that is there.
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
