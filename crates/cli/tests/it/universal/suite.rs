//! What every agent goes through. Each test tells what it saw in a few words, which are compared with what was seen
//! when the table was written. No flag of the catalog decides: what an agent lacks shows when it is tried.

mod people;

use std::{collections::HashSet, fs, time::SystemTime};

use serde_json::{Value, json};

use super::{
    agent::Agent,
    chat::{Answer, Chat, ended},
    stage::Stage,
};
use crate::{
    acp::clients::installed,
    real::processes::{alive, kill_named, marked},
    secs,
};

pub(super) use people::*;

const NO: &str = "no";
const YES: &str = "yes";
const NEVER_ASKS: &str = "never asks";
const UNSUPPORTED: &str = "unsupported";

/// A command that tells when it runs and then runs for longer than any test.
const LONG: &str = "tool:bash touch started && python3 -c 'import time; time.sleep(600)'";

/// The code of an error that says that a method does not exist.
const METHOD_NOT_FOUND: i64 = -32601;

/// Where requests to models say how hard they are to think.
const EFFORTS: [&str; 2] = ["/reasoning_effort", "/reasoning/effort"];

/// A model that no agent has.
const NO_MODEL: &str = "nonesuch";

/// The key that the model does not want.
const WRONG: &str = "sk-wrong";

fn none() -> Value {
    json!({})
}

/// A session is created, the agent installed and started, and what the model says comes back.
pub(super) async fn text(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let mut chat = stage.chat(&none()).await;
    let turn = chat.turn("say:hello from the model", Answer::Nothing).await;
    assert_eq!(turn.reason, "completed", "{turn:?}");
    assert!(turn.text.contains("hello from the model"), "{turn:?}");
    assert!(stage.model.requests().iter().all(|seen| seen.status < 400), "the key came along");
    let session: Value = stage.daemon.get("/v1/sessions/a").await.json().await.unwrap();
    assert!(session["agentSessionId"].is_string() && session["state"] == "idle", "{session}");
    let user = chat.records.iter().find(|record| record["event"]["message"]["role"] == "user").unwrap();
    assert_eq!(user["event"]["message"]["parts"][0]["text"], "say:hello from the model");
    if turn.usage["outputTokens"].as_u64().unwrap_or_default() > 0 { "text and usage" } else { "text" }
}

/// What the agent says is told while it says it.
pub(super) async fn streaming(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let mut chat = stage.chat(&none()).await;
    let turn = chat.turn("slow:1 one two three four five six seven eight nine ten", Answer::Nothing).await;
    assert!(turn.text.contains("ten"), "{turn:?}");
    if turn.deltas > 1 { YES } else { "whole messages" }
}

/// What the agent thinks is told as such.
pub(super) async fn reasoning(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let mut chat = stage.chat(&none()).await;
    let turn = chat.turn("think:pondering ;; say:done", Answer::Nothing).await;
    assert!(turn.text.contains("done"), "{turn:?}");
    if turn.thoughts.contains("ponderin") { YES } else { NO }
}

/// A command with its result.
pub(super) async fn shell(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let mut chat = stage.chat(&none()).await;
    let turn = chat.turn("tool:bash! echo sea && touch shore", Answer::Permission("once")).await;
    assert_eq!(turn.reason, "completed", "{turn:?}");
    assert!(stage.project().join("shore").exists(), "{turn:?}");
    let call = turn.call("execute").unwrap_or_else(|| panic!("{turn:?}"));
    assert_eq!(call["status"], "completed", "{turn:?}");
    let result = turn.results.iter().find(|result| result["callId"] == call["callId"]);
    match result.is_some_and(|result| result["output"].as_str().unwrap_or_default().contains("sea")) {
        true => "call and output",
        false => "call",
    }
}

/// A file is written, and the change is told.
pub(super) async fn edit(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let mut chat = stage.chat(&none()).await;
    let chart = stage.project().join("chart.txt");
    let turn =
        chat.turn(&format!("edit:{} here be dragons", chart.display()), Answer::Permission("once")).await;
    let written = fs::read_to_string(chart);
    assert!(written.is_ok_and(|text| text.contains("here be dragons")), "{turn:?}");
    assert!(turn.call("edit").is_some(), "{turn:?}");
    let diff = turn.results.iter().flat_map(|result| result["diffs"].as_array().into_iter().flatten()).next();
    match diff {
        Some(diff) if diff.to_string().contains("here be dragons") => "with a diff",
        _ => "without a diff",
    }
}

