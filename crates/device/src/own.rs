//! What decides what a device is and does: it is not lent with a directory that happens to hold it.

use std::{
    collections::VecDeque,
    ffi::OsString,
    fs, io,
    path::{Component, Path, PathBuf},
};

use protocol::relay::RootMode;
use rustix::io::Errno;

use crate::{BuildError, LentRoot, Surroundings, tools};

/// How many links a path may lead through; the system follows no more.
const LINKS_MAX: usize = 40;

/// Something that decides what a device is and does.
#[derive(Debug)]
struct Own {
    what: &'static str,
    path: PathBuf,
    /// What others may do with it at most; none if they must not even read it.
    may: Option<RootMode>,
}

/// Looks whether a directory that is lent holds something that decides what the device is and does: who can read its token
/// can be the device, and who can write what it runs does whatever its owner can at its next start.
///
/// # Errors
/// If one does; both are named.
pub(crate) fn apart(
    roots: &[LentRoot],
    surroundings: &Surroundings<'_>,
    tools: Option<(&Path, &tools::Config)>,
) -> Result<(), BuildError> {
    let own = own(surroundings, tools);
    for LentRoot { root, directory } in roots {
        let lent = look(directory, directory.canonicalize())?;
        for Own { what, path, may } in own.iter().filter(|own| own.may != Some(root.mode)) {
            if look(path, Way::of(path))?.leads_into(&lent, root.mode) {
                return Err(BuildError::Holds {
                    directory: directory.clone(),
                    what,
                    path: path.clone(),
                    verdict: if may.is_some() {
                        "lend it read-only (`ro`), or move the file out of it"
                    } else {
                        "lend another directory, or move the file out of it"
                    },
                });
            }
        }
    }
    Ok(())
}

/// All of it.
fn own(surroundings: &Surroundings<'_>, tools: Option<(&Path, &tools::Config)>) -> Vec<Own> {
    let Surroundings { home, config, token, unit, program, .. } = surroundings;
    let own = |what, path: &Path, may| Own { what, path: path.to_owned(), may };
    // The files of other devices are beside its own.
    let files = home.directory().parent().unwrap_or(home.directory());
    let mut all = vec![
        own("the device's own files, including its token", files, None),
        own("this program", program, Some(RootMode::Ro)),
    ];
    all.extend(token.map(|path| own("the device token", path, None)));
    all.extend(unit.map(|path| own("the systemd unit that starts the device", path, Some(RootMode::Ro))));
    all.extend(config.map(|path| own("the device's configuration file", path, Some(RootMode::Ro))));
    if let Some((path, tools)) = tools {
        let may = (!tools.has_secrets()).then_some(RootMode::Ro);
        all.push(own("the tools file", path, may));
        all.extend(tools.schema_files().map(|path| own("a tool's schema", &path, Some(RootMode::Ro))));
        all.extend(tools.programs().map(|path| own("a tool's program", &path, Some(RootMode::Ro))));
    }
    all
}

/// The way that a path takes through links.
#[derive(Debug, PartialEq, Eq)]
struct Way {
    /// What is looked up on it: whoever can replace one of these leads it somewhere else.
    steps: Vec<PathBuf>,
    /// Where it ends.
    end: PathBuf,
}

impl Way {
    /// What is not there is taken for what somebody may put there.
    fn of(path: &Path) -> io::Result<Self> {
        let path = std::path::absolute(path)?;
        let (mut way, mut links) = (Self { steps: Vec::new(), end: PathBuf::from("/") }, 0);
        let mut rest = names(&path);
        while let Some(name) = rest.pop_front() {
            if name == ".." {
                way.end.pop();
                continue;
            }
            let at = way.end.join(name);
            match fs::read_link(&at) {
                Ok(target) => {
                    links += 1;
                    if links > LINKS_MAX {
                        return Err(Errno::LOOP.into());
                    }
                    if target.is_absolute() {
                        way.end = PathBuf::from("/");
                    }
                    names(&target).into_iter().rev().for_each(|name| rest.push_front(name));
                }
                // It is no link, or not there.
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::InvalidInput | io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                    ) =>
                {
                    way.end.clone_from(&at);
                }
                Err(error) => return Err(error),
            }
            way.steps.push(at);
        }
        Ok(way)
    }

    /// Whether it ends in this directory or above it, or could be led elsewhere by who may change what is in there.
    fn leads_into(&self, lent: &Path, mode: RootMode) -> bool {
        let passes = self.steps.iter().any(|step| step != lent && step.starts_with(lent));
        self.end.starts_with(lent) || lent.starts_with(&self.end) || mode == RootMode::Rw && passes
    }
}

fn names(path: &Path) -> VecDeque<OsString> {
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    });
    names.collect()
}

fn look<T>(path: &Path, looked: io::Result<T>) -> Result<T, BuildError> {
    looked.map_err(|source| BuildError::Look { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests;
