//! Reads tokens from an option, a file or the environment.

use std::path::Path;

use anyhow::Context;

use secrecy::ExposeSecret;
pub(crate) use secrecy::SecretString;

use crate::environment;

/// The token of a daemon.
pub(crate) const TOKEN_VARIABLE: &str = "TOMBOLO_TOKEN";

/// A token of a hub.
pub(crate) const HUB_TOKEN_VARIABLE: &str = "TOMBOLO_HUB_TOKEN";

/// The token with which a daemon joins a hub.
pub(crate) const JOIN_TOKEN_VARIABLE: &str = "TOMBOLO_JOIN_TOKEN";

/// The token with which a device connects to a hub.
pub(crate) const DEVICE_TOKEN_VARIABLE: &str = "TOMBOLO_DEVICE_TOKEN";

/// All variables with tokens. They are removed from the environment of child processes.
pub(crate) const VARIABLES: [&str; 4] =
    [TOKEN_VARIABLE, HUB_TOKEN_VARIABLE, JOIN_TOKEN_VARIABLE, DEVICE_TOKEN_VARIABLE];

/// The token from the option, else from the file, else from the environment variable.
pub(crate) fn token(
    option: Option<&SecretString>,
    file: Option<&Path>,
    variable: &str,
) -> anyhow::Result<Option<SecretString>> {
    if let Some(token) = option {
        return Ok(Some(token.expose_secret().trim().into()));
    }
    if let Some(path) = file {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("could not read the token file `{}`", path.display()))?;
        return Ok(Some(text.trim().into()));
    }
    let Some(value) = environment::variable(variable) else { return Ok(None) };
    let text = value.to_str().with_context(|| format!("the value of {variable} is not valid UTF-8"))?;
    Ok(Some(text.trim().into()))
}
