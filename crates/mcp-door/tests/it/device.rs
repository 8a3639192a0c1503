//! A device in memory.

use std::{collections::BTreeMap, pin::Pin, sync::Arc};

use async_trait::async_trait;
use base64::{Engine, prelude::BASE64_STANDARD};
use futures_util::{Stream, StreamExt, stream};
use parking_lot::Mutex;
use protocol::relay::{RawJson, RelayContext, RelayError, RelayErrorCode, StreamFrame};
use relay::{Ask, Call, Part, Requester};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::sync::watch;

#[derive(Clone, Default)]
pub(crate) struct Device(Arc<Inner>);

#[derive(Default)]
struct Inner {
    files: Mutex<BTreeMap<String, Vec<u8>>>,
    asked: Mutex<Vec<(String, Value, Option<RelayContext>)>>,
    running: watch::Sender<usize>,
    tools: Mutex<Vec<Value>>,
}

impl Device {
    pub(crate) fn put(&self, path: &str, content: impl Into<Vec<u8>>) {
        self.0.files.lock().insert(path.into(), content.into());
    }

    pub(crate) fn text(&self, path: &str) -> String {
        String::from_utf8(self.0.files.lock()[path].clone()).unwrap()
    }

    pub(crate) fn set_tools(&self, tools: Vec<Value>) {
        *self.0.tools.lock() = tools;
    }

    pub(crate) fn asked(&self) -> Vec<(String, Value, Option<RelayContext>)> {
        self.0.asked.lock().clone()
    }

    /// Returns when so many commands run.
    pub(crate) async fn runs(&self, count: usize) {
        self.0.running.subscribe().wait_for(|running| *running == count).await.unwrap();
    }

    fn answer(&self, method: &str, params: &Value) -> Result<Value, RelayError> {
        let path = params["path"].as_str().unwrap_or_default().to_owned();
        let mut files = self.0.files.lock();
        let missing = || RelayError::new(RelayErrorCode::NotFound, "there is no such file");
        Ok(match method {
            "file.read" => {
                let content = files.get(&path).ok_or_else(missing)?;
                let start = content.len().min(params["offset"].as_u64().unwrap_or(0) as usize);
                let end = content.len().min(start + params["length"].as_u64().unwrap() as usize);
                let data = BASE64_STANDARD.encode(&content[start..end]);
                json!({ "content": data, "encoding": "base64", "size_bytes": content.len(), "eof": end == content.len() })
            }
            "file.write" => {
                let there = files.get(&path).map(|content| hash(content));
                if params["if_match"].is_object() && params["if_match"]["sha256"].as_str() != there.as_deref()
                {
                    return Err(RelayError::new(RelayErrorCode::InvalidRequest, "the file has changed")
                        .with("reason", "conflict"));
                }
                let content = params["content"].as_str().unwrap();
                files.insert(path.clone(), content.into());
                json!({ "size_bytes": content.len(), "sha256": hash(content.as_bytes()) })
            }
            "file.list" => {
                let entry = |(name, content): (&String, &Vec<u8>)| json!({ "name": name, "kind": "file", "size_bytes": content.len() });
                json!({ "entries": files.iter().map(entry).collect::<Vec<_>>() })
            }
            "file.stat" => {
                let content = files.get(&path).ok_or_else(missing)?;
                json!({ "kind": "file", "size_bytes": content.len(), "mtime": "2026-01-01T00:00:00Z", "mode": 420,
                        "is_file": true, "is_dir": false })
            }
            "file.delete" => {
                files.remove(&path).ok_or_else(missing)?;
                json!({ "deleted": true })
            }
            "file.mkdir" => json!({ "created": true }),
            "shell.input" => json!({}),
            "tool.list" => json!({ "tools": &*self.0.tools.lock() }),
            "tool.call" => json!({ "content": format!("{} {}", params["name"], params["arguments"]) }),
            _ => return Err(RelayError::new(RelayErrorCode::UnknownMethod, "unknown method")),
        })
    }

