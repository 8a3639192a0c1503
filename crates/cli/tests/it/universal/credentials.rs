//! Every documented credential of every agent: the model sees it, and in which header.
//!
//! A credential is a variable in the daemon's environment or in the session's `env`, a file in the home, or the session's
//! `token`. The agents use the standard provider of their vendor, sent to the loopback interface by the means that the agent
//! documents: a provider that names a key of its own would work without the credential. Where an agent uses a credential with its
//! vendor's host only, the table holds what the agent says.

mod homes;
mod sources;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use agent_catalog::Catalog;
use serde_json::{Value, json};
use testkit::TestDaemonOptions;

use self::sources::{SOURCES, Source, SourceKind};
use super::{
    chat::{Answer, Chat, ended},
    turn::Turn,
};
use crate::{
    agent_stage::{AgentStage, ConfigureAgent, KEY},
    table::Table,
};

/// What the model saw of each credential: the header, or what the agent says instead.
const TABLE: Table = Table("credentials.json");

/// Where a credential is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    DaemonEnv,
    SessionEnv,
    Home,
    Token,
}

#[tokio::test]
async fn amp() {
    check("amp").await;
}

#[tokio::test]
async fn amp_local() {
    check("amp-local").await;
}

#[tokio::test]
async fn claude() {
    check("claude").await;
}

#[tokio::test]
async fn codex() {
    check("codex").await;
}

#[tokio::test]
async fn gemini() {
    check("gemini").await;
}

#[tokio::test]
async fn opencode() {
    check("opencode").await;
}

#[tokio::test]
async fn pi() {
    check("pi").await;
}

/// What the catalog documents is what is tested, and the table holds nothing else.
#[test]
fn every_documented_credential_is_tested() {
    let mut agents = BTreeSet::new();
    let catalog = Catalog::new(Path::new(""), Default::default()).expect("the catalog is valid");
    for agent in catalog.iter() {
        let credentials = &agent.credentials;
        let files = credentials.files.iter().map(|file| format!("{}{}", file.path, file.pointer));
        let documented: BTreeSet<_> = credentials.variables.iter().cloned().chain(files).collect();
        let tested = SOURCES.iter().filter(|source| source.agent == agent.id.as_str());
        let tested: BTreeSet<_> = tested.filter(|source| !source.is_token()).map(Source::name).collect();
        assert_eq!(tested, documented, "{}", agent.id);
        agents.extend((!documented.is_empty()).then(|| agent.id.as_str().to_owned()));
    }
    let table = TABLE.read();
    let table = table.as_object().expect("an object");
    assert_eq!(table.keys().cloned().collect::<BTreeSet<_>>(), agents);
    for (agent, row) in table {
        let told: BTreeSet<_> = row.as_object().expect("an object").keys().cloned().collect();
        let tested = SOURCES.iter().filter(|source| source.agent == agent).map(Source::name);
        assert_eq!(told, tested.collect(), "{agent}");
    }
}

/// `codex exec` takes CODEX_API_KEY before any login. OPENAI_API_KEY is only what a user logs in with: with a login, it is the key
/// of other programs. A key from a variable is never written to disk.
#[tokio::test]
async fn a_codex_login_comes_after_codex_api_key_and_before_openai_api_key() {
    for (variable, is_wanted) in [("OPENAI_API_KEY", false), ("CODEX_API_KEY", true)] {
        let options = TestDaemonOptions::default().env(variable, VARIABLE);
        let wanted = if is_wanted { VARIABLE } else { KEY };
        let stage = AgentStage::start_with(&(), homes::codex, wanted, options).await;
        let auth = stage.daemon.home().join(".codex/auth.json");
        let login = json!({ "OPENAI_API_KEY": KEY }).to_string();
        fs::write(&auth, &login).expect("write the login");
        let turn = codex_turn(&stage).await;
        assert!(turn.text.contains("ahoy"), "{variable}: {turn:?}");
        assert!(
            stage.model.requests().iter().flat_map(|seen| &seen.keys).all(|key| key.is(wanted)),
            "{variable}"
        );
        assert_eq!(fs::read_to_string(&auth).expect("the login"), login);
    }
}

