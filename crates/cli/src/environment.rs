//! The variables that this program was started with.

use std::{collections::BTreeMap, ffi::OsString};

use crate::secret;

/// A variable that is set and not empty.
#[expect(clippy::disallowed_methods, reason = "this is where configuration is read")]
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Every variable, without what lets us in elsewhere.
pub(crate) fn without_secrets() -> BTreeMap<OsString, OsString> {
    std::env::vars_os().filter(|(name, _)| !secret::VARIABLES.iter().any(|secret| name == secret)).collect()
}

/// Every variable whose name and value are texts.
pub(crate) fn variables() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}
