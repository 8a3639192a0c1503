use std::path::Path;

use protocol::relay::{ApprovalPolicy, RootMode};

use super::{lend::Places, *};

fn places() -> Places<'static> {
    Places { base: Path::new("/base"), home: Some(Path::new("/home/ana")) }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let error = DeviceConfig::parse(text, places()).unwrap_err();
    assert!(error.contains(expected), "{error}");
}

/// relay-175: what is not said is not lent.
#[test]
fn an_empty_file_lends_nothing() {
    assert_eq!(DeviceConfig::parse("", places()), Ok(DeviceConfig::default()));
}

#[test]
fn a_whole_file_is_read() {
    let text = r#"
        hub = "https://hub.example"
        client_id = "laptop"
        label = "Ana's laptop"
        tools = "tools.toml"

        [roots]
        main = "~/code:rw"
        docs = { path = "/srv/docs", virtual_path = "/docs", label = "Documents" }

        [shell]
        env = ["LANG"]
        network = "host"
        on_disconnect = "keep"

        [rules]
        writes = "ask_once"
        commands = "always_ask"
    "#;
    let config = DeviceConfig::parse(text, places()).unwrap();
    let roots: Vec<_> = config
        .roots
        .iter()
        .map(|LentRoot { root, directory }| {
            (root.root_id.as_str(), root.virtual_path.as_str(), root.mode, directory.to_str().unwrap())
        })
        .collect();
    assert_eq!(
        roots,
        [
            ("docs", "/docs", RootMode::Ro, "/srv/docs"),
            ("main", "/workspace/main", RootMode::Rw, "/home/ana/code")
        ]
    );
    let shell = config.shell.unwrap();
    assert_eq!(
        (shell.unsandboxed, shell.network, shell.on_disconnect),
        (false, CommandNetwork::Host, WhenLost::Keep)
    );
    assert_eq!(config.tools.unwrap(), Path::new("/base/tools.toml"));
    let rules = (config.rules.writes, config.rules.commands, config.rules.tools);
    assert_eq!(rules, (ApprovalPolicy::AskOnce, ApprovalPolicy::AlwaysAsk, ApprovalPolicy::Allow));
}

/// `full` used to give commands the whole network of the machine.
#[test]
fn the_old_spelling_of_a_network_is_read_as_proxy() {
    for (spelling, network, was_full) in [
        ("none", CommandNetwork::None, false),
        ("proxy", CommandNetwork::Proxy, false),
        ("host", CommandNetwork::Host, false),
        ("full", CommandNetwork::Proxy, true),
    ] {
        let config = DeviceConfig::parse(&format!("[shell]\nnetwork = \"{spelling}\""), places()).unwrap();
        let shell = config.shell.unwrap();
        assert_eq!((shell.network, shell.network_was_full), (network, was_full), "{spelling}");
    }
    check("[shell]\nnetwork = \"all\"", "line 2");
}

#[test]
fn a_wrong_file_says_where_and_why() {
    check("hubs = \"x\"", "unknown field `hubs`");
    check("label = \"x\"\nroots = 1", "line 2");
    check("[roots]\na = \"/a\"\n\"no name\" = \"/b\"", "line 3: roots.no name: root_id must be");
    check("[roots]\na = { path = \"/a\", mode = \"wo\" }", "line 2");
    check("[roots]\na = { path = \"/a\", virtual_path = \"a\" }", "line 2");
    check("[roots]\na = \"\"", "line 2: roots.a: expected NAME=DIRECTORY");
    check("[rules]\nwrites = \"never\"", "line 2");
    check("[shell]\nsandbox = false", "unknown field `sandbox`");
}

#[test]
fn a_directory_on_the_command_line() {
    let parse = |text: &str| LentRoot::parse(text, places());
    let lent = parse("main=~/code:rw").unwrap();
    assert_eq!((lent.directory.to_str(), lent.root.mode), (Some("/home/ana/code"), RootMode::Rw));
    let lent = parse("d=docs").unwrap();
    assert_eq!((lent.directory.to_str(), lent.root.mode), (Some("/base/docs"), RootMode::Ro));
    // Only what follows the last colon can be a mode.
    assert_eq!(parse("a=/x:y").unwrap().directory.to_str(), Some("/x:y"));
    assert_eq!(parse("a=/x:rw:ro").unwrap().directory.to_str(), Some("/x:rw"));
    assert_eq!(parse("/code"), Err(InvalidRoot::Form));
    assert_eq!(parse("a="), Err(InvalidRoot::Form));
    assert!(matches!(parse("a b=/x"), Err(InvalidRoot::Id(_))));
    let homeless = Places { home: None, ..places() };
    assert_eq!(LentRoot::parse("a=~", homeless), Err(InvalidRoot::NoHome));
}
