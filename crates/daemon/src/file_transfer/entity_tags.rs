//! Entity tags in the conditions of requests.

use std::borrow::Cow;

use http::{
    HeaderMap, HeaderValue,
    header::{IF_MATCH, IF_NONE_MATCH},
};

/// The headers with quotes around an entity tag that has none.
///
/// JSON bodies contain entity tags without the quotes that a header needs. A client that copies one from a body into
/// `If-Match` means that tag, so it is accepted.
pub(super) fn with_quotes(headers: &HeaderMap) -> Cow<'_, HeaderMap> {
    let mut headers = Cow::Borrowed(headers);
    for name in [IF_MATCH, IF_NONE_MATCH] {
        if let Some(quoted) = headers.get(&name).and_then(quoted) {
            headers.to_mut().insert(name, quoted);
        }
    }
    headers
}

/// `abc` as `"abc"`; nothing for `*`, for what has quotes already, and for lists.
fn quoted(value: &HeaderValue) -> Option<HeaderValue> {
    let tag = value.to_str().ok()?.trim();
    let is_bare = !tag.is_empty() && tag != "*" && !tag.contains(['"', ',']);
    is_bare.then(|| HeaderValue::try_from(format!("\"{tag}\"")).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bare_tags_get_quotes() {
        let check = |value: &str, expected: Option<&str>| {
            let quoted = quoted(&HeaderValue::try_from(value).unwrap());
            assert_eq!(quoted.as_ref().map(|value| value.to_str().unwrap()), expected, "{value}");
        };
        check("1f-2-3", Some("\"1f-2-3\""));
        check("\"1f-2-3\"", None);
        check("W/\"1f\"", None);
        check("*", None);
        check("a, b", None);
        check("", None);
    }
}
