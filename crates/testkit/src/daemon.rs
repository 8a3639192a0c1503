//! The real program, started for one test: port 0, its own home, gone at the end.

use std::{
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, ChildStderr, Command, Stdio},
    time::Duration,
};

use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Events, within_blocking};

/// How long a daemon may take to stop before the test fails.
const STOP_MAX: Duration = Duration::from_secs(15);

/// How long a connection is kept for the next request: less than the daemon keeps it, or a request may meet its end.
const IDLE_MAX: Duration = Duration::from_secs(5);

/// How a daemon is started.
#[derive(Debug, Clone, Default)]
pub struct DaemonOptions {
    args: Vec<String>,
    env: Vec<(String, String)>,
    env_remove: Vec<String>,
    agents: String,
}

impl DaemonOptions {
    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds a variable to its environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Takes a variable of whoever runs the test out of its environment.
    #[must_use]
    pub fn env_remove(mut self, name: &str) -> Self {
        self.env_remove.push(name.into());
        self
    }

    /// Defines an agent: a program and its arguments.
    #[must_use]
    pub fn agent(mut self, name: &str, command: &[&str]) -> Self {
        self.agents += &format!("[agents.{name}]\ncommand = {}\n", json!(command));
        self
    }

    /// Adds lines to the definition of the last agent, or any to the configuration.
    #[must_use]
    pub fn config(mut self, lines: &str) -> Self {
        self.agents += lines;
        self
    }

    /// Lets it install as whoever runs the test would.
    #[must_use]
    pub fn installs(mut self) -> Self {
        self.env.extend(users_places());
        self.env("XDG_DATA_HOME", "")
    }

    /// Starts `program` with these options.
    ///
    /// # Panics
    /// If it does not come up.
    pub fn start(self, program: impl AsRef<Path>) -> Daemon {
        Daemon::launch(program.as_ref(), self)
    }

    /// Its process, its standard error, and where it listens.
    fn spawn(&self, program: &Path, home: &Path) -> (Child, Option<ChildStderr>, String) {
        let mut command = Command::new(program);
        command.args(["daemon", "--port", "0", "--config"]).arg(home.join("config.toml")).args(&self.args);
        command.env_remove("TOMBOLO_TOKEN").env("HOME", home).current_dir(home);
        self.env_remove.iter().for_each(|name| _ = command.env_remove(name));
        command.envs(self.env.iter().cloned());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("start the program");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("stdout is piped");
        BufReader::new(stdout).read_line(&mut line).expect("read where it listens");
        let mut stderr = child.stderr.take();
        let Some(base) = line.trim().strip_prefix("listening on ") else {
            let mut said = String::new();
            let _ = stderr.take().map(|mut stderr| stderr.read_to_string(&mut said));
            panic!("the daemon did not start: {line}{said}");
        };
        (child, stderr, base.to_owned())
    }
}

/// Variables that let a program with a home of its own install as whoever runs it would: with their cache, and from
/// where their npm is told to.
pub fn users_places() -> [(String, String); 3] {
    #[expect(clippy::disallowed_methods, reason = "neither tests nor benchmarks have a `main` of ours")]
    let said = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let home = PathBuf::from(said("HOME").unwrap_or_default());
    let places = [
        ("TOMBOLO_CACHE_DIR", ".cache/tombolo"),
        ("NPM_CONFIG_USERCONFIG", ".npmrc"),
        ("npm_config_cache", ".npm"),
    ];
    let place =
        |name: &str, usual: &str| said(name).unwrap_or_else(|| home.join(usual).display().to_string());
    places.map(|(name, usual)| (name.to_owned(), place(name, usual)))
}

/// A running daemon.
#[derive(Debug)]
pub struct Daemon {
    child: Child,
    stderr: Option<ChildStderr>,
    base: String,
    http: reqwest::Client,
    home: TempDir,
    /// How it is started again.
    program: PathBuf,
    options: DaemonOptions,
}

