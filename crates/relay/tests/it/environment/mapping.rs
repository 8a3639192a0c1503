//! Paths, errors and what requests are made for.

use protocol::relay::{Family, RelayContext, RelayErrorCode, resource::CreateResource, shell::StartCommand};
use relay::environment::{Error, FileOperator, ResourceRegistry, Shell, Span, Toolset, Writing};
use serde_json::{Map, json};

use super::device::lend;
use crate::support::within;

const ALL: [Family; 3] = [Family::Fileops, Family::Shell, Family::Tools];

/// relay-68, relay-111: a path that a model says becomes a root and a path below it.
#[tokio::test]
async fn a_path_becomes_a_root_and_a_path() {
    let lent = lend(&ALL).await;
    for (said, root, path) in [
        ("/workspace/main/README.md", "main", "README.md"),
        ("/workspace/docs/a/b", "docs", "a/b"),
        ("README.md", "main", "README.md"),
        ("./a/../README.md", "main", "README.md"),
        ("//workspace/main//x/", "main", "x"),
        ("../docs/x", "docs", "x"),
        ("/workspace/main", "main", ""),
    ] {
        let _ = within(lent.environment.files().stat(said)).await;
        let asked = lent.memory.asked.lock().pop().unwrap();
        assert_eq!(
            asked.params,
            protocol::relay::RawJson::from_value(&json!({ "root_id": root, "path": path })),
            "{said}"
        );
    }
}

/// relay-112: a path in no root is refused here, and the device is not asked; so is what is no path.
#[tokio::test]
async fn a_path_in_no_root_is_refused() {
    let lent = lend(&ALL).await;
    for said in
        ["/etc/passwd", "../../etc/passwd", "/workspace/mainly", "/workspace/main/../../etc", "/workspac"]
    {
        let error = within(lent.environment.files().read_text(said, Span::default())).await.unwrap_err();
        assert!(matches!(&error, Error::PathNotAllowed { path, .. } if path == said), "{error}");
    }
    for said in ["/workspace/main/a\\b", "a\0b", "c:/x"] {
        let error = within(lent.environment.files().stat(said)).await.unwrap_err();
        assert!(
            matches!(&error, Error::File { error, .. } if error.code == RelayErrorCode::InvalidRequest),
            "{error}"
        );
    }
    // What is above the roots can be looked at, not read.
    let error = within(lent.environment.files().read_text("/workspace", Span::default())).await.unwrap_err();
    assert!(matches!(error, Error::PathNotAllowed { .. }));
    for (said, names) in [("/", vec!["workspace"]), ("/workspace/", vec!["docs", "main"])] {
        let listed = within(lent.environment.files().list(said)).await.unwrap();
        assert_eq!(listed.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), names);
        assert!(within(lent.environment.files().is_dir(said)).await.unwrap());
    }
    assert_eq!(lent.memory.methods(), [""; 0]);
}

/// relay-112: what the device says becomes an error of the environment.
#[tokio::test]
async fn errors_become_those_of_the_environment() {
    let mut lent = lend(&ALL).await;
    let files = lent.environment.files();
    let error = within(files.read_text("nothing", Span::default())).await.unwrap_err();
    assert!(matches!(&error, Error::File { error, .. } if error.code == RelayErrorCode::NotFound), "{error}");
    let docs = "/workspace/docs/a";
    let denied = within(files.write(docs, b"x", Writing::default())).await.unwrap_err();
    assert!(matches!(&denied, Error::PathNotAllowed { path, .. } if path == docs), "{denied}");
    assert_eq!(denied.code(), RelayErrorCode::PermissionDenied);
    assert_eq!(lent.memory.methods().last().unwrap(), "file.write", "the device said so");
    // Who waits when the device goes away hears of it; so does who comes later.
    let waits = within(lent.environment.shell().start(command("wait"))).await.unwrap();
    lent.device.close("gone");
    assert!(matches!(within(waits.wait()).await, Err(Error::Disconnected(_))));
    while within(lent.tasks.join_next()).await.is_some() {}
    let error = within(files.read_text("a", Span::default())).await.unwrap_err();
    assert!(matches!(error, Error::Disconnected(_)), "{error}");
    let error = within(lent.environment.tools().list()).await.unwrap_err();
    assert!(matches!(error, Error::Disconnected(_)), "{error}");
}

/// relay-33, relay-110: what the binding does not have is not there, and the device is not asked; resources come later.
#[tokio::test]
async fn what_is_not_bound_is_not_there() {
    let lent = lend(&[]).await;
    let environment = &lent.environment;
    let name = "tool".parse().unwrap();
    for code in [
        within(environment.files().stat("a")).await.unwrap_err().code(),
        within(environment.shell().start(command("echo"))).await.unwrap_err().code(),
        within(environment.tools().call(&name, Map::new())).await.unwrap_err().code(),
        within(environment.resources().list(None)).await.unwrap_err().code(),
        within(environment.resources().create(CreateResource {
            kind: "browser".into(),
            options: Map::new(),
            run_id: None,
        }))
        .await
        .unwrap_err()
        .code(),
    ] {
        assert_eq!(code, RelayErrorCode::CapabilityUnavailable);
    }
    assert_eq!(lent.memory.methods(), [""; 0]);
}

/// relay-37, relay-38: a request says what it is made for.
#[tokio::test]
async fn a_request_says_what_it_is_made_for() {
    let lent = lend(&ALL).await;
    let context = RelayContext {
        run_id: Some("run_1".into()),
        tool_call_id: Some("call_1".into()),
        ..RelayContext::default()
    };
    let _ = within(lent.environment.with_context(context.clone()).files().stat("a")).await;
    let _ = within(lent.environment.files().stat("a")).await;
    let contexts: Vec<_> = lent.memory.asked.lock().iter().map(|request| request.context.clone()).collect();
    assert_eq!(contexts, [Some(context), None]);
}

pub(super) fn command(line: &str) -> StartCommand {
    StartCommand { command: Some(line.into()), ..StartCommand::default() }
}
