//! The real daemon, started for one test on a free port and in a temporary home, and killed when the test ends.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{EventStream, IS_SANDBOX, server_child::ServerChild, user_cache_env};

/// How long the HTTP client keeps an idle connection. This must be shorter than the daemon's own limit
/// (`--stall-timeout`, 30 s): otherwise the client may send a request on a connection that the daemon is just
/// closing, and the request fails.
const IDLE_MAX: Duration = Duration::from_secs(5);

/// Arguments, environment and configuration of a daemon.
#[derive(Debug, Clone, Default)]
pub struct TestDaemonOptions {
    args: Vec<String>,
    env: Vec<(String, String)>,
    env_remove: Vec<String>,
    config: String,
    generated_token: bool,
    port: u16,
}

impl TestDaemonOptions {
    /// Adds a command line argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Listens on this port, also after a restart, instead of a free one.
    #[must_use]
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Sets an environment variable of the daemon. Wins over [`env_remove`](Self::env_remove).
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Removes a variable that the daemon would inherit from the test process.
    #[must_use]
    pub fn env_remove(mut self, name: &str) -> Self {
        self.env_remove.push(name.into());
        self
    }

    /// Lets the daemon generate its token, as it does for a user who passes no option. Otherwise a test daemon is started with
    /// `--no-token`, unless an argument or the environment sets a token.
    #[must_use]
    pub fn generated_token(mut self) -> Self {
        self.generated_token = true;
        self
    }

    /// Adds an agent to the configuration file. `command` is its program and arguments.
    #[must_use]
    pub fn agent(mut self, name: &str, command: &[&str]) -> Self {
        self.config += &format!("[agents.{name}]\ncommand = {}\n", json!(command));
        self
    }

    /// Appends lines to the configuration file. Without a table header they belong to the agent that was added last.
    #[must_use]
    pub fn config(mut self, lines: &str) -> Self {
        self.config += lines;
        self
    }

    /// Lets the daemon install agents with the download cache and the npm settings of the user who runs the test.
    ///
    /// An empty `XDG_DATA_HOME` counts as unset, so that the agents still end up in the daemon's temporary home.
    #[must_use]
    pub fn with_user_caches(mut self) -> Self {
        self.env.extend(user_cache_env());
        self.env("XDG_DATA_HOME", "")
    }

    /// Starts `program` with these options and waits until it listens.
    ///
    /// # Panics
    /// If the daemon does not start.
    pub fn start(self, program: impl AsRef<Path>) -> TestDaemon {
        TestDaemon::launch(program.as_ref(), self)
    }

    fn spawn(&self, program: &Path, home: &Path) -> ServerChild {
        let mut command = Command::new(program);
        let port = self.port.to_string();
        command.args(["daemon", "--port", &port, "--config"]).arg(home.join("config.toml")).args(&self.args);
        if !self.generated_token && !self.sets_token() {
            command.arg("--no-token");
        }
        command.env_remove("TOMBOLO_TOKEN").env_remove(IS_SANDBOX).env("HOME", home).current_dir(home);
        self.env_remove.iter().for_each(|name| _ = command.env_remove(name));
        command.envs(self.env.iter().cloned());
        // This drops, and so closes, the pipe of stdout after the line with the address.
        ServerChild::start(command.stderr(Stdio::piped())).0
    }

    fn sets_token(&self) -> bool {
        let is_token_option = |arg: &String| arg.starts_with("--token") || arg == "--no-token";
        self.args.iter().any(is_token_option) || self.env.iter().any(|(name, _)| name == "TOMBOLO_TOKEN")
    }
}

/// A running daemon, killed when this value is dropped.
///
/// A killed daemon cannot stop its agents. A test whose agents start processes of their own must end those itself.
#[derive(Debug)]
pub struct TestDaemon {
    child: ServerChild,
    http: reqwest::Client,
    home: TempDir,
    /// `program` and `options` start the daemon again in [`kill_and_restart`](Self::kill_and_restart).
    program: PathBuf,
    options: TestDaemonOptions,
}

impl TestDaemon {
    /// Starts `program` without a token.
    ///
    /// # Panics
    /// If the daemon does not start.
    pub fn start(program: impl AsRef<Path>) -> Self {
        TestDaemonOptions::default().start(program)
    }

    fn launch(program: &Path, options: TestDaemonOptions) -> Self {
        let home = TempDir::new().expect("could not create a directory for the test");
        std::fs::write(home.path().join("config.toml"), &options.config).expect("cannot write config.toml");
        let child = options.spawn(program, home.path());
        let http = reqwest::Client::builder().pool_idle_timeout(IDLE_MAX).build().expect("no HTTP client");
        Self { child, http, home, program: program.into(), options }
    }

