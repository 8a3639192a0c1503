//! The user's environment: where the configuration of npm and the credentials of agents are.

use std::{collections::BTreeMap, fmt, path::PathBuf};

/// The variables and directories of the user for whom agents are installed and started.
#[derive(Clone, Default)]
pub struct UserEnvironment {
    /// The variables of the process: credentials, `npm_config_…`, and those that configuration files refer to.
    pub variables: BTreeMap<String, String>,
    /// The user's home, which holds `.npmrc` and the agents' own logins.
    pub home: Option<PathBuf>,
    /// The directory whose `.npmrc` counts as the project's.
    pub project: Option<PathBuf>,
}

/// Variables hold keys and tokens, so they are not shown.
impl fmt::Debug for UserEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserEnvironment")
            .field("home", &self.home)
            .field("project", &self.project)
            .finish_non_exhaustive()
    }
}