/// A turn ends when it is interrupted, and the next one is as any other.
pub(super) async fn interrupt(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let mut chat = stage.chat(&none()).await;
    let turn = chat.send("slow:20 one two three four five six seven eight nine ten", &none()).await;
    let asked = || stage.model.requests().iter().any(|seen| seen.body.to_string().contains("slow:20"));
    chat.until_fact(asked).await;
    assert_eq!(stage.daemon.post("/v1/sessions/a/cancel", &none()).await.status(), 204);
    let turn = chat.end(&turn, Answer::Nothing).await;
    assert_eq!(turn.reason, "interrupted", "{turn:?}");
    assert!(!turn.text.contains("ten"), "{turn:?}");
    let after = chat.turn("say:still here", Answer::Nothing).await;
    assert!(after.text.contains("still here"), "{after:?}");
    YES
}

/// What is sent while a turn runs waits, can be changed and taken back, and is delivered in order.
pub(super) async fn queue(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let mut chat = stage.chat(&none()).await;
    let first = chat.send("slow:3 one two three", &none()).await;
    let second = chat.send("say:a typing error", &none()).await;
    let third = chat.send("say:never mind", &none()).await;
    let queued: Value = stage.daemon.get("/v1/sessions/a/inputs").await.json().await.unwrap();
    let ids: Vec<_> =
        queued["items"].as_array().unwrap().iter().map(|input| input["id"].as_str().unwrap()).collect();
    let [.., edited, withdrawn] = ids[..] else { panic!("{queued}") };
    let edit = json!({ "message": "say:as it was meant" });
    assert_eq!(stage.daemon.put(&format!("/v1/sessions/a/inputs/{edited}"), &edit).await.status(), 204);
    assert_eq!(stage.daemon.delete(&format!("/v1/sessions/a/inputs/{withdrawn}")).await.status(), 204);
    let busy = json!({ "message": "say:no", "whenBusy": "reject" });
    assert_eq!(stage.daemon.post("/v1/sessions/a/messages", &busy).await.status(), 409);
    let one = chat.end(&first, Answer::Nothing).await;
    let two = chat.end(&second, Answer::Nothing).await;
    assert!(one.text.contains("three") && two.text.contains("as it was meant"), "{one:?} {two:?}");
    assert!(!ended(&chat.records, &third));
    YES
}

/// What is sent while a turn runs is told to the agent at once.
pub(super) async fn steer(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let mut chat = stage.chat(&json!({ "permissionMode": "bypass" })).await;
    let turn = chat.send("tool:bash touch started && while [ ! -e told ]; do sleep 0.1; done", &none()).await;
    let started = stage.project().join("started");
    chat.until_fact(|| started.exists()).await;
    let body = json!({ "message": "say:the wind has turned", "whenBusy": "steer" });
    let response = stage.daemon.post("/v1/sessions/a/messages", &body).await;
    let status = response.status().as_u16();
    fs::write(stage.project().join("told"), "").unwrap();
    let turn = chat.end(&turn, Answer::Permission("once")).await;
    if status == 409 {
        let problem: Value = response.json().await.unwrap();
        assert_eq!(problem["type"], "urn:problem:unsupported-feature", "{problem}");
        assert!(!has_acp_method(&stage, "_session/steering").await, "the agent itself knows no way");
        return UNSUPPORTED;
    }
    assert_eq!(status, 202);
    let told =
        || stage.model.requests().iter().any(|seen| seen.body.to_string().contains("the wind has turned"));
    chat.until_fact(told).await;
    if turn.text.contains("the wind has turned") { "within the turn" } else { "after the tool" }
}

