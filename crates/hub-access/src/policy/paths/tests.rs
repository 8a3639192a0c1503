use proptest::prelude::*;
use serde_json::json;

use super::*;

fn paths(rules: &[&str]) -> PathRules {
    rules.iter().map(ToString::to_string).collect::<Vec<_>>().try_into().unwrap()
}

fn check(rule: &str, text: &str, shown: &str) {
    assert_eq!(paths(&[rule]).text(text), shown, "{rule}: {text}");
}

/// observation-68: a path is hidden wherever it stands, with everything that is in it.
#[test]
fn a_path_is_hidden_wherever_it_stands() {
    let ssh = "/home/*/.ssh/**";
    check(ssh, "cat /home/joe/.ssh/id_rsa now", "cat *** now");
    check(ssh, "/home/joe/.ssh", "***");
    check(ssh, "ls /home/joe/.ssh/, then", "ls ***, then");
    check(ssh, "-I/home/joe/.ssh/x file:///home/joe/.ssh/x", "-I*** file:***");
    check(ssh, "a//home//joe/.ssh//x b", "a*** b");
    check(ssh, "'/home/joe/.ssh/my key' and \"/home/joe/.ssh/a b\"", "'***' and \"***\"");
    check(ssh, r"rm /home/joe/.ssh/my\ key x", "rm *** x");
    check(ssh, "/home/joe/.sshd /home/joe/x/.ssh/y", "*** /home/joe/x/.ssh/y");
    check(ssh, "/home/joe/code /home /home/", "/home/joe/code /home /home/");
    check("/etc/shadow", "see /etc/shadow. /etc/passwd", "see *** /etc/passwd");
    check("**/.env", "x/.env .env.local a.env", "x/*** *** a.env");
    check("*.pem", "certs/key.pem key.pen", "certs/*** key.pen");
    check("/srv/**/secret", "/srv/secret /srv/a/b/secret/c /srv/a", "*** *** /srv/a");
    check("/a?c", "/abc /a/c /ac", "*** /a/c /ac");
    check("/ü/*", "/ü/ä ü/ä", "*** ü/ä");
}

/// A rule that would hide everything, or is of no use, is refused.
#[test]
fn a_rule_names_something() {
    for rule in ["", "/", "**", "/**/*", "..", "?"] {
        assert!(
            matches!(PathRules::try_from(vec![rule.to_owned()]), Err(InvalidPathRules::Everything(_))),
            "{rule}"
        );
    }
    assert_eq!(PathRules::try_from(vec!["/a".repeat(1000)]).unwrap_err(), InvalidPathRules::TooLong);
    assert_eq!(PathRules::try_from(vec!["/a".to_owned(); 257]).unwrap_err(), InvalidPathRules::TooMany);
}

/// In what a tool is called with, blanks are part of a path; names of ours stay.
#[test]
fn what_is_no_prose_is_hidden_whole() {
    let mut value = json!({
        "id": "secret", "input": { "file": "/srv/secret/a b", "id": "secret", "/srv/secret/k": ["x /srv/secret y"] },
    });
    assert!(paths(&["**/secret", "/srv/secret"]).hide(&mut value, false));
    assert_eq!(value, json!({ "id": "secret", "input": { "file": "***", "id": "***", "***": ["x *** y"] } }));
}

proptest! {
    /// However a text comes, the same is shown of it in the end.
    #[test]
    fn a_text_may_come_in_pieces(pieces in proptest::collection::vec("[/a-c.*' ]{0,6}", 0..12)) {
        let paths = paths(&["/a/*/b", "**/c.", "/b/**/a?"]);
        let mut scanner = PathScanner::default();
        let mut shown: String = pieces.iter().map(|piece| scanner.push(&paths, piece)).collect();
        shown.push_str(&scanner.release());
        prop_assert_eq!(shown, paths.text(&pieces.concat()));
    }
}
