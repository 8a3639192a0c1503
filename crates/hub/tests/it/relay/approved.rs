//! What waits for a person before it is asked of a device.

use protocol::relay::{PolicyDecision, RawJson, RelayContext, RelayError, RelayErrorCode};
use relay::Ask;
use reqwest::Method;
use serde_json::{Value, json};

use super::{
    device::Offering,
    world::{Environment, Runtime, World, soon, tools, until},
};

/// What is open in the inbox.
pub(super) async fn open(world: &World) -> Vec<Value> {
    let inbox = world.ok(Method::GET, "/api/waits", None).await;
    inbox["items"].as_array().unwrap().clone()
}

/// The one that is open.
pub(super) async fn wait(world: &World) -> Value {
    until(|| async { open(world).await.len() == 1 }).await;
    open(world).await.remove(0)
}

/// Answers it; the status and what came of it.
pub(super) async fn answer(world: &World, token: &str, wait: &Value, answer: Value) -> (u16, Value) {
    let path = format!("/api/waits/{}/{}", wait["runtimeId"].as_str().unwrap(), wait["id"].as_str().unwrap());
    world.answer(world.request_as(token, Method::POST, &path).json(&json!({ "answer": answer }))).await
}

/// Uses the tool `open` of the device, in a run.
pub(super) async fn open_in(runtime: &Runtime, run: &str) -> Result<Value, RelayError> {
    let context = RelayContext {
        run_id: Some(run.into()),
        tool_call_id: Some("call-1".into()),
        ..RelayContext::default()
    };
    runtime.ask_for("tool.call", json!({ "name": "open", "arguments": { "path": "a" } }), context).await
}

/// A device with the tool `open`, for which somebody must be asked.
pub(super) async fn lent(
    approval: &str,
    more: Value,
) -> (World, super::device::Device, Environment, Runtime) {
    let world = World::new().await;
    let device = world.lend(Offering::all().with_tool("open", approval), json!([tools()])).await;
    let environment = world.environment(more).await;
    let runtime = world.runtime(&environment).await;
    (world, device, environment, runtime)
}

/// relay-140, relay-142, relay-143, relay-144: somebody is asked, sees exactly what is asked, and it is done once they agree; who did is written
/// down. The next time somebody is asked again.
#[tokio::test]
async fn somebody_is_asked_each_time() {
    let (world, device, _, runtime) = lent("always_ask", json!({ "sessionId": "s1" })).await;
    for _ in 0..2 {
        let before = device.asked().len();
        let asked = async { open_in(&runtime, "r1").await };
        let answered = async {
            let wait = wait(&world).await;
            assert_eq!((&wait["runtimeId"], &wait["sessionId"]), (&json!("box"), &json!("s1")));
            let permission = &wait["request"]["permission"];
            assert_eq!(permission["tool"], "tool:open");
            assert_eq!(permission["title"], "tool.call open on laptop");
            assert_eq!(permission["input"], json!({ "name": "open", "arguments": { "path": "a" } }));
            assert_eq!(permission["callId"], "call-1");
            assert_eq!(
                permission["alwaysAllows"],
                json!(["only this once: every request needs a new approval"])
            );
            assert_eq!(device.asked().len(), before, "nothing is asked of the device before");
            let (status, settled) =
                answer(&world, &world.token, &wait, json!({ "permission": "always" })).await;
            assert_eq!((status, &settled["settlement"]["author"]), (200, &json!("owner")));
        };
        let (done, ()) = tokio::join!(asked, answered);
        assert_eq!(done.unwrap()["content"], "used open");
        assert_eq!(open(&world).await, [] as [Value; 0]);
    }
    until(|| async { world.audit().await.len() == 4 }).await;
    for entry in world.audit().await {
        assert_eq!(entry.policy_decision, PolicyDecision::Approved);
        assert_eq!(entry.summary["approved_by"], "owner");
        assert!(entry.summary["wait_id"].as_str().unwrap().starts_with("wat_"));
    }
}

