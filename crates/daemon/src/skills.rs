//! Turns configured skill sources into directories that agents can read.
//!
//! A skill is a directory with a `SKILL.md`. A source is one skill, or contains several.

mod repository_cache;
mod repository_url;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    path::{Component, Path, PathBuf},
};

use protocol::{
    config::{Skill, SkillSource, SkillSourceKind},
    sessions::AgentError,
};
use server::ErrorChain;
use tracing::warn;

use repository_cache::{RepositoryCache, RepositoryError};

/// How many skills are used from one source. A directory with more is hardly a source of skills.
const SKILLS_MAX: usize = 256;

/// The file that makes a directory a skill.
const SKILL_FILE: &str = "SKILL.md";

/// Where repositories store their skills.
const SKILL_DIRECTORIES: [&str; 3] = ["", "skills", ".claude/skills"];

/// Resolves skill sources.
pub(crate) struct SkillResolver {
    repositories: RepositoryCache,
}

/// A source has no usable skills.
#[derive(Debug, thiserror::Error)]
enum SkillError {
    #[error("`subpath` must be a relative path without `..`, but is `{0}`")]
    Subpath(String),
    #[error("there is no directory with a SKILL.md in `{}`", .0.display())]
    NotFound(PathBuf),
    #[error("could not read `{}`", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    #[error("the search for skills panicked")]
    Panicked,
}

impl SkillResolver {
    /// Caches repositories in `cache`. Git does not inherit the variables in `env_remove`.
    pub(crate) fn new(cache: PathBuf, env_remove: Vec<OsString>) -> Self {
        Self { repositories: RepositoryCache::new(cache, env_remove) }
    }

    /// The directories of all skills of these entries, by the name of the skill, and a warning for each source that fails: the
    /// agent is useful without it.
    pub(crate) async fn resolve(
        &self,
        directory: &Path,
        entries: &BTreeMap<String, Skill>,
    ) -> (BTreeMap<String, PathBuf>, Vec<AgentError>) {
        let (mut all, mut warnings) = (BTreeMap::new(), Vec::new());
        for (entry, skill) in entries {
            for source in &skill.sources {
                match self.find_in_source(directory, entry, source).await {
                    Ok(found) => {
                        for (name, path) in found {
                            // The first source wins.
                            all.entry(name).or_insert(path);
                        }
                    }
                    Err(error) => {
                        let message = ErrorChain(&error).to_string();
                        warn!(entry, error = message, "could not load the skills of a source");
                        warnings.push(AgentError::SkillUnavailable { skill: entry.clone(), message });
                    }
                }
            }
        }
        (all, warnings)
    }

    async fn find_in_source(
        &self,
        directory: &Path,
        entry: &str,
        source: &SkillSource,
    ) -> Result<Vec<(String, PathBuf)>, SkillError> {
        let root = match source.kind {
            SkillSourceKind::Local => directory.join(&source.source),
            SkillSourceKind::Git => {
                self.repositories.fetch_tree(&source.source, source.reference.as_deref()).await?
            }
            SkillSourceKind::Github => {
                let repository = repository_url::github(&source.source).map_err(RepositoryError::from)?;
                self.repositories.fetch_tree(&repository, source.reference.as_deref()).await?
            }
        };
        let root = join_subpath(&root, source.subpath.as_deref())?;
        // The directory of a cached repository is named after a commit, which is no name for a skill.
        let own_name = match (source.kind, &source.subpath, root.file_name()) {
            (SkillSourceKind::Local, _, Some(name)) | (_, Some(_), Some(name)) => {
                name.to_string_lossy().into_owned()
            }
            _ => entry.to_owned(),
        };
        let wanted = source.skills.clone();
        let found = tokio::task::spawn_blocking(move || find(&root, &own_name));
        let mut found = found.await.map_err(|_| SkillError::Panicked)??;
        found.retain(|(name, _)| wanted.as_ref().is_none_or(|wanted| wanted.contains(name)));
        Ok(found)
    }
}

/// Joins `subpath`, which must not lead out of `root`.
fn join_subpath(root: &Path, subpath: Option<&str>) -> Result<PathBuf, SkillError> {
    let Some(subpath) = subpath else { return Ok(root.to_path_buf()) };
    let is_below = |component| matches!(component, Component::Normal(_) | Component::CurDir);
    if Path::new(subpath).components().all(is_below) {
        Ok(root.join(subpath))
    } else {
        Err(SkillError::Subpath(subpath.into()))
    }
}

/// The skills at `root`: itself, or the ones in its usual directories.
fn find(root: &Path, own_name: &str) -> Result<Vec<(String, PathBuf)>, SkillError> {
    if root.join(SKILL_FILE).is_file() && is_name(own_name) {
        return Ok(vec![(own_name.to_owned(), root.to_path_buf())]);
    }
    let mut found = Vec::new();
    for directory in SKILL_DIRECTORIES.map(|directory| root.join(directory)) {
        let entries = match directory.read_dir() {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound && directory != root.join("") => continue,
            Err(source) => return Err(SkillError::Unreadable { path: directory, source }),
        };
        for entry in entries.flatten().filter(|entry| entry.path().join(SKILL_FILE).is_file()) {
            let name = entry.file_name().to_string_lossy().into_owned();
            if is_name(&name) && found.len() < SKILLS_MAX {
                found.push((name, entry.path()));
            }
        }
    }
    // `read_dir` returns entries in no particular order.
    found.sort();
    if found.is_empty() { Err(SkillError::NotFound(root.to_path_buf())) } else { Ok(found) }
}

/// Whether `name` is a single path component, so that it cannot lead elsewhere.
fn is_name(name: &str) -> bool {
    let mut components = Path::new(name).components();
    matches!((components.next(), components.next()), (Some(Component::Normal(_)), None))
}

#[cfg(test)]
mod tests;
