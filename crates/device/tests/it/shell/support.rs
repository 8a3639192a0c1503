//! Devices that lend a shell, and what is heard of a command.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc, time::Duration};

use base64::{Engine, prelude::BASE64_STANDARD};
use device::{
    Consent, Device, Kept, Ledger, Roots,
    shell::{Config, Limits, OnDisconnect, Runtime, Sandbox, Shell},
};
use futures_util::StreamExt;
use protocol::relay::{
    ApprovalPolicy, CommandNetwork, Encoding, RawJson, RelayContext, RelayError, RequestLimits, Root,
    RootMode, ShellGrant,
};
use relay::{Call, Part};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::within;

use crate::support::{Lent, SOON};

/// The program that becomes the first in a sandbox.
pub(crate) const LENDER: &str = env!("CARGO_BIN_EXE_lender");

/// What commands run in, where a test is about both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Sandboxed,
    Local,
}

pub(crate) const BOTH: [Kind; 2] = [Kind::Sandboxed, Kind::Local];

/// A device with two directories: `main`, which may be written, and `docs`, which may not.
pub(crate) struct Laptop {
    pub(crate) home: TempDir,
    pub(crate) device: Device,
    pub(crate) lent: Lent,
}

pub(crate) fn grant() -> ShellGrant {
    ShellGrant {
        cwd: None,
        env: Vec::new(),
        network: CommandNetwork::None,
        approval_policy: ApprovalPolicy::Allow,
        runtime_max_ms: None,
        output_limit_bytes: None,
        unsandboxed: false,
    }
}

pub(crate) fn root(id: &str, mode: RootMode) -> Root {
    let virtual_path = format!("/workspace/{id}").parse().unwrap();
    Root { root_id: id.parse().unwrap(), label: None, virtual_path, mode }
}

pub(crate) fn terms(shell: ShellGrant) -> RequestLimits {
    RequestLimits { roots: vec![root("main", RootMode::Rw), root("docs", RootMode::Ro)], shell: Some(shell) }
}

pub(crate) fn config(kind: Kind) -> Config {
    let sandbox = (kind == Kind::Sandboxed).then(|| Sandbox::new(Path::new(LENDER)).unwrap());
    let limits = Limits { grace: Duration::from_millis(400), ..Limits::default() };
    Config {
        lends: ShellGrant { unsandboxed: kind == Kind::Local, network: CommandNetwork::Host, ..grant() },
        environment: BTreeMap::new(),
        sandbox,
        on_disconnect: OnDisconnect::Kill,
        limits,
    }
}

pub(crate) fn roots(home: &Path) -> Roots {
    let lent = [("main", RootMode::Rw), ("docs", RootMode::Ro)].map(|(id, mode)| {
        let directory = home.join(id);
        fs::create_dir_all(&directory).unwrap();
        (root(id, mode), directory)
    });
    Roots::open(lent).unwrap()
}

/// Opens a shell, which must be what it is asked to be: without bubblewrap its tests fail.
pub(crate) async fn open(home: &Path, config: Config) -> Shell {
    let expected = if config.sandbox.is_some() { Runtime::Sandboxed } else { Runtime::Local };
    let shell = within(SOON, Shell::open(Arc::new(roots(home)), config)).await.unwrap();
    assert_eq!(shell.runtime(), expected, "is bubblewrap installed, and may users have namespaces?");
    shell
}

impl Laptop {
    pub(crate) async fn new(kind: Kind) -> Self {
        Self::with(config(kind)).await
    }

    pub(crate) async fn with(config: Config) -> Self {
        Self::put_together(config, |_| None).await
    }

    /// The same, with a record in a directory of its own.
    pub(crate) async fn recording(config: Config) -> Self {
        let open = |home: &Path| {
            Ledger::open(&home.join("audit"), "laptop".parse().unwrap(), Kept::default()).unwrap()
        };
        Self::put_together(config, |home| Some(open(home))).await
    }

    async fn put_together(config: Config, ledger: impl FnOnce(&Path) -> Option<Ledger>) -> Self {
        // Not in `/tmp`, of which a sandbox has its own: what is there must be hidden, not merely elsewhere.
        let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let shell = open(home.path(), config).await;
        let device = Device::recording(vec![Box::new(shell)], Consent::default(), ledger(home.path()));
        let lent = Lent::connect(device.clone()).await;
        Self { home, device, lent }
    }

    /// Where one of the directories is.
    pub(crate) fn path(&self, path: &str) -> std::path::PathBuf {
        self.home.path().join(path)
    }

    pub(crate) async fn start(&self, params: Value) -> Call {
        self.lent.call("shell.start", RawJson::from_value(&params), None).await
    }

    /// Runs a line to its end.
    pub(crate) async fn line(&self, line: &str) -> Heard {
        self.run(json!({ "command": line })).await
    }

    pub(crate) async fn run(&self, params: Value) -> Heard {
        hear(self.start(params).await).await
    }

    /// The same under terms.
    pub(crate) async fn run_under(&self, terms: RequestLimits, params: Value) -> Heard {
        let context = RelayContext { terms: Some(terms), ..RelayContext::default() };
        hear(self.lent.call("shell.start", RawJson::from_value(&params), Some(context)).await).await
    }

    pub(crate) async fn ask(&self, method: &str, params: Value) -> Result<Value, RelayError> {
        self.lent.ask_any(method, params).await
    }

    pub(crate) async fn input(&self, id: &str, data: &str, eof: bool) -> Result<Value, RelayError> {
        self.ask("shell.input", json!({ "command_id": id, "data": data, "eof": eof })).await
    }