/// relay-142: what somebody does not allow is not done, and it is written down who.
#[tokio::test]
async fn what_is_not_allowed_is_not_done() {
    let (world, device, _, runtime) = lent("ask_once", json!({})).await;
    for no in [json!({ "permission": "reject" }), json!("reject")] {
        let answered = async { answer(&world, &world.token, &wait(&world).await, no).await };
        let (done, (status, _)) = tokio::join!(open_in(&runtime, "r1"), answered);
        assert_eq!(status, 200);
        let error = done.unwrap_err();
        assert_eq!((error.code, &error.details["reason"]), (RelayErrorCode::PolicyBlocked, &json!("denied")));
    }
    assert!(device.asked().is_empty());
    until(|| async { world.audit().await.len() == 2 }).await;
    let entry = world.audit().await.remove(0);
    assert_eq!(
        (entry.policy_decision, entry.error),
        (PolicyDecision::Blocked, Some(RelayErrorCode::PolicyBlocked))
    );
    assert_eq!(entry.summary["refused_by"], "owner");
}

/// relay-140, relay-142: what is blocked never reaches the device, and nobody is asked.
#[tokio::test]
async fn what_is_blocked_is_asked_of_nobody() {
    let (world, device, _, runtime) = lent("block", json!({})).await;
    assert_eq!(open_in(&runtime, "r1").await.unwrap_err().code, RelayErrorCode::PolicyBlocked);
    assert!(device.asked().is_empty() && open(&world).await.is_empty());
}

/// relay-143: an approval is remembered for the tool and the space, is in the audit, and can be taken back; also after the
/// hub was started again.
#[tokio::test]
async fn an_approval_for_always_is_remembered_and_can_be_taken_back() {
    let (world, device, environment, runtime) = lent("ask_once", json!({ "scopeId": "space-1" })).await;
    let once =
        async { answer(&world, &world.token, &wait(&world).await, json!({ "permission": "once" })).await };
    let (done, _) = tokio::join!(open_in(&runtime, "r1"), once);
    done.unwrap();
    let always = async {
        let wait = wait(&world).await;
        let always = "every call of open on laptop, as long as the tool does not change, in space-1, until the approval is revoked";
        assert_eq!(wait["request"]["permission"]["alwaysAllows"], json!([always]));
        answer(&world, &world.token, &wait, json!({ "permission": "always" })).await
    };
    let (done, _) = tokio::join!(open_in(&runtime, "r1"), always);
    done.unwrap();
    for run in ["r1", "r2"] {
        open_in(&runtime, run).await.unwrap();
    }
    assert_eq!(device.asked().len(), 4);
    until(|| async { world.audit().await.len() == 8 }).await;
    let last = world.audit().await.pop().unwrap();
    assert_eq!((last.policy_decision, &last.summary["remembered"]), (PolicyDecision::Approved, &json!(true)));
    // Another space is another.
    let other = world.environment(json!({ "scopeId": "space-2" })).await;
    let other = world.runtime(&other).await;
    let reject = async { answer(&world, &world.token, &wait(&world).await, json!("reject")).await };
    let (done, _) = tokio::join!(open_in(&other, "r1"), reject);
    done.unwrap_err();
    drop((device, runtime, other));
    let world = world.restarted().await;
    let token = world.let_in("laptop").await;
    let device = world.connect(&token, Offering::all().with_tool("open", "ask_once")).await;
    let runtime = world.runtime(&environment).await;
    open_in(&runtime, "r3").await.unwrap();
    assert_eq!(device.asked().len(), 1);
    let status = world.ok(Method::GET, "/api/v1/relay/status", None).await;
    let remembered = &status["rememberedApprovals"][0];
    assert_eq!((&remembered["operation"], &remembered["author"]), (&json!("tool:open"), &json!("owner")));
    let id = remembered["id"].as_str().unwrap().to_owned();
    world.ok(Method::DELETE, &format!("/api/v1/relay/approvals/{id}"), None).await;
    let reject = async { answer(&world, &world.token, &wait(&world).await, json!("reject")).await };
    let (done, _) = tokio::join!(open_in(&runtime, "r1"), reject);
    assert_eq!(done.unwrap_err().code, RelayErrorCode::PolicyBlocked);
}

