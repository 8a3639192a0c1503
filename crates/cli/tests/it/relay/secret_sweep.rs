//! Secrets in everything that people and agents pass to a hub, a device and a daemon, and where they must not be found afterwards.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{TestDaemonOptions, TestHubOptions};

use super::{TOKEN, ask, lend_logging, session_environment, typed, until};
use crate::{TOMBOLO, hub::viewer::Viewer};

/// Every secret is this text, repeated and rotated, so four characters of a secret in a row are always one of its four rotations. They
/// all contain a `^`, which no hash, id, cursor or message contains, so none is found by accident.
const MARK: &str = "q^7Z";

const SECRETS: usize = 100_000;
const SECRETS_PER_REQUEST: usize = 400;
const SECRET_CHARS_MIN: usize = 4;

/// Commands; each `@` stands for a secret.
const TEMPLATES: &[&str] = &[
    "curl -H @ -u @:@",
    "API_KEY=\"a @ b\" make",
    "PASS='@ @' sh -c \"@\"",
    "mysql -p@",
    "A=$(printf \"@ @\") true",
    "cat <<'EOF'\n@ @\nEOF",
    "cat <<<@",
    "make >@ 2>@",
    "(PASS=\"a @\" env)",
    "ls; @ | @ && \"@\"",
    "env -S '@ @'",
    "docker run -e A=@ x",
    "python3 -c '@'",
    "export A=@",
    "if @; then @; fi",
    "# @",
];

struct Secrets {
    made: usize,
}

impl Secrets {
    fn next(&mut self) -> String {
        self.made += 1;
        let length = SECRET_CHARS_MIN + self.made % 17;
        MARK.chars().cycle().skip(self.made % MARK.len()).take(length).collect()
    }

    /// A text of several lines with [`SECRETS_PER_REQUEST`] secrets.
    fn lines(&mut self) -> String {
        let (end, mut text) = (self.made + SECRETS_PER_REQUEST, String::new());
        for template in TEMPLATES.iter().cycle().skip(self.made) {
            for (index, part) in template.split('@').enumerate() {
                if index > 0 {
                    text += &self.next();
                }
                text += part;
            }
            text.push('\n');
            if self.made >= end {
                return text;
            }
        }
        text
    }

    fn words(&mut self) -> Vec<String> {
        (0..SECRETS_PER_REQUEST).map(|_| self.next()).collect()
    }

    /// A request to a device whose parameters contain secrets in one of the places where there may be some.
    fn request(&mut self, number: usize) -> (&'static str, Value) {
        match number % 6 {
            // The shell reads a script line by line: it stops after the first, and only the summary sees the rest.
            0 | 1 => ("shell.start", json!({ "command": format!("exit 0\n{}", self.lines()) })),
            2 => {
                let argv = [&["true".to_owned()][..], &self.words()].concat();
                ("shell.start", json!({ "argv": argv }))
            }
            3 => ("shell.start", json!({ "command": "true", "env": { "API_KEY": self.words().join(" ") } })),
            4 => {
                let content = self.lines();
                ("file.write", json!({ "root_id": "main", "path": "secret.txt", "content": content }))
            }
            _ => ("tool.call", json!({ "name": "shout", "arguments": { "text": self.words().join(" ") } })),
        }
    }
}

/// Whether `text` contains four characters of a secret in a row.
fn has_secret(text: &str) -> bool {
    (0..MARK.len()).any(|turn| text.contains(&format!("{}{}", &MARK[turn..], &MARK[..turn])))
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() && !path.is_symlink() { files_below(&path) } else { vec![path] })
        .collect()
}

