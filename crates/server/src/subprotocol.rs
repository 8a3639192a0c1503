//! The token of a WebSocket that a browser opens. The browser API cannot set headers, so the token is sent as a
//! sub-protocol.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use http::{HeaderMap, HeaderValue, header};

/// The sub-protocol that the server selects. A browser fails the connection if it offers some and none is selected.
const SELECTED: &str = "tombolo";

/// The prefix of the sub-protocol that carries the token as base64url.
const TOKEN_PREFIX: &str = "tombolo.bearer.";

/// Copies a token from the sub-protocols to the header `Authorization`, where the access check expects it.
pub(crate) fn promote_token(headers: &mut HeaderMap) {
    if !headers.contains_key(header::UPGRADE) || headers.contains_key(header::AUTHORIZATION) {
        return;
    }
    let token =
        offered(headers).find_map(|one| BASE64_URL_SAFE_NO_PAD.decode(one.strip_prefix(TOKEN_PREFIX)?).ok());
    let Some(token) = token else { return };
    if let Ok(mut value) = HeaderValue::from_bytes(&[b"Bearer ", token.as_slice()].concat()) {
        value.set_sensitive(true);
        headers.insert(header::AUTHORIZATION, value);
    }
}

/// The rest of the offered WebSocket sub-protocol that starts with `prefix`.
pub fn offered_subprotocol<'a>(headers: &'a HeaderMap, prefix: &str) -> Option<&'a str> {
    headers.get(header::UPGRADE)?;
    offered(headers).find_map(|one| one.strip_prefix(prefix))
}

/// The sub-protocol to select, if the client offers it.
pub(crate) fn select(headers: &HeaderMap) -> Option<HeaderValue> {
    offered(headers).any(|one| one == SELECTED).then(|| HeaderValue::from_static(SELECTED))
}

fn offered(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).into_iter();
    values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bearer_token;

    fn head(fields: &[(&'static str, &str)]) -> HeaderMap {
        let named = |(name, value): &(&'static str, &str)| {
            (http::HeaderName::from_static(name), value.parse().unwrap())
        };
        fields.iter().map(named).collect()
    }

    #[test]
    fn a_token_among_the_sub_protocols_becomes_the_bearer_token() {
        let upgrade = ("upgrade", "websocket");
        let offer = ("sec-websocket-protocol", "tombolo, tombolo.bearer.czNjcmV0IQ");
        let cases: [(&[_], _); 6] = [
            (&[upgrade, offer], Some("s3cret!")),
            (&[upgrade, offer, ("authorization", "Bearer mine")], Some("mine")),
            // Ignored unless the request is a WebSocket upgrade.
            (&[offer], None),
            (&[upgrade, ("sec-websocket-protocol", "tombolo, graphql")], None),
            (&[upgrade, ("sec-websocket-protocol", "tombolo.bearer.!")], None),
            (&[upgrade, ("sec-websocket-protocol", "tombolo.bearer.DQo")], None),
        ];
        for (fields, token) in cases {
            let mut headers = head(fields);
            promote_token(&mut headers);
            assert_eq!(bearer_token(&headers), token, "{fields:?}");
        }
    }

    #[test]
    fn our_sub_protocol_is_selected_if_it_is_offered() {
        for (offer, expected) in [("tombolo", true), ("other,tombolo", true), ("tombolo.bearer.eA", false)] {
            let selected = select(&head(&[("sec-websocket-protocol", offer)]));
            assert_eq!(selected.is_some(), expected, "{offer}");
        }
    }
}