#[tokio::test]
async fn a_key_of_codex_is_not_written_to_disk() {
    let options = TestDaemonOptions::default().env("OPENAI_API_KEY", VARIABLE);
    let stage = AgentStage::start_with(&(), homes::codex, VARIABLE, options).await;
    let turn = codex_turn(&stage).await;
    assert!(turn.text.contains("ahoy"), "{turn:?}");
    let mut found = files_with(&stage.daemon.home(), VARIABLE);
    // Codex notes the environment of the shell that it runs commands in, until it ends.
    found.retain(|path| !path.components().any(|part| part.as_os_str() == "shell_snapshots"));
    assert!(found.is_empty(), "{found:?}");
}

/// A provider of the user's own configuration is used as it is configured, and is sent no key of OpenAI.
#[tokio::test]
async fn a_codex_provider_of_the_user_gets_its_own_key_and_no_other() {
    for own_key in [true, false] {
        let mut options =
            TestDaemonOptions::default().env("OPENAI_API_KEY", VARIABLE).env("CODEX_API_KEY", VARIABLE);
        let mut home: ConfigureAgent = homes::codex_provider_without_key;
        if own_key {
            (options, home) = (options.env("OWN_KEY", KEY), homes::codex_provider_with_key);
        }
        let stage = AgentStage::start_with(&(), home, KEY, options).await;
        codex_turn(&stage).await;
        let requests = stage.model.requests();
        let keys: Vec<_> = requests.iter().flat_map(|seen| &seen.keys).collect();
        assert!(requests.iter().any(|seen| seen.path.ends_with("/responses")), "the provider was asked");
        assert_eq!((keys.is_empty(), keys.iter().all(|key| key.is(KEY))), (!own_key, true), "{keys:?}");
    }
}

/// How many answers an agent may be given on its standard input until it gives up, and how often.
const ANSWERS_MAX: u64 = 240;
const NEXT_ANSWER: Duration = Duration::from_millis(500);

/// A key in a variable, where [`KEY`] is that of something else.
const VARIABLE: &str = "sk-of-a-variable-0123456789";

async fn codex_turn(stage: &AgentStage<()>) -> Turn {
    let create = json!({ "agent": "codex", "directory": stage.project(), "env": stage.env() });
    let created = stage.daemon.post("/v1/sessions/a", &create).await;
    assert_eq!(created.status(), 200, "{:?}", created.text().await);
    Chat::new(&stage.daemon).turn("say:ahoy", Answer::Nothing).await
}

/// The files below a directory that contain a text. Links are not followed: one leads to the programs of the agents.
fn files_with(directory: &Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory").flatten() {
        let kind = entry.file_type().expect("a kind of file");
        if kind.is_dir() {
            found.extend(files_with(&entry.path(), text));
        } else if kind.is_file() {
            let content = fs::read(entry.path()).unwrap_or_default();
            found.extend(
                content.windows(text.len()).any(|part| part == text.as_bytes()).then(|| entry.path()),
            );
        }
    }
    found
}

/// A provider that Tombolo does not know: the answer says what to do.
#[tokio::test]
async fn a_token_for_an_unknown_provider_is_refused() {
    let stage = AgentStage::start_with(&(), homes::opencode, KEY, TestDaemonOptions::default()).await;
    let create =
        json!({ "agent": "opencode", "directory": stage.project(), "model": "nowhere/big", "token": KEY });
    let response = stage.daemon.post("/v1/sessions/a", &create).await;
    assert_eq!(response.status(), 409);
    let problem: Value = response.json().await.expect("JSON");
    let message = problem["detail"].as_str().expect("a message");
    assert!(message.contains("`token`"), "{message}");
    assert!(message.contains("`nowhere/big`") && message.contains("set the variable in `env`"), "{message}");
}

/// Tries every credential of an agent wherever it can be.
async fn check(agent: &str) {
    let mut all = Vec::new();
    for source in SOURCES.iter().filter(|source| source.agent == agent) {
        let places = match source.kind {
            SourceKind::Variable(_) => &[Place::DaemonEnv, Place::SessionEnv][..],
            SourceKind::File { .. } => &[Place::Home],
            SourceKind::Token => &[Place::Token],
        };
        for place in places {
            all.push((source, *place, observe(source, *place).await));
        }
    }
    println!("{all:#?}");
    for (source, _, seen) in all {
        TABLE.put(agent, &[&source.name()], &json!(seen));
    }
}

