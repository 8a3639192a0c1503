use reqwest::Method;
use serde_json::{Value, json};
use testkit::TestDaemon;

use crate::{TOMBOLO, check_problem, problem};

/// daemon-12: MCP servers and skills are stored per directory and returned as they were given.
#[tokio::test]
async fn entries_are_kept_per_directory() {
    let daemon = TestDaemon::start(TOMBOLO);
    let local = json!({ "type": "local", "command": ["npx", "-y", "thing"], "env": { "KEY": "v" }, "enabled": true, "timeoutMs": 5000 });
    let program = json!({ "type": "local", "command": "thing", "args": ["-v"] });
    let remote = json!({ "type": "remote", "url": "https://mcp.example/mcp", "transport": "sse", "headers": { "x": "y" }, "oauth": { "clientId": "c" } });
    let skill = json!({ "sources": [
        { "type": "github", "source": "owner/name", "skills": ["a"], "ref": "main", "subpath": "skills" },
        { "type": "local", "source": "/skills" },
    ] });
    for (kind, parameter, name, entry) in [
        ("mcp", "mcpName", "one", &local),
        ("mcp", "mcpName", "two", &program),
        ("mcp", "mcpName", "three", &remote),
        ("skills", "skillName", "one", &skill),
    ] {
        let path = format!("/v1/config/{kind}?directory=/work&{parameter}={name}");
        check_problem(&problem(daemon.get(&path).await).await, 404, "urn:problem:entry-not-found");
        assert_eq!(daemon.request(Method::PUT, &path).json(entry).send().await.unwrap().status(), 204);
        assert_eq!(&daemon.get(&path).await.json::<Value>().await.unwrap(), entry);
    }
    let all: Value = daemon.get("/v1/config/mcp?directory=/work/").await.json().await.unwrap();
    assert_eq!(
        all,
        json!({ "items": { "one": local, "three": remote, "two": program }, "nextCursor": null })
    );
    let other: Value = daemon.get("/v1/config/mcp?directory=/other").await.json().await.unwrap();
    assert_eq!(other["items"], json!({}));
    for _ in 0..2 {
        assert_eq!(daemon.delete("/v1/config/mcp?directory=/work&mcpName=one").await.status(), 204);
    }
    check_problem(
        &problem(daemon.get("/v1/config/mcp?directory=/work&mcpName=one").await).await,
        404,
        "urn:problem:entry-not-found",
    );
}

/// daemon-12: both parameters are required, and an entry of another shape is refused and changes nothing.
#[tokio::test]
async fn entries_of_another_shape_are_refused() {
    let daemon = TestDaemon::start(TOMBOLO);
    let good = json!({ "type": "local", "command": "x" });
    for query in ["", "directory=/work", "mcpName=a", "directory=work&mcpName=a", "directory=/work&mcpName="]
    {
        let put =
            daemon.request(Method::PUT, &format!("/v1/config/mcp?{query}")).json(&good).send().await.unwrap();
        check_problem(&problem(put).await, 400, "urn:problem:invalid-request");
        let delete = daemon.delete(&format!("/v1/config/mcp?{query}")).await;
        check_problem(&problem(delete).await, 400, "urn:problem:invalid-request");
    }
    for bad in [
        json!({}),
        json!({ "type": "local" }),
        json!({ "type": "local", "command": 5 }),
        json!({ "type": "other", "command": "x" }),
        json!({ "type": "remote", "url": "x", "transport": "smoke" }),
        json!({ "type": "local", "command": "x", "unknown": 1 }),
        json!([]),
    ] {
        let put = daemon
            .request(Method::PUT, "/v1/config/mcp?directory=/work&mcpName=a")
            .json(&bad)
            .send()
            .await
            .unwrap();
        check_problem(&problem(put).await, 400, "urn:problem:invalid-request");
    }
    let all: Value = daemon.get("/v1/config/mcp?directory=/work").await.json().await.unwrap();
    assert_eq!(all["items"], json!({}));
}