    pub(crate) async fn status(&self, id: &str) -> Result<Value, RelayError> {
        self.ask("shell.status", json!({ "command_id": id, "drain": true })).await
    }

    /// Starts one in the background.
    pub(crate) async fn background(&self, line: &str) -> String {
        let heard = self.run(json!({ "command": line, "background": true })).await;
        let ended = heard.outcome.unwrap();
        assert!(ended["exit_code"].is_null());
        ended["command_id"].as_str().unwrap().to_owned()
    }

    /// What one in the background wrote, when it has come to its end.
    pub(crate) async fn ends(&self, id: &str) -> (Value, String) {
        let mut written = String::new();
        within(SOON, async {
            loop {
                let status = self.status(id).await.unwrap();
                let output = status["output"].as_array().cloned().unwrap_or_default();
                output.iter().for_each(|output| written.push_str(output["data"].as_str().unwrap()));
                if status["state"] != "running" && output.is_empty() {
                    return (status, written);
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        })
        .await
    }
}

/// All that was heard of a command.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) id: Option<String>,
    /// What it wrote, each piece with its stream.
    pub(crate) pieces: Vec<(String, Vec<u8>)>,
    pub(crate) outcome: Result<Value, RelayError>,
}

impl Heard {
    pub(crate) fn stdout(&self) -> String {
        self.stream("stdout")
    }

    pub(crate) fn stderr(&self) -> String {
        self.stream("stderr")
    }

    fn stream(&self, wanted: &str) -> String {
        let pieces = self.pieces.iter().filter(|(event, _)| event == wanted);
        let bytes: Vec<u8> = pieces.flat_map(|(_, bytes)| bytes.clone()).collect();
        String::from_utf8(bytes).unwrap()
    }

    pub(crate) fn code(&self) -> i64 {
        match &self.outcome {
            Ok(ended) => ended["exit_code"].as_i64().unwrap(),
            Err(error) => panic!("{error:?}"),
        }
    }

    pub(crate) fn error(self) -> RelayError {
        self.outcome.unwrap_err()
    }
}

pub(crate) async fn hear(mut call: Call) -> Heard {
    let mut heard = Heard { id: None, pieces: Vec::new(), outcome: Ok(Value::Null) };
    within(SOON, async {
        loop {
            match next(&mut call).await {
                Next::Started(id) => heard.id = Some(id),
                Next::Piece(event, bytes) => heard.pieces.push((event, bytes)),
                Next::Outcome(outcome) => {
                    heard.outcome = outcome;
                    return heard;
                }
            }
        }
    })
    .await
}

#[derive(Debug)]
pub(crate) enum Next {
    Started(String),
    Piece(String, Vec<u8>),
    Outcome(Result<Value, RelayError>),
}

/// What is heard next of a command.
pub(crate) async fn next(call: &mut Call) -> Next {
    match within(SOON, call.next()).await.unwrap() {
        Part::Outcome(outcome) => Next::Outcome(outcome.map(|json| json.read().unwrap())),
        Part::Stream(frame) if frame.event == "status" => {
            let status: Value = frame.data.read().unwrap();
            Next::Started(status["command_id"].as_str().unwrap().to_owned())
        }
        Part::Stream(frame) => {
            let data: String = frame.data.read().unwrap();
            let bytes = match frame.encoding {
                Some(Encoding::Base64) => BASE64_STANDARD.decode(data).unwrap(),
                _ => data.into_bytes(),
            };
            Next::Piece(frame.event, bytes)
        }
    }
}

/// The id of a command that has just been started.
pub(crate) async fn started(call: &mut Call) -> String {
    match next(call).await {
        Next::Started(id) => id,
        other => panic!("{other:?}"),
    }
}

/// What a command says until it has said this.
pub(crate) async fn says(call: &mut Call, wanted: &str) -> String {
    let mut said = String::new();
    while !said.contains(wanted) {
        match next(call).await {
            Next::Piece(_, bytes) => said.push_str(std::str::from_utf8(&bytes).unwrap()),
            other => panic!("{other:?} after {said:?}"),
        }
    }
    said
}

/// Who was started with this text among their arguments, tests and who runs them left out.
pub(crate) fn processes(text: &str) -> Vec<i32> {
    let is_ours = |line: &[u8]| [&b"/deps/it"[..], b"nextest"].iter().any(|part| has(line, part));
    let fits = |process: fs::DirEntry| {
        let line = fs::read(process.path().join("cmdline")).ok()?;
        let pid = process.file_name().to_str()?.parse().ok()?;
        (has(&line, text.as_bytes()) && !is_ours(&line)).then_some(pid)
    };
    fs::read_dir("/proc").unwrap().flatten().filter_map(fits).collect()
}

fn has(line: &[u8], part: &[u8]) -> bool {
    line.windows(part.len()).any(|here| here == part)
}

pub(crate) fn somebody_runs(text: &str) -> bool {
    !processes(text).is_empty()
}

/// A number that no other test and no other run uses, to sleep for: it tells whose a process is.
pub(crate) fn unique() -> String {
    format!("3{}", fastrand::u32(10_000_000..99_999_999))
}

/// Waits until nobody runs that has this among its arguments.
pub(crate) async fn nobody_runs(text: &str) {
    within(SOON, async {
        while somebody_runs(text) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

pub(crate) async fn runs(text: &str) {
    within(SOON, async {
        while !somebody_runs(text) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
}