impl Daemon {
    /// Starts `program` as it comes, without a token.
    ///
    /// # Panics
    /// If it does not come up.
    pub fn start(program: impl AsRef<Path>) -> Self {
        DaemonOptions::default().start(program)
    }

    fn launch(program: &Path, options: DaemonOptions) -> Self {
        let home = TempDir::new().expect("a directory for the test");
        std::fs::write(home.path().join("config.toml"), &options.agents).expect("write the configuration");
        let (child, stderr, base) = options.spawn(program, home.path());
        let http = reqwest::Client::builder().pool_idle_timeout(IDLE_MAX).build().expect("a client");
        Self { base, child, stderr, http, home, program: program.into(), options }
    }

    /// Kills it without warning and starts it again in the same home, at another address.
    ///
    /// # Panics
    /// If it does not come up.
    pub fn killed_and_restarted(&mut self) {
        self.child.kill().expect("kill the daemon");
        self.child.wait().expect("wait for the daemon");
        (self.child, self.stderr, self.base) = self.options.spawn(&self.program, self.home.path());
    }

    /// Its address, such as `http://127.0.0.1:1234`.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// A directory of its own: its home, and where it runs.
    pub fn home(&self) -> PathBuf {
        self.home.path().canonicalize().expect("the home is there")
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A request to it.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base))
    }

    /// The answer to a `GET`.
    ///
    /// # Panics
    /// If there is none.
    pub async fn get(&self, path: &str) -> Response {
        self.request(Method::GET, path).send().await.expect("an answer")
    }

    /// The answer to a message to an instance.
    ///
    /// # Panics
    /// If there is none.
    pub async fn post(&self, path: &str, message: &Value) -> Response {
        self.post_text(path, message.to_string()).await
    }

    /// The answer to a body of JSON, byte for byte.
    ///
    /// # Panics
    /// If there is none.
    pub async fn post_text(&self, path: &str, body: impl Into<reqwest::Body>) -> Response {
        let request = self.request(Method::POST, path).header("content-type", "application/json");
        request.body(body).send().await.expect("an answer")
    }

    /// The answer to a `PUT`.
    ///
    /// # Panics
    /// If there is none.
    pub async fn put(&self, path: &str, body: &Value) -> Response {
        self.request(Method::PUT, path).json(body).send().await.expect("an answer")
    }

    /// The answer to a `DELETE`.
    ///
    /// # Panics
    /// If there is none.
    pub async fn delete(&self, path: &str) -> Response {
        self.request(Method::DELETE, path).send().await.expect("an answer")
    }

    /// The stream of an instance, after `last`.
    ///
    /// # Panics
    /// If there is no stream.
    pub async fn events(&self, instance: &str, last: Option<u64>) -> Events {
        let mut request = self.request(Method::GET, &format!("/v1/acp/{instance}"));
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        Events::new(request.send().await.expect("a stream"))
    }

    /// The instance as `GET /v1/acp` tells it.
    ///
    /// # Panics
    /// If it is not listed.
    pub async fn instance(&self, id: &str) -> Value {
        let list: Value = self.get("/v1/acp").await.json().await.expect("a list");
        let items = list["items"].as_array().expect("items");
        items.iter().find(|item| item["serverId"] == id).cloned().expect("the instance is listed")
    }

    /// Sends it a signal by name, such as `TERM`.
    ///
    /// # Panics
    /// If there is no such signal or process.
    pub fn signal(&self, name: &str) {
        let done = Command::new("kill").arg(format!("-{name}")).arg(self.pid().to_string()).status();
        assert!(done.expect("run kill").success());
    }

    /// Waits until it has ended; its exit code, and what it wrote to standard error.
    ///
    /// # Panics
    /// If it does not end.
    pub fn ended(mut self) -> (Option<i32>, String) {
        let mut code = None;
        within_blocking(STOP_MAX, || match self.child.try_wait().expect("wait for the daemon") {
            Some(status) => {
                code = status.code();
                true
            }
            None => false,
        });
        let mut said = String::new();
        let _ = self.stderr.take().map(|mut stderr| stderr.read_to_string(&mut said));
        (code, said)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
