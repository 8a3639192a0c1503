//! A daemon that is killed while it installs, at every moment that leaves something else behind.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{
    TestDaemon,
    download_mirror::{DownloadMirror, large_shell_script, tar_gz},
};
use tokio::task::JoinSet;

use super::install::{ACP, initialize, options, publish};
use crate::{TOMBOLO, secs};

/// How many files the agent has beside its program: enough that unpacking, writing and keeping them takes a while.
const FILES: usize = 250;

/// How often the daemon is killed after each fact.
const KILLS: u64 = 4;

/// What is seen on the disk before the daemon is killed, a moment later.
#[derive(Debug, Clone, Copy)]
enum Fact {
    /// The component has a place.
    Begun,
    /// A part of the archive has come.
    Downloading,
    /// Something was unpacked.
    Unpacking,
    /// The installation has its name.
    Committed,
    /// It is used, and being kept for other homes.
    Keeping,
}

impl Fact {
    const ALL: [Self; 5] = [Self::Begun, Self::Downloading, Self::Unpacking, Self::Committed, Self::Keeping];

    /// How long what begins with it takes, about.
    fn lasts(self) -> Duration {
        Duration::from_millis(match self {
            Self::Begun | Self::Downloading => 300,
            Self::Unpacking => 60,
            Self::Committed => 30,
            // Longer than it takes: some daemons are killed when all is done.
            Self::Keeping => 300,
        })
    }
}

/// One home with its cache.
struct Home(PathBuf);

impl Home {
    fn component(&self) -> PathBuf {
        self.0.join(".local/share/tombolo/agents/loopback")
    }

    fn cache(&self) -> PathBuf {
        self.0.join(".cache/tombolo")
    }

    fn daemon(&self, mirror: &DownloadMirror, cache: &Path) -> TestDaemon {
        let options = options(mirror).env("HOME", self.0.to_str().unwrap());
        options.env("TOMBOLO_CACHE_DIR", cache.to_str().unwrap()).start(TOMBOLO)
    }

    /// What was begun and not put into place.
    fn stages(&self) -> Vec<PathBuf> {
        entries(&self.component()).into_iter().filter(|path| is_hidden(path)).collect()
    }

    fn shows(&self, fact: Fact) -> bool {
        let component = self.component();
        match fact {
            Fact::Begun => component.exists(),
            Fact::Downloading => entries(&component.join("parts"))
                .iter()
                .any(|part| part.metadata().is_ok_and(|about| about.len() >= 1 << 20)),
            Fact::Unpacking => self.stages().iter().any(|stage| !entries(stage).is_empty()),
            Fact::Committed => component.join("1.0.0").exists(),
            Fact::Keeping => !entries(&self.cache().join("trees")).is_empty(),
        }
    }

    /// What a killed daemon has left behind.
    fn left(&self) -> &'static str {
        let component = self.component();
        let kept = entries(&self.cache().join("trees")).iter().any(|tree| !is_hidden(tree));
        match () {
            () if component.join("current").exists() && kept => "all",
            () if component.join("current").exists() => "no tree",
            () if component.join("1.0.0").exists() => "no link",
            () if self.stages().iter().any(|stage| !entries(stage).is_empty()) => "a stage",
            () if self.shows(Fact::Downloading) => "a part",
            () => "nothing",
        }
    }

    /// Checks that the agent is there with every file that it has.
    fn check_whole(&self, what: &str) {
        let tree = self.component().join("current");
        assert_eq!(std::fs::read(tree.join("loopback")).unwrap(), ACP, "{what}");
        let files = entries(&tree.join("lib"));
        assert_eq!(files.len(), FILES + 1, "{what}");
        for number in 0..FILES {
            let content = std::fs::read(tree.join(name(number))).unwrap();
            assert_eq!(content, number.to_string().as_bytes(), "{what}");
        }
        assert_eq!(
            std::fs::read(tree.join("lib/filling")).unwrap().len(),
            large_shell_script("x").len(),
            "{what}"
        );
    }
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().unwrap().as_encoded_bytes().starts_with(b".")
}

