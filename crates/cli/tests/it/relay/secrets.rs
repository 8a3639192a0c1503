//! What a device and an environment are let in with, and where it is not found.

use std::{fs, path::Path};

use reqwest::Method;
use serde_json::json;
use testkit::{TestHubOptions, within_blocking};

use super::{Device, ask, environment, typed};
use crate::{TOMBOLO, secs};

/// The files below a directory that hold this.
fn holding(directory: &Path, secret: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holding(&path, secret));
        } else if fs::read(&path).unwrap_or_default().windows(secret.len()).any(|at| at == secret.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
    found
}

/// relay-7: neither in the log of the hub, whatever is logged, nor in any other file of it: not if it was said where it belongs, and
/// not if it was said in the address, where it lets nobody in.
#[tokio::test(flavor = "multi_thread")]
async fn what_lets_in_is_written_nowhere() {
    let hub = TestHubOptions::default().env("TOMBOLO_LOG", "trace").start(TOMBOLO);
    hub.add_runtime("box", "http://127.0.0.1:9", None).await;
    let token = typed(&hub, &["hub", "devices", "add", "laptop"]).trim().to_owned();
    typed(&hub, &["hub", "grants", "add", "laptop", "--runtime", "box", "--root", "main:ro"]);
    let address = format!("/api/v1/relay/connect?token={token}");
    let refused = reqwest::get(format!("{}{address}", hub.base())).await.unwrap();
    assert_eq!(refused.status(), 401);
    let _device = Device::connect(&hub, &token);
    within_blocking(secs(20), || typed(&hub, &["hub", "devices", "list"]).contains("fileops"));
    let (id, secret) = environment(&hub);
    let (id, params) = (id.to_string(), json!({ "root_id": "main", "path": "a.txt" }));
    let read = ask(&hub, (&id, &secret), "file.read", params).await;
    assert_eq!(read["result"]["content"], "from the device");
    let door = format!("/api/v1/relay/environments/{id}/requests?token={secret}");
    let refused = hub.request_as("nothing", Method::POST, &door).json(&json!({ "method": "tool.list" }));
    assert_eq!(refused.send().await.unwrap().status(), 401);
    within_blocking(secs(20), || hub.log().contains("a device connected"));
    for secret in [&token, &secret] {
        assert_eq!(holding(hub.directory(), secret), Vec::<String>::new());
    }
}