/// Whether the agent itself knows a method of ACP.
async fn has_acp_method(stage: &Stage, method: &str) -> bool {
    let call = async |id: u64, method: &str, params: Value| -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let path = format!("/v1/acp/asked?agent={}", stage.agent.name);
        stage.daemon.post(&path, &message).await.json().await.expect("JSON")
    };
    let hello = json!({ "protocolVersion": 1, "clientCapabilities": {} });
    let initialized = call(1, "initialize", hello).await;
    assert!(initialized["result"].is_object(), "{initialized}");
    let answer = call(2, method, json!({ "sessionId": "none", "prompt": [] })).await;
    assert_eq!(stage.daemon.delete("/v1/acp/asked").await.status(), 204);
    answer["error"]["code"] != METHOD_NOT_FOUND
}

/// The model is told what was said before.
pub(super) async fn memory(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let mut chat = stage.chat(&none()).await;
    chat.turn("say:remember the tide", Answer::Nothing).await;
    chat.turn("say:I do", Answer::Nothing).await;
    remembers(&stage);
    YES
}

fn remembers(stage: &Stage) {
    let requests = stage.model.requests();
    let last =
        requests.iter().rev().find(|seen| seen.body.to_string().contains("say:I do")).expect("a request");
    assert!(last.body.to_string().contains("remember the tide"), "{}", last.body);
}

/// The model of the session is the one that was asked for, and one that the agent does not have is refused.
pub(super) async fn model(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    if !agent.takes_any_model {
        let refused = stage.refused(&json!({ "model": NO_MODEL })).await;
        assert!(refused.contains("choose one of ") || agent.other_model.is_none(), "{refused}");
    }
    let Some((model, seen)) = agent.other_model else { return UNSUPPORTED };
    let mut chat = stage.chat(&json!({ "model": model })).await;
    chat.turn("say:hello", Answer::Nothing).await;
    let models = stage.models(0);
    assert!(models.iter().any(|name| name.contains(seen)), "{models:?}");
    YES
}

/// The variant of the model is the one that was asked for, and one that the model does not have is refused.
pub(super) async fn variant(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let refused = stage.refused(&json!({ "variant": "no-such-variant" })).await;
    let Some((variant, seen)) = agent.variant else { return UNSUPPORTED };
    assert!(refused.contains("choose one of ") && refused.contains(variant), "{refused}");
    let mut chat = stage.chat(&json!({ "variant": variant })).await;
    chat.turn("say:hello", Answer::Nothing).await;
    let models = stage.models(0);
    assert!(models.iter().any(|request| request.contains(&format!("\"{seen}\""))), "{models:?}");
    YES
}

/// Each mode that is listed is accepted and shows its effect: the model writes a file, and nobody allows it. A mode that is
/// not listed is refused with the list.
pub(super) async fn mode(agent: &'static Agent) -> String {
    let stage = Stage::new(agent).await;
    let modes = stage.modes().await;
    let refused = stage.refused(&json!({ "agentMode": "dancing" })).await;
    assert!(refused.contains(&format!("choose one of {}", modes.join(", "))), "{refused}");
    let mut effects = Vec::new();
    for mode in &modes {
        effects.push(effect(&stage, mode).await);
    }
    let behaviours: HashSet<_> = effects.iter().map(|effect| (effect.behaviour, effect.plans)).collect();
    let models: HashSet<_> = effects.iter().map(|effect| &effect.model).collect();
    assert!(behaviours.len() + models.len() > 2, "all modes are the same: {modes:?} {effects:?}");
    let shown = modes.iter().zip(&effects).map(|(mode, effect)| {
        let plans = if effect.plans { " and plans" } else { "" };
        let model = if models.len() > 1 { format!(" with {}", effect.model) } else { String::new() };
        format!("{mode} {}{plans}{model}", effect.behaviour)
    });
    Vec::from_iter(shown).join(", ")
}

/// What a mode does.
#[derive(Debug)]
struct ModeEffect {
    /// What comes of an attempt to write a file.
    behaviour: &'static str,
    /// Whether a plan of the model is shown to a person for approval.
    plans: bool,
    /// The model that is asked, and how hard it is to think.
    model: String,
}

