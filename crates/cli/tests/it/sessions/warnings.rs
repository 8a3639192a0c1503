//! What a session has for its agent, and the agent works without.

use super::*;

/// sessions-1: `mcp?`, `skills?`. What an agent cannot have is told, in the answer and as an event, and is no error.
#[tokio::test]
async fn what_the_agent_works_without_is_told() {
    let daemon = TestDaemon::start(TOMBOLO);
    let skill = daemon.home().join("tides");
    std::fs::create_dir(&skill).unwrap();
    std::fs::write(skill.join("SKILL.md"), "---\nname: tides\ndescription: x\n---\n").unwrap();
    let local = |source: &std::path::Path| json!({ "sources": [{ "type": "local", "source": source }] });
    let request = json!({
        "agent": "mock",
        "mcp": {
            "far": { "type": "remote", "url": "http://127.0.0.1:9/mcp" },
            "near": { "type": "local", "command": ["cat"] },
            "off": { "type": "remote", "url": "http://127.0.0.1:9/mcp", "enabled": false },
        },
        "skills": { "gone": local("/not/there".as_ref()), "tides": local(&skill) },
    });
    let created = create_with(&daemon, "s", &request).await;
    assert_eq!((&created["healthy"], &created["error"]), (&json!(true), &Value::Null));
    let warnings = created["warnings"].as_array().unwrap();
    let [gone, tides, far] = &warnings[..] else { panic!("{created}") };
    assert_eq!(gone["skillUnavailable"]["skill"], "gone");
    assert!(gone["skillUnavailable"]["message"].as_str().unwrap().contains("/not/there"), "{gone}");
    assert_eq!(tides["skillUnavailable"]["skill"], "tides");
    assert_eq!(far["mcpUnavailable"]["server"], "far");
    assert!(far["mcpUnavailable"]["message"].as_str().unwrap().contains("MCP over http"), "{far}");
    assert_eq!(create_with(&daemon, "s", &request).await, created, "the same request has the same answer");
    let records = turn(&daemon, "s", "/servers").await;
    assert_eq!((said(&records).as_str(), ended(&records)), ("servers: near", "completed"));
    let told: Vec<_> = of(&all(&daemon, "s").await, "error").into_iter().cloned().collect();
    assert_eq!(told, *warnings);
    assert_eq!(get(&daemon, &path("s", "")).await["error"], Value::Null);
    assert_eq!(create(&daemon, "t").await["warnings"], json!([]));
}
