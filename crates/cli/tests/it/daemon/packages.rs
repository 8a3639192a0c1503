//! Agents that npm, uv and pip install, from registries on the loopback.

use std::{os::unix::fs::symlink, path::Path, process::Command};

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{TestDaemon, TestDaemonOptions, download_mirror::DownloadMirror};

use super::install::initialize;
use crate::{TOMBOLO, check_problem, problem};

/// An agent in JavaScript, whose answer is in a package that it depends on.
const SCRIPT: &[u8] = br#"#!/usr/bin/env node
process.stdin.once('data', () => console.log(JSON.stringify(require('@loop/part'))))
"#;

const PART: &[u8] = br#"module.exports = { jsonrpc: '2.0', id: 1, result: { from: 'npm' } }"#;

/// An agent in Python.
const PROGRAM: &str = r#"
import sys
sys.stdin.readline()
print('{"jsonrpc":"2.0","id":1,"result":{"from":"python"}}', flush=True)
sys.stdin.readline()
"#;

/// Stands in for uv, as far as it is used: pip, where uv was told to look and nowhere else.
const UV: &str = r#"
import os, subprocess, sys
given = sys.argv
target, packages = given[given.index('--target') + 1], given[given.index('--') + 1:]
pip = [given[given.index('--python') + 1], '-m', 'pip', '--isolated', 'install', '--quiet', '--no-deps']
sys.exit(subprocess.call(pip + ['--index-url', os.environ['UV_DEFAULT_INDEX'], '--target', target] + packages))
"#;

/// A daemon that knows one agent of a registry and has what such agents run on, but no uv.
fn daemon(mirror: &DownloadMirror, place: &Path, distribution: &Value) -> TestDaemon {
    let agent = json!({ "id": "looped", "name": "Looped", "version": "1.0.0", "distribution": distribution });
    mirror.put_file("registry.json", json!({ "version": "1.0.0", "agents": [agent] }).to_string());
    for (name, say) in [("node", "process.execPath"), ("python3", "__import__('sys').executable")] {
        let ask = match name {
            "node" => ["-p", say].map(str::to_owned),
            _ => ["-c".into(), format!("print({say})")],
        };
        let said = Command::new(name).args(ask).output().expect("it is on the PATH").stdout;
        symlink(String::from_utf8(said).unwrap().trim(), place.join(name)).unwrap();
    }
    TestDaemonOptions::default()
        .arg(format!("--acp-registry={}/registry.json", mirror.url))
        .env("npm_config_registry", &format!("{}/npm", mirror.url))
        .env("PIP_INDEX_URL", &format!("{}/simple", mirror.url))
        .env("PATH", &format!("{}:/bin:/usr/bin", place.display()))
        .env("XDG_CACHE_HOME", "")
        .env("XDG_DATA_HOME", "")
        .env("TOMBOLO_CACHE_DIR", "")
        .env_remove("PIP_FIND_LINKS")
        .start(TOMBOLO)
}

async fn check(daemon: &TestDaemon, from: &str) {
    let answer: Value = daemon.post("/v1/acp/x?agent=looped", &initialize()).await.json().await.unwrap();
    assert_eq!(answer["result"]["from"], from, "{answer}");
}

/// daemon-8: an `npx` agent is installed by npm, with what it depends on, from the registry of the user.
#[tokio::test]
async fn npm_installs_an_agent_with_its_dependencies() {
    let (mirror, place) = (DownloadMirror::start().await, tempfile::tempdir().unwrap());
    let manifest = json!({
        "name": "@loop/agent", "version": "1.0.0", "bin": { "other": "other.js", "agent": "./agent.js" },
        "dependencies": { "@loop/part": "^2.0.0" },
    });
    mirror.put_npm_package(&manifest, &[("agent.js", SCRIPT), ("other.js", b"")]);
    mirror.put_npm_package(&json!({ "name": "@loop/part", "version": "2.1.0" }), &[("index.js", PART)]);
    let npx = json!({ "npx": { "package": "@loop/agent@1.0.0" } });
    check(&daemon(&mirror, place.path(), &npx), "npm").await;
    assert_eq!(mirror.requested_ranges("/npm/@loop/part/-/2.1.0.tgz").len(), 1);
}

/// daemon-6: npm installs packages without a checksum in silence; they are found and have to be allowed.
#[tokio::test]
async fn an_npm_dependency_without_a_checksum_has_to_be_allowed() {
    let (mirror, place) = (DownloadMirror::start().await, tempfile::tempdir().unwrap());
    let manifest = json!({
        "name": "@loop/agent", "version": "1.0.0", "bin": "agent.js", "dependencies": { "@loop/part": "2.1.0" },
    });
    mirror.put_npm_package(&manifest, &[("agent.js", SCRIPT)]);
    let part = json!({ "name": "@loop/part", "version": "2.1.0" });
    mirror.put_npm_package(&part, &[("index.js", PART)]);
    // The registry's document of the dependency, without a checksum.
    let mut published = part.clone();
    published["dist"] = json!({ "tarball": format!("{}/npm/@loop/part/-/2.1.0.tgz", mirror.url) });
    let document = json!({
        "name": "@loop/part", "dist-tags": { "latest": "2.1.0" }, "versions": { "2.1.0": published },
    });
    mirror.put_file("npm/@loop%2fpart", document.to_string());
    let daemon = daemon(&mirror, place.path(), &json!({ "npx": { "package": "@loop/agent@1.0.0" } }));
    let install = |body: Value| daemon.request(Method::POST, "/v1/agents/looped/install").json(&body).send();
    let refused = problem(install(json!({})).await.unwrap()).await;
    check_problem(&refused, 409, "urn:problem:install-unverified");
    assert!(refused["detail"].as_str().unwrap().contains("no usable checksum for @loop/part"), "{refused}");
    let allowed = install(json!({ "allowUnverified": true })).await.unwrap();
    assert_eq!(allowed.json::<Value>().await.unwrap()["verified"], false);
    check(&daemon, "npm").await;
}

/// daemon-8: a `uvx` agent is installed by uv, and uv by pip where there is none; both look where pip is told to.
#[tokio::test]
async fn uv_installs_an_agent_and_is_installed_for_it() {
    let (mirror, place) = (DownloadMirror::start().await, tempfile::tempdir().unwrap());
    mirror.put_python("uv", "0.13.7", UV);
    mirror.put_python("looped", "1.0.0", PROGRAM);
    let uvx = json!({ "uvx": { "package": "looped==1.0.0" } });
    let daemon = daemon(&mirror, place.path(), &uvx);
    check(&daemon, "python").await;
    let tools = daemon.home().join(".local/share/tombolo/agents/uv/0.13.7/bin/uv");
    assert!(tools.exists());
    assert_eq!(mirror.requested_ranges("/simple/looped/").len(), 1);
}
