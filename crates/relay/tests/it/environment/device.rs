//! A device in memory that lends two roots, some commands and some tools, and an environment made of it.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
};

use async_trait::async_trait;
use base64::{Engine, prelude::BASE64_STANDARD};
use parking_lot::Mutex;
use protocol::relay::{
    Binding, Encoding, EventFrame, Family, Hello, RawJson, RelayError, RelayErrorCode, Request, Root,
    RootMode, file::*, tool,
};
use relay::{Environment, Handler, Limits, Peer, Refused, Reply, Side, pair};
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;

use crate::support::hello;

/// The most that the device gives of a file at once: less than it is asked for.
const READ_MAX: usize = 100_000;

#[derive(Default)]
pub(crate) struct Memory {
    /// Files by `root/path`; a directory is none.
    pub(crate) files: Mutex<BTreeMap<String, Option<Vec<u8>>>>,
    /// What was asked.
    pub(crate) asked: Mutex<Vec<Request>>,
    /// Whether it is a device of before there were binary messages.
    pub(crate) knows_no_binary: AtomicBool,
    pub(crate) reading: AtomicUsize,
    pub(crate) reading_peak: AtomicUsize,
    pub(crate) commands: super::shell::Commands,
    pub(crate) tools: Mutex<Vec<Value>>,
}

impl Memory {
    pub(crate) fn put(&self, path: &str, content: impl Into<Vec<u8>>) {
        self.files.lock().insert(path.into(), Some(content.into()));
    }

    pub(crate) fn get(&self, path: &str) -> Option<Vec<u8>> {
        self.files.lock().get(path).cloned().flatten()
    }

    pub(crate) fn methods(&self) -> Vec<String> {
        self.asked.lock().iter().map(|request| request.method.clone()).collect()
    }

    async fn read(&self, params: ReadFile) -> Result<RawJson, RelayError> {
        self.reading_peak.fetch_max(self.reading.fetch_add(1, SeqCst) + 1, SeqCst);
        tokio::task::yield_now().await;
        self.reading.fetch_sub(1, SeqCst);
        let files = self.files.lock();
        let content = files.get(&key(&params.root_id, &params.path)).and_then(Option::as_ref);
        let content = content.ok_or_else(missing)?;
        let start = content.len().min(params.offset.unwrap_or(0) as usize);
        let length = params.length.map_or(usize::MAX, |length| length as usize).min(READ_MAX);
        let end = content.len().min(start.saturating_add(length));
        let (bytes, is_binary) = (&content[start..end], params.encoding == ReadEncoding::Binary);
        if is_binary && self.knows_no_binary.load(SeqCst) {
            return Err(RelayError::new(
                RelayErrorCode::InvalidRequest,
                "the params of `file.read`: no such encoding",
            ));
        }
        let answer = RawJson::from_value(&FileContent {
            content: if is_binary { String::new() } else { BASE64_STANDARD.encode(bytes) },
            encoding: if is_binary { ReadEncoding::Binary } else { ReadEncoding::Base64 },
            size_bytes: Some(content.len() as u64),
            eof: Some(end == content.len()),
        });
        Ok(if is_binary { answer.with_bytes(bytes.to_vec().into()) } else { answer })
    }

    fn write(&self, params: WriteFile) -> Result<RawJson, RelayError> {
        let bytes = match params.encoding {
            Encoding::Utf8 => params.content.into_bytes(),
            Encoding::Base64 => BASE64_STANDARD.decode(params.content).unwrap(),
        };
        let key = key(&params.root_id, &params.path);
        let mut files = self.files.lock();
        let there = files.entry(key).or_default().get_or_insert_default();
        if !params.append {
            there.clear();
        }
        there.extend(bytes);
        let sha256 = "0".repeat(64).parse().unwrap();
        Ok(RawJson::from_value(&WriteFileResult { size_bytes: there.len() as u64, sha256 }))
    }

    fn list(&self, params: ListFiles) -> Result<RawJson, RelayError> {
        let prefix = format!("{}/", key(&params.root_id, &params.path));
        let files = self.files.lock();
        let below = files.iter().filter_map(|(path, content)| Some((path.strip_prefix(&prefix)?, content)));
        let entries: Vec<_> = below
            .filter(|(name, _)| params.recursive || !name.contains('/'))
            .map(|(name, content)| ListedFile {
                name: name.into(),
                kind: if content.is_some() { EntryKind::File } else { EntryKind::Dir },
                size_bytes: content.as_ref().map(|content| content.len() as u64),
                mtime: None,
            })
            .collect();
        // Two on each page.
        let start: usize = params.page.map_or(0, |page| page.parse().unwrap());
        let end = entries.len().min(start + 2);
        let next_page = (end < entries.len()).then(|| end.to_string());
        Ok(RawJson::from_value(&DirectoryListing { entries: entries[start..end].to_vec(), next_page }))
    }

    fn stat(&self, params: StatFile) -> Result<RawJson, RelayError> {
        let key = key(&params.root_id, &params.path);
        let files = self.files.lock();
        let is_root = params.path.as_str().is_empty();
        let content = if is_root { &None } else { files.get(&key).ok_or_else(missing)? };
        Ok(RawJson::from_value(&FileStat {
            kind: if content.is_some() { EntryKind::File } else { EntryKind::Dir },
            size_bytes: content.as_ref().map_or(0, |content| content.len() as u64),
            mtime: jiff::Timestamp::UNIX_EPOCH,
            mode: 0o644,
            is_file: content.is_some(),
            is_dir: content.is_none(),
            file_id: Some(key.clone()),
        }))
    }

    fn delete(&self, params: DeleteFile) -> RawJson {
        let key = key(&params.root_id, &params.path);
        let below = format!("{key}/");
        self.files.lock().retain(|path, _| *path != key && !path.starts_with(&below));
        RawJson::from_value(&DeleteFileResult { deleted: true })
    }

