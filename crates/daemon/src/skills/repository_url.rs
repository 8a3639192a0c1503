//! Parses repository URLs, and separates the credentials in them.

use base64::{Engine, prelude::BASE64_STANDARD};
use secrecy::SecretString;

/// A URL without credentials, and the credentials that were in it.
#[derive(Debug)]
pub(super) struct RepositoryUrl {
    pub(super) url: String,
    /// The value of the header `Authorization`.
    pub(super) authorization: Option<SecretString>,
}

/// The text is not the URL of a repository.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not the URL of a repository")]
pub(super) struct InvalidRepositoryUrl;

/// The URL of a repository on GitHub, given as `owner/name`.
pub(super) fn github(source: &str) -> Result<String, InvalidRepositoryUrl> {
    let is_name = |text: &str| {
        !text.is_empty()
            && !matches!(text, "." | "..")
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
    };
    match source.trim_end_matches(".git").split_once('/') {
        Some((owner, name)) if is_name(owner) && is_name(name) => {
            Ok(format!("https://github.com/{owner}/{name}.git"))
        }
        _ => Err(InvalidRepositoryUrl),
    }
}

/// Parses a URL and removes its credentials: it becomes an argument of git, and all users of the machine can see those.
pub(super) fn parse(source: &str) -> Result<RepositoryUrl, InvalidRepositoryUrl> {
    if source.is_empty() || source.starts_with('-') || source.contains(char::is_control) {
        return Err(InvalidRepositoryUrl);
    }
    let plain = || Ok(RepositoryUrl { url: source.into(), authorization: None });
    let Some((scheme @ ("http" | "https"), rest)) = source.split_once("://") else { return plain() };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let Some((user, host)) = authority.rsplit_once('@') else { return plain() };
    let user = percent_encoding::percent_decode_str(user).decode_utf8_lossy();
    let user = if user.contains(':') { user.into_owned() } else { format!("{user}:") };
    let authorization = SecretString::from(format!("Basic {}", BASE64_STANDARD.encode(user)));
    Ok(RepositoryUrl { url: format!("{scheme}://{host}{path}"), authorization: Some(authorization) })
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn credentials_are_removed_from_a_url() {
        let address = parse("https://me:s%40cret@git.example:8443/a/b.git").unwrap();
        assert_eq!(address.url, "https://git.example:8443/a/b.git");
        assert_eq!(address.authorization.unwrap().expose_secret(), "Basic bWU6c0BjcmV0");
        for plain in ["https://git.example/a", "git@github.com:a/b.git", "ssh://git@host/a", "/srv/repo"] {
            let address = parse(plain).unwrap();
            assert_eq!(address.url, plain);
            assert!(address.authorization.is_none(), "{plain}");
        }
    }

    #[test]
    fn text_that_git_would_take_for_an_option_is_rejected() {
        for bad in ["", "--upload-pack=touch x", "https://a\nb"] {
            assert_eq!(parse(bad).err(), Some(InvalidRepositoryUrl), "{bad:?}");
        }
        assert_eq!(github("a/b").unwrap(), "https://github.com/a/b.git");
        for bad in ["a", "a/b/c", "../b", "a/ b", "/b", "-"] {
            assert_eq!(github(bad), Err(InvalidRepositoryUrl), "{bad:?}");
        }
    }
}
