//! The directory in which the agent of a new session works.

use std::path::Path;

use client::Endpoint;

use crate::exit::{CommandError, local};

/// The directory of a new session.
pub(super) struct WorkingDirectory {
    /// An absolute path; the daemon's own directory if `None`.
    pub(super) path: Option<String>,
    /// The user did not name it.
    pub(super) is_guess: bool,
}

impl WorkingDirectory {
    /// The directory that the user names, else the one in which they stand if the daemon is on this machine.
    pub(super) fn choose(named: Option<&str>, daemon: &Endpoint) -> Result<Self, CommandError> {
        if let Some(named) = named {
            return Ok(Self { path: Some(resolve(named, daemon)?), is_guess: false });
        }
        let here = std::env::current_dir().ok().filter(|_| daemon.is_local_server());
        Ok(Self { path: here.and_then(|here| here.into_os_string().into_string().ok()), is_guess: true })
    }
}

/// Makes a path absolute. A relative one starts at the user's directory, which a daemon elsewhere does not have.
pub(crate) fn resolve(named: &str, daemon: &Endpoint) -> Result<String, CommandError> {
    if Path::new(named).is_absolute() {
        return Ok(named.to_owned());
    }
    if !daemon.is_local_server() {
        return Err(CommandError::Usage(format!(
            "--directory `{named}` is relative, and the daemon has other files: pass an absolute path in its sandbox"
        )));
    }
    let failed = |error| local(&format!("find the directory `{named}`"), error);
    let path = Path::new(named).canonicalize().map_err(failed)?;
    path.into_os_string()
        .into_string()
        .map_err(|_| CommandError::Usage(format!("--directory `{named}`: its path is not valid UTF-8")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_path_has_a_meaning_on_this_machine_only() {
        let [here, hub, other]: [Endpoint; 3] =
            ["http://localhost:1", "http://127.0.0.1:1/api/runtimes/far", "https://box.example"]
                .map(|url| url.parse().unwrap());
        let own = std::env::current_dir().unwrap().canonicalize().unwrap();
        assert_eq!(resolve(".", &here).unwrap(), own.to_str().unwrap());
        for elsewhere in [&hub, &other] {
            assert!(matches!(resolve(".", elsewhere), Err(CommandError::Usage(_))));
            assert_eq!(resolve("/workspace", elsewhere).unwrap(), "/workspace");
            assert_eq!(WorkingDirectory::choose(None, elsewhere).unwrap().path, None);
        }
    }
}
