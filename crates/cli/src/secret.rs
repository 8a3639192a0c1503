//! Tokens on their way in: from a flag, a file or the environment.

use std::path::Path;

use anyhow::Context;

pub(crate) use ::agents::Secret;

use crate::environment;

/// The variable that holds the token of a daemon.
pub(crate) const TOKEN_VARIABLE: &str = "TOMBOLO_TOKEN";

/// The variable that holds a token of the hub.
pub(crate) const HUB_TOKEN_VARIABLE: &str = "TOMBOLO_HUB_TOKEN";

/// The variable that holds what a daemon joins a hub with.
pub(crate) const JOIN_TOKEN_VARIABLE: &str = "TOMBOLO_JOIN_TOKEN";

/// The variable that holds what a device connects with.
pub(crate) const DEVICE_TOKEN_VARIABLE: &str = "TOMBOLO_DEVICE_TOKEN";

/// All of them: no child of ours inherits any.
pub(crate) const VARIABLES: [&str; 4] =
    [TOKEN_VARIABLE, HUB_TOKEN_VARIABLE, JOIN_TOKEN_VARIABLE, DEVICE_TOKEN_VARIABLE];

/// The token that was given: a flag before the file, and both before the variable.
pub(crate) fn token(
    flag: Option<&Secret>,
    file: Option<&Path>,
    variable: &str,
) -> anyhow::Result<Option<Secret>> {
    if let Some(token) = flag {
        return Ok(Some(token.clone()));
    }
    if let Some(path) = file {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("could not read the token from `{}`", path.display()))?;
        return Ok(Some(Secret::new(&text)));
    }
    let Some(value) = environment::variable(variable) else { return Ok(None) };
    let text = value.to_str().with_context(|| format!("{variable} is not a text"))?;
    Ok(Some(Secret::new(text)))
}
