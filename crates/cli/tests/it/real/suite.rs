//! What every agent goes through. Each test tells what it saw in a few words, which are compared with what was seen
//! when the table was written.

use std::time::SystemTime;

use serde_json::{Value, json};

use super::{
    agent::{Agent, ModelMethod},
    features,
    processes::{alive, family, marked},
    stage::Stage,
    talk::{ALLOW, Consent, REJECT, Talk},
};
use crate::secs;

const NO: &str = "no";
const YES: &str = "yes";
const NEVER_ASKS: &str = "never asks";

/// A command that tells when it runs and then runs for longer than any test.
const LONG: &str = "tool:bash! touch started && python3 -c 'import time; time.sleep(600)'";

/// initialize, session/new, session/prompt: what the model says comes back.
pub(super) async fn text(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let mut talk = stage.talk("a").await;
    features::program(agent.name, &talk.hello["agentInfo"]);
    let session = talk.session(&stage.project()).await;
    let turn = talk.prompt(&session, "think:pondering ;; say:hello from the model").await;
    assert_eq!(turn.stop(), "end_turn", "{turn:?}");
    assert!(turn.text.contains("hello from the model"), "{turn:?}");
    assert!(stage.model.requests().iter().all(|seen| seen.status < 400), "the key came along");
    if turn.thoughts.contains("ponderin") { "text and thoughts" } else { "text" }
}

/// A tool call that the user allows is done.
pub(super) async fn permission_allowed(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let (mut talk, session) = asking(&stage).await;
    talk.consent = ALLOW;
    let turn = talk.prompt(&session, "tool:bash! touch allowed").await;
    assert_eq!(turn.stop(), "end_turn", "{turn:?}");
    assert!(stage.project().join("allowed").exists(), "{turn:?}");
    assert!(turn.text.contains("tool-result:") && turn.has_tool_call(), "{turn:?}");
    if turn.asked.is_empty() { NEVER_ASKS } else { "asks" }
}

/// A tool call that the user denies is not done.
pub(super) async fn permission_denied(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let (mut talk, session) = asking(&stage).await;
    talk.consent = REJECT;
    let turn = talk.prompt(&session, "tool:bash! touch denied").await;
    let done = stage.project().join("denied").exists();
    if turn.asked.is_empty() {
        assert!(done, "{turn:?}");
        return NEVER_ASKS;
    }
    assert!(!done, "{turn:?}");
    let after = talk.prompt(&session, "say:still here").await;
    assert!(after.text.contains("still here"), "{after:?}");
    match (turn.stop(), turn.text.contains("tool-result:")) {
        ("end_turn", true) => "told to the model",
        ("end_turn", false) => "ends the turn",
        ("cancelled", _) => "cancels the turn",
        _ => panic!("{turn:?}"),
    }
}

/// A turn ends when it is cancelled, and the next one is as any other.
pub(super) async fn cancel(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let mut talk = stage.talk("a").await;
    let session = talk.session(&stage.project()).await;
    let id = talk.begin(&session, "slow:20 one two three four five six seven eight nine ten").await;
    if agent.streams {
        talk.until(|turn| turn.text.contains("one")).await;
    }
    talk.until_fact(|| stage.model.requests().iter().any(|seen| seen.body.to_string().contains("slow:20")))
        .await;
    talk.cancel(&session).await;
    let turn = talk.end(id).await;
    assert_eq!(turn.stop(), "cancelled", "{turn:?}");
    let after = talk.prompt(&session, "say:still here").await;
    assert!(after.text.contains("still here"), "{after:?}");
    if turn.text.contains("ten") { "after the answer" } else { YES }
}

/// A turn ends when it is cancelled while the user is asked, and what was asked for is not done.
pub(super) async fn cancel_while_asked(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let (mut talk, session) = asking(&stage).await;
    talk.consent = Consent::Withhold;
    let id = talk.begin(&session, "tool:bash! touch cancelled").await;
    talk.until(|turn| !turn.asked.is_empty() || turn.text.contains("tool-result:")).await;
    if talk.said().asked.is_empty() {
        return NEVER_ASKS;
    }
    talk.cancel(&session).await;
    let turn = talk.end(id).await;
    assert_eq!(turn.stop(), "cancelled", "{turn:?}");
    assert!(!stage.project().join("cancelled").exists(), "{turn:?}");
    YES
}

/// Another process loads a session: what was said is told again, and the model is told it too.
pub(super) async fn load(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let (session, capabilities) = remembered(&stage).await;
    if capabilities["loadSession"] != true {
        return NO;
    }
    if agent.loads_next_minute {
        next_minute().await;
    }
    let mut talk = stage.talk("b").await;
    talk.request("session/load", again(&stage, &session)).await.expect("the session is loaded");
    talk.until(|turn| turn.user.contains("remember") && turn.text.contains("remember the tide")).await;
    goes_on(&stage, &mut talk, &session).await;
    YES
}

/// Another process resumes a session: the model is told what was said.
pub(super) async fn resume(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let (session, capabilities) = remembered(&stage).await;
    if !capabilities["sessionCapabilities"]["resume"].is_object() {
        return NO;
    }
    let mut talk = stage.talk("b").await;
    talk.request("session/resume", again(&stage, &session)).await.expect("the session is resumed");
    assert!(!talk.said().text.contains("remember the tide"), "nothing is told again");
    goes_on(&stage, &mut talk, &session).await;
    YES
}