/// relay-143: an approval in a run is for that run; many that wait for the same are asked about once.
#[tokio::test]
async fn an_approval_in_a_run_is_for_that_run() {
    let (world, device, _, runtime) = lent("ask_once_per_run", json!({})).await;
    let always =
        async { answer(&world, &world.token, &wait(&world).await, json!({ "permission": "always" })).await };
    let (one, two, three, _) =
        tokio::join!(open_in(&runtime, "r1"), open_in(&runtime, "r1"), open_in(&runtime, "r1"), always);
    assert!(one.is_ok() && two.is_ok() && three.is_ok());
    let reject = async { answer(&world, &world.token, &wait(&world).await, json!("reject")).await };
    let (done, _) = tokio::join!(open_in(&runtime, "r2"), reject);
    done.unwrap_err();
    open_in(&runtime, "r1").await.unwrap();
    assert_eq!(device.asked().len(), 4);
}

/// relay-129, relay-141: an environment asks where the device would not, and never the other way round.
#[tokio::test]
async fn an_environment_only_makes_stricter() {
    let (world, _device, _, runtime) = lent("allow", json!({ "approvals": { "tool:open": "block" } })).await;
    assert_eq!(open_in(&runtime, "r1").await.unwrap_err().code, RelayErrorCode::PolicyBlocked);
    let looser = world.environment(json!({ "approvals": { "tool.call": "allow" } })).await;
    world.runtime(&looser).await;
    let (world, _device, _, runtime) =
        lent("block", json!({ "approvals": { "tool:open": "allow", "tool.call": "allow" } })).await;
    assert_eq!(open_in(&runtime, "r1").await.unwrap_err().code, RelayErrorCode::PolicyBlocked);
    assert!(open(&world).await.is_empty());
}

/// relay-136, relay-140: before a command somebody is asked if the grant says so.
#[tokio::test]
async fn a_command_waits_for_somebody_if_the_grant_says_so() {
    let world = World::new().await;
    // What the document has says nothing of it: somebody is asked.
    let device = world.lend(Offering::all(), json!([{ "capability": "shell", "enabled": true }])).await;
    let environment = world.environment(json!({})).await;
    let runtime = world.runtime(&environment).await;
    let once = async {
        let wait = wait(&world).await;
        assert_eq!(wait["request"]["permission"]["title"], "run `make -j` on laptop");
        assert_eq!(wait["request"]["permission"]["kind"], "execute");
        answer(&world, &world.token, &wait, json!({ "permission": "once" })).await
    };
    let (done, _) = tokio::join!(runtime.ask("shell.start", json!({ "command": "make -j" })), once);
    assert_eq!(done.unwrap()["exit_code"], 0);
    assert_eq!(device.asked().len(), 1);
}

/// relay-142: nobody answers in time, and nobody could: it is not done.
#[tokio::test]
async fn what_nobody_approves_is_not_done() {
    let (world, device, _, runtime) = lent("ask_once", json!({})).await;
    let error = open_in(&runtime, "r1").await.unwrap_err();
    assert_eq!((error.code, &error.details["reason"]), (RelayErrorCode::ApprovalRequired, &json!("expired")));
    assert!(open(&world).await.is_empty());
    // Who manages the hub need not be somebody who approves.
    let set = json!({ "isAdmin": true });
    world.ok(Method::PUT, "/api/users/owner", Some(set)).await;
    let error = open_in(&runtime, "r1").await.unwrap_err();
    assert_eq!((error.code, &error.details["reason"]), (RelayErrorCode::ApprovalRequired, &json!("nobody")));
    assert!(device.asked().is_empty());
}

