//! What is to be done, as those see it who are asked: whole if it is small. Of what is large the beginning, the size and the
//! hash are shown: those name it exactly.

use std::{collections::BTreeMap, fmt};

use protocol::relay::{MethodInfo, RawJson, RelayError, RelayErrorCode, Sha256};
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, Visitor},
};
use serde_json::{Map, Value, value::RawValue};
use sha2::Digest;

/// How deep it may be nested: no reader of what is shown fails on it, nor does anybody read more.
const DEPTH_MAX: usize = 32;

/// How much is shown, as it is written.
const BYTES_MAX: usize = 16 << 10;

/// What each value counts beside what is written, as it takes room here.
const VALUE_BYTES: usize = 32;

/// The least that there is for one of many; if there is less not all of them are shown.
const PART_BYTES_MIN: usize = 512;

/// How much of a name is shown.
const NAME_BYTES_MAX: usize = 256;

/// The name of what stands for members that are not shown.
const REST: &str = "…";

/// The params as they are shown.
///
/// # Errors
/// `invalid_request` if they cannot be: somebody would approve what they have not seen.
pub(super) fn shown(row: &'static MethodInfo, params: &RawJson) -> Result<Value, RelayError> {
    let text = params.as_str();
    if Size::of(text).depth > DEPTH_MAX {
        let why = "the request is nested too deeply to be shown for approval";
        return Err(RelayError::new(RelayErrorCode::InvalidRequest, why)
            .with("method", row.name)
            .with("limit", DEPTH_MAX));
    }
    fit(text, BYTES_MAX).map_err(|error| row.invalid_params(&error))
}

/// A value as far as there is room for it.
fn fit(text: &str, room: usize) -> serde_json::Result<Value> {
    match text.as_bytes().first() {
        Some(b'{') => fit_members(text, room),
        Some(b'[') => fit_items(text, room),
        Some(b'"') => Ok(cut(serde_json::from_str(text)?, room).into()),
        _ if text.len() > room => Ok(cut(text.to_owned(), room).into()),
        _ => serde_json::from_str(text),
    }
}

fn fit_members(text: &str, room: usize) -> serde_json::Result<Value> {
    let Members(members) = serde_json::from_str(text)?;
    let members: Vec<_> =
        members.into_iter().map(|(name, value)| (cut(name, NAME_BYTES_MAX), value.get())).collect();
    let sizes: Vec<_> = members.iter().map(|(name, value)| name.len() + Size::of(value).bytes).collect();
    let portion = Portion::of(&sizes, room);
    let left_out = members.len() - portion.count;
    let mut shown = Map::new();
    for ((name, value), size) in members.into_iter().zip(sizes).take(portion.count) {
        shown.insert(name, fit(value, portion.room(size))?);
    }
    if left_out > 0 && shown.insert(REST.into(), rest(left_out, text).into()).is_some() {
        return Err(twice());
    }
    Ok(shown.into())
}

fn fit_items(text: &str, room: usize) -> serde_json::Result<Value> {
    let items: Vec<&RawValue> = serde_json::from_str(text)?;
    let sizes: Vec<_> = items.iter().map(|item| Size::of(item.get()).bytes).collect();
    let portion = Portion::of(&sizes, room);
    let left_out = items.len() - portion.count;
    let parts = items.into_iter().zip(sizes).take(portion.count);
    let shown = parts.map(|(item, size)| fit(item.get(), portion.room(size)));
    let rest = (left_out > 0).then(|| Ok(format!("… {}", rest(left_out, text)).into()));
    shown.chain(rest).collect()
}

/// The members of an object, none of which is there twice: whoever is asked would see one of them, and the device may take
/// the other.
struct Members<'a>(BTreeMap<String, &'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;

        impl<'de> Visitor<'de> for Visit {
            type Value = BTreeMap<String, &'de RawValue>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = BTreeMap::new();
                while let Some((name, value)) = map.next_entry()? {
                    if members.insert(name, value).is_some() {
                        return Err(twice());
                    }
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(Visit).map(Members)
    }
}

/// How many of several are shown, and how much of each.
struct Portion {
    count: usize,
    /// What is larger is cut.
    each: usize,
}

