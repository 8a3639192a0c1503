//! What a session may choose: exactly what is listed.

use std::collections::BTreeMap;

use testkit::TestDaemonOptions;

use super::*;
use crate::{check_problem, problem};

/// What a session is refused that chooses `choice`, after which nothing is left of it.
async fn refused(daemon: &TestDaemon, choice: Value) -> Value {
    let mut create = choice;
    if create["agent"].is_null() {
        create["agent"] = "mock".into();
    }
    let refused = problem(daemon.post(&path("refused", ""), &create).await).await;
    check_problem(&refused, 409, "urn:problem:unsupported-feature");
    assert_eq!(daemon.get(&path("refused", "")).await.status(), 404, "it is not stored");
    refused
}

/// sessions-1, sessions-7, daemon-5: a mode or a model that is listed is accepted; another one is refused with the list, and not stored.
#[tokio::test]
async fn what_is_listed_is_accepted_and_nothing_else() {
    let daemon = TestDaemon::start(TOMBOLO);
    let modes = get(&daemon, "/v1/agents/mock/modes").await;
    let ids: Vec<_> = modes["modes"].as_array().unwrap().iter().map(|mode| mode["id"].clone()).collect();
    assert_eq!((&modes["source"], &ids[..]), (&json!("agent"), &[json!("build"), json!("plan")][..]));
    for mode in &ids {
        let created =
            create_with(&daemon, mode.as_str().unwrap(), &json!({ "agent": "mock", "agentMode": mode }))
                .await;
        assert_eq!(created["healthy"], true, "{created}");
    }
    let models = get(&daemon, "/v1/agents/mock/models").await;
    assert_eq!((&models["source"], &models["items"][0]["id"]), (&json!("agent"), &json!("mock")));
    let created = create_with(&daemon, "model", &json!({ "agent": "mock", "model": "mock" })).await;
    assert_eq!(created["healthy"], true, "{created}");

    let mode = refused(&daemon, json!({ "agentMode": "dance" })).await;
    assert!(mode["detail"].as_str().unwrap().contains("`dance`; choose one of build, plan"), "{mode}");
    let model = refused(&daemon, json!({ "model": "gpt" })).await;
    assert!(model["detail"].as_str().unwrap().contains("`gpt`; choose one of mock"), "{model}");
    refused(&daemon, json!({ "variant": "high" })).await;
    // The id is free for a session with another choice.
    assert_eq!(create(&daemon, "refused").await["healthy"], true);
}

/// daemon-5: of an agent that is not installed, the catalog tells what it knows; where the protocol fixes the modes, it does.
#[tokio::test]
async fn the_modes_of_an_agent_that_is_not_there_are_known_as_such() {
    let options = TestDaemonOptions::default().arg("--no-install").env("PATH", "/bin:/usr/bin");
    let daemon = options.env("XDG_DATA_HOME", "").start(TOMBOLO);
    let mut listed = BTreeMap::new();
    for agent in ["amp", "amp-local", "claude", "codex", "gemini", "opencode"] {
        let list = get(&daemon, &format!("/v1/agents/{agent}/modes")).await;
        let ids: Vec<_> =
            list["modes"].as_array().unwrap().iter().map(|mode| mode["id"].as_str().unwrap()).collect();
        listed.insert(agent, format!("{}: {}", list["source"].as_str().unwrap(), ids.join(" ")));
    }
    let expected = [
        ("amp", "agent: build default low medium high ultra"),
        ("amp-local", "agent: build default smart rush large deep"),
        ("claude", "agent: build default acceptEdits plan auto"),
        ("codex", "agent: build default plan"),
        ("gemini", "catalog: build default autoEdit yolo plan"),
        ("opencode", "catalog: build plan"),
    ];
    assert_eq!(listed, expected.map(|(agent, modes)| (agent, modes.to_owned())).into());
    // A mode that the protocol does not have is refused before anything is installed.
    for agent in ["amp", "claude", "codex"] {
        let refused = refused(&daemon, json!({ "agent": agent, "agentMode": "dance" })).await;
        assert!(refused["detail"].as_str().unwrap().contains("choose one of build, default, "), "{refused}");
    }
}

/// daemon-5: the agent is asked in the directory of the session, and the answer outlives the daemon.
#[tokio::test]
async fn an_agent_is_asked_once_for_each_directory() {
    let home = tempfile::tempdir().unwrap();
    let asked = home.path().join("asked");
    // Tells one mode: the name of the directory that it works in.
    let script = format!(
        r#"echo "$PWD" >> {asked}
read line; echo '{{"jsonrpc":"2.0","id":1,"result":{{"agentCapabilities":{{}}}}}}'
read line; echo '{{"jsonrpc":"2.0","id":2,"result":{{"sessionId":"s","modes":{{"currentModeId":"x","availableModes":[{{"id":"'"${{PWD##*/}}"'","name":"x"}}]}}}}}}'
read line"#,
        asked = asked.display()
    );
    let mut daemon = TestDaemonOptions::default().agent("mine", &["/bin/sh", "-c", &script]).start(TOMBOLO);
    let [red, blue] = ["red", "blue"].map(|name| {
        let directory = daemon.home().join(name);
        std::fs::create_dir(&directory).unwrap();
        format!("/v1/agents/mine/modes?directory={}", directory.display())
    });
    let second = async |daemon: &TestDaemon, path: &str| get(daemon, path).await["modes"][1]["id"].clone();
    assert_eq!([second(&daemon, &red).await, second(&daemon, &blue).await], ["red", "blue"]);
    assert_eq!(second(&daemon, &red).await, "red");
    daemon.kill_and_restart();
    assert_eq!(second(&daemon, &blue).await, "blue");
    assert_eq!(std::fs::read_to_string(&asked).unwrap().lines().count(), 2, "once for each directory");
    let missing = problem(daemon.get("/v1/agents/mine/modes?directory=/not/there").await).await;
    check_problem(&missing, 400, "urn:problem:invalid-request");
}
