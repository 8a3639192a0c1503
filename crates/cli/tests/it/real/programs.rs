//! Where the agents' programs come from, until the daemon installs them itself.
//!
//! Each agent's packages are installed once into `$TOMBOLO_CACHE_DIR/real-agents` or `~/.cache/tombolo/real-agents`.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

/// How an agent's program is started.
#[derive(Debug, Clone)]
pub(super) struct Program {
    pub(super) command: Vec<String>,
    pub(super) env: Vec<(String, String)>,
}

/// The program of an agent, installed if it was not.
pub(super) fn program(agent: &str) -> Program {
    let npm = |file: &str| installed(agent).join("node_modules").join(file).display().to_string();
    let node = |file: &str| vec!["node".to_owned(), npm(file)];
    let (command, env) = match agent {
        "claude" => {
            let claude = npm(&format!("@anthropic-ai/claude-code-linux-{}/claude", architecture()));
            let adapter = node("@agentclientprotocol/claude-agent-acp/dist/index.js");
            (adapter, vec![("CLAUDE_CODE_EXECUTABLE", claude)])
        }
        "codex" => {
            let vendor = format!("codex-native/vendor/{}-unknown-linux-musl", std::env::consts::ARCH);
            let codex = npm(&format!("{vendor}/bin/codex"));
            (node("@agentclientprotocol/codex-acp/dist/index.js"), vec![("CODEX_PATH", codex)])
        }
        "opencode" => {
            let opencode = npm(&format!("opencode-linux-{}/bin/opencode", architecture()));
            (vec![opencode, "acp".into()], vec![])
        }
        "gemini" => {
            let mut command = node("@google/gemini-cli/bundle/gemini.js");
            command.push("--acp".into());
            (command, vec![])
        }
        "pi" => {
            // pi wants a newer Node than the others, and takes the first in its path.
            let newer = npm(&format!("node-linux-{}/bin", architecture()));
            let command = vec![format!("{newer}/node"), npm("pi-acp/dist/index.js")];
            let path = format!("{newer}:{}", search_path());
            (command, vec![("PI_ACP_PI_COMMAND", npm(".bin/pi")), ("PATH", path)])
        }
        "amp" => {
            let python = installed(agent).join("python").display().to_string();
            let command = ["python3", "-c", "import sys; from acp_amp.cli import main; sys.exit(main())"];
            let env = vec![("PYTHONPATH", python), ("AMP_CLI_PATH", npm("@sourcegraph/amp/dist/main.js"))];
            (command.map(str::to_owned).to_vec(), env)
        }
        other => panic!("there is no program for `{other}`"),
    };
    Program { command, env: env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect() }
}

/// What an agent is made of: packages of npm, and of Python where its adapter is written in that.
///
/// Adapters bring the agent along as an optional package; it is left out and taken at the version we name.
fn packages(agent: &str) -> (Vec<String>, &'static [&'static str]) {
    let arch = architecture();
    match agent {
        "claude" => (
            vec![
                "@agentclientprotocol/claude-agent-acp@0.99.1".into(),
                format!("@anthropic-ai/claude-code-linux-{arch}@2.1.325"),
            ],
            &[],
        ),
        "codex" => (
            vec![
                "@agentclientprotocol/codex-acp@2.6.0".into(),
                format!("codex-native@npm:@openai/codex@0.166.0-linux-{arch}"),
            ],
            &[],
        ),
        "opencode" => (vec![format!("opencode-linux-{arch}@1.18.33")], &[]),
        "gemini" => (vec!["@google/gemini-cli@0.61.0".into()], &[]),
        "pi" => (
            vec![
                "pi-acp@0.0.34".into(),
                "@earendil-works/pi-coding-agent@0.87.1".into(),
                format!("node-linux-{arch}@24.21.0"),
            ],
            &[],
        ),
        // The last version that talks to the model itself.
        "amp" => (
            vec![
                "@sourcegraph/amp@0.0.1777266064-g47b6f7".into(),
                format!("@napi-rs/keyring-linux-{arch}-gnu@1.1.10"),
            ],
            &["acp-amp==0.1.3", "amp-sdk==0.1.4"],
        ),
        other => panic!("there are no packages for `{other}`"),
    }
}

/// The directory of an agent's packages. Only one test at a time looks for them.
fn installed(agent: &str) -> PathBuf {
    let directory = cache().join(agent);
    fs::create_dir_all(&directory).expect("make the cache");
    let lock = File::create(directory.join("lock")).expect("make the lock");
    lock.lock().expect("take the lock");
    let (npm, python) = packages(agent);
    let wanted = format!("{npm:?} {python:?}");
    // Written last: it is there when everything is.
    let done = directory.join("installed");
    if fs::read_to_string(&done).is_ok_and(|installed| installed == wanted) {
        return directory;
    }
    let options = ["install", "--ignore-scripts", "--no-save", "--no-audit", "--no-fund", "--omit=optional"];
    run(Command::new("npm").args(options).arg("--prefix").arg(&directory).args(npm));
    if !python.is_empty() {
        let options = ["-m", "pip", "install", "--quiet", "--upgrade", "--target"];
        run(Command::new("python3").args(options).arg(directory.join("python")).args(python));
    }
    fs::write(done, wanted).expect("tell that everything is there");
    directory
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[expect(clippy::disallowed_methods, reason = "tests have no `main` of ours")]
fn cache() -> PathBuf {
    let own = std::env::var_os("TOMBOLO_CACHE_DIR").map(PathBuf::from);
    let home = || Path::new(&std::env::var_os("HOME").expect("a home")).join(".cache/tombolo");
    own.unwrap_or_else(home).join("real-agents")
}

#[expect(clippy::disallowed_methods, reason = "tests have no `main` of ours")]
fn search_path() -> String {
    std::env::var("PATH").expect("a path")
}

/// The processor as the packages call it.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => panic!("the agents are not made for {other}"),
    }
}