fn name(number: usize) -> String {
    format!("lib/{number}")
}

fn archive() -> Vec<u8> {
    let (filling, small) =
        (large_shell_script("x"), (0..FILES).map(|number| (name(number), number.to_string())));
    let small: Vec<_> = small.collect();
    let mut members = vec![("loopback", ACP), ("lib/filling", filling.as_slice())];
    members.extend(small.iter().map(|(name, content)| (name.as_str(), content.as_bytes())));
    tar_gz(&members)
}

/// Starts an installation and kills its daemon some time after a fact shows.
async fn kill(home: &Home, mirror: &DownloadMirror, fact: Fact, after: Duration) {
    let daemon = home.daemon(mirror, &home.cache());
    let mut installing = JoinSet::new();
    installing.spawn(daemon.request(Method::POST, "/v1/agents/loopback/install").send());
    tokio::task::block_in_place(|| {
        // Without a pause: some of it lasts a few milliseconds.
        let start = Instant::now();
        while !home.shows(fact) {
            assert!(start.elapsed() < secs(30), "{fact:?} does not show");
        }
        let shown = Instant::now();
        while shown.elapsed() < after {
            std::thread::yield_now();
        }
        drop(daemon); // SIGKILL
    });
    let _ = installing.join_all().await; // it may have been done
}

/// The agent as the list has it.
async fn listed(daemon: &TestDaemon) -> Value {
    let list: Value = daemon.get("/v1/agents").await.json().await.unwrap();
    list["items"].as_array().unwrap().iter().find(|agent| agent["id"] == "loopback").unwrap().clone()
}

async fn answers(daemon: &TestDaemon) {
    let answer: Value = daemon.post("/v1/acp/x?agent=loopback", &initialize()).await.json().await.unwrap();
    assert_eq!(answer["result"]["from"], "installed", "{answer}");
}

/// The same in each run, different for each kill.
fn random(seed: u64, below: Duration) -> Duration {
    let mixed = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    below.mul_f64(((mixed ^ (mixed >> 29)) % 1000) as f64 / 1000.0)
}

/// daemon-6: whenever the daemon is killed, the agent is either not there or whole; the next try works, and so does
/// the first one of another home that shares the cache.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_daemon_killed_at_any_moment_leaves_no_half_of_an_agent() {
    let mirror = DownloadMirror::start().await;
    publish(&mirror, archive());
    mirror.slow_downloads(Duration::from_millis(4));
    let mut left = BTreeSet::new();
    for seed in 0..KILLS * Fact::ALL.len() as u64 {
        let fact = Fact::ALL[seed as usize % Fact::ALL.len()];
        // The first at once: what comes next may take no time at all.
        let after = if seed < Fact::ALL.len() as u64 { Duration::ZERO } else { random(seed, fact.lasts()) };
        let place = tempfile::tempdir().unwrap();
        let (home, other) = (Home(place.path().join("home")), Home(place.path().join("other")));
        kill(&home, &mirror, fact, after).await;
        let what = format!("killed {after:?} after {fact:?}, which left {}", home.left());
        eprintln!("{what}");
        left.insert(home.left());
        let daemon = home.daemon(&mirror, &home.cache());
        let found = listed(&daemon).await;
        if found["installed"] == true {
            home.check_whole(&what);
        } else {
            assert_eq!(found["path"], json!(null), "{what}");
        }
        answers(&daemon).await;
        home.check_whole(&what);
        assert_eq!(home.stages(), [] as [PathBuf; 0], "{what}");
        drop(daemon);
        answers(&other.daemon(&mirror, &home.cache())).await;
        other.check_whole(&what);
    }
    for state in ["a part", "a stage", "no tree", "all"] {
        assert!(left.contains(state), "no kill left {state}: {left:?}");
    }
}