    fn run(&self, line: &str) -> Pin<Box<dyn Stream<Item = Part> + Send>> {
        let said = |event: &str, data: Value| {
            Part::Stream(StreamFrame {
                id: "r".into(),
                event: event.into(),
                seq: None,
                data: RawJson::from_value(&data),
                encoding: None,
            })
        };
        let ended = |code: i32| {
            Part::Outcome(Ok(RawJson::from_value(&json!({ "exit_code": code, "duration_ms": 7 }))))
        };
        let mut parts = vec![said("status", json!({ "command_id": "cmd_1" }))];
        match line {
            "greet" => {
                parts.extend([said("stdout", json!("hello\n")), said("stderr", json!("careful\n"))]);
                parts.push(ended(3));
            }
            "much" => {
                parts.extend((0..1000).map(|number| said("stdout", json!(format!("{number:099}\n")))));
                parts.push(ended(0));
            }
            "late" => {
                parts.push(said("stdout", json!("so far\n")));
                parts.push(Part::Outcome(Err(RelayError::new(RelayErrorCode::Timeout, "it took too long"))));
            }
            "refused" => {
                parts = vec![Part::Outcome(Err(RelayError::new(
                    RelayErrorCode::PolicyBlocked,
                    "the owner said no",
                )))]
            }
            _ => {
                let running = self.0.running.clone();
                running.send_modify(|running| *running += 1);
                let guard = Running(running);
                let endless = stream::pending().map(move |part| {
                    let _ = &guard;
                    part
                });
                parts.push(said("stdout", json!("working\n")));
                return stream::iter(parts).chain(endless).boxed();
            }
        }
        stream::iter(parts).boxed()
    }
}

struct Running(watch::Sender<usize>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.send_modify(|running| *running -= 1);
    }
}

#[async_trait]
impl Requester for Device {
    async fn request(&self, ask: Ask) -> Call {
        let (method, params, context, _) = ask.into_parts();
        let params: Value = params.read().unwrap();
        self.0.asked.lock().push((method.clone(), params.clone(), context));
        match method.as_str() {
            "shell.start" => Call::of(self.run(params["command"].as_str().unwrap())),
            "file.search" => {
                let found = json!({ "matches": [{ "path": "a.txt", "line": 2, "text": "two", "before": ["one"], "after": [] }] });
                let frame = StreamFrame {
                    id: "r".into(),
                    event: "progress".into(),
                    seq: None,
                    data: RawJson::from_value(&found),
                    encoding: None,
                };
                let over = json!({ "matches": 1, "files": 1, "truncated": params["pattern"] == "more" });
                let found = (params["pattern"] != "nothing").then_some(Part::Stream(frame));
                Call::of(stream::iter(
                    found.into_iter().chain([Part::Outcome(Ok(RawJson::from_value(&over)))]),
                ))
            }
            "tool.call" if params["name"] == "rich" => Call::of(stream::iter(rich())),
            _ => {
                let outcome = self.answer(&method, &params).map(|result| RawJson::from_value(&result));
                Call::of(stream::iter([Part::Outcome(outcome)]))
            }
        }
    }
}

/// What a tool tells whose results are no text.
fn rich() -> Vec<Part> {
    let progress = |done: u32, message: &str| {
        Part::Stream(StreamFrame {
            id: "r".into(),
            event: "progress".into(),
            seq: None,
            data: RawJson::from_value(&json!({ "progress": done, "total": 2, "message": message })),
            encoding: None,
        })
    };
    let content = json!({ "content": [
        { "type": "audio", "data": "AQ==", "mimeType": "audio/wav" },
        { "type": "resource", "resource": { "uri": "file:///b", "text": "b" } },
        { "type": "resource_link", "uri": "file:///a", "name": "a" },
        { "type": "hologram" },
    ] });
    vec![progress(1, "half"), progress(2, "all"), Part::Outcome(Ok(RawJson::from_value(&content)))]
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
