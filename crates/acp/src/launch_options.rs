//! The launch options of one instance, validated when a client sends them.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use process::ProcessSpec;
use protocol::acp::PrepareInstanceRequest;

use crate::Error;

/// Upper limit for `lingerMs`. An instance that should live longer needs no limit: a client deletes it.
const LINGER_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Additions to the command line of an instance's agent. Empty unless a client prepared the instance.
/// Not `Debug`, as `env` may hold secrets.
#[derive(Clone, Default)]
pub(crate) struct LaunchOptions {
    cwd: Option<PathBuf>,
    env: BTreeMap<String, String>,
    args: Vec<String>,
}

impl LaunchOptions {
    /// Checks that a process can be started with the options in `request`.
    pub(crate) fn from_request(request: &PrepareInstanceRequest) -> Result<Self, Error> {
        if let Some(cwd) = &request.cwd {
            let directory = Path::new(cwd);
            if !directory.is_absolute() || !directory.is_dir() {
                return Err(Error::InvalidLaunch(format!(
                    "`cwd` must be the absolute path of an existing directory, but is `{cwd}`"
                )));
            }
        }
        for (name, value) in &request.env {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                return Err(Error::InvalidLaunch(format!(
                    "the variable `{name}` in `env` must have a name without `=`, and no NUL in its name or value"
                )));
            }
        }
        if request.args.iter().any(|arg| arg.contains('\0')) {
            return Err(Error::InvalidLaunch("`args` must not contain NUL".into()));
        }
        Ok(Self {
            cwd: request.cwd.as_ref().map(PathBuf::from),
            env: request.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            args: request.args.clone(),
        })
    }

    /// Adds the options to the agent's usual command line.
    pub(crate) fn apply_to(&self, mut spec: ProcessSpec) -> ProcessSpec {
        spec.cwd.clone_from(&self.cwd);
        for (name, value) in &self.env {
            spec = spec.env(name, value);
        }
        spec.args(&self.args)
    }
}

/// Checks that an instance may linger for this long.
pub(crate) fn check_linger(linger: Duration) -> Result<Duration, Error> {
    if linger.is_zero() || linger > LINGER_MAX {
        let max_ms = LINGER_MAX.as_millis();
        return Err(Error::InvalidLaunch(format!("`lingerMs` must be between 1 and {max_ms}")));
    }
    Ok(linger)
}
