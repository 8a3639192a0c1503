//! Addresses of repositories, and what in them must not be seen.

use agents::Secret;
use base64::{Engine, prelude::BASE64_STANDARD};

/// An address that can be shown, and the key that was in it.
#[derive(Debug, PartialEq)]
pub(super) struct Address {
    pub(super) url: String,
    /// The value of the header `Authorization`.
    pub(super) authorization: Option<Secret>,
}

/// The text names no repository.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not the address of a repository")]
pub(super) struct Invalid;

/// The address of a repository on GitHub, given as `owner/name`.
pub(super) fn github(source: &str) -> Result<String, Invalid> {
    let word = |text: &str| {
        !text.is_empty()
            && !matches!(text, "." | "..")
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
    };
    match source.trim_end_matches(".git").split_once('/') {
        Some((owner, name)) if word(owner) && word(name) => {
            Ok(format!("https://github.com/{owner}/{name}.git"))
        }
        _ => Err(Invalid),
    }
}

/// Takes the key out of an address: the arguments of a process are seen by everybody on the machine.
pub(super) fn parse(source: &str) -> Result<Address, Invalid> {
    if source.is_empty() || source.starts_with('-') || source.contains(char::is_control) {
        return Err(Invalid);
    }
    let plain = || Ok(Address { url: source.into(), authorization: None });
    let Some((scheme @ ("http" | "https"), rest)) = source.split_once("://") else { return plain() };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let Some((user, host)) = authority.rsplit_once('@') else { return plain() };
    let user = percent_encoding::percent_decode_str(user).decode_utf8_lossy();
    let user = if user.contains(':') { user.into_owned() } else { format!("{user}:") };
    let authorization = Secret::new(&format!("Basic {}", BASE64_STANDARD.encode(user)));
    Ok(Address { url: format!("{scheme}://{host}{path}"), authorization: Some(authorization) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_taken_out_of_an_address() {
        let address = parse("https://me:s%40cret@git.example:8443/a/b.git").unwrap();
        assert_eq!(address.url, "https://git.example:8443/a/b.git");
        assert_eq!(address.authorization, Some(Secret::new("Basic bWU6c0BjcmV0")));
        for plain in ["https://git.example/a", "git@github.com:a/b.git", "ssh://git@host/a", "/srv/repo"] {
            let expected = Address { url: plain.into(), authorization: None };
            assert_eq!(parse(plain), Ok(expected), "{plain}");
        }
    }

    #[test]
    fn what_git_would_take_for_an_option_is_no_address() {
        for bad in ["", "--upload-pack=touch x", "https://a\nb"] {
            assert_eq!(parse(bad), Err(Invalid), "{bad:?}");
        }
        assert_eq!(github("a/b").unwrap(), "https://github.com/a/b.git");
        for bad in ["a", "a/b/c", "../b", "a/ b", "/b", "-"] {
            assert_eq!(github(bad), Err(Invalid), "{bad:?}");
        }
    }
}
