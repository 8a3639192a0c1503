//! A cache of git repositories, one immutable directory per commit.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use process::{FramedLine, ProcessSpec};
use secrecy::ExposeSecret;
use server::ErrorChain;
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use tokio::sync::Semaphore;
use tracing::warn;

use super::repository_url::{self, InvalidRepositoryUrl, RepositoryUrl};

/// How long a branch or tag is assumed to point to the same commit.
const REFERENCE_TTL: Duration = Duration::from_secs(600);

/// How long git may take to fetch a repository. The start of an agent waits for it.
const FETCH_MAX: Duration = Duration::from_secs(60);

/// The largest repository that is cached, without its history.
const TREE_BYTES_MAX: u64 = 256 << 20;

/// How many repositories are fetched at a time.
const FETCHES_MAX: usize = 2;

/// How many trees are cached. The one that was fetched first is evicted first.
const TREES_MAX: usize = 128;

/// The protocols that git may use. `ext` and others are left out, because their URLs can name a program to run.
const GIT_PROTOCOLS: &str = "file:git:http:https:ssh";

/// The repositories that were fetched.
pub(super) struct RepositoryCache {
    cache: PathBuf,
    env_remove: Vec<OsString>,
    fetch_permits: Semaphore,
}

/// A repository could not be fetched.
#[derive(Debug, thiserror::Error)]
pub(super) enum RepositoryError {
    #[error(transparent)]
    Url(#[from] InvalidRepositoryUrl),
    #[error("`ref` must be a branch, a tag or a commit, but is `{0}`")]
    Reference(String),
    #[error("could not run git; is it installed?")]
    Start(#[from] process::Error),
    #[error("git could not {action}: {stderr}")]
    Failed { action: &'static str, stderr: String },
    #[error("git did not finish within {} s", FETCH_MAX.as_secs())]
    TooSlow,
    #[error("the repository is larger than the limit of {TREE_BYTES_MAX} bytes")]
    TooLarge,
    #[error("could not write to `{}`", path.display())]
    Cache { path: PathBuf, source: io::Error },
    #[error("the daemon is shutting down")]
    ShuttingDown,
}

impl RepositoryCache {
    pub(super) fn new(cache: PathBuf, env_remove: Vec<OsString>) -> Self {
        Self { cache, env_remove, fetch_permits: Semaphore::new(FETCHES_MAX) }
    }

    /// The directory with the files of a repository at a branch, tag or commit. If it cannot be fetched, the last fetched
    /// version is returned.
    pub(super) async fn fetch_tree(
        &self,
        source: &str,
        reference: Option<&str>,
    ) -> Result<PathBuf, RepositoryError> {
        let url = repository_url::parse(source)?;
        let reference = reference.unwrap_or("HEAD");
        if reference.is_empty() || reference.starts_with('-') || reference.contains(char::is_control) {
            return Err(RepositoryError::Reference(reference.into()));
        }
        let home = self.cache.join(hashed_name(&url.url));
        let cached = CachedReference::read(&home, reference);
        if let Some(cached) = cached.as_ref().filter(|cached| cached.is_fresh) {
            return Ok(cached.tree.clone());
        }
        let _permit = self.fetch_permits.acquire().await.map_err(|_| RepositoryError::ShuttingDown)?;
        let fetched = tokio::time::timeout(FETCH_MAX, self.fetch(&url, reference, &home)).await;
        match (fetched.unwrap_or(Err(RepositoryError::TooSlow)), cached) {
            (Err(error), Some(cached)) => {
                warn!(error = %ErrorChain(&error), "could not fetch a repository of skills; using the last fetched version");
                Ok(cached.tree)
            }
            (fetched, _) => fetched,
        }
    }

    async fn fetch(
        &self,
        url: &RepositoryUrl,
        reference: &str,
        home: &Path,
    ) -> Result<PathBuf, RepositoryError> {
        let write_error = |source| RepositoryError::Cache { path: home.to_path_buf(), source };
        fs::create_dir_all(home).map_err(write_error)?;
        // Next to its final place, so that one rename moves it there. Deleted on drop if anything fails.
        let checkout = tempfile::tempdir_in(home).map_err(write_error)?;
        let git = |args: &[&str]| self.git(url).arg("-C").arg(checkout.path()).args(args.iter().copied());
        run("create a repository", git(&["init", "--quiet"])).await?;
        let fetch = ["fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--"];
        run("fetch", git(&fetch).arg(&url.url).arg(reference)).await?;
        run("check out the files", git(&["checkout", "--quiet", "--detach", "FETCH_HEAD"])).await?;
        let commit = run("determine the commit", git(&["rev-parse", "HEAD"])).await?;
        let commit = commit.trim().to_owned();
        if commit.len() < 40 || !commit.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(RepositoryError::Failed { action: "determine the commit", stderr: commit });
        }
        let home = home.to_path_buf();
        let cache = self.cache.clone();
        let reference = reference.to_owned();
        let stored = tokio::task::spawn_blocking(move || {
            let tree = store_tree(&checkout, &home, &commit)?;
            let file = CachedReference::file(&home, &reference);
            fs::write(&file, &commit).map_err(|source| RepositoryError::Cache { path: file, source })?;
            prune(&cache, &tree);
            Ok(tree)
        });
        stored.await.map_err(|_| RepositoryError::ShuttingDown)?
    }

    fn git(&self, url: &RepositoryUrl) -> ProcessSpec {
        let mut spec =
            ProcessSpec::new("git").env("GIT_TERMINAL_PROMPT", "0").env("GIT_ALLOW_PROTOCOL", GIT_PROTOCOLS);
        spec.env_remove = self.env_remove.clone();
        let mut settings =
            vec![("core.hooksPath", "/dev/null".to_owned()), ("init.templateDir", String::new())];
        if let Some(authorization) = &url.authorization {
            settings.push(("http.extraHeader", format!("Authorization: {}", authorization.expose_secret())));
        }
        spec = spec.env("GIT_CONFIG_COUNT", settings.len().to_string());
        for (index, (key, value)) in settings.into_iter().enumerate() {
            spec = spec
                .env(format!("GIT_CONFIG_KEY_{index}"), key)
                .env(format!("GIT_CONFIG_VALUE_{index}"), value);
        }
        spec
    }
}

/// Moves the files of a commit to their final place.
fn store_tree(checkout: &TempDir, home: &Path, commit: &str) -> Result<PathBuf, RepositoryError> {
    let write_error = |source| RepositoryError::Cache { path: home.to_path_buf(), source };
    fs::remove_dir_all(checkout.path().join(".git")).map_err(write_error)?;
    if directory_bytes(checkout.path()) > TREE_BYTES_MAX {
        return Err(RepositoryError::TooLarge);
    }
    let tree = home.join(commit);
    // If the directory exists, another task fetched the same commit first, and its files are the same.
    match fs::rename(checkout.path(), &tree) {
        Err(error) if !tree.is_dir() => Err(write_error(error)),
        _ => Ok(tree),
    }
}

/// Evicts the trees that were fetched first, if there are too many.
fn prune(cache: &Path, keep: &Path) {
    let homes = fs::read_dir(cache).into_iter().flatten().flatten();
    let trees = homes.flat_map(|home| fs::read_dir(home.path()).into_iter().flatten().flatten());
    let mut trees: Vec<_> = trees
        .filter(|tree| tree.path() != keep && tree.path().is_dir())
        .filter_map(|tree| Some((tree.metadata().ok()?.modified().ok()?, tree.path())))
        .collect();
    trees.sort();
    for (_, tree) in trees.iter().take((trees.len() + 1).saturating_sub(TREES_MAX)) {
        // On an error, the next call tries again.
        let _ = fs::remove_dir_all(tree);
    }
}

/// The tree that a reference pointed to when it was last fetched.
struct CachedReference {
    tree: PathBuf,
    is_fresh: bool,
}

impl CachedReference {
    fn file(home: &Path, reference: &str) -> PathBuf {
        home.join(format!("ref-{}", hashed_name(reference)))
    }

    fn read(home: &Path, reference: &str) -> Option<Self> {
        let file = Self::file(home, reference);
        let commit = fs::read_to_string(&file).ok()?;
        let modified = file.metadata().ok()?.modified().ok()?;
        let age = SystemTime::now().duration_since(modified).unwrap_or_default();
        let tree = home.join(&commit);
        // A reference that is a commit id never changes.
        tree.is_dir().then(|| Self { is_fresh: age < REFERENCE_TTL || commit == reference, tree })
    }
}

/// Runs git and returns its output.
async fn run(action: &'static str, spec: ProcessSpec) -> Result<String, RepositoryError> {
    let mut child = process::spawn(&spec).await?;
    let mut output = String::new();
    while let Some(chunk) = child.stdout.next().await {
        for piece in chunk {
            if let FramedLine::Line(line) = piece {
                output.push_str(&String::from_utf8_lossy(line));
            }
        }
    }
    let exit = child.control.wait().await;
    match exit.code {
        Some(0) => Ok(output),
        _ => Err(RepositoryError::Failed {
            action,
            stderr: child.control.stderr_tail().trim().replace('\n', "; "),
        }),
    }
}

/// A file name for text with arbitrary characters.
fn hashed_name(text: &str) -> String {
    Sha256::digest(text).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn directory_bytes(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => directory_bytes(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}