/// The header in which the model gets the credential, or what the agent says instead.
async fn observe(source: &'static Source, place: Place) -> String {
    let mut options = TestDaemonOptions::default();
    if let (SourceKind::Variable(name), Place::DaemonEnv) = (source.kind, place) {
        options = options.env(name, source.key);
    }
    let stage = AgentStage::start_with(source, source.home, source.key, options).await;
    let (home, url) = (stage.daemon.home(), stage.model.url());
    let mut create = json!({ "agent": source.agent, "directory": stage.project(), "env": stage.env() });
    // The proxy is a port on which nobody listens: no vendor's server is asked, and each agent learns that at once.
    create["env"]["HTTPS_PROXY"] = "http://127.0.0.1:1".into();
    if let Some(model) = source.model {
        create["model"] = model.into();
    }
    match (source.kind, place) {
        (SourceKind::Variable(name), Place::SessionEnv) => create["env"][name] = source.key.into(),
        (SourceKind::File { path, content, .. }, _) => {
            let path = home.join(path);
            fs::create_dir_all(path.parent().expect("a directory")).expect("make the directory");
            fs::write(path, content(source.key, &url).to_string()).expect("write the credential");
        }
        (SourceKind::Token, _) => create["token"] = source.key.into(),
        (SourceKind::Variable(_), _) => {}
    }
    if source.asks_on_stdin {
        return last_words(&stage, &create).await;
    }
    let created = stage.daemon.post("/v1/sessions/a", &create).await;
    assert_eq!(created.status(), 200, "{:?}", created.text().await);
    let created: Value = created.json().await.expect("JSON");
    let mut errors = vec![created["error"].to_string()];
    if created["healthy"] == true {
        let mut chat = Chat::new(&stage.daemon);
        let turn = chat.send("say:ahoy", &json!({})).await;
        // An agent that cannot reach its vendor's server may say so and try again for minutes.
        let has_said = |records: &[Value]| {
            source.says.is_some_and(|says| records.iter().any(|record| record.to_string().contains(says)))
        };
        chat.until(|records| ended(records, &turn) || has_said(records)).await;
        errors.extend(
            chat.records
                .iter()
                .map(|record| &record["event"])
                .filter(is_said_of_a_failure)
                .map(Value::to_string),
        );
    }
    let requests = stage.model.requests();
    let keys: Vec<_> = requests.iter().flat_map(|request| &request.keys).collect();
    assert!(
        keys.iter().all(|key| key.is(source.key)),
        "{source:?} {place:?}: another key than the given one was sent"
    );
    let answered = requests.iter().find(|request| request.api.is_some() && request.status == 200);
    let errors = errors.join(" ");
    match (answered.and_then(|request| request.keys.first()), keys.first(), source.says) {
        (Some(key), ..) => key.place().to_owned(),
        // The agent does not send what it is asked to a model but to its vendor's server, which is here too.
        (None, Some(key), Some(says)) if errors.contains(says) => format!("{}, then: {says}", key.place()),
        (None, None, Some(says)) if errors.contains(says) => format!("not sent: {says}"),
        _ => format!("not sent: {errors}"),
    }
}

/// Whether an event tells why there is no answer.
fn is_said_of_a_failure(event: &&Value) -> bool {
    event.get("error").or(event.get("status")).is_some()
}

/// What an agent says that does not start but asks the user for something on its standard input. It takes a message for an answer,
/// if it is asking just then, and ends when it has had enough of them. A session would wait for it until its time is up.
async fn last_words(stage: &AgentStage<Source>, create: &Value) -> String {
    let source = stage.agent;
    let prepare = json!({ "agent": source.agent, "cwd": create["directory"], "env": create["env"] });
    assert_eq!(stage.daemon.put("/v1/acp/a", &prepare).await.status(), 201);
    let answer = async |id: u64| {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": "initialize", "params": {} });
        let post = stage.daemon.request(reqwest::Method::POST, "/v1/acp/a").header("prefer", "respond-async");
        post.json(&message).send().await.expect("the daemon responds");
    };
    answer(0).await;
    let mut events = stage.daemon.events("a", None).await;
    let mut exited = None;
    for id in 1..=ANSWERS_MAX {
        answer(id).await;
        while let Ok(Some(event)) = tokio::time::timeout(NEXT_ANSWER, events.next()).await {
            exited = exited.or((event.event == "exited").then_some(event.data));
        }
        if exited.is_some() {
            break;
        }
    }
    let exited = exited.expect("the agent ends");
    assert!(stage.model.requests().iter().all(|request| request.keys.is_empty()), "the key was sent");
    match source.says.filter(|says| exited.contains(says)) {
        Some(says) => format!("not sent: {says}"),
        None => format!("not sent: {exited}"),
    }
}
