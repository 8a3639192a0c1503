//! The real hub, started for one test on a free port with a temporary data directory, and killed when the test ends.

use std::{
    fs::File,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{ChildStdout, Command},
};

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{IS_SANDBOX, TmpfsMount, server_child::ServerChild};

/// The file in the data directory that receives the hub's stderr. A file, unlike a pipe, can be read while the hub
/// runs and never blocks a hub that logs a lot.
const LOG_FILE: &str = "stderr.log";

/// Arguments and environment of a hub.
#[derive(Debug, Clone, Default)]
pub struct TestHubOptions {
    args: Vec<String>,
    env: Vec<(String, String)>,
}

impl TestHubOptions {
    /// Adds a command line argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Sets an environment variable of the hub.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Starts `program` as a hub with these options and waits until it listens.
    ///
    /// # Panics
    /// If the hub does not start.
    pub fn start(self, program: impl AsRef<Path>) -> TestHub {
        self.start_in(program, TempDir::new().expect("could not create a directory for the test"), None)
    }

    /// Like [`start`](Self::start), with the data directory on a disk of `bytes` bytes. Returns `None` if the disk cannot be
    /// mounted.
    ///
    /// # Panics
    /// If the hub does not start.
    pub fn start_on_disk(self, program: impl AsRef<Path>, bytes: usize) -> Option<TestHub> {
        let directory = TempDir::new().expect("could not create a directory for the test");
        let disk = TmpfsMount::new(directory.path(), bytes)?;
        Some(self.start_in(program, directory, Some(disk)))
    }

    fn start_in(self, program: impl AsRef<Path>, directory: TempDir, disk: Option<TmpfsMount>) -> TestHub {
        let (child, mut stdout) = self.spawn(program.as_ref(), directory.path());
        let token = read_token(&mut stdout);
        let (http, program) = (reqwest::Client::new(), program.as_ref().into());
        TestHub { child, token, http, _disk: disk, directory, program, options: self }
    }

    /// Starts the hub. Also returns the rest of its stdout, where a hub without any administrator token prints a new one.
    fn spawn(&self, program: &Path, directory: &Path) -> (ServerChild, BufReader<ChildStdout>) {
        let path = directory.join(LOG_FILE);
        let log = File::options().create(true).append(true).open(path).expect("cannot open the log");
        let mut command = Command::new(program);
        command.args(["hub", "--port", "0", "--data-dir"]).arg(directory).args(&self.args);
        command.env_remove(IS_SANDBOX).envs(self.env.iter().cloned());
        ServerChild::start(command.stderr(log))
    }
}

/// A running hub, killed when this value is dropped. If the test panics, its log is printed.
#[derive(Debug)]
pub struct TestHub {
    child: ServerChild,
    token: String,
    http: reqwest::Client,
    /// Before the directory, so that it is unmounted before that is deleted.
    _disk: Option<TmpfsMount>,
    directory: TempDir,
    program: PathBuf,
    options: TestHubOptions,
}

impl TestHub {
    /// Starts `program` as a hub with default options.
    ///
    /// # Panics
    /// If the hub does not start.
    pub fn start(program: impl AsRef<Path>) -> Self {
        Self::start_with(program, &[])
    }

    /// Starts `program` as a hub with additional command line arguments.
    ///
    /// # Panics
    /// If the hub does not start.
    pub fn start_with(program: impl AsRef<Path>, args: &[&str]) -> Self {
        args.iter().fold(TestHubOptions::default(), |options, arg| options.arg(*arg)).start(program)
    }

    /// Kills the hub with SIGKILL, as a crash would, and starts it again on the same data directory, at a new address.
    ///
    /// # Panics
    /// If the hub does not start again.
    pub fn kill_and_restart(&mut self) {
        self.child.kill();
        (self.child, _) = self.options.spawn(&self.program, self.directory.path());
    }

    /// Like [`kill_and_restart`](Self::kill_and_restart), for a hub whose last administrator token was
    /// deleted: it creates a new one at its start, which later requests use.
    ///
    /// # Panics
    /// If the hub does not start again, or prints no token.
    pub fn kill_and_restart_with_new_token(&mut self) {
        self.child.kill();
        let mut stdout;
        (self.child, stdout) = self.options.spawn(&self.program, self.directory.path());
        self.token = read_token(&mut stdout);
    }

    /// Sends SIGHUP, on which the hub reloads its runtimes file and its policy file. Returns before it has done so.
    ///
    /// # Panics
    /// If the hub has ended.
    pub fn send_sighup(&self) {
        self.child.signal("HUP");
    }

    /// The process id of the hub.
    pub fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// The base URL of the hub, such as `http://127.0.0.1:1234`.
    pub fn base(&self) -> &str {
        self.child.base()
    }

    /// The administrator token that the hub created when it started.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The hub's data directory.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Sends SIGTERM and waits until the hub has ended. Returns whether its exit code was 0.
    ///
    /// # Panics
    /// If the hub still runs after 15 seconds.
    pub fn terminate(&mut self) -> bool {
        self.child.signal("TERM");
        self.child.wait_for_exit().0.success()
    }

    /// Builds a request with the administrator token.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.request_as(&self.token, method, path)
    }

    /// Builds a request with another token.
    pub fn request_as(&self, token: &str, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base())).bearer_auth(token)
    }

    /// The hub's stderr so far, including that of earlier processes with this data directory.
    ///
    /// # Panics
    /// If the log file cannot be read.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join(LOG_FILE)).expect("could not read the log file")
    }

    /// Creates a join token, with which a daemon joins the hub as the runtime `id`.
    ///
    /// # Panics
    /// If the hub rejects the request.
    pub async fn create_join_token(&self, id: &str) -> String {
        let request = self.request(Method::POST, "/api/runtimes/join-tokens").json(&json!({ "id": id }));
        let response = request.send().await.expect("the hub did not respond");
        assert_eq!(response.status(), 201);
        let created: Value = response.json().await.expect("the response is not JSON");
        created["token"].as_str().expect("the response has no token").to_owned()
    }

    /// Adds a daemon as a runtime of the workspace `default`. `token` is the daemon's access token, if any.
    ///
    /// # Panics
    /// If the hub rejects the request.
    pub async fn add_runtime(&self, id: &str, endpoint: &str, token: Option<&str>) {
        self.add_runtime_to("default", id, endpoint, token).await;
    }

    /// Adds a daemon as a runtime of `workspace`.
    ///
    /// # Panics
    /// If the hub rejects the request.
    pub async fn add_runtime_to(&self, workspace: &str, id: &str, endpoint: &str, token: Option<&str>) {
        let body = json!({ "id": id, "workspace": workspace, "endpoint": endpoint, "token": token });
        let response =
            self.request(Method::POST, "/api/runtimes").json(&body).send().await.expect("no response");
        assert_eq!(response.status(), 201, "{}", response.text().await.unwrap_or_default());
    }
}

/// Reads the token from the second line of stdout. The hub prints it only once, when it creates it.
fn read_token(stdout: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    stdout.read_line(&mut line).expect("could not read the token");
    line.trim().rsplit_once(": ").expect("the line has no token").1.to_owned()
}

impl Drop for TestHub {
    fn drop(&mut self) {
        // Only after its end is the log complete.
        self.child.kill();
        if std::thread::panicking() {
            eprintln!("stderr of the hub:\n{}", self.log());
        }
    }
}