/// The names of the files below a directory that contain a secret. None of them may be open to other users of the machine.
fn files_with_secrets(directory: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for path in files_below(directory) {
        if has_secret(&String::from_utf8_lossy(&fs::read(&path).unwrap_or_default())) {
            let mode = path.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{} contains a secret and has mode {mode:o}", path.display());
            names.insert(path.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    names
}

/// Looks at the arguments of our running programs and of their sandboxes until it is finished or dropped.
struct ArgumentWatch {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Vec<String>>,
}

impl ArgumentWatch {
    fn start() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::downgrade(&is_over);
        let thread = thread::spawn(move || {
            let mut found = Vec::new();
            while over.upgrade().is_some_and(|is_over| !is_over.load(Ordering::Relaxed)) {
                found.extend(arguments_with_secrets());
            }
            found
        });
        Self { is_over, thread }
    }

    fn finish(self) -> Vec<String> {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// The arguments that contain a secret, of our programs and their sandboxes. Those of a command itself are what was asked for.
fn arguments_with_secrets() -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    let ours = processes.filter(|path| {
        let program = fs::read_link(path.join("exe")).unwrap_or_default();
        program == Path::new(TOMBOLO) || program.ends_with("bwrap")
    });
    let arguments = ours.map(|path| fs::read(path.join("cmdline")).unwrap_or_default());
    arguments
        .map(|text| String::from_utf8_lossy(&text).into_owned())
        .filter(|text| has_secret(text))
        .collect()
}

/// relay-154: of 100,000 secrets in commands, variables, file contents, arguments of tools, keys and headers, none is in a record, a frame,
/// a metric, a log of any level, the arguments of a program of ours, or a file but the two that are there to hold them.
#[tokio::test(flavor = "multi_thread")]
async fn no_secret_is_anywhere_it_could_be_read() {
    let mut secrets = Secrets { made: 0 };
    let daemon = TestDaemonOptions::default().env("TOMBOLO_TOKEN", TOKEN).env("TOMBOLO_LOG", "trace");
    let daemon = daemon.start(TOMBOLO);
    let hub = TestHubOptions::default().env("TOMBOLO_LOG", "trace").start(TOMBOLO);
    hub.add_runtime("box", daemon.base(), Some(TOKEN)).await;
    let (device, _tools) = lend_logging(&hub, "allow", "trace");

    let server = |secrets: &mut Secrets| {
        let headers = json!({ "Authorization": secrets.next() });
        json!({ "type": "remote", "url": "http://127.0.0.1:9/", "headers": headers })
    };
    let config =
        daemon.request(Method::PUT, "/v1/config/mcp?directory=/tmp&mcpName=tools").bearer_auth(TOKEN);
    let config = config.json(&server(&mut secrets)).send().await.unwrap();
    assert!(config.status().is_success(), "{}", config.text().await.unwrap());
    let create = json!({
        "agent": "mock",
        "environment": { "clientId": "laptop" },
        "env": { "API_KEY": secrets.next() },
        "mcp": { "tools": server(&mut secrets) },
    });
    let path = "/api/runtimes/box/v1/sessions/demo";
    let created = hub.request(Method::POST, path).json(&create).send().await.unwrap();
    assert_eq!(created.status(), 200, "{}", created.text().await.unwrap());
    let mut viewer = Viewer::new(&hub, "demo", None).await;

    let (id, token) = session_environment(&hub, "demo");
    let (id, token) = (id.as_str(), token.as_str());
    let watch = ArgumentWatch::start();
    for number in 0.. {
        if secrets.made >= SECRETS {
            break;
        }
        let (method, params) = secrets.request(number);
        let answer = ask(&hub, (id, token), method, params).await;
        assert!(answer["result"].is_object(), "{method}: {answer}");
    }
    assert_eq!(watch.finish(), Vec::<String>::new());

    // A viewer gets two frames per request; the last one closes the sweep.
    let last = ask(&hub, (id, token), "file.stat", json!({ "root_id": "main", "path": "a.txt" })).await;
    assert!(last["result"].is_object(), "{last}");
    until(&mut viewer, |frame| {
        frame["control"]["method"] == "file.stat" && frame["control"]["status"] == "succeeded"
    })
    .await;
    assert!(viewer.received.contains("shell.start") && !has_secret(&viewer.received));
    let metrics = hub.request(Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
    assert!(metrics.contains("tombolo_") && !has_secret(&metrics));
    let metrics = daemon
        .request(Method::GET, "/metrics")
        .bearer_auth(TOKEN)
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(metrics.contains("tombolo_") && !has_secret(&metrics));

    assert!(typed(&hub, &["audit", "list"]).contains("shell.start"));
    assert_eq!(files_with_secrets(hub.directory()), BTreeSet::new());
    let of_device = device.directory.path();
    assert_eq!(files_with_secrets(&of_device.join("data")), BTreeSet::new());
    assert!(!has_secret(&fs::read_to_string(of_device.join("log")).unwrap()));
    let private = BTreeSet::from(["mcp.json".to_owned(), "secrets.json".to_owned()]);
    assert_eq!(files_with_secrets(&daemon.home().join(".local/share/tombolo")), private);
    daemon.signal("TERM");
    let (_, log) = daemon.wait_for_exit();
    assert!(log.contains("sessions") && !has_secret(&log));
}
