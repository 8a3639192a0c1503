//! What the owner of a device agrees to for more than once, and what that covers.

use std::sync::Arc;

use device::{Answer, Consent, Device, Fileops, Provider, Roots, Rules, Run, Subject};
use protocol::relay::{ApprovalPolicy, RawJson, RelayContext, RelayError, RelayErrorCode, RootMode};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::within;

use crate::{
    fileops::root,
    owner::Owner,
    shell::support::{Kind, config, open},
    support::{Lent, SOON},
};

/// A device that lends two directories and commands.
struct Laptop {
    home: TempDir,
    lent: Lent,
    owner: Owner,
}

impl Laptop {
    async fn new(approval: ApprovalPolicy, says: Answer) -> Self {
        let home = tempfile::tempdir().unwrap();
        let owner = Owner::saying(says);
        let lent = ["main", "other"].map(|id| {
            std::fs::create_dir(home.path().join(id)).unwrap();
            (root(id, RootMode::Rw), home.path().join(id))
        });
        let files = Fileops::new(Arc::new(Roots::open(lent).unwrap()));
        let mut config = config(Kind::Local);
        config.lends.env.push("KEY".into());
        let shell = open(home.path(), config).await;
        let rules = Rules { writes: approval, commands: approval, ..Rules::default() };
        let providers: [Box<dyn Provider>; 2] = [Box::new(files), Box::new(shell)];
        let device = Device::new(providers.into(), Consent::new(rules, owner.clone()));
        Self { home, lent: Lent::connect(device).await, owner }
    }

    async fn ask(&self, context: RelayContext, method: &str, params: Value) -> Result<Value, RelayError> {
        let call = self.lent.call(method, RawJson::from_value(&params), Some(context)).await;
        within(SOON, call.outcome()).await.map(|json| json.read().unwrap())
    }

    /// Whether the owner is asked about this.
    async fn is_asked(&self, context: RelayContext, method: &str, params: Value) -> bool {
        let before = self.owner.count();
        self.ask(context, method, params).await.unwrap();
        self.owner.count() > before
    }
}

fn context(workspace: &str, run: &str) -> RelayContext {
    RelayContext { workspace_id: Some(workspace.into()), run_id: Some(run.into()), ..RelayContext::default() }
}

fn write(root: &str, path: &str) -> Value {
    json!({ "root_id": root, "path": path, "content": "x", "encoding": "utf-8" })
}

/// relay-143: "an approval applies to the exact arguments shown"; that for once is for nothing else.
#[tokio::test]
async fn what_is_allowed_once_is_asked_about_again() {
    for approval in [ApprovalPolicy::AskOnce, ApprovalPolicy::AskOncePerRun, ApprovalPolicy::AlwaysAsk] {
        let laptop = Laptop::new(approval, Answer::Once).await;
        for _ in 0..2 {
            assert!(
                laptop.is_asked(context("w", "r"), "file.write", write("main", "a")).await,
                "{approval:?}"
            );
            let command = json!({ "command": "true", "cwd": "/workspace/main" });
            assert!(laptop.is_asked(context("w", "r"), "shell.start", command).await, "{approval:?}");
        }
    }
}

/// relay-143: `ask_once` is for one method in one root, in one workspace.
#[tokio::test]
async fn an_agreement_about_files_is_for_a_method_in_a_root() {
    let laptop = Laptop::new(ApprovalPolicy::AskOnce, Answer::Remember).await;
    for (workspace, method, params, expected) in [
        ("w", "file.write", write("main", "a"), true),
        ("w", "file.write", write("main", "b"), false),
        ("w", "file.write", write("other", "a"), true),
        ("w", "file.delete", json!({ "root_id": "main", "path": "b" }), true),
        ("w", "file.mkdir", json!({ "root_id": "main", "path": "c" }), true),
        ("v", "file.write", write("main", "a"), true),
        ("w", "file.write", write("other", "b"), false),
    ] {
        let said = format!("{workspace} {method} {params}");
        assert_eq!(laptop.is_asked(context(workspace, "r"), method, params).await, expected, "{said}");
    }
}