    /// Kills the daemon with SIGKILL, as a crash would, and starts it again in the same home. Its address changes, unless
    /// [`TestDaemonOptions::port`] was set.
    ///
    /// # Panics
    /// If the daemon does not start again.
    pub fn kill_and_restart(&mut self) {
        self.child.kill();
        self.child = self.options.spawn(&self.program, self.home.path());
    }

    /// The base URL of the daemon, such as `http://127.0.0.1:1234`.
    pub fn base(&self) -> &str {
        self.child.base()
    }

    /// The temporary directory that is both the daemon's home and its working directory.
    pub fn home(&self) -> PathBuf {
        self.home.path().canonicalize().expect("the home does not exist")
    }

    /// The process id of the daemon.
    pub fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// Builds a request to the daemon.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base()))
    }

    /// Sends a `GET` and returns the response.
    ///
    /// # Panics
    /// If the daemon does not respond.
    pub async fn get(&self, path: &str) -> Response {
        self.request(Method::GET, path).send().await.expect("the daemon did not respond")
    }

    /// Posts a JSON value, such as a message to an instance, and returns the response.
    ///
    /// # Panics
    /// If the daemon does not respond.
    pub async fn post(&self, path: &str, message: &Value) -> Response {
        self.post_text(path, message.to_string()).await
    }

    /// Posts `body` unchanged as `application/json` and returns the response. The body need not be valid JSON.
    ///
    /// # Panics
    /// If the daemon does not respond.
    pub async fn post_text(&self, path: &str, body: impl Into<reqwest::Body>) -> Response {
        let request = self.request(Method::POST, path).header("content-type", "application/json");
        request.body(body).send().await.expect("the daemon did not respond")
    }

    /// Sends a `PUT` with a JSON body and returns the response.
    ///
    /// # Panics
    /// If the daemon does not respond.
    pub async fn put(&self, path: &str, body: &Value) -> Response {
        self.request(Method::PUT, path).json(body).send().await.expect("the daemon did not respond")
    }

    /// Sends a `DELETE` and returns the response.
    ///
    /// # Panics
    /// If the daemon does not respond.
    pub async fn delete(&self, path: &str) -> Response {
        self.request(Method::DELETE, path).send().await.expect("the daemon did not respond")
    }

    /// Opens the event stream of an instance. `last` is the id of the last event that the reader already has.
    ///
    /// # Panics
    /// If the daemon does not respond with an event stream.
    pub async fn events(&self, instance: &str, last: Option<u64>) -> EventStream {
        let mut request = self.request(Method::GET, &format!("/v1/acp/{instance}"));
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        EventStream::new(request.send().await.expect("the daemon did not respond"))
    }

    /// The entry of an instance in the list of `GET /v1/acp`.
    ///
    /// # Panics
    /// If the instance is not listed.
    pub async fn instance(&self, id: &str) -> Value {
        let list: Value = self.get("/v1/acp").await.json().await.expect("the list is not JSON");
        let items = list["items"].as_array().expect("the list has no `items`");
        items.iter().find(|item| item["serverId"] == id).cloned().expect("the instance is not listed")
    }

    /// Sends the daemon a signal by name, such as `TERM`.
    ///
    /// # Panics
    /// If the signal is unknown or the daemon has ended.
    pub fn signal(&self, name: &str) {
        self.child.signal(name);
    }

    /// Waits until the daemon has ended. Returns its exit code, which is none after a signal, and its stderr.
    ///
    /// Sends no signal; see [`signal`](Self::signal).
    ///
    /// # Panics
    /// If the daemon still runs after 15 seconds.
    pub fn wait_for_exit(mut self) -> (Option<i32>, String) {
        let (status, stderr) = self.child.wait_for_exit();
        (status.code(), stderr)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// Stands in for a daemon: announces an address, and then logs three times as much as a pipe holds.
    const CHATTY: &str = "#!/bin/sh
echo listening on http://127.0.0.1:9
head -c 196608 /dev/zero | tr '\\0' x >&2
exit 3
";

    #[test]
    fn a_daemon_that_logs_more_than_a_pipe_holds_is_not_blocked() {
        let directory = TempDir::new().unwrap();
        let program = directory.path().join("chatty");
        std::fs::write(&program, CHATTY).unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        let (code, stderr) = TestDaemon::start(&program).wait_for_exit();
        assert_eq!((code, stderr.len()), (Some(3), 196_608));
    }
}
