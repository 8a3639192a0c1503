//! The token of a WebSocket that a browser opens. Its API knows no headers, so the token comes among the sub-protocols.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use http::{HeaderMap, HeaderValue, header};

/// The sub-protocol that is chosen: a browser gives up if it offers some and is given none.
const OURS: &str = "tombolo";

/// What comes before a token, which is written as base64url.
const BEARER: &str = "tombolo.bearer.";

/// Puts a token that is among the sub-protocols where every other request has it.
pub(crate) fn admit_bearer(headers: &mut HeaderMap) {
    if !headers.contains_key(header::UPGRADE) || headers.contains_key(header::AUTHORIZATION) {
        return;
    }
    let token =
        offered(headers).find_map(|one| BASE64_URL_SAFE_NO_PAD.decode(one.strip_prefix(BEARER)?).ok());
    let Some(token) = token else { return };
    if let Ok(mut value) = HeaderValue::from_bytes(&[b"Bearer ", token.as_slice()].concat()) {
        value.set_sensitive(true);
        headers.insert(header::AUTHORIZATION, value);
    }
}

/// The sub-protocol that is chosen, if it is offered.
pub(crate) fn chosen(headers: &HeaderMap) -> Option<HeaderValue> {
    offered(headers).any(|one| one == OURS).then(|| HeaderValue::from_static(OURS))
}

fn offered(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).into_iter();
    values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bearer;

    fn head(fields: &[(&'static str, &str)]) -> HeaderMap {
        let named = |(name, value): &(&'static str, &str)| {
            (http::HeaderName::from_static(name), value.parse().unwrap())
        };
        fields.iter().map(named).collect()
    }

    #[test]
    fn a_token_among_the_sub_protocols_is_that_of_the_request() {
        let upgrade = ("upgrade", "websocket");
        let offer = ("sec-websocket-protocol", "tombolo, tombolo.bearer.czNjcmV0IQ");
        let cases: [(&[_], _); 6] = [
            (&[upgrade, offer], Some("s3cret!")),
            (&[upgrade, offer, ("authorization", "Bearer mine")], Some("mine")),
            // Nothing but a WebSocket needs it.
            (&[offer], None),
            (&[upgrade, ("sec-websocket-protocol", "tombolo, graphql")], None),
            (&[upgrade, ("sec-websocket-protocol", "tombolo.bearer.!")], None),
            (&[upgrade, ("sec-websocket-protocol", "tombolo.bearer.DQo")], None),
        ];
        for (fields, token) in cases {
            let mut headers = head(fields);
            admit_bearer(&mut headers);
            assert_eq!(bearer(&headers), token, "{fields:?}");
        }
    }

    #[test]
    fn ours_is_chosen_if_it_is_offered() {
        for (offer, expected) in [("tombolo", true), ("other,tombolo", true), ("tombolo.bearer.eA", false)] {
            let chosen = chosen(&head(&[("sec-websocket-protocol", offer)]));
            assert_eq!(chosen.is_some(), expected, "{offer}");
        }
    }
}
