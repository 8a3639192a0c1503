//! The real hub, started for one test: port 0, its own directory, gone at the end.

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

/// What it writes to standard error, in its directory.
const LOG: &str = "stderr.log";

/// How a hub is started.
#[derive(Debug, Clone, Default)]
pub struct HubOptions {
    args: Vec<String>,
    env: Vec<(String, String)>,
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

    /// Starts `program` as a hub with these options.
    ///
    /// # Panics
    /// If it does not come up.
    pub fn start(self, program: impl AsRef<Path>) -> Hub {
        let directory = TempDir::new().expect("a directory for the test");
        let (child, base, mut lines) = self.spawn(program.as_ref(), directory.path());
        let token = token(&mut lines);
        let (http, program) = (reqwest::Client::new(), program.as_ref().into());
        Hub { child, base, token, http, directory, program, options: self }
    }

    fn spawn(&self, program: &Path, directory: &Path) -> (Child, String, BufReader<ChildStdout>) {
        let log =
            File::options().create(true).append(true).open(directory.join(LOG)).expect("a file for its log");
        let mut command = Command::new(program);
        command.args(["hub", "--port", "0", "--data-dir"]).arg(directory).args(&self.args);
        command.envs(self.env.iter().cloned());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
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
        Self::start_with(program, &[])
    }

    /// The same, with more arguments.
    ///
    /// # Panics
    /// If it does not come up.
    pub fn start_with(program: impl AsRef<Path>, args: &[&str]) -> Self {
        args.iter().fold(HubOptions::default(), |options, arg| options.arg(*arg)).start(program)
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

    /// The same, when nobody has a token to manage it with: it makes a new one.
    ///
    /// # Panics
    /// If it does not come up, or makes none.
    pub fn restarted_with_a_new_token(&mut self) {
        self.child.kill().expect("kill the hub");
        self.child.wait().expect("wait for the hub");
        let mut lines;
        (self.child, self.base, lines) = self.options.spawn(&self.program, self.directory.path());
        self.token = token(&mut lines);
    }

    /// Tells it to read its files again.
    ///
    /// # Panics
    /// If it is not there.
    pub fn hang_up(&self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::HUP).expect("hang up");
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
        self.request_as(&self.token, method, path)
    }

    /// A request to it, with a token of somebody else.
    pub fn request_as(&self, token: &str, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base)).bearer_auth(token)
    }

    /// What it wrote to standard error so far.
    ///
    /// # Panics
    /// If that cannot be read.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join(LOG)).expect("its log")
    }

    /// Lets a daemon join; what it joins with.
    ///
    /// # Panics
    /// If it refuses.
    pub async fn invite(&self, id: &str) -> String {
        let request = self.request(Method::POST, "/api/runtimes/join-tokens").json(&json!({ "id": id }));
        let response = request.send().await.expect("an answer");
        assert_eq!(response.status(), 201);
        let made: Value = response.json().await.expect("a token");
        made["token"].as_str().expect("a token").to_owned()
    }

    /// Makes a daemon known to it.
    ///
    /// # Panics
    /// If it refuses.
    pub async fn add(&self, id: &str, endpoint: &str, token: Option<&str>) {
        self.add_to("default", id, endpoint, token).await;
    }

    /// Makes a daemon of a workspace known to it.
    ///
    /// # Panics
    /// If it refuses.
    pub async fn add_to(&self, workspace: &str, id: &str, endpoint: &str, token: Option<&str>) {
        let body = json!({ "id": id, "workspace": workspace, "endpoint": endpoint, "token": token });
        let response =
            self.request(Method::POST, "/api/runtimes").json(&body).send().await.expect("an answer");
        assert_eq!(response.status(), 201, "{}", response.text().await.unwrap_or_default());
    }
}

/// The token that it prints once.
fn token(lines: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    lines.read_line(&mut line).expect("read the token");
    line.trim().rsplit_once(": ").expect("a token").1.to_owned()
}

impl Drop for Hub {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("the hub said:\n{}", self.log());
        }
    }
}
