//! daemon-3: each command asks the endpoint that it declares, shown by a server that writes down what it is asked.

use std::{
    collections::BTreeMap,
    io::{self, BufRead, BufReader, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
};

use super::{Run, api_at, tombolo};

/// Answers everything with one answer, and keeps the first line of each request.
pub(crate) struct Recorder {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Recorder {
    pub(crate) fn start(answer: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = asked.clone();
        // Ends with the test's process: it has nothing to tidy up.
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                serve(connection, answer, &kept);
            }
        });
        Self { address, asked }
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What it was asked so far.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(mut connection: TcpStream, answer: &str, asked: &Mutex<Vec<String>>) {
    let mut head = Vec::new();
    for line in BufReader::new(connection.try_clone().unwrap()).lines() {
        match line {
            Ok(line) if !line.is_empty() => head.push(line),
            _ => break,
        }
    }
    // Before it is answered: whoever has the answer looks here.
    asked.lock().unwrap().push(head.into_iter().next().unwrap_or_default());
    let _ = connection.write_all(answer.as_bytes());
    // One that is closed before all was read may lose the answer.
    let _ = connection.shutdown(Shutdown::Write);
    let _ = io::copy(&mut connection, &mut io::sink());
}

const REFUSAL: &str = "HTTP/1.1 418 Teapot\r\ncontent-type: application/problem+json\r\nconnection: close\r\ncontent-length: 42\r\n\r\n{\"type\":\"urn:problem:teapot\",\"title\":\"T\"}\n";

const PROCESS: &str = "prc_0198c0de0198c0de0198c0de0198c0de";

const INPUT: &str = "inp_0198c0de0198c0de0198c0de0198c0de";

const WAIT: &str = "wat_0198c0de0198c0de0198c0de0198c0de";

/// The words after each command that make it complete.
fn examples() -> BTreeMap<&'static str, &'static [&'static str]> {
    BTreeMap::from([
        ("acp list", &[][..]),
        ("acp send", &["a", "{}"]),
        ("acp stream", &["a"]),
        ("acp prepare", &["a", "--agent", "mock"]),
        ("acp delete", &["a"]),
        ("agents list", &[]),
        ("agents install", &["mock"]),
        ("agents modes", &["mock"]),
        ("agents models", &["mock"]),
        ("sessions list", &[]),
        ("sessions search", &["x"]),
        ("sessions create", &["s", "--agent", "mock"]),
        ("sessions get", &["s"]),
        ("sessions delete", &["s"]),
        ("sessions send", &["s", "hello"]),
        ("sessions messages", &["s"]),
        ("sessions export", &["s"]),
        ("sessions inputs", &["s"]),
        ("sessions edit", &["s", INPUT, "hello"]),
        ("sessions withdraw", &["s", INPUT]),
        ("sessions events", &["s"]),
        ("sessions stream", &["s"]),
        ("sessions snapshot", &["s"]),
        ("sessions cancel", &["s"]),
        ("sessions answer", &["s", WAIT, "--answer", "Yes"]),
        ("sessions reject", &["s", WAIT]),
        ("sessions permit", &["s", WAIT, "once"]),
        ("waits list", &[]),
        ("waits get", &[WAIT]),
        ("waits follow", &[]),
        ("waits answer", &[WAIT, "once"]),
        ("workers watch", &["s"]),
        ("fs entries", &["x"]),
        ("fs read", &["x"]),
        ("fs write", &["x", "/dev/null"]),
        ("fs delete", &["x"]),
        ("fs mkdir", &["x"]),
        ("fs move", &["x", "y"]),
        ("fs stat", &["x"]),
        ("fs upload-batch", &["x", "/dev/null"]),
        ("processes list", &[]),
        ("processes start", &["--", "true"]),
        ("processes run", &["--", "true"]),
        ("processes stop", &[PROCESS]),
        ("processes kill", &[PROCESS]),
        ("processes get", &[PROCESS]),
        ("processes delete", &[PROCESS]),
        ("processes logs", &[PROCESS]),
        ("processes input", &[PROCESS]),
        ("processes signal", &[PROCESS, "TERM"]),
        ("processes resize", &[PROCESS, "80x24"]),
        ("processes wait", &[PROCESS]),
        ("processes terminal", &[PROCESS]),
        ("mcp list", &["-d", "/w"]),
        ("mcp get", &["-d", "/w", "x"]),
        ("mcp set", &["-d", "/w", "x", "{}"]),
        ("mcp delete", &["-d", "/w", "x"]),
        ("skills list", &["-d", "/w"]),
        ("skills get", &["-d", "/w", "x"]),
        ("skills set", &["-d", "/w", "x", "{}"]),
        ("skills delete", &["-d", "/w", "x"]),
        ("info about", &[]),
        ("info health", &[]),
        ("info openapi", &[]),
        ("info metrics", &[]),
    ])
}

#[test]
fn each_command_asks_the_endpoint_that_it_declares() {
    let declared = Run::of(tombolo().args(["reference", "operations"]).output().unwrap()).ok();
    let examples = examples();
    let recorder = Recorder::start(REFUSAL);
    let mut checked = 0;
    for line in declared.lines() {
        let [command, method, path] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let rest = examples.get(command).unwrap_or_else(|| panic!("no example of `{command}`"));
        let arguments: Vec<&str> = command.split(' ').chain(rest.iter().copied()).collect();
        let run = Run::of(api_at(&recorder.endpoint(), &arguments).output().unwrap());
        assert_eq!(run.said(1), "T\n  urn:problem:teapot\n", "{command}");
        let asked = std::mem::take(&mut *recorder.asked.lock().unwrap());
        let [asked] = asked.as_slice() else { panic!("{command} asked {asked:?}") };
        assert!(matches(asked, method, path), "`{command}` declares {method} {path} and asked `{asked}`");
        checked += 1;
    }
    assert_eq!(checked, examples.len(), "an example of a command that is gone");
}

/// Whether a request line is of this operation; `{…}` stands for any one segment.
fn matches(line: &str, method: &str, template: &str) -> bool {
    let mut words = line.split(' ');
    let (Some(asked), Some(target)) = (words.next(), words.next()) else { return false };
    let path = target.split('?').next().unwrap_or_default();
    let (path, template): (Vec<_>, Vec<_>) = (path.split('/').collect(), template.split('/').collect());
    asked == method
        && path.len() == template.len()
        && path.iter().zip(template).all(|(part, wanted)| wanted.starts_with('{') || *part == wanted)
}