/// Somebody who may only watch sees what waits and cannot answer; of those who may, the first answer holds, and the other
/// is told who gave it. Everybody who listens is told too.
#[tokio::test]
async fn the_first_answer_holds_and_everybody_is_told_whose_it_is() {
    let (world, _device, _, runtime) = lent("always_ask", json!({})).await;
    let mut tokens = Vec::new();
    for (name, role) in [("viewer", "viewer"), ("ana", "controller"), ("bob", "controller")] {
        let user = json!({ "name": name, "roles": { "default": role } });
        world.ok(Method::POST, "/api/users", Some(user)).await;
        let token = world.ok(Method::POST, "/api/tokens", Some(json!({ "name": "t", "user": name }))).await;
        tokens.push(token["secret"].as_str().unwrap().to_owned());
    }
    let response = world.request_as(&tokens[0], Method::GET, "/api/waits/events").send().await.unwrap();
    let mut told = Told(response, String::new());
    assert_eq!(told.next().await["type"], "snapshot");
    let answered = async {
        let wait = wait(&world).await;
        let yes = || json!({ "permission": "once" });
        assert_eq!(answer(&world, &tokens[0], &wait, yes()).await.0, 403);
        let wrong = answer(&world, &tokens[1], &wait, json!({ "question": [["a"]] })).await;
        assert_eq!((wrong.0, &wrong.1["type"]), (400, &json!("urn:problem:invalid-answer")));
        assert_eq!(answer(&world, &tokens[1], &wait, yes()).await.0, 200);
        let late = answer(&world, &tokens[2], &wait, json!("reject")).await;
        assert_eq!((late.0, &late.1["type"]), (409, &json!("urn:problem:wait-settled")));
        assert!(late.1["detail"].as_str().unwrap().contains("`ana`"), "{}", late.1);
        wait
    };
    let (done, wait) = tokio::join!(open_in(&runtime, "r1"), answered);
    done.unwrap();
    let opened = told.until("opened").await;
    assert_eq!(opened["wait"]["id"], wait["id"]);
    let settled = told.until("settled").await;
    assert_eq!(settled["wait"]["settlement"]["author"], "ana");
    assert_eq!(settled["wait"]["settlement"]["outcome"]["permission"], "once");
}

/// Who no longer wants it no longer asks: the wait is withdrawn. So is what was open when the hub ended.
#[tokio::test]
async fn what_nobody_waits_for_is_withdrawn() {
    let (world, device, environment, runtime) = lent("always_ask", json!({})).await;
    let call = || {
        Ask::new("tool.call", RawJson::from_value(&json!({ "name": "open", "arguments": { "path": "a" } })))
    };
    let waiting = runtime.peer.request(call()).await;
    let first = wait(&world).await;
    drop(waiting);
    until(|| async { open(&world).await.is_empty() }).await;
    let late = answer(&world, &world.token, &first, json!({ "permission": "once" })).await;
    assert_eq!((late.0, &late.1["type"]), (409, &json!("urn:problem:wait-settled")));
    let waiting = runtime.peer.request(call()).await;
    let second = wait(&world).await;
    let world = world.restarted().await;
    soon(waiting.outcome()).await.unwrap_err();
    assert!(open(&world).await.is_empty());
    let late = answer(&world, &world.token, &second, json!({ "permission": "once" })).await;
    assert_eq!((late.0, &late.1["type"]), (409, &json!("urn:problem:wait-settled")));
    assert!(device.asked().is_empty());
    drop(environment);
}

/// Server-sent events of the inbox.
struct Told(reqwest::Response, String);

impl Told {
    async fn next(&mut self) -> Value {
        loop {
            if let Some((event, rest)) = self.1.split_once("\n\n") {
                let data = event.lines().find_map(|line| line.strip_prefix("data: ")).map(str::to_owned);
                self.1 = rest.to_owned();
                match data {
                    Some(data) => return serde_json::from_str(&data).unwrap(),
                    None => continue,
                }
            }
            let piece = soon(self.0.chunk()).await.unwrap().expect("more");
            self.1 += std::str::from_utf8(&piece).unwrap();
        }
    }

    async fn until(&mut self, kind: &str) -> Value {
        loop {
            let event = self.next().await;
            if event["type"] == kind {
                return event;
            }
        }
    }
}
