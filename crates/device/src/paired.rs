//! What a device was paired with: a hub, and the token for it.

use std::io;

use client::Token;
use files::private_file;
use protocol::{WorkspaceName, relay::ClientId};
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};

use crate::Home;

/// What a device was paired with. Its token is for this hub and nobody else.
#[derive(Debug, Clone)]
pub struct Paired {
    /// Where the hub is.
    pub hub: String,
    /// Which device it knows this as.
    pub client_id: ClientId,
    /// The workspace that it is lent to.
    pub workspace: Option<WorkspaceName>,
    /// What lets it in.
    pub token: Token,
}

/// The file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    hub: String,
    client_id: ClientId,
    workspace: Option<WorkspaceName>,
    token: String,
}

impl Paired {
    /// What a device was paired with; none if it was not.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(home: &Home) -> io::Result<Option<Self>> {
        let Some(bytes) = private_file::read(&home.paired())? else { return Ok(None) };
        // What is wrong with it is not told with what it holds.
        let unreadable = || {
            io::Error::new(
                io::ErrorKind::InvalidData,
                "it was not written by `tombolo device pair`; pair the device again",
            )
        };
        let File { hub, client_id, workspace, token } =
            serde_json::from_slice(&bytes).map_err(|_| unreadable())?;
        let token = token.parse().map_err(|_| unreadable())?;
        Ok(Some(Self { hub, client_id, workspace, token }))
    }

    /// Keeps it, for nobody but the owner.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, home: &Home) -> io::Result<()> {
        let Self { hub, client_id, workspace, token } = self.clone();
        let token = token.expose_secret().to_owned();
        let content = serde_json::to_vec_pretty(&File { hub, client_id, workspace, token })?;
        private_file::write(&home.paired(), &content)
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    #[test]
    fn it_is_kept_for_its_owner_and_prints_no_token() {
        let directory = tempfile::tempdir().unwrap();
        let client_id: ClientId = "laptop".parse().unwrap();
        let home = Home::of(directory.path(), &client_id);
        home.create().unwrap();
        assert!(Paired::read(&home).unwrap().is_none());
        let paired = Paired {
            hub: "http://hub".into(),
            client_id,
            workspace: Some("default".parse().unwrap()),
            token: "tombolo_dev_secret".parse().unwrap(),
        };
        paired.write(&home).unwrap();
        let mode = fs::metadata(home.paired()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let read = Paired::read(&home).unwrap().unwrap();
        assert_eq!((read.hub.as_str(), read.token.expose_secret()), ("http://hub", "tombolo_dev_secret"));
        assert!(!format!("{read:?}").contains("secret"));
        fs::write(home.paired(), "{\"token\": \"tombolo_dev_secret").unwrap();
        assert!(!Paired::read(&home).unwrap_err().to_string().contains("secret"));
    }
}
