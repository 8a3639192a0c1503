//! The secrets of a session, in a private file of their own.
//!
//! The journal is read by many parts and lives long, so nothing that may hold a key is written to it. The record of a session
//! only says whether this file exists.

use std::{collections::BTreeMap, fmt, io, path::Path};

use files::private_file;
use protocol::{
    config::{McpServer, Skill},
    sessions::CreateSessionRequest,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The name of the file, in the private directory of the session.
const FILE: &str = "secrets.json";

/// The parts of a request that may hold secrets: variables, headers and addresses.
///
/// The API key (`token`) is not among them: it is held in memory only.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SessionSecrets {
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) mcp: BTreeMap<String, McpServer>,
    #[serde(default)]
    pub(crate) skills: BTreeMap<String, Skill>,
}

impl SessionSecrets {
    /// The secrets of a request.
    pub(crate) fn new(request: &CreateSessionRequest) -> Self {
        Self { env: request.env.clone(), mcp: request.mcp.clone(), skills: request.skills.clone() }
    }

    /// The secrets that an earlier version stored with the options of a session.
    pub(crate) fn from_legacy(fields: Map<String, Value>) -> serde_json::Result<Self> {
        serde_json::from_value(Value::Object(fields))
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Writes the file to the private directory of a session.
    pub(crate) fn write(&self, private: &Path) -> io::Result<()> {
        private_file::create_directory(private)?;
        private_file::write(&private.join(FILE), &serde_json::to_vec(self)?)
    }

    /// Reads the file from the private directory of a session; `None` if there is none.
    pub(crate) fn read(private: &Path) -> io::Result<Option<Self>> {
        let content = private_file::read(&private.join(FILE))?;
        Ok(content.map(|content| serde_json::from_slice(&content)).transpose()?)
    }
}

impl fmt::Debug for SessionSecrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SessionSecrets").finish_non_exhaustive()
    }
}
