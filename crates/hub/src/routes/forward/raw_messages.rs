//! The original messages of agents, which name paths of the runtime wherever an agent does.

use http::{Uri, request::Parts};
use percent_encoding::percent_decode_str;
use protocol::ProblemKind;
use server::{ProblemResponse, Result};

/// The parameter of a request for them.
const INCLUDE_RAW: &str = "includeRaw";

/// Removes the request for original messages from the query: a caller who does not see where a runtime keeps its files gets the
/// events without them.
pub(super) fn exclude(parts: &mut Parts) -> Result<()> {
    let Some(query) = parts.uri.query() else { return Ok(()) };
    let asks = |pair: &&str| {
        let name = pair.split('=').next().unwrap_or_default();
        percent_decode_str(name).eq(INCLUDE_RAW.bytes())
    };
    if !query.split('&').any(|pair| asks(&pair)) {
        return Ok(());
    }
    let rest: Vec<&str> = query.split('&').filter(|pair| !asks(pair)).collect();
    let uri = format!("{}?{}", parts.uri.path(), rest.join("&"));
    parts.uri = uri.parse::<Uri>().map_err(|_| {
        ProblemResponse::new(ProblemKind::InvalidRequest, "the path or the query is too long")
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn check(uri: &str, expected: &str) {
        let (mut parts, ()) = Request::get(uri).body(()).unwrap().into_parts();
        exclude(&mut parts).unwrap();
        assert_eq!(parts.uri, expected);
    }

    #[test]
    fn only_the_request_for_original_messages_is_removed() {
        check("/a?offset=1&includeRaw=true&limit=2", "/a?offset=1&limit=2");
        check("/a?include%52aw=true&offset=%31", "/a?offset=%31");
        check("/a?q=includeRaw", "/a?q=includeRaw");
        check("/a", "/a");
    }
}