/// relay-143: `ask_once` of commands is for the very same one: what is run, where, with what and how.
#[tokio::test]
async fn an_agreement_about_a_command_is_for_the_same_one() {
    let laptop = Laptop::new(ApprovalPolicy::AskOnce, Answer::Remember).await;
    std::fs::create_dir(laptop.home.path().join("main/below")).unwrap();
    for (params, expected) in [
        (json!({ "command": "true", "cwd": "/workspace/main" }), true),
        (json!({ "command": "true", "cwd": "/workspace/main", "timeout_ms": 5000 }), false),
        // It runs there if it does not say where.
        (json!({ "command": "true" }), false),
        (json!({ "command": "true ", "cwd": "/workspace/main" }), true),
        (json!({ "command": "true", "cwd": "/workspace/main/below" }), true),
        (json!({ "argv": ["true"], "cwd": "/workspace/main" }), true),
        (json!({ "argv": ["true", "x y"], "cwd": "/workspace/main" }), true),
        (json!({ "argv": ["true", "x", "y"], "cwd": "/workspace/main" }), true),
        (json!({ "command": "true", "cwd": "/workspace/main", "env": { "KEY": "1" } }), true),
        (json!({ "command": "true", "cwd": "/workspace/main", "env": { "KEY": "2" } }), true),
        (json!({ "command": "true", "cwd": "/workspace/main", "pty": { "cols": 80, "rows": 24 } }), true),
        (json!({ "command": "true", "cwd": "/workspace/main", "background": true }), true),
        (json!({ "command": "true", "cwd": "/workspace/main", "env": { "KEY": "1" } }), false),
    ] {
        let said = params.to_string();
        assert_eq!(laptop.is_asked(context("w", "r"), "shell.start", params).await, expected, "{said}");
    }
}

/// relay-143: `ask_once_per_run` is for the run, or else for the session; who names neither is asked each time.
#[tokio::test]
async fn an_agreement_for_a_run_is_for_that_run() {
    let laptop = Laptop::new(ApprovalPolicy::AskOncePerRun, Answer::Remember).await;
    let session = |id: &str| RelayContext { session_id: Some(id.into()), ..RelayContext::default() };
    for (context, expected) in [
        (context("w", "1"), true),
        (context("w", "1"), false),
        (context("w", "2"), true),
        (session("1"), true),
        (session("1"), false),
        (session("2"), true),
        (RelayContext::default(), true),
        (RelayContext::default(), true),
    ] {
        let said = format!("{context:?}");
        assert_eq!(laptop.is_asked(context, "file.write", write("main", "a")).await, expected, "{said}");
    }
    let offered = laptop.owner.offered.lock();
    let runs: Vec<_> = offered.iter().map(|offered| Some(offered.as_ref()?.run.clone().unwrap())).collect();
    let (run, session) = (|id: &str| Some(Run::Run(id.into())), |id: &str| Some(Run::Session(id.into())));
    assert_eq!(runs, [run("1"), run("2"), session("1"), session("2"), None, None]);
}

/// The owner is told where a command runs that does not say so, and is not asked about one that would be refused.
#[tokio::test]
async fn a_command_is_looked_at_before_the_owner_is_asked() {
    let laptop = Laptop::new(ApprovalPolicy::AskOnce, Answer::Remember).await;
    for params in [
        json!({ "command": "true", "argv": ["true"] }),
        json!({ "command": "true", "cwd": "/workspace/nowhere" }),
        json!({ "command": "true", "env": { "OTHER": "1" } }),
    ] {
        laptop.ask(context("w", "r"), "shell.start", params).await.unwrap_err();
    }
    let error = laptop.ask(context("w", "r"), "file.write", json!({ "path": "a" })).await.unwrap_err();
    assert_eq!((error.code, laptop.owner.count()), (RelayErrorCode::InvalidRequest, 0));
    assert!(laptop.is_asked(context("w", "r"), "shell.start", json!({ "command": "true" })).await);
    let offered = laptop.owner.offered.lock();
    let Some(Subject::Command { at, .. }) = offered[0].as_ref().map(|offered| &offered.subject) else {
        panic!("{offered:?}");
    };
    assert_eq!(at.as_str(), "/workspace/main");
}