    async fn search(&self, params: SearchFiles, reply: &mut Reply) -> Result<RawJson, RelayError> {
        if params.pattern == "endless" {
            reply.cancelled().await;
        }
        let files = self.files.lock().clone();
        let prefix = format!("{}/", params.root_id);
        let (mut matches, mut count) = (0, 0);
        for (path, content) in files {
            let (Some(name), Some(content)) = (path.strip_prefix(&prefix), content) else { continue };
            let text = String::from_utf8_lossy(&content).into_owned();
            for (line, text) in text.lines().enumerate().filter(|(_, text)| text.contains(&params.pattern)) {
                let found = json!({ "path": name, "line": line + 1, "text": text });
                reply.stream("progress", RawJson::from_value(&json!({ "matches": [found] }))).await?;
                matches += 1;
            }
            count += 1;
        }
        Ok(RawJson::from_value(&SearchSummary { matches, files: count, truncated: false }))
    }

    fn call(&self, params: tool::CallTool) -> RawJson {
        let text = format!("{} {}", params.name, Value::Object(params.arguments));
        RawJson::from_value(&json!({ "content": text }))
    }
}

/// The device, as its side of the connection has it.
#[derive(Clone)]
struct Served(Arc<Memory>);

#[async_trait]
impl Handler for Served {
    async fn hello(&self, _: Hello) -> Result<Map<String, Value>, Refused> {
        Err(Refused("a device".into()))
    }

    async fn request(&self, request: Request, reply: &mut Reply) -> Result<RawJson, RelayError> {
        let memory = &self.0;
        memory.asked.lock().push(request.clone());
        let params = request.params.clone();
        match request.method.as_str() {
            "file.write" | "file.mkdir" | "file.delete" if is_in_docs(&params) => {
                Err(RelayError::new(RelayErrorCode::PermissionDenied, "it can only be read"))
            }
            "file.read" => memory.read(params.read().unwrap()).await,
            "file.write" => memory.write(params.read().unwrap()),
            "file.list" => memory.list(params.read().unwrap()),
            "file.stat" => memory.stat(params.read().unwrap()),
            "file.delete" => Ok(memory.delete(params.read().unwrap())),
            "file.mkdir" => {
                let params: MakeDirectory = params.read().unwrap();
                let created = memory.files.lock().insert(key(&params.root_id, &params.path), None).is_none();
                Ok(RawJson::from_value(&MakeDirectoryResult { created }))
            }
            "file.search" => memory.search(params.read().unwrap(), reply).await,
            "tool.list" => Ok(RawJson::from_value(&json!({ "tools": &*memory.tools.lock() }))),
            "tool.call" => Ok(memory.call(params.read().unwrap())),
            "resource.list" => Ok(RawJson::from_value(&json!({ "resources": [] }))),
            _ => memory.commands.request(request, reply).await,
        }
    }

    fn event(&self, _: EventFrame) {}
}

/// The other side: it accepts, and the environment hears what happens.
#[derive(Clone, Default)]
struct Heard(Arc<OnceLock<Environment>>);

#[async_trait]
impl Handler for Heard {
    async fn hello(&self, _: Hello) -> Result<Map<String, Value>, Refused> {
        Ok(Map::new())
    }

    async fn request(&self, _: Request, _: &mut Reply) -> Result<RawJson, RelayError> {
        Err(RelayError::new(RelayErrorCode::UnknownMethod, "nobody asks here"))
    }

    fn event(&self, event: EventFrame) {
        self.0.get().unwrap().heard(&event);
    }
}

pub(crate) struct Lent {
    pub(crate) environment: Environment,
    pub(crate) memory: Arc<Memory>,
    /// The side of the device.
    pub(crate) device: Peer,
    pub(crate) tasks: JoinSet<relay::Lost>,
}

/// An environment with the roots `main` and `docs`, the second read only, and these families.
pub(crate) async fn lend(capabilities: &[Family]) -> Lent {
    let (here, there) = pair();
    let (heard, memory) = (Heard::default(), Arc::new(Memory::default()));
    let mut tasks = JoinSet::new();
    let (server, driver) = Peer::start(here, heard.clone(), Side::Server, Limits::default());
    tasks.spawn(driver);
    let side = Side::Device(hello("client_1").into());
    let (device, driver) = Peer::start(there, Served(memory.clone()), side, Limits::default());
    tasks.spawn(driver);
    server.accepted().await.unwrap();
    device.accepted().await.unwrap();
    let root = |id: &str, path: &str, mode| Root {
        root_id: id.parse().unwrap(),
        label: None,
        virtual_path: path.parse().unwrap(),
        mode,
    };
    let binding = Binding {
        connection_id: "relay_conn_1".into(),
        client_id: "client_1".parse().unwrap(),
        roots: vec![
            root("main", "/workspace/main", RootMode::Rw),
            root("docs", "/workspace/docs", RootMode::Ro),
        ],
        capabilities: capabilities.to_vec(),
        metadata: Map::new(),
    };
    let environment = Environment::new(binding, server);
    heard.0.set(environment.clone()).unwrap();
    Lent { environment, memory, device, tasks }
}

fn key(root: &impl std::fmt::Display, path: &protocol::relay::RelayPath) -> String {
    match path.as_str() {
        "" => root.to_string(),
        path => format!("{root}/{path}"),
    }
}

/// Whether something is asked about what can only be read.
fn is_in_docs(params: &RawJson) -> bool {
    params.read::<Value>().unwrap()["root_id"] == "docs"
}

fn missing() -> RelayError {
    RelayError::new(RelayErrorCode::NotFound, "there is no such file")
}
