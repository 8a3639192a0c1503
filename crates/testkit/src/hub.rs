//! The real hub, started for one test: port 0, its own directory, gone at the end.

use std::{
    ffi::{OsStr, OsString},
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
};

use reqwest::{Method, RequestBuilder};
use serde_json::json;
use tempfile::TempDir;

/// A running hub.
#[derive(Debug)]
pub struct Hub {
    child: Child,
    base: String,
    token: String,
    http: reqwest::Client,
    directory: TempDir,
    program: PathBuf,
    args: Vec<OsString>,
}

impl Hub {
    /// Starts `program` as a hub.
    ///
    /// # Panics
    /// If it does not come up.
    pub fn start(program: impl AsRef<Path>) -> Self {
        Self::start_with(program, &[])
    }

    /// Starts `program` as a hub, with more arguments.
    ///
    /// # Panics
    /// If it does not come up.
    pub fn start_with(program: impl AsRef<Path>, args: &[&OsStr]) -> Self {
        let directory = TempDir::new().expect("a directory for the test");
        let args: Vec<_> = args.iter().map(OsString::from).collect();
        let (child, base, mut lines) = spawn(program.as_ref(), directory.path(), &args);
        let mut line = String::new();
        lines.read_line(&mut line).expect("read the token");
        let token = line.trim().strip_prefix("token, shown only now: ").expect("a token").to_owned();
        let (http, program) = (reqwest::Client::new(), program.as_ref().into());
        Self { child, base, token, http, directory, program, args }
    }

    /// Kills it without warning and starts it again with the same files, at another address.
    ///
    /// # Panics
    /// If it does not come up.
    pub fn killed_and_restarted(&mut self) {
        self.child.kill().expect("kill the hub");
        self.child.wait().expect("wait for the hub");
        (self.child, self.base, _) = spawn(&self.program, self.directory.path(), &self.args);
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

fn spawn(program: &Path, directory: &Path, args: &[OsString]) -> (Child, String, BufReader<ChildStdout>) {
    let mut command = Command::new(program);
    command.args(["hub", "--port", "0", "--data-dir"]).arg(directory).args(args);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("start the program");
    let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped"));
    let mut line = String::new();
    lines.read_line(&mut line).expect("read where it listens");
    let base =
        line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("the hub did not start: {line}"));
    (child, base.to_owned(), lines)
}

impl Drop for Hub {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
