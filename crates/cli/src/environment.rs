//! The variables that this program was started with.

use std::ffi::OsString;

/// A variable that is set and not empty.
#[expect(clippy::disallowed_methods, reason = "this is where configuration is read")]
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
