//! The environment variables of this process.

use std::{collections::BTreeMap, ffi::OsString};

use crate::secret;

/// The value of a variable; an empty one counts as unset.
#[expect(clippy::disallowed_methods, reason = "this is where configuration is read")]
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// All variables except those that hold tokens.
pub(crate) fn without_secrets() -> BTreeMap<OsString, OsString> {
    std::env::vars_os().filter(|(name, _)| !secret::VARIABLES.iter().any(|secret| name == secret)).collect()
}

/// All variables that are valid UTF-8.
pub(crate) fn variables() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}
