//! What is said is what the fixtures in `fixtures/relay` say, in whatever language.

mod fixtures;
mod properties;

use serde::de::DeserializeOwned;
use serde_json::Value;

/// A fixture of the repository.
pub(super) fn fixture<T: DeserializeOwned>(name: &str) -> Vec<T> {
    let path = format!("{}/../../fixtures/relay/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Numbers without the difference between 1 and 1.0, which JSON does not know.
pub(super) fn plain(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => match number.as_f64().unwrap() {
            whole if whole.fract() == 0.0 && whole.abs() < 1e9 => Value::from(whole as i64),
            number => Value::from(number),
        },
        Value::Array(items) => items.into_iter().map(plain).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, plain(value))).collect(),
        value => value,
    }
}