impl Portion {
    /// What is small has the room that it needs, and the others share the rest. If that is too little the last are left out.
    fn of(sizes: &[usize], room: usize) -> Self {
        let mut left = room;
        let fits = |size: &&usize| match left.checked_sub(PART_BYTES_MIN.min(**size)) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        };
        let count = sizes.iter().take_while(fits).count();
        let mut sizes = sizes[..count].to_vec();
        sizes.sort_unstable();
        let mut left = room;
        for (at, size) in sizes.into_iter().enumerate() {
            let each = left / (count - at);
            if size > each {
                return Self { count, each };
            }
            left -= size;
        }
        Self { count, each: usize::MAX }
    }

    /// How much room there is for one. What is cut has half of its part, so that it is soon cut where it is nested.
    fn room(&self, size: usize) -> usize {
        if size > self.each { self.each / 2 } else { usize::MAX }
    }
}

/// How large a value is.
struct Size {
    /// What is written, and the values in it.
    bytes: usize,
    depth: usize,
}

impl Size {
    fn of(text: &str) -> Self {
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

/// A text, or its beginning.
fn cut(text: String, room: usize) -> String {
    if text.len() <= room {
        return text;
    }
    let beginning = &text[..text.floor_char_boundary(room)];
    format!("{beginning}… ({} bytes, sha256 {})", text.len(), hash(&text))
}

/// What stands for the others in a list or an object.
fn rest(count: usize, text: &str) -> String {
    format!("{count} more ({} bytes in all, sha256 {})", text.len(), hash(text))
}

fn hash(text: &str) -> Sha256 {
    Sha256::from(<[u8; 32]>::from(sha2::Sha256::digest(text)))
}

fn twice<E: de::Error>() -> E {
    de::Error::custom("duplicate member")
}

#[cfg(test)]
mod tests {
    use protocol::relay::{RelayMethod, method::ShellStart};
    use serde_json::json;

    use super::*;

    fn seen(text: &str) -> Result<Value, RelayError> {
        shown(ShellStart::INFO, &RawJson::from_text(text.to_owned()).unwrap())
    }

    #[track_caller]
    fn check(said: &Value, expected: &Value) {
        assert_eq!(seen(&said.to_string()).unwrap(), *expected);
    }

    /// relay-143: what is small is shown as it is.
    #[test]
    fn what_is_small_is_shown_whole() {
        for said in [
            json!({ "command": "ls", "env": { "A": "\"b\\", "C": "[{,}]" }, "argv": [1, 2.5, null, true, []] }),
            json!({ "argv": vec!["word"; 300] }),
            json!([]),
            json!(null),
        ] {
            check(&said, &said);
        }
    }

    /// relay-34: however it is large, little is kept of it, and what is small is seen all the same.
    #[test]
    fn what_is_large_is_shown_in_part() {
        let deep = (0..30).fold(json!("x".repeat(100_000)), |inner, _| json!([inner]));
        let names: Map<_, _> = (0..5000).map(|number| (format!("name {number}"), json!(0))).collect();
        for large in [
            json!(vec![json!({ "": 0 }); 150_000]),
            json!("x".repeat(100_000)),
            json!(vec!["x".repeat(1000); 100]),
            json!({ "x".repeat(100_000): 1 }),
            json!(names),
            deep,
        ] {
            let seen = seen(&json!({ "command": "ls", "x": large, "z": [1] }).to_string()).unwrap();
            let text = seen.to_string();
            assert!(text.len() < BYTES_MAX + 1024, "{}", text.len());
            assert!(Size::of(&text).bytes < BYTES_MAX + 2048, "{}", Size::of(&text).bytes);
            assert!(text.contains("sha256"), "{text}");
            assert_eq!((&seen["command"], &seen["z"]), (&json!("ls"), &json!([1])));
        }
        let number = seen(&format!(r#"{{"x":{}}}"#, "1".repeat(100_000))).unwrap();
        assert!(number["x"].as_str().unwrap().contains("(100000 bytes, sha256"));
    }

    #[test]
    fn what_is_cut_is_named_exactly() {
        check(
            &json!("é".repeat(10_000)),
            &json!(format!("{}… (20000 bytes, sha256 {})", "é".repeat(8192), hash(&"é".repeat(10_000)))),
        );
        let list = json!(vec![0; 10_000]);
        let shown = seen(&list.to_string()).unwrap();
        let items = shown.as_array().unwrap();
        let rest = format!(
            "… {} more (20001 bytes in all, sha256 {})",
            10_001 - items.len(),
            hash(&list.to_string())
        );
        assert_eq!(items.last().unwrap(), &json!(rest));
        assert!(items.len() > 400);
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
