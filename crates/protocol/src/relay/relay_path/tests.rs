use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::relay::tests::fixture;

/// relay-69, relay-163: what is a path, and where it leads without looking at the disk.
#[test]
fn a_path_is_checked_as_the_fixtures_say() {
    for said in fixture::<Value>("paths") {
        let path = said["path"].as_str().unwrap().parse::<RelayPath>();
        if said["refused"] == true {
            assert!(path.is_err(), "{said}");
        } else {
            assert_eq!(
                path.unwrap().normalized().as_ref().map(RelayPath::as_str),
                said["normal"].as_str(),
                "{said}"
            );
        }
    }
    for (text, why) in [
        ("/a", InvalidPath::Absolute),
        ("a\0", InvalidPath::Nul),
        ("a\\b", InvalidPath::Backslash),
        ("a/c:/x", InvalidPath::Drive),
        ("x".repeat(PATH_MAX + 1).as_str(), InvalidPath::TooLong),
    ] {
        assert_eq!(text.parse::<RelayPath>(), Err(why));
    }
}

fn parts() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec!["", ".", "..", "a", "b", "C:x"]);
    prop::collection::vec(part, 0..8).prop_map(|parts| parts.join("/"))
}

proptest! {
    /// relay-69, relay-132: a normal path is a path, stays so, and there is none if it goes up from the root on its way.
    #[test]
    fn a_normal_path_goes_nowhere_up(text in prop_oneof![any::<String>(), parts()]) {
        let Ok(path) = text.parse::<RelayPath>() else { return Ok(()) };
        prop_assert_eq!(path.as_str(), &text);
        let steps = text.split('/').map(|part| match part {
            "" | "." => 0,
            ".." => -1,
            _ => 1,
        });
        let leaves = steps.scan(0, |depth, step| { *depth += step; Some(*depth) }).any(|depth| depth < 0);
        prop_assert_eq!(path.normalized().is_none(), leaves);
        if let Some(normal) = path.normalized() {
            prop_assert!(normal.as_str().split('/').all(|part| !matches!(part, "." | "..")));
            prop_assert_eq!(normal.as_str().parse(), Ok(normal.clone()));
            prop_assert_eq!(normal.normalized(), Some(normal));
        }
    }
}