/// The mode can be changed, and the agent says so.
pub(super) async fn mode(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let mut talk = stage.talk("a").await;
    let session = talk.session(&stage.project()).await;
    let params = json!({ "sessionId": session, "modeId": agent.other_mode });
    talk.request("session/set_mode", params).await.expect("the mode is set");
    let told = talk.said();
    let in_options = |update: &Value| {
        let options = update["configOptions"].as_array().map(Vec::as_slice).unwrap_or_default();
        options.iter().any(|option| option["currentValue"] == agent.other_mode)
    };
    let is_told = |update: &Value| update["currentModeId"] == agent.other_mode || in_options(update);
    let told = told.updates.iter().any(is_told) || told.text.contains(agent.other_mode);
    let turn = talk.prompt(&session, "say:in another mode").await;
    assert!(turn.text.contains("in another mode"), "{turn:?}");
    if told { "told" } else { "set in silence" }
}

/// The model can be changed, and the next request goes to the new one.
pub(super) async fn model(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let mut talk = stage.talk("a").await;
    let session = talk.session(&stage.project()).await;
    let Some(other) = agent.other_model else {
        assert!(
            talk.offered.get("models").or(talk.offered.get("configOptions")).is_none(),
            "{}",
            talk.offered
        );
        return NO;
    };
    let seen = || {
        let requests = stage.model.requests().into_iter().filter(|seen| seen.api.is_some());
        let name = |seen: testkit::model::ModelRequest| {
            format!("{} {} {}", seen.path, seen.body["model"], seen.body["reasoning"]["effort"])
        };
        requests.map(name).collect::<Vec<_>>()
    };
    talk.prompt(&session, "say:before").await;
    let before = seen();
    assert!(!before.iter().any(|name| name.contains(other.seen)), "{before:?}");
    match other.method {
        ModelMethod::ConfigOption => {
            let params = json!({ "sessionId": session, "configId": "model", "value": other.id });
            talk.request("session/set_config_option", params).await.expect("the model is set");
        }
        ModelMethod::SetModel => {
            let params = json!({ "sessionId": session, "modelId": other.id });
            talk.request("session/set_model", params).await.expect("the model is set");
        }
    }
    let turn = talk.prompt(&session, "say:after").await;
    assert!(turn.text.contains("after"), "{turn:?}");
    let after = seen().split_off(before.len());
    assert!(after.iter().any(|name| name.contains(other.seen)), "{after:?}");
    match other.method {
        ModelMethod::ConfigOption => "set_config_option",
        ModelMethod::SetModel => "set_model",
    }
}

/// A model that fails is told, one way or another, and the next turn is as any other.
pub(super) async fn model_error(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let mut talk = stage.talk("a").await;
    let session = talk.session(&stage.project()).await;
    let turn = talk.prompt(&session, "err:400 the model is out of order").await;
    let told = turn.text.contains("out of order");
    let after = talk.prompt(&session, "say:still here").await;
    assert!(after.text.contains("still here"), "{after:?}");
    match turn.result {
        Some(Err(_)) => "as an error",
        _ if told => "as text",
        _ => "in silence",
    }
}

/// Nobody is left of an agent that is deleted in the middle of a command: no process, no grandchild.
pub(super) async fn nothing_left(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let (mut talk, session) = asking(&stage).await;
    talk.consent = ALLOW;
    talk.begin(&session, LONG).await;
    let started = stage.project().join("started");
    // While a process executes another program, its command line is empty.
    let runs = || marked(&stage.mark).iter().any(|process| process.command.contains("time.sleep"));
    talk.until_fact(|| started.exists() && runs()).await;
    let leader = stage.daemon.instance("a").await["pid"].as_u64().expect("it runs");
    let leader = u32::try_from(leader).expect("a process id");
    let before = family(leader, &stage.mark);
    assert!(before.iter().any(|process| process.command.contains("time.sleep")), "{before:?}");
    assert!(before.len() >= 2, "the agent and the command: {before:?}");
    assert_eq!(stage.daemon.delete("/v1/acp/a").await.status(), 204);
    assert_eq!(alive(&before), [], "DELETE answers when they are gone");
    assert_eq!(family(leader, &stage.mark), [], "nobody was born meanwhile");
    YES
}

/// A session of the agent in the mode in which the user is asked.
async fn asking(stage: &Stage) -> (Talk<'_>, String) {
    let mut talk = stage.talk("a").await;
    let session = talk.session(&stage.project()).await;
    if let Some(mode) = stage.agent.asking_mode {
        let params = json!({ "sessionId": session, "modeId": mode });
        talk.request("session/set_mode", params).await.expect("the mode is set");
    }
    (talk, session)
}

/// A session in which something was said, by a process that has ended; and what the agent can do with it.
async fn remembered(stage: &Stage) -> (String, Value) {
    let mut talk = stage.talk("a").await;
    let session = talk.session(&stage.project()).await;
    let turn = talk.prompt(&session, "say:remember the tide").await;
    assert_eq!(turn.stop(), "end_turn", "{turn:?}");
    assert_eq!(stage.daemon.delete("/v1/acp/a").await.status(), 204);
    (session, talk.hello["agentCapabilities"].take())
}

/// Waits until the clock shows another minute.
async fn next_minute() {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a clock");
    tokio::time::sleep(secs(60 - now.as_secs() % 60)).await;
}

fn again(stage: &Stage, session: &str) -> Value {
    json!({ "sessionId": session, "cwd": stage.project(), "mcpServers": [] })
}

/// The model is told what was said before.
async fn goes_on(stage: &Stage, talk: &mut Talk<'_>, session: &str) {
    let turn = talk.prompt(session, "say:I do").await;
    assert_eq!(turn.stop(), "end_turn", "{turn:?}");
    assert!(turn.text.contains("I do"), "{turn:?}");
    let requests = stage.model.requests();
    let last =
        requests.iter().rev().find(|seen| seen.body.to_string().contains("say:I do")).expect("a request");
    assert!(last.body.to_string().contains("remember the tide"), "{}", last.body);
}
