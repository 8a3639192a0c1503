//! The credentials that people have on this machine, found where each agent keeps them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Read,
    path::Path,
};

use jiff::Timestamp;
use protocol::AgentName;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use crate::{
    Definition, UserEnvironment,
    table::{CredentialFile, Credentials},
};

/// What is larger is no file of credentials.
const FILE_BYTES_MAX: u64 = 32 << 20;

/// One credential.
#[derive(Debug, Clone)]
pub struct Credential {
    /// Whose it is.
    pub agent: AgentName,
    /// The variable that hands it to the agent; none if only the file does.
    pub variable: Option<String>,
    /// The file that it was found in; none if that is the variable itself.
    pub file: Option<String>,
    /// Until when it can be used; for good, as far as we know, if none.
    pub expires_at: Option<Timestamp>,
    /// Whether it is in a file that the agent does not read by itself.
    pub lent: bool,
    /// The credential.
    pub secret: SecretString,
}

impl Credential {
    /// Whether it can be used at that time.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|expires_at| now < expires_at)
    }
}

/// Every credential of an agent, in the order in which the agent would take them: variables before files.
///
/// A file that cannot be read holds none, as far as we can tell.
pub fn find_credentials(agent: &Definition, environment: &UserEnvironment) -> Vec<Credential> {
    let Credentials { variables, files, .. } = &agent.credentials;
    let of_variables = variables.iter().filter_map(|name| {
        let value = environment.variables.get(name).filter(|value| !value.is_empty())?;
        Some(Credential {
            agent: agent.id.clone(),
            variable: Some(name.clone()),
            file: None,
            expires_at: None,
            lent: false,
            secret: value.trim().into(),
        })
    });
    let of_files = files.iter().filter_map(|file| {
        let content = read(&environment.home.as_ref()?.join(&file.path))?;
        let secret = content.pointer(&file.pointer)?.as_str().filter(|text| !text.is_empty())?;
        Some(Credential {
            agent: agent.id.clone(),
            variable: file.variable.clone(),
            file: Some(file.path.clone()),
            expires_at: expiry(file, &content),
            lent: file.lent,
            secret: secret.trim().into(),
        })
    });
    of_variables.chain(of_files).collect()
}

/// The variables that an agent is handed besides those that it inherits: of credentials that it does not find by itself.
pub fn lent_credentials(agent: &Definition, environment: &UserEnvironment) -> BTreeMap<String, String> {
    let all = find_credentials(agent, environment);
    let inherited = BTreeSet::from_iter(all.iter().filter(|one| one.file.is_none()).map(|one| &one.variable));
    let lent = all.iter().filter(|one| one.lent && !inherited.contains(&one.variable));
    let lent = lent.filter(|one| one.is_valid(Timestamp::now()));
    lent.filter_map(|one| Some((one.variable.clone()?, one.secret.expose_secret().to_owned()))).collect()
}

/// When the credential of a file expires. Agents note it in milliseconds.
fn expiry(file: &CredentialFile, content: &Value) -> Option<Timestamp> {
    Timestamp::from_millisecond(content.pointer(file.expires.as_ref()?)?.as_i64()?).ok()
}

fn read(path: &Path) -> Option<Value> {
    let mut text = Vec::new();
    let file = fs::File::open(path).ok().filter(|file| file.metadata().is_ok_and(|about| about.is_file()))?;
    file.take(FILE_BYTES_MAX).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

#[cfg(test)]
mod tests;
