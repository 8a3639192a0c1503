//! Who is asked before a tool is used.

use std::{collections::HashMap, sync::Arc};

use device::{
    Answer, Consent, Roots, Rules,
    tools::{Shelf, ToolSocket},
};
use protocol::relay::{ApprovalPolicy, RelayContext, RelayErrorCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Notify;

use crate::owner::Owner;

use super::programs::{Script, descriptor, socket_at};
use super::support::{Lent, SOON, config, script, until, variables, written};

async fn lent(policies: &[&str], consent: Consent) -> (Lent, TempDir) {
    let tools: Vec<_> = policies
        .iter()
        .map(|policy| script(policy, &format!("echo x >>ran-{policy}"), &format!("approval = {policy:?}")))
        .collect();
    let directory = written(&tools.concat());
    let shelf = Shelf::default();
    shelf.put_commands(&config(&directory), &variables(), &Roots::default()).unwrap();
    (Lent::with(shelf, consent).await, directory)
}

fn ran(directory: &TempDir, policy: &str) -> usize {
    std::fs::read_to_string(directory.path().join(format!("ran-{policy}")))
        .unwrap_or_default()
        .lines()
        .count()
}

fn context(workspace: &str, run: &str) -> Option<RelayContext> {
    let (workspace_id, run_id) = (Some(workspace.into()), Some(run.into()));
    Some(RelayContext { workspace_id, run_id, ..RelayContext::default() })
}

const ALL: [&str; 5] = ["allow", "ask_once", "ask_once_per_run", "always_ask", "block"];

/// relay-140, relay-143: what a tool says of itself decides how often the owner is asked, for each tool by itself.
#[tokio::test]
async fn the_owner_is_asked_as_each_tool_says() {
    let owner = Owner::saying(Answer::Remember);
    let (lent, directory) = lent(&ALL, Consent::new(Rules::default(), owner.clone())).await;
    let asked: HashMap<&str, usize> =
        [("allow", 0), ("ask_once", 2), ("ask_once_per_run", 3), ("always_ask", 5)].into();
    for (policy, expected) in asked {
        let before = owner.count();
        for (workspace, run) in [("a", "1"), ("a", "1"), ("a", "2"), ("b", "3"), ("b", "3")] {
            let params = json!({ "name": policy });
            lent.ask("tool.call", params, context(workspace, run)).await.unwrap();
        }
        assert_eq!(owner.count() - before, expected, "{policy}");
        assert_eq!(ran(&directory, policy), 5, "{policy}");
    }
    // relay-142: what is blocked never reaches the tool, nor the owner.
    let before = owner.count();
    let error = lent.call("block", json!({})).await.unwrap_err();
    assert_eq!(
        (error.code, owner.count(), ran(&directory, "block")),
        (RelayErrorCode::PolicyBlocked, before, 0)
    );
    // Under `always_ask` there is nothing to agree to but this once.
    assert_eq!(owner.offered.lock().iter().filter(|offered| offered.is_none()).count(), 5);
    // relay-143: what was agreed to can be taken back.
    lent.device.consent().forget();
    lent.ask("tool.call", json!({ "name": "ask_once" }), context("a", "1")).await.unwrap();
    assert_eq!(owner.count(), before + 1);
}

/// relay-143: what is allowed this once is asked about again, whatever the policy.
#[tokio::test]
async fn this_once_is_never_remembered() {
    let owner = Owner::saying(Answer::Once);
    let (lent, directory) = lent(&ALL[1..4], Consent::new(Rules::default(), owner.clone())).await;
    for policy in &ALL[1..4] {
        let before = owner.count();
        for _ in 0..3 {
            lent.ask("tool.call", json!({ "name": policy }), context("a", "1")).await.unwrap();
        }
        assert_eq!((owner.count() - before, ran(&directory, policy)), (3, 3), "{policy}");
    }
}

/// relay-142: without anybody to ask it is `approval_required`, and nothing is run.
#[tokio::test]
async fn with_nobody_to_ask_it_is_not_done() {
    let (lent, directory) = lent(&ALL[1..4], Consent::default()).await;
    for policy in &ALL[1..4] {
        let error = lent.call(policy, json!({})).await.unwrap_err();
        assert_eq!((error.code, ran(&directory, policy)), (RelayErrorCode::ApprovalRequired, 0), "{policy}");
    }
}

/// relay-142: an owner who does not agree is policy.
#[tokio::test]
async fn what_the_owner_does_not_want_is_not_done() {
    let owner = Owner::saying(Answer::No);
    let (lent, directory) = lent(&["ask_once"], Consent::new(Rules::default(), owner.clone())).await;
    for _ in 0..2 {
        let error = lent.call("ask_once", json!({})).await.unwrap_err();
        assert_eq!(error.code, RelayErrorCode::PolicyBlocked);
    }
    // A no is not remembered.
    assert_eq!((owner.count(), ran(&directory, "ask_once")), (2, 0));
}

/// relay-141: the owner's rules make it stricter, and never looser.
#[tokio::test]
async fn the_stricter_of_the_rules_and_the_tool_holds() {
    let owner = Owner::saying(Answer::Remember);
    for (rule, policy, expected) in [
        (ApprovalPolicy::AlwaysAsk, "allow", Ok(2)),
        (ApprovalPolicy::Allow, "always_ask", Ok(2)),
        (ApprovalPolicy::AskOnce, "allow", Ok(1)),
        (ApprovalPolicy::Block, "allow", Err(RelayErrorCode::PolicyBlocked)),
        (ApprovalPolicy::Allow, "block", Err(RelayErrorCode::PolicyBlocked)),
    ] {
        let before = owner.count();
        let rules = Rules { tools: rule, ..Rules::default() };
        let (lent, directory) = lent(&[policy], Consent::new(rules, owner.clone())).await;
        let mut outcome = Ok(Value::Null);
        for _ in 0..2 {
            outcome = lent.call(policy, json!({})).await;
        }
        let got = outcome.map(|_| owner.count() - before).map_err(|error| error.code);
        assert_eq!(got, expected, "{rule:?} {policy}");
        assert_eq!(ran(&directory, policy), if expected.is_ok() { 2 } else { 0 });
    }
}

/// relay-143: the owner sees the very arguments, and is not asked about what would be refused anyway.
#[tokio::test]
async fn the_owner_is_shown_the_exact_arguments() {
    let owner = Owner::saying(Answer::Remember);
    let tool = script("paint", "cat", "")
        .replace("{ type = \"object\" }", "{ properties = { colour = { type = \"string\" } } }")
        + "approval = \"always_ask\"\n";
    let directory = written(&tool);
    let shelf = Shelf::default();
    shelf.put_commands(&config(&directory), &variables(), &Roots::default()).unwrap();
    let lent = Lent::with(shelf, Consent::new(Rules::default(), owner.clone())).await;
    lent.call("paint", json!({ "colour": 3 })).await.unwrap_err();
    assert_eq!(owner.count(), 0);
    let answer = lent.call("paint", json!({ "colour": "red" })).await.unwrap();
    assert_eq!(answer["content"], "{\"colour\":\"red\"}");
    assert_eq!(*owner.asked.lock(), [json!({ "name": "paint", "arguments": { "colour": "red" } })]);
}

/// relay-89: what is cancelled while the owner thinks about it is not done when they agree.
#[tokio::test]
async fn what_is_cancelled_while_the_owner_thinks_is_never_done() {
    let thinking = Arc::new(Notify::new());
    let owner = Owner { thinking: Some(thinking.clone()), ..Owner::saying(Answer::Remember) };
    let (lent, directory) = lent(&["always_ask"], Consent::new(Rules::default(), owner.clone())).await;
    let call = lent.begin("tool.call", json!({ "name": "always_ask", "call_id": "c" }), None).await;
    until(|| owner.count() == 1).await;
    lent.ask("tool.cancel", json!({ "call_id": "c" }), None).await.unwrap();
    assert_eq!(testkit::within(SOON, call.outcome()).await.unwrap_err().code, RelayErrorCode::Cancelled);
    thinking.notify_one();
    // Another call goes all the way: had the first one gone on, however late, it would have run by then too.
    let again = lent.begin("tool.call", json!({ "name": "always_ask", "call_id": "d" }), None).await;
    until(|| owner.count() == 2).await;
    thinking.notify_one();
    testkit::within(SOON, again.outcome()).await.unwrap();
    assert_eq!(ran(&directory, "always_ask"), 1);
}

/// relay-143: an answer is for one tool, and for that as it was: neither another, nor another under the same name, has it.
#[tokio::test]
async fn an_answer_is_for_one_tool_as_it_was() {
    let owner = Owner::saying(Answer::Remember);
    let directory = tempfile::tempdir().unwrap();
    let mut lent = Lent::with(Shelf::default(), Consent::new(Rules::default(), owner.clone())).await;
    let socket = ToolSocket::open(&socket_at(&directory)).unwrap();
    let (shelf, stop) = (lent.shelf.clone(), lent.stop.clone());
    lent.spawn(socket.serve(shelf, stop));
    let tool = |name: &str, description: &str| {
        let mut tool = descriptor(name, json!({ "type": "object" }));
        tool["approval_policy"] = "ask_once".into();
        tool["description"] = description.into();
        tool
    };
    let mut asked = 0;
    // Each line is a program that comes, offers this and leaves; whether the owner is asked.
    for (program, name, description, is_asked) in [
        ("one", "scan", "scans", true),
        ("one", "scan", "scans", false),
        ("one", "print", "scans", true),
        ("one", "scan", "deletes", true),
        ("two", "scan", "scans", true),
        ("one", "scan", "scans", false),
    ] {
        let mut program = Script::connect(&socket_at(&directory), program).await;
        program.register(&[tool(name, description)]).await;
        let call = lent.begin("tool.call", json!({ "name": name }), None).await;
        let request = program.hear().await.unwrap();
        program.say(&json!({ "type": "response", "id": request["id"], "result": { "content": "" } })).await;
        testkit::within(SOON, call.outcome()).await.unwrap();
        asked += usize::from(is_asked);
        assert_eq!(owner.count(), asked, "{name} {description}");
        drop(program);
        lent.has(&[]).await;
    }
}

/// What the owner agrees to is what they were shown, not what has its name by then.
#[tokio::test]
async fn a_tool_that_was_replaced_while_the_owner_thought_is_not_used() {
    let thinking = Arc::new(Notify::new());
    let owner = Owner { thinking: Some(thinking.clone()), ..Owner::saying(Answer::Remember) };
    let directory = tempfile::tempdir().unwrap();
    let mut lent = Lent::with(Shelf::default(), Consent::new(Rules::default(), owner.clone())).await;
    let socket = ToolSocket::open(&socket_at(&directory)).unwrap();
    let (shelf, stop) = (lent.shelf.clone(), lent.stop.clone());
    lent.spawn(socket.serve(shelf, stop));
    let mut program = Script::connect(&socket_at(&directory), "one").await;
    let mut tool = descriptor("scan", json!({ "type": "object" }));
    tool["approval_policy"] = "always_ask".into();
    program.register(std::slice::from_ref(&tool)).await;
    let call = lent.begin("tool.call", json!({ "name": "scan" }), None).await;
    until(|| owner.count() == 1).await;
    tool["description"] = "something else".into();
    program.register(&[tool]).await;
    thinking.notify_one();
    assert_eq!(testkit::within(SOON, call.outcome()).await.unwrap_err().code, RelayErrorCode::NotFound);
}
