//! Lets a program with a temporary home use the caches of the user who runs the test.

use std::path::PathBuf;

/// Environment variables that point a program with a temporary home to the real user's download cache, npm settings
/// and npm cache. Without them every test would download its agents again, and from the public registry instead of
/// the user's own.
pub fn user_cache_env() -> [(String, String); 3] {
    let home = PathBuf::from(variable("HOME").unwrap_or_default());
    let defaults = [
        ("TOMBOLO_CACHE_DIR", ".cache/tombolo"),
        ("NPM_CONFIG_USERCONFIG", ".npmrc"),
        ("npm_config_cache", ".npm"),
    ];
    defaults.map(|(name, default)| {
        let path = variable(name).unwrap_or_else(|| home.join(default).display().to_string());
        (name.to_owned(), path)
    })
}

/// A variable of the test process; an empty one counts as unset.
#[expect(clippy::disallowed_methods, reason = "tests and benchmarks have no `main` that could read it")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
