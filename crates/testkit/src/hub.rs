//! The real hub, started for one test: port 0, its own directory, gone at the end.

use std::{
    fs::File,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    time::Duration,
};

use reqwest::{Method, RequestBuilder};
use serde_json::json;
use tempfile::TempDir;

use crate::within_blocking;

/// How long a hub may take to stop before the test fails.
const STOP_MAX: Duration = Duration::from_secs(15);

/// The file that its log is kept in, if it is, in its directory.
const LOG: &str = "log";

/// How a hub is started.
#[derive(Debug, Clone, Default)]
pub struct HubOptions {
    args: Vec<String>,
    env: Vec<(String, String)>,
    keeps_log: bool,
}

impl HubOptions {
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

    /// Keeps what it logs under this filter.
    #[must_use]
    pub fn log(mut self, filter: &str) -> Self {
        self.keeps_log = true;
        self.env("TOMBOLO_LOG", filter)
    }

    /// Starts `program` as a hub with these options.
    ///
    /// # Panics
    /// If it does not come up.
    pub fn start(self, program: impl AsRef<Path>) -> Hub {
        let directory = TempDir::new().expect("a directory for the test");
        let (child, base, mut lines) = self.spawn(program.as_ref(), directory.path());
        let mut line = String::new();
        lines.read_line(&mut line).expect("read the token");
        let token = line.trim().strip_prefix("token, shown only now: ").expect("a token").to_owned();
        let (http, program) = (reqwest::Client::new(), program.as_ref().into());
        Hub { child, base, token, http, directory, program, options: self }
    }

    fn spawn(&self, program: &Path, directory: &Path) -> (Child, String, BufReader<ChildStdout>) {
        let mut command = Command::new(program);
        command.args(["hub", "--port", "0", "--data-dir"]).arg(directory).args(&self.args);
        command.envs(self.env.iter().cloned()).stdin(Stdio::null()).stdout(Stdio::piped());
        if self.keeps_log {
            command.stderr(File::create(directory.join(LOG)).expect("a file for the log"));
        }
        let mut child = command.spawn().expect("start the program");
        let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let mut line = String::new();
        lines.read_line(&mut line).expect("read where it listens");
        let base = line.trim().strip_prefix("listening on ");
        let base = base.unwrap_or_else(|| panic!("the hub did not start: {line}"));
        (child, base.to_owned(), lines)
    }
}

/// A running hub.
#[derive(Debug)]
pub struct Hub {
    child: Child,
    base: String,
    token: String,
    http: reqwest::Client,
    directory: TempDir,
    program: PathBuf,
    options: HubOptions,
}

impl Hub {
    /// Starts `program` as a hub.
    ///
    /// # Panics
    /// If it does not come up.
    pub fn start(program: impl AsRef<Path>) -> Self {
        HubOptions::default().start(program)
    }

    /// Kills it without warning and starts it again with the same files, at another address.
    ///
    /// # Panics
    /// If it does not come up.
    pub fn killed_and_restarted(&mut self) {
        self.child.kill().expect("kill the hub");
        self.child.wait().expect("wait for the hub");
        (self.child, self.base, _) = self.options.spawn(&self.program, self.directory.path());
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its address, such as `http://127.0.0.1:1234`.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The token that it made.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Where it keeps its files.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// What it has logged so far.
    ///
    /// # Panics
    /// If that is not kept.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.directory().join(LOG)).expect("the log is kept")
    }

    /// Tells it to end, and waits until it has; whether it ended well.
    ///
    /// # Panics
    /// If it does not end.
    pub fn ended(&mut self) -> bool {
        let told = Command::new("kill").arg("-TERM").arg(self.pid().to_string()).status();
        assert!(told.expect("run kill").success());
        let mut well = false;
        within_blocking(STOP_MAX, || match self.child.try_wait().expect("wait for the hub") {
            Some(status) => {
                well = status.success();
                true
            }
            None => false,
        });
        well
    }

    /// A request to it, with the token.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base)).bearer_auth(&self.token)
    }

    /// Makes a daemon known to it.
    ///
    /// # Panics
    /// If it refuses.
    pub async fn add(&self, id: &str, endpoint: &str, token: Option<&str>) {
        let body = json!({ "id": id, "endpoint": endpoint, "token": token });
        let response =
            self.request(Method::POST, "/api/runtimes").json(&body).send().await.expect("an answer");
        assert_eq!(response.status(), 201, "{}", response.text().await.unwrap_or_default());
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
