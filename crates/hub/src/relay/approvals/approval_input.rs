//! The parameters of a request as the people see them who approve it: all of them, or the request is refused.

use std::fmt;

use protocol::relay::{MethodInfo, RawJson, RelayError, RelayErrorCode};
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};

/// How deep the parameters may be nested: every reader of JSON accepts this depth, and no person reads more.
const DEPTH_MAX: usize = 32;

/// The memory that the parameters may take while they wait. With the default limit of a frame (1 MiB), this is the text of
/// any file that can be sent, but not a list of a hundred thousand numbers.
const INPUT_BYTES_MAX: usize = 2 << 20;

/// The memory of a value beside its text.
const VALUE_BYTES: usize = 32;

/// All parameters of a request, for people.
pub(super) struct ApprovalInput {
    pub(super) value: Value,
    /// About how much memory it takes.
    pub(super) bytes: usize,
}

impl ApprovalInput {
    /// # Errors
    /// `invalid_request` if the parameters cannot be shown in full: a person would approve what they have not seen.
    pub(super) fn new(row: &'static MethodInfo, params: &RawJson) -> Result<Self, RelayError> {
        let text = params.as_str();
        let JsonSize { bytes, depth } = JsonSize::measure(text);
        let refused = |why: &str, limit: usize| {
            RelayError::new(RelayErrorCode::InvalidRequest, why).with("method", row.name).with("limit", limit)
        };
        if depth > DEPTH_MAX {
            return Err(refused("the request is nested too deeply to be shown for approval", DEPTH_MAX));
        }
        if bytes > INPUT_BYTES_MAX {
            let why = "the request is too large to be shown for approval; send it in parts";
            return Err(refused(why, INPUT_BYTES_MAX));
        }
        let UniqueMembers(value) = serde_json::from_str(text).map_err(|error| row.invalid_params(&error))?;
        Ok(Self { value, bytes })
    }
}

/// JSON without duplicate members: a person would see one of them, and the device may use the other.
struct UniqueMembers(Value);

impl<'de> Deserialize<'de> for UniqueMembers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueMembersVisitor).map(UniqueMembers)
    }
}

struct UniqueMembersVisitor;

impl<'de> Visitor<'de> for UniqueMembersVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(UniqueMembers(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(items.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some((name, UniqueMembers(value))) = map.next_entry::<String, _>()? {
            if members.insert(name, value).is_some() {
                return Err(de::Error::custom("duplicate member"));
            }
        }
        Ok(members.into())
    }
}

/// How large a JSON text is, found without building a tree of it.
struct JsonSize {
    /// The text and the values in it.
    bytes: usize,
    depth: usize,
}

impl JsonSize {
    fn measure(text: &str) -> Self {
        let (mut depth, mut deepest, mut values) = (0_usize, 0, 1);
        let (mut is_quoted, mut is_escaped) = (false, false);
        for byte in text.bytes() {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => is_quoted = !is_quoted,
                _ if is_quoted => {}
                b'[' | b'{' => {
                    depth += 1;
                    deepest = deepest.max(depth);
                    values += 1;
                }
                b']' | b'}' => depth = depth.saturating_sub(1),
                b',' => values += 1,
                _ => {}
            }
        }
        Self { bytes: text.len() + VALUE_BYTES * values, depth: deepest }
    }
}

#[cfg(test)]
mod tests {
    use protocol::relay::{RelayMethod, method::ShellStart};
    use serde_json::json;

    use super::*;

    fn seen(text: &str) -> Result<Value, RelayError> {
        let params = RawJson::from_text(text.to_owned()).unwrap();
        ApprovalInput::new(ShellStart::INFO, &params).map(|input| input.value)
    }

    /// relay-143: a person sees exactly what would be done, however long it is.
    #[test]
    fn everything_is_shown_whole() {
        for said in [
            json!({ "command": "ls", "env": { "A": "\"b\\", "C": "[{,}]" }, "argv": [1, -2, 2.5, null, true, []] }),
            json!({ "argv": vec!["word"; 10_000] }),
            json!({ "command": "é".repeat(500_000) }),
            json!([]),
            json!(null),
        ] {
            assert!(seen(&said.to_string()).unwrap() == said);
        }
    }

    /// relay-34: a request takes a limited amount of memory while it waits.
    #[test]
    fn what_is_too_large_is_refused() {
        let names: Map<_, _> = (0..50_000).map(|number| (format!("name {number}"), json!(0))).collect();
        for large in [
            json!(vec![json!({ "": 0 }); 150_000]),
            json!("x".repeat(INPUT_BYTES_MAX)),
            json!({ "x".repeat(INPUT_BYTES_MAX): 1 }),
            json!(names),
        ] {
            let error = seen(&large.to_string()).unwrap_err();
            assert_eq!(
                (error.code, &error.details["limit"]),
                (RelayErrorCode::InvalidRequest, &json!(INPUT_BYTES_MAX))
            );
        }
    }

    /// relay-143: nothing is shown in place of what cannot be shown.
    #[test]
    fn what_cannot_be_shown_is_refused() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        seen(&nested(DEPTH_MAX)).unwrap();
        let twice_after_many = format!(
            r#"{{"a":1,{},"a":2}}"#,
            (0..1000).map(|number| format!(r#""b{number}":0"#)).collect::<Vec<_>>().join(",")
        );
        for text in [
            &nested(DEPTH_MAX + 1),
            r#"{"x":1e999}"#,
            r#"{"x":"\ud800"}"#,
            r#"{"a":1,"a":2}"#,
            r#"{"x":[{"a":1,"\u0061":2}]}"#,
            &twice_after_many,
        ] {
            assert_eq!(seen(text).unwrap_err().code, RelayErrorCode::InvalidRequest, "{text}");
        }
    }
}
