use proptest::prelude::*;

use super::*;

fn path(text: &str) -> VirtualPath {
    text.parse().unwrap()
}

/// relay-68: what a model says is a path below a root, or elsewhere.
#[test]
fn a_virtual_path_is_found_below_its_root() {
    let root = path("/workspace/main");
    for (text, below) in [
        ("/workspace/main/README.md", Some("README.md")),
        ("/workspace//main/./a/", Some("a")),
        ("/workspace/main", Some("")),
        ("/workspace/mainly", None),
        ("/workspace", None),
        ("/other/main", None),
    ] {
        assert_eq!(root.below(&path(text)).as_ref().map(RelayPath::as_str), below, "{text}");
    }
    for bad in ["", "/", "/.", "a", "/a/..", "/../a", "/a\\b", "/a\0", "/C:/a"] {
        assert!(bad.parse::<VirtualPath>().is_err(), "{bad:?}");
    }
}

proptest! {
    /// relay-68: there and back.
    #[test]
    fn what_is_joined_is_found_below(text in "(\\.|\\.\\.|a|é|/){0,10}") {
        let (root, Ok(relative)) = (path("/workspace/main"), text.parse::<RelayPath>()) else { return Ok(()) };
        let joined = root.join(&relative);
        prop_assert_eq!(joined.as_ref().and_then(|path| root.below(path)), relative.normalized());
        prop_assert!(joined.is_none_or(|path| path.as_str().parse() == Ok(path)));
    }
}
