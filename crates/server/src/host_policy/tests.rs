#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use super::*;

#[track_caller]
fn check(policy: &HostPolicy, sent: &[(HeaderName, &str)], allowed: bool) {
    let headers = sent.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect();
    let kind = policy.check(&headers).map_err(|response| response.problem().kind);
    assert_eq!(kind, if allowed { Ok(()) } else { Err(ProblemKind::HostNotAllowed) }, "{sent:?}");
}

fn policy() -> HostPolicy {
    HostPolicy { loopback: true, hosts: vec!["box".into()], origins: vec!["https://page.example".into()] }
}

#[test]
fn the_loopback_accepts_its_own_names_and_allowed_ones() {
    for host in ["localhost", "LOCALHOST:80", "127.0.0.1:8080", "[::1]:80", "box:80", "Box"] {
        check(&policy(), &[(header::HOST, host)], true);
    }
    for host in ["page.example", "localhost.page.example:80", "10.0.0.1", "[fe80::1]:80", ""] {
        check(&policy(), &[(header::HOST, host)], false);
    }
    check(&policy(), &[], false);
}

#[test]
fn a_page_is_allowed_by_name_or_by_being_of_the_same_origin() {
    let from = |origin| [(header::HOST, "localhost:80"), (header::ORIGIN, origin)];
    check(&policy(), &from("http://localhost:80"), true);
    check(&policy(), &from("https://page.example"), true);
    check(&policy(), &from("http://localhost:81"), false);
    check(&policy(), &from("null"), false);
    check(&HostPolicy { origins: vec!["*".into()], ..policy() }, &from("https://other.example"), true);
}

/// Requests authenticated by a cookie must come from such a page. A missing `Origin`, or an allowed `*`, is not enough.
#[test]
fn a_same_or_allowed_origin_must_be_named() {
    let policy = HostPolicy {
        loopback: false,
        origins: vec!["*".into(), "https://page.example".into()],
        hosts: vec![],
    };
    for (origin, expected) in [
        (Some("https://hub.example"), true),
        (Some("https://page.example"), true),
        (Some("https://evil.example"), false),
        (Some("null"), false),
        (None, false),
    ] {
        let sent = [(header::HOST, Some("hub.example")), (header::ORIGIN, origin)];
        let headers =
            sent.into_iter().filter_map(|(name, value)| Some((name, value?.parse().unwrap()))).collect();
        assert_eq!(policy.is_same_or_allowed_origin(&headers), expected, "{origin:?}");
    }
}

#[test]
fn other_addresses_accept_every_name() {
    let policy = HostPolicy { loopback: false, ..policy() };
    let page = "https://other.example";
    check(&policy, &[(header::HOST, "other.example"), (header::ORIGIN, page)], true);
}

#[test]
fn the_bearer_token_is_read_from_authorization() {
    let cases = [
        ("Bearer abc", Some("abc")),
        ("bearer  abc ", Some("abc")),
        ("Basic abc", None),
        ("Bearer", None),
        ("abc", None),
    ];
    for (value, token) in cases {
        let headers = HeaderMap::from_iter([(header::AUTHORIZATION, value.parse().unwrap())]);
        assert_eq!(bearer_token(&headers), token, "{value}");
    }
    assert_eq!(bearer_token(&HeaderMap::new()), None);
}
