//! Repositories: fetched with `git` into directories that never change.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use process::{Piece, Spec};
use server::ErrorChain;
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use tokio::sync::Semaphore;
use tracing::warn;

use super::url::{self, Address};

/// How long a branch or tag is taken for what it was.
const FRESH: Duration = Duration::from_secs(600);

/// How long git may take for one repository: an agent waits for it.
const FETCH_MAX: Duration = Duration::from_secs(60);

/// The largest repository that is kept, without its history.
const TREE_BYTES_MAX: u64 = 256 << 20;

/// How many repositories are fetched at a time.
const FETCHES_MAX: usize = 2;

/// How many trees are kept; the one that was fetched first goes first.
const TREES_MAX: usize = 128;

/// What git may speak: nothing that runs a program of the address's choice.
const PROTOCOLS: &str = "file:git:http:https:ssh";

/// The repositories that were fetched.
pub(super) struct Repositories {
    cache: PathBuf,
    env_remove: Vec<OsString>,
    places: Semaphore,
}

/// Why a repository cannot be had.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error(transparent)]
    Address(#[from] url::Invalid),
    #[error("`ref` must be a branch, a tag or a commit, and `{0}` is none")]
    Reference(String),
    #[error("could not run git")]
    Start(#[from] process::Error),
    #[error("git could not {doing}: {said}")]
    Failed { doing: &'static str, said: String },
    #[error("git took longer than {} s", FETCH_MAX.as_secs())]
    TooSlow,
    #[error("it is larger than {TREE_BYTES_MAX} bytes")]
    TooLarge,
    #[error("could not write to `{}`", path.display())]
    Cache { path: PathBuf, source: io::Error },
    #[error("the daemon is ending")]
    Ending,
}

impl Repositories {
    pub(super) fn new(cache: PathBuf, env_remove: Vec<OsString>) -> Self {
        Self { cache, env_remove, places: Semaphore::new(FETCHES_MAX) }
    }

    /// The files of a repository at a branch, tag or commit. If it cannot be fetched, those that were last.
    pub(super) async fn tree(&self, source: &str, reference: Option<&str>) -> Result<PathBuf, Error> {
        let address = url::parse(source)?;
        let reference = reference.unwrap_or("HEAD");
        if reference.is_empty() || reference.starts_with('-') || reference.contains(char::is_control) {
            return Err(Error::Reference(reference.into()));
        }
        let home = self.cache.join(name(&address.url));
        let kept = Kept::read(&home, reference);
        if let Some(kept) = kept.as_ref().filter(|kept| kept.is_fresh) {
            return Ok(kept.tree.clone());
        }
        let _place = self.places.acquire().await.map_err(|_| Error::Ending)?;
        let fetched = tokio::time::timeout(FETCH_MAX, self.fetch(&address, reference, &home)).await;
        match (fetched.unwrap_or(Err(Error::TooSlow)), kept) {
            (Err(error), Some(kept)) => {
                warn!(error = %ErrorChain(&error), "a repository of skills cannot be fetched; the last one is used");
                Ok(kept.tree)
            }
            (fetched, _) => fetched,
        }
    }

    async fn fetch(&self, address: &Address, reference: &str, home: &Path) -> Result<PathBuf, Error> {
        let written = |source| Error::Cache { path: home.to_path_buf(), source };
        fs::create_dir_all(home).map_err(written)?;
        // Beside its place, so that it gets there with one rename; gone if anything fails.
        let beside = tempfile::tempdir_in(home).map_err(written)?;
        let at = |args: &[&str]| self.git(address).arg("-C").arg(beside.path()).args(args.iter().copied());
        run("make a repository", at(&["init", "--quiet"])).await?;
        let fetch = ["fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--"];
        run("fetch", at(&fetch).arg(&address.url).arg(reference)).await?;
        run("unpack", at(&["checkout", "--quiet", "--detach", "FETCH_HEAD"])).await?;
        let commit = run("name the commit", at(&["rev-parse", "HEAD"])).await?;
        let commit = commit.trim().to_owned();
        if commit.len() < 40 || !commit.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(Error::Failed { doing: "name the commit", said: commit });
        }
        let (home, cache, reference) = (home.to_path_buf(), self.cache.clone(), reference.to_owned());
        let placed = tokio::task::spawn_blocking(move || {
            let tree = place(&beside, &home, &commit)?;
            let file = Kept::file(&home, &reference);
            fs::write(&file, &commit).map_err(|source| Error::Cache { path: file, source })?;
            prune(&cache, &tree);
            Ok(tree)
        });
        placed.await.map_err(|_| Error::Ending)?
    }

    fn git(&self, address: &Address) -> Spec {
        let mut spec = Spec::new("git").env("GIT_TERMINAL_PROMPT", "0").env("GIT_ALLOW_PROTOCOL", PROTOCOLS);
        spec.env_remove = self.env_remove.clone();
        let mut settings =
            vec![("core.hooksPath", "/dev/null".to_owned()), ("init.templateDir", String::new())];
        if let Some(authorization) = &address.authorization {
            settings.push(("http.extraHeader", format!("Authorization: {}", authorization.reveal())));
        }
        spec = spec.env("GIT_CONFIG_COUNT", settings.len().to_string());
        for (at, (key, value)) in settings.into_iter().enumerate() {
            spec = spec.env(format!("GIT_CONFIG_KEY_{at}"), key).env(format!("GIT_CONFIG_VALUE_{at}"), value);
        }
        spec
    }
}

/// Puts the files of a commit where they stay.
fn place(beside: &TempDir, home: &Path, commit: &str) -> Result<PathBuf, Error> {
    let written = |source| Error::Cache { path: home.to_path_buf(), source };
    fs::remove_dir_all(beside.path().join(".git")).map_err(written)?;
    if bytes_of(beside.path()) > TREE_BYTES_MAX {
        return Err(Error::TooLarge);
    }
    let tree = home.join(commit);
    // Somebody may have been faster; then it is the same.
    match fs::rename(beside.path(), &tree) {
        Err(error) if !tree.is_dir() => Err(written(error)),
        _ => Ok(tree),
    }
}

/// Removes what was fetched first, if there is too much.
fn prune(cache: &Path, keep: &Path) {
    let homes = fs::read_dir(cache).into_iter().flatten().flatten();
    let trees = homes.flat_map(|home| fs::read_dir(home.path()).into_iter().flatten().flatten());
    let mut trees: Vec<_> = trees
        .filter(|tree| tree.path() != keep && tree.path().is_dir())
        .filter_map(|tree| Some((tree.metadata().ok()?.modified().ok()?, tree.path())))
        .collect();
    trees.sort();
    for (_, tree) in trees.iter().take((trees.len() + 1).saturating_sub(TREES_MAX)) {
        // One that stays is removed the next time.
        let _ = fs::remove_dir_all(tree);
    }
}

/// What a reference was when it was last looked at.
struct Kept {
    tree: PathBuf,
    is_fresh: bool,
}

impl Kept {
    fn file(home: &Path, reference: &str) -> PathBuf {
        home.join(format!("ref-{}", name(reference)))
    }

    fn read(home: &Path, reference: &str) -> Option<Self> {
        let file = Self::file(home, reference);
        let commit = fs::read_to_string(&file).ok()?;
        let modified = file.metadata().ok()?.modified().ok()?;
        let age = SystemTime::now().duration_since(modified).unwrap_or_default();
        let tree = home.join(&commit);
        // A commit is what it was for ever.
        tree.is_dir().then(|| Self { is_fresh: age < FRESH || commit == reference, tree })
    }
}

/// Runs git to its end; what it printed.
async fn run(doing: &'static str, spec: Spec) -> Result<String, Error> {
    let mut child = process::spawn(&spec).await?;
    let mut printed = String::new();
    while let Some(chunk) = child.stdout.next().await {
        for piece in chunk {
            if let Piece::Line(line) = piece {
                printed.push_str(&String::from_utf8_lossy(line));
            }
        }
    }
    let exit = child.control.wait().await;
    match exit.code {
        Some(0) => Ok(printed),
        _ => Err(Error::Failed { doing, said: child.control.stderr_tail().trim().replace('\n', "; ") }),
    }
}

/// A name for what may hold any character.
fn name(text: &str) -> String {
    Sha256::digest(text).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn bytes_of(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => bytes_of(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}