async fn effect(stage: &Stage, mode: &str) -> ModeEffect {
    let mut chat = stage.chat(&json!({ "agentMode": mode })).await;
    let (file, before) = (stage.project().join("mode.txt"), stage.model.requests().len());
    let turn = chat.turn(&format!("edit:{} written", file.display()), Answer::Permission("reject")).await;
    let behaviour = match (fs::remove_file(&file).is_ok(), turn.permissions.is_empty()) {
        (true, true) => "writes",
        (true, false) => panic!("it was rejected in the mode {mode}: {turn:?}"),
        (false, false) => "asks",
        (false, true) => "only reads",
    };
    let planned = chat.turn("plan:sail at dawn", Answer::Question("Reject")).await;
    let plans = planned.questions.iter().any(|question| question["plan"].is_string());
    stage.delete().await;
    let requests = stage.model.requests().into_iter().skip(before);
    let mut asked = requests.filter(|seen| seen.body.to_string().contains("mode.txt") && seen.api.is_some());
    let asked =
        asked.next_back().unwrap_or_else(|| panic!("no model was asked in the mode {mode}: {turn:?}"));
    let effort = EFFORTS.iter().find_map(|pointer| asked.body.pointer(pointer)?.as_str().map(str::to_owned));
    let name = asked.body["model"].as_str().map(str::to_owned).unwrap_or_default();
    ModeEffect { behaviour, plans, model: [name, effort.unwrap_or_default()].join(" ").trim().to_owned() }
}

/// A key that the model does not want is told as such.
pub(super) async fn wrong_token(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let mut env = stage.create_request(&none())["env"].clone();
    for (name, value) in env.as_object_mut().unwrap() {
        if name.ends_with("API_KEY") {
            *value = WRONG.into();
        }
    }
    let created = stage.create(&json!({ "env": env, "validateToken": true })).await;
    let validated = created["healthy"] == false;
    if validated {
        assert!(created["error"]["tokenError"].is_object(), "{created}");
    }
    let mut chat = Chat::new(&stage.daemon);
    let turn = chat.turn("say:hello", Answer::Nothing).await;
    if turn.reason == "failed" {
        assert!(turn.errors.iter().any(|error| error["tokenError"].is_object()), "{turn:?}");
        assert!(validated, "{created}");
        return "validated, and in each turn";
    }
    assert!(turn.errors.is_empty() && !turn.text.contains("hello"), "{turn:?}");
    "not told"
}

/// An agent that dies is told, and the next message goes on where it was.
pub(super) async fn process_death(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let mut chat = stage.chat(&none()).await;
    chat.turn("say:remember the tide", Answer::Nothing).await;
    saved(&stage, &mut chat).await;
    let turn = chat.send("slow:20 one two three four five", &none()).await;
    let asked = || stage.model.requests().iter().any(|seen| seen.body.to_string().contains("slow:20"));
    chat.until_fact(asked).await;
    kill_named(&stage.mark, agent.process);
    let turn = chat.end(&turn, Answer::Nothing).await;
    assert_eq!(turn.reason, "failed", "{turn:?}");
    assert!(turn.errors.iter().any(|error| error["processExited"]["signal"] == 9), "{turn:?}");
    let after = chat.turn("say:I do", Answer::Nothing).await;
    assert!(after.text.contains("I do"), "{after:?}");
    remembers(&stage);
    YES
}

