//! The first use of a real agent in a fresh home when the cache already has the agent from another home, compared
//! with starting the agent by hand.

use std::{
    fs, io,
    io::{BufRead, BufReader, Write},
    path::PathBuf,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use tempfile::TempDir;

use super::millis;
use testkit::user_cache_env;

use crate::{BenchSetup, RunReport, clock, http, proc, server_process::ServerProcess};

/// A large agent: an adapter of eight thousand files and a program of 360 MB.
const AGENT: &str = "claude";

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#;

/// The longest time for the first use on this machine, which downloads the agent.
const DOWNLOAD_MAX: Duration = Duration::from_secs(600);

/// The longest time until the daemon has prepared the cache for the next home.
const SPARES_MAX: Duration = Duration::from_secs(60);

pub(super) fn run(setup: &BenchSetup, report: &mut RunReport) -> io::Result<()> {
    // The first home fills the cache. It stays, because the agent that is started by hand runs from it.
    let home = start(setup)?;
    first_use(&home)?;
    let launch = AgentLaunch::read_from_proc(&home)?;
    wait_for_spares()?;
    for _ in 0..setup.full_or_quick(7, 3) {
        let fresh = start(setup)?;
        let ours = first_use(&fresh)?;
        wait_for_spares()?;
        drop(fresh);
        let hand = launch.run_by_hand(&TempDir::new_in(&setup.dir)?)?;
        report.add("first", "ours", millis(ours));
        report.add("first", "hand", millis(hand));
    }
    Ok(())
}

/// Starts our daemon in a fresh home, with the cache of the current user.
fn start(setup: &BenchSetup) -> io::Result<ServerProcess> {
    let mut command = Command::new(&setup.ours);
    command.args(["daemon", "--no-token"]).envs(user_cache_env());
    // The daemon makes hard links to the cache, which works within one filesystem only. A home in `/tmp` may be in
    // memory.
    ServerProcess::start(command, TempDir::new_in(&setup.dir)?)
}

/// Waits until the cache has a spare tree for each component that was just used.
///
/// A fresh home gets the spare tree of a component by one rename, and the daemon links the next spare in the
/// background. Without this wait the next round would meet a cache without spares, and the daemon's linking would
/// slow it down.
fn wait_for_spares() -> io::Result<()> {
    let trees = user_cache_env()
        .into_iter()
        .find_map(|(name, place)| (name == "TOMBOLO_CACHE_DIR").then(|| PathBuf::from(place).join("trees")));
    let trees = trees.ok_or(io::ErrorKind::NotFound)?;
    let touched = |tree: &fs::DirEntry| tree.metadata().ok()?.modified().ok()?.elapsed().ok();
    let missing = |tree: &fs::DirEntry| {
        touched(tree).is_some_and(|ago| ago < SPARES_MAX) && !tree.path().join("spare").exists()
    };
    let deadline = Instant::now() + SPARES_MAX;
    while fs::read_dir(&trees)?.flatten().any(|tree| missing(&tree)) {
        if Instant::now() > deadline {
            return Err(io::Error::other("the daemon did not prepare the cache for the next home"));
        }
        clock::pause(Duration::from_millis(50));
    }
    Ok(())
}

/// Sends the first message that needs the agent and returns the time until the response.
fn first_use(server: &ServerProcess) -> io::Result<Duration> {
    let started = Instant::now();
    let request = http::post(&format!("/v1/acp/first?agent={AGENT}"), INITIALIZE);
    let response = http::request_once(server.address(), &request, DOWNLOAD_MAX)?;
    match response.status {
        200 => Ok(started.elapsed()),
        status => Err(io::Error::other(format!("{status}: {}", String::from_utf8_lossy(&response.body)))),
    }
}

/// The command line, the environment and the working directory of a process.
struct AgentLaunch {
    words: Vec<String>,
    variables: Vec<(String, String)>,
    directory: PathBuf,
}

impl AgentLaunch {
    /// Reads from `/proc` how a server started its agent.
    fn read_from_proc(server: &ServerProcess) -> io::Result<Self> {
        let no_agent = || io::Error::other("the server has no agent process");
        let pid = proc::children(server.pid()).into_iter().next().ok_or_else(no_agent)?;
        let words = |file: &str| -> io::Result<Vec<String>> {
            let bytes = fs::read(format!("/proc/{pid}/{file}"))?;
            let words = bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty());
            Ok(words.map(|word| String::from_utf8_lossy(word).into_owned()).collect())
        };
        let pair =
            |word: &String| word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
        Ok(Self {
            words: words("cmdline")?,
            variables: words("environ")?.iter().filter_map(pair).collect(),
            directory: fs::read_link(format!("/proc/{pid}/cwd"))?,
        })
    }

    /// Starts the same agent by hand, sends it the same message and returns the time until the response.
    ///
    /// The home is fresh, as it is for the daemon's agent, because agents do more work at their first start in a
    /// home.
    fn run_by_hand(&self, home: &TempDir) -> io::Result<Duration> {
        let Some((program, args)) = self.words.split_first() else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let mut command = Command::new(program);
        command.args(args).env_clear().envs(self.variables.iter().cloned()).env("HOME", home.path());
        command.current_dir(&self.directory);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let started = Instant::now();
        let mut child = command.spawn()?;
        if let Some(input) = &mut child.stdin {
            writeln!(input, "{INITIALIZE}")?;
        }
        let response = child.stdout.take().and_then(|output| BufReader::new(output).lines().next());
        let took = started.elapsed();
        child.kill()?;
        child.wait()?;
        clock::pause(Duration::from_millis(100));
        response
            .map_or_else(|| Err(io::Error::other("the agent sent no response")), |line| line.map(|_| took))
    }
}
