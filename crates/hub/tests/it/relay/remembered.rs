//! What an approval for more than once is for.

use protocol::relay::{RelayContext, RelayError, RelayErrorCode};
use reqwest::Method;
use serde_json::{Value, json};

use super::{
    approved::{answer, lent, open_in, wait},
    device::tool,
    world::{Runtime, World, tools},
};

/// Uses the tool `open`, and says nothing of a run.
async fn use_open(runtime: &Runtime) -> Result<Value, RelayError> {
    runtime.ask("tool.call", json!({ "name": "open", "arguments": { "path": "a" } })).await
}

/// Answers the one wait that there is: for always.
async fn always(world: &World) {
    let (status, _) =
        answer(world, &world.token, &wait(world).await, json!({ "permission": "always" })).await;
    assert_eq!(status, 200);
}

/// Whether somebody is asked before `used` is done: they say no.
async fn is_asked(world: &World, used: impl Future<Output = Result<Value, RelayError>>) -> bool {
    let reject = async {
        answer(world, &world.token, &wait(world).await, json!("reject")).await;
    };
    tokio::pin!(used);
    // Whoever answers may be told later than whoever asked.
    let done = tokio::select! {
        done = &mut used => done,
        () = reject => used.await,
    };
    match done {
        Ok(_) => false,
        Err(error) => {
            assert_eq!(error.code, RelayErrorCode::PolicyBlocked);
            true
        }
    }
}

/// relay-143: an approval in a run is for the session that it was given for, whatever another says that its run is.
#[tokio::test]
async fn an_approval_in_a_run_is_borrowed_by_no_other_session() {
    let (world, _device, _, first) = lent("ask_once_per_run", json!({ "sessionId": "s1" })).await;
    world.add_runtime("other").await;
    world.grant_to("other", "laptop", json!([tools()])).await;
    let (done, ()) = tokio::join!(use_open(&first), always(&world));
    done.unwrap();
    let (done, ()) = tokio::join!(open_in(&first, "r1"), always(&world));
    done.unwrap();
    for more in [
        json!({ "sessionId": "s2" }),
        json!({ "sessionId": "s2", "runId": "s1" }),
        json!({ "sessionId": "s1", "runtimeId": "other" }),
        json!({}),
    ] {
        let theirs = world.runtime(&world.environment(more.clone()).await).await;
        assert!(is_asked(&world, use_open(&theirs)).await, "{more}");
        for run in ["s1", "r1"] {
            assert!(is_asked(&world, open_in(&theirs, run)).await, "{more} {run}");
        }
    }
    assert!(!is_asked(&world, use_open(&first)).await);
    assert!(!is_asked(&world, open_in(&first, "r1")).await);
    assert!(is_asked(&world, open_in(&first, "s1")).await, "a run is no session");
}

/// relay-143: what was approved of a tool is for the tool as it was then.
#[tokio::test]
async fn a_tool_that_is_another_is_asked_about_again() {
    for approval in ["ask_once", "ask_once_per_run"] {
        let (world, device, _, runtime) = lent(approval, json!({ "sessionId": "s1" })).await;
        let (done, ()) = tokio::join!(use_open(&runtime), always(&world));
        done.unwrap();
        let register = |tool: Value| device.ask("tool.register", json!({ "tools": [tool] }));
        register(tool("open", approval)).await.unwrap();
        assert!(!is_asked(&world, use_open(&runtime)).await, "it is the same");
        let mut other = tool("open", approval);
        other["description"] = json!("Another tool.");
        register(other).await.unwrap();
        assert!(is_asked(&world, use_open(&runtime)).await);
    }
}

/// relay-143: a tool that becomes another while somebody is asked about it is not what they approved.
#[tokio::test]
async fn a_tool_that_becomes_another_meanwhile_is_not_used() {
    let (world, device, _, runtime) = lent("always_ask", json!({})).await;
    let changed = async {
        let wait = wait(&world).await;
        let mut other = tool("open", "always_ask");
        other["description"] = json!("Another tool.");
        device.ask("tool.register", json!({ "tools": [other] })).await.unwrap();
        answer(&world, &world.token, &wait, json!({ "permission": "once" })).await
    };
    let (done, _) = tokio::join!(use_open(&runtime), changed);
    let error = done.unwrap_err();
    assert_eq!((error.code, &error.details["reason"]), (RelayErrorCode::ApprovalRequired, &json!("changed")));
    assert!(device.asked().is_empty());
}

/// relay-143, relay-144: whoever is asked sees what `always` would be for.
#[tokio::test]
async fn a_wait_says_what_always_is_for() {
    for (approval, run, expected) in [
        (
            "ask_once",
            None,
            "every call of open on laptop, as long as the tool does not change, in space-1, until the approval is revoked",
        ),
        (
            "ask_once_per_run",
            None,
            "every call of open on laptop, as long as the tool does not change, for session s1 of box, until the approval is revoked",
        ),
        (
            "ask_once_per_run",
            Some("r1"),
            "every call of open on laptop, as long as the tool does not change, in run r1 of session s1 of box, until the approval is revoked",
        ),
        ("always_ask", None, "only this once: every request needs a new approval"),
    ] {
        let bound = json!({ "sessionId": "s1", "scopeId": "space-1" });
        let (world, _device, _, runtime) = lent(approval, bound).await;
        let context = RelayContext { run_id: run.map(str::to_owned), ..RelayContext::default() };
        let params = json!({ "name": "open", "arguments": { "path": "a" } });
        let seen = async {
            let wait = wait(&world).await;
            assert_eq!(wait["request"]["permission"]["alwaysAllows"], json!([expected]));
            answer(&world, &world.token, &wait, json!({ "permission": "always" })).await
        };
        let (done, _) = tokio::join!(runtime.ask_for("tool.call", params, context), seen);
        done.unwrap();
        let status = world.ok(Method::GET, "/api/v1/relay/status", None).await;
        let remembered = status["rememberedApprovals"].as_array().unwrap();
        assert_eq!(remembered.len(), usize::from(approval != "always_ask"));
        for it in remembered {
            assert_eq!(it["runId"], json!(run));
            assert_eq!(it["environmentId"].is_null(), approval == "ask_once", "{it}");
            assert_eq!(it["toolHash"].as_str().unwrap().len(), 64);
        }
    }
}
