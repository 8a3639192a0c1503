#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use super::*;

#[track_caller]
fn check(names: &Names, sent: &[(HeaderName, &str)], allowed: bool) {
    let headers = sent.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect();
    let kind = names.check(&headers).map_err(|refusal| refusal.problem().kind);
    assert_eq!(kind, if allowed { Ok(()) } else { Err(ProblemKind::HostNotAllowed) }, "{sent:?}");
}

fn names() -> Names {
    Names { loopback: true, hosts: vec!["box".into()], origins: vec!["https://page.example".into()] }
}

#[test]
fn the_loopback_answers_to_its_names_and_to_those_that_are_allowed() {
    for host in ["localhost", "LOCALHOST:80", "127.0.0.1:8080", "[::1]:80", "box:80", "Box"] {
        check(&names(), &[(header::HOST, host)], true);
    }
    for host in ["page.example", "localhost.page.example:80", "10.0.0.1", "[fe80::1]:80", ""] {
        check(&names(), &[(header::HOST, host)], false);
    }
    check(&names(), &[], false);
}

#[test]
fn a_page_is_allowed_by_name_or_because_it_is_ours() {
    let from = |origin| [(header::HOST, "localhost:80"), (header::ORIGIN, origin)];
    check(&names(), &from("http://localhost:80"), true);
    check(&names(), &from("https://page.example"), true);
    check(&names(), &from("http://localhost:81"), false);
    check(&names(), &from("null"), false);
    check(&Names { origins: vec!["*".into()], ..names() }, &from("https://other.example"), true);
}

/// Whoever has a cookie must come from such a page: nothing said, or everything allowed, is not enough.
#[test]
fn a_page_of_ours_says_so() {
    let names =
        Names { loopback: false, origins: vec!["*".into(), "https://page.example".into()], hosts: vec![] };
    for (origin, ours) in [
        (Some("https://hub.example"), true),
        (Some("https://page.example"), true),
        (Some("https://evil.example"), false),
        (Some("null"), false),
        (None, false),
    ] {
        let sent = [(header::HOST, Some("hub.example")), (header::ORIGIN, origin)];
        let headers =
            sent.into_iter().filter_map(|(name, value)| Some((name, value?.parse().unwrap()))).collect();
        assert_eq!(names.is_ours(&headers), ours, "{origin:?}");
    }
}

#[test]
fn elsewhere_every_name_is_answered() {
    let names = Names { loopback: false, ..names() };
    let page = "https://other.example";
    check(&names, &[(header::HOST, "other.example"), (header::ORIGIN, page)], true);
}

#[test]
fn a_token_is_what_follows_bearer() {
    let cases = [
        ("Bearer abc", Some("abc")),
        ("bearer  abc ", Some("abc")),
        ("Basic abc", None),
        ("Bearer", None),
        ("abc", None),
    ];
    for (value, token) in cases {
        let headers = HeaderMap::from_iter([(header::AUTHORIZATION, value.parse().unwrap())]);
        assert_eq!(bearer(&headers), token, "{value}");
    }
    assert_eq!(bearer(&HeaderMap::new()), None);
}