/// A daemon that is killed has lost nothing that was told, and the session goes on with its memory.
pub(super) async fn daemon_restart(agent: &'static Agent) -> &'static str {
    let mut stage = Stage::new(agent).await;
    let mut chat = stage.chat(&none()).await;
    chat.turn("say:remember the tide", Answer::Nothing).await;
    saved(&stage, &mut chat).await;
    let turn = chat.send("slow:20 one two three four five", &none()).await;
    let asked = || stage.model.requests().iter().any(|seen| seen.body.to_string().contains("slow:20"));
    chat.until_fact(asked).await;
    let before = std::mem::take(&mut chat.records);
    stage.daemon.kill_and_restart();
    let mut chat = Chat::new(&stage.daemon);
    chat.look().await;
    assert_eq!(chat.records[..before.len()], before[..], "nothing that was told is missing");
    let turn = chat.end(&turn, Answer::Nothing).await;
    assert_eq!(turn.reason, "interrupted", "{turn:?}");
    let after = chat.turn("say:I do", Answer::Nothing).await;
    assert!(after.text.contains("I do"), "{after:?}");
    remembers(&stage);
    YES
}

/// A tool of an MCP server that is configured for the directory is called.
pub(super) async fn mcp(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let program = installed().join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    let server = json!({ "type": "local", "command": ["node", program, "stdio"] });
    let path = format!("/v1/config/mcp?directory={}&mcpName=everything", stage.project().display());
    let put = stage.daemon.put(&path, &server).await;
    assert!(put.status().is_success(), "{:?}", put.text().await);
    let created = stage.create(&none()).await;
    let warnings = created["warnings"].as_array().unwrap();
    let mut chat = Chat::new(&stage.daemon);
    let Some(name) = agent.mcp_tool else {
        assert_eq!(warnings[0]["mcpUnavailable"]["server"], "everything", "{created}");
        chat.turn("say:hello", Answer::Nothing).await;
        let offered = stage.models(0).join(" ");
        assert!(!offered.contains("everything"), "{offered}");
        return NO;
    };
    assert!(warnings.is_empty(), "{created}");
    let turn = chat.turn(&format!("tool:{name} {{\"message\":\"ahoy\"}}"), Answer::Permission("once")).await;
    assert!(turn.text.contains("ahoy"), "{turn:?}");
    assert!(
        turn.calls.iter().any(|call| call["name"].as_str().unwrap_or_default().contains("echo")),
        "{turn:?}"
    );
    YES
}

/// A skill that is configured for the directory is offered to the model.
pub(super) async fn skill(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let skill = stage.daemon.home().join("skills/tide-tables");
    fs::create_dir_all(&skill).unwrap();
    let text =
        "---\nname: tide-tables\ndescription: Knows when the tide turns at Saint-Malo\n---\nTwice a day.\n";
    fs::write(skill.join("SKILL.md"), text).unwrap();
    let path = format!("/v1/config/skills?directory={}&skillName=tide-tables", stage.project().display());
    let sources = json!({ "sources": [{ "type": "local", "source": skill }] });
    let put = stage.daemon.put(&path, &sources).await;
    assert!(put.status().is_success(), "{:?}", put.text().await);
    let mut chat = stage.chat(&none()).await;
    chat.turn("say:hello", Answer::Nothing).await;
    assert!(!stage.project().join(".claude").exists() && !stage.project().join(".agents").exists());
    if stage.models(0).iter().any(|request| request.contains("Saint-Malo")) { YES } else { NO }
}

/// Nobody is left of a session that is deleted in the middle of a command: no process, no grandchild.
pub(super) async fn nothing_left(agent: &'static Agent) -> &'static str {
    let stage = Stage::new(agent).await;
    let mut chat = stage.chat(&json!({ "permissionMode": "bypass" })).await;
    chat.send(LONG, &none()).await;
    let started = stage.project().join("started");
    let runs = || marked(&stage.mark).iter().any(|process| process.command.contains("time.sleep"));
    // Who looks while a process becomes another program sees no command.
    chat.until_fact(|| started.exists() && runs()).await;
    let before = marked(&stage.mark);
    assert_eq!(stage.daemon.delete("/v1/sessions/a").await.status(), 204);
    let left = alive(&before);
    let shared = left.iter().all(|process| process.command.contains(agent.process));
    assert!(shared, "the command is gone: {left:?}");
    if left.is_empty() { YES } else { "its shared server" }
}

/// Waits until another process of the agent can know what was said.
async fn saved(stage: &Stage, chat: &mut Chat<'_>) {
    if let Some(path) = stage.agent.saves {
        let saved = || {
            let asked = stage.model.requests();
            asked
                .iter()
                .any(|seen| seen.path.contains(path) && seen.body.to_string().contains("remember the tide"))
        };
        chat.until_fact(saved).await;
    }
    if stage.agent.resumes_next_minute {
        next_minute().await;
    }
}

/// Waits until the clock shows another minute.
async fn next_minute() {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a clock");
    tokio::time::sleep(secs(60 - now.as_secs() % 60)).await;
}
