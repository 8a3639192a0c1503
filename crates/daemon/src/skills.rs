//! Skills: from what is configured to directories that agents can read.
//!
//! A skill is a directory that holds a `SKILL.md`. A source may be one, or hold many.

mod git;
mod url;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    path::{Component, Path, PathBuf},
};

use protocol::config::{Skill, SkillSource, SkillSourceKind};
use server::ErrorChain;
use tracing::warn;

use git::Repositories;

/// How many skills are taken from one source; what has more is no source of skills.
const SKILLS_MAX: usize = 256;

/// The file that makes a directory a skill.
const MARK: &str = "SKILL.md";

/// Where repositories keep their skills.
const PLACES: [&str; 3] = ["", "skills", ".claude/skills"];

/// What is known of skills.
pub(crate) struct Skills {
    repositories: Repositories,
}

/// Why a source gives no skills.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("`subpath` must lead into the source, and `{0}` does not")]
    Subpath(String),
    #[error("there is no skill at `{}`", .0.display())]
    Nothing(PathBuf),
    #[error("could not read `{}`", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Git(#[from] git::Error),
    #[error("the search for skills broke off")]
    Died,
}

impl Skills {
    /// Repositories are kept in `cache`; git does not inherit the variables `env_remove`.
    pub(crate) fn new(cache: PathBuf, env_remove: Vec<OsString>) -> Self {
        Self { repositories: Repositories::new(cache, env_remove) }
    }

    /// The directories of all skills of these entries, by the name of the skill. A source that cannot be had is told in
    /// the log and left out: the agent is of use without it.
    pub(crate) async fn resolve(
        &self,
        directory: &Path,
        entries: &BTreeMap<String, Skill>,
    ) -> BTreeMap<String, PathBuf> {
        let mut all = BTreeMap::new();
        for (entry, skill) in entries {
            for source in &skill.sources {
                match self.of(directory, entry, source).await {
                    // What came first stays.
                    Ok(found) => {
                        found.into_iter().for_each(|(name, path)| _ = all.entry(name).or_insert(path))
                    }
                    Err(error) => warn!(entry, error = %ErrorChain(&error), "skills cannot be had"),
                }
            }
        }
        all
    }

    async fn of(
        &self,
        directory: &Path,
        entry: &str,
        source: &SkillSource,
    ) -> Result<Vec<(String, PathBuf)>, Error> {
        let root = match source.kind {
            SkillSourceKind::Local => directory.join(&source.source),
            SkillSourceKind::Git => {
                self.repositories.tree(&source.source, source.reference.as_deref()).await?
            }
            SkillSourceKind::Github => {
                let repository = url::github(&source.source).map_err(git::Error::from)?;
                self.repositories.tree(&repository, source.reference.as_deref()).await?
            }
        };
        let root = within(&root, source.subpath.as_deref())?;
        // The directory of a repository has a name of ours.
        let own_name = match (source.kind, &source.subpath, root.file_name()) {
            (SkillSourceKind::Local, _, Some(name)) | (_, Some(_), Some(name)) => {
                name.to_string_lossy().into_owned()
            }
            _ => entry.to_owned(),
        };
        let wanted = source.skills.clone();
        let found = tokio::task::spawn_blocking(move || find(&root, &own_name));
        let mut found = found.await.map_err(|_| Error::Died)??;
        found.retain(|(name, _)| wanted.as_ref().is_none_or(|wanted| wanted.contains(name)));
        Ok(found)
    }
}

/// A directory below `root`.
fn within(root: &Path, subpath: Option<&str>) -> Result<PathBuf, Error> {
    let Some(subpath) = subpath else { return Ok(root.to_path_buf()) };
    let inside = |component| matches!(component, Component::Normal(_) | Component::CurDir);
    match Path::new(subpath).components().all(inside) {
        true => Ok(root.join(subpath)),
        false => Err(Error::Subpath(subpath.into())),
    }
}

/// The skills at `root`: itself, or those that it holds.
fn find(root: &Path, own_name: &str) -> Result<Vec<(String, PathBuf)>, Error> {
    if root.join(MARK).is_file() && is_name(own_name) {
        return Ok(vec![(own_name.to_owned(), root.to_path_buf())]);
    }
    let mut found = Vec::new();
    for place in PLACES.map(|place| root.join(place)) {
        let entries = match place.read_dir() {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound && place != root.join("") => continue,
            Err(source) => return Err(Error::Unreadable { path: place, source }),
        };
        for entry in entries.flatten().filter(|entry| entry.path().join(MARK).is_file()) {
            let name = entry.file_name().to_string_lossy().into_owned();
            if is_name(&name) && found.len() < SKILLS_MAX {
                found.push((name, entry.path()));
            }
        }
    }
    // The order of a directory is nobody's; that of names is the same everywhere.
    found.sort();
    if found.is_empty() { Err(Error::Nothing(root.to_path_buf())) } else { Ok(found) }
}

/// Whether a directory can be called that.
fn is_name(name: &str) -> bool {
    let mut components = Path::new(name).components();
    matches!((components.next(), components.next()), (Some(Component::Normal(_)), None))
}

#[cfg(test)]
mod tests;
