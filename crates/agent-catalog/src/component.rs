//! The names of components.

use std::{fmt, str::FromStr};

use protocol::{AgentName, InvalidId};
use serde::{Deserialize, Serialize};

/// The name of something that can be put on disk. Like an agent's name, it is safe as the name of a directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ComponentName(AgentName);

impl ComponentName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl FromStr for ComponentName {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        text.parse().map(Self)
    }
}

/// An agent's own component has its name.
impl From<AgentName> for ComponentName {
    fn from(agent: AgentName) -> Self {
        Self(agent)
    }
}

impl fmt::Display for ComponentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
