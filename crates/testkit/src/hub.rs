//! The real hub, started for one test on a free port with a temporary data directory, and killed when the test ends.

use std::{
    fs::File,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    time::Duration,
};

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::within_blocking;

/// How long a hub may take to stop before the test fails.
const STOP_MAX: Duration = Duration::from_secs(15);

/// The file in the data directory that receives the hub's stderr. A file, unlike a pipe, can be read while the hub
/// runs and never blocks a hub that logs a lot.
const LOG: &str = "stderr.log";

/// Arguments and environment of a hub.
#[derive(Debug, Clone, Default)]
pub struct HubOptions {
    args: Vec<String>,
    env: Vec<(String, String)>,
}

impl HubOptions {
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
    pub fn start(self, program: impl AsRef<Path>) -> Hub {
        let directory = TempDir::new().expect("could not create a directory for the test");
        let (child, base, mut lines) = self.spawn(program.as_ref(), directory.path());
        let token = token(&mut lines);
        let (http, program) = (reqwest::Client::new(), program.as_ref().into());
        Hub { child, base, token, http, directory, program, options: self }
    }

    /// Starts the process and waits for the line that announces its address. Returns the process, that address and
    /// the rest of its stdout, where a hub without any administrator token prints a new one.
    fn spawn(&self, program: &Path, directory: &Path) -> (Child, String, BufReader<ChildStdout>) {
        let log =
            File::options().create(true).append(true).open(directory.join(LOG)).expect("cannot open the log");
        let mut command = Command::new(program);
        command.args(["hub", "--port", "0", "--data-dir"]).arg(directory).args(&self.args);
        command.envs(self.env.iter().cloned());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().expect("could not start the program");
        let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let mut line = String::new();
        lines.read_line(&mut line).expect("could not read the address from stdout");
        let base = line.trim().strip_prefix("listening on ");
        let base = base.unwrap_or_else(|| panic!("the hub did not start: {line}"));
        (child, base.to_owned(), lines)
    }
}

/// A running hub, killed when this value is dropped. If the test panics, its log is printed.
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
        args.iter().fold(HubOptions::default(), |options, arg| options.arg(*arg)).start(program)
    }

    /// Kills the hub with SIGKILL, as a crash would, and starts it again on the same data directory, at a new address.
    ///
    /// # Panics
    /// If the hub does not start again.
    pub fn killed_and_restarted(&mut self) {
        self.child.kill().expect("could not kill the hub");
        self.child.wait().expect("could not wait for the hub");
        (self.child, self.base, _) = self.options.spawn(&self.program, self.directory.path());
    }

    /// Like [`killed_and_restarted`](Self::killed_and_restarted), for a hub whose last administrator token was
    /// deleted: it creates a new one at its start, which later requests use.
    ///
    /// # Panics
    /// If the hub does not start again, or prints no token.
    pub fn restarted_with_a_new_token(&mut self) {
        self.child.kill().expect("could not kill the hub");
        self.child.wait().expect("could not wait for the hub");
        let mut lines;
        (self.child, self.base, lines) = self.options.spawn(&self.program, self.directory.path());
        self.token = token(&mut lines);
    }

    /// Sends SIGHUP, on which the hub reloads its runtimes file and its policy file. Returns before it has done so.
    ///
    /// # Panics
    /// If the hub has ended.
    pub fn hang_up(&self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::HUP).expect("could not send SIGHUP");
    }

    /// The process id of the hub.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The base URL of the hub, such as `http://127.0.0.1:1234`.
    pub fn base(&self) -> &str {
        &self.base
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
    pub fn ended(&mut self) -> bool {
        let told = Command::new("kill").arg("-TERM").arg(self.pid().to_string()).status();
        assert!(told.expect("could not run kill").success());
        let mut well = false;
        within_blocking(STOP_MAX, || match self.child.try_wait().expect("could not wait for the hub") {
            Some(status) => {
                well = status.success();
                true
            }
            None => false,
        });
        well
    }

    /// Builds a request with the administrator token.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.request_as(&self.token, method, path)
    }

    /// Builds a request with another token.
    pub fn request_as(&self, token: &str, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base)).bearer_auth(token)
    }

    /// The hub's stderr so far, including that of earlier processes with this data directory.
    ///
    /// # Panics
    /// If the log file cannot be read.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join(LOG)).expect("could not read the log file")
    }

    /// Creates a join token, with which a daemon joins the hub as the runtime `id`.
    ///
    /// # Panics
    /// If the hub rejects the request.
    pub async fn invite(&self, id: &str) -> String {
        let request = self.request(Method::POST, "/api/runtimes/join-tokens").json(&json!({ "id": id }));
        let response = request.send().await.expect("the hub did not respond");
        assert_eq!(response.status(), 201);
        let made: Value = response.json().await.expect("the response is not JSON");
        made["token"].as_str().expect("the response has no token").to_owned()
    }

    /// Adds a daemon as a runtime of the workspace `default`. `token` is the daemon's access token, if any.
    ///
    /// # Panics
    /// If the hub rejects the request.
    pub async fn add(&self, id: &str, endpoint: &str, token: Option<&str>) {
        self.add_to("default", id, endpoint, token).await;
    }

    /// Adds a daemon as a runtime of `workspace`.
    ///
    /// # Panics
    /// If the hub rejects the request.
    pub async fn add_to(&self, workspace: &str, id: &str, endpoint: &str, token: Option<&str>) {
        let body = json!({ "id": id, "workspace": workspace, "endpoint": endpoint, "token": token });
        let response =
            self.request(Method::POST, "/api/runtimes").json(&body).send().await.expect("no response");
        assert_eq!(response.status(), 201, "{}", response.text().await.unwrap_or_default());
    }
}

/// Reads the token from the second line of stdout. The hub prints it only once, when it creates it.
fn token(lines: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    lines.read_line(&mut line).expect("could not read the token");
    line.trim().rsplit_once(": ").expect("the line has no token").1.to_owned()
}

impl Drop for Hub {
    fn drop(&mut self) {
        // Both fail harmlessly if the hub has already ended. Without `wait` it would stay a zombie.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("stderr of the hub:\n{}", self.log());
        }
    }
}
