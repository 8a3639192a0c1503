//! Versions: as the name of a directory, and as numbers that can be compared.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The longest version; the longest that we met has 24 characters.
const VERSION_BYTES_MAX: usize = 64;

/// A version that is safe as the name of a directory and as a part of a URL.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version(Box<str>);

/// A text that is not a version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a version: use letters, digits and `.+_-`, starting with a letter or digit", .0.escape_debug())]
pub struct InvalidVersion(String);

impl Version {
    /// The version as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its numbers.
    pub fn release(&self) -> Release {
        Release::find(&self.0).unwrap_or_default()
    }
}

impl FromStr for Version {
    type Err = InvalidVersion;

    fn from_str(text: &str) -> Result<Self, InvalidVersion> {
        let first = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        let rest = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".+_-".contains(&byte));
        if !first || !rest || text.len() > VERSION_BYTES_MAX {
            return Err(InvalidVersion(text.chars().take(VERSION_BYTES_MAX).collect()));
        }
        Ok(Self(text.into()))
    }
}

impl TryFrom<String> for Version {
    type Error = InvalidVersion;

    fn try_from(text: String) -> Result<Self, InvalidVersion> {
        text.parse()
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.0.into()
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The numbers of a version, for comparing: `v20.20.2` and `Python 3.12` have some.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Release([u64; 3]);

impl Release {
    /// The first numbers with dots between them in `text`; those that are missing are zero.
    pub fn find(text: &str) -> Option<Self> {
        let start = text.find(|character: char| character.is_ascii_digit())?;
        let numbers = &text[start..];
        let end = numbers.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(numbers.len());
        let mut release = [0; 3];
        for (place, number) in release.iter_mut().zip(numbers[..end].split('.')) {
            *place = number.parse().unwrap_or(0);
        }
        Some(Self(release))
    }
}

impl TryFrom<String> for Release {
    type Error = InvalidVersion;

    fn try_from(text: String) -> Result<Self, InvalidVersion> {
        Self::find(&text).ok_or(InvalidVersion(text))
    }
}

impl From<Release> for String {
    fn from(release: Release) -> String {
        release.to_string()
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// Which version is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum Want {
    /// The one that the catalog pins, which was tested.
    #[default]
    Pinned,
    /// The newest that the source has.
    Latest,
    /// This one.
    Exact(Version),
}

impl Want {
    /// From what a caller says: nothing, `latest`, or a version.
    pub fn parse(text: Option<&str>) -> Result<Self, InvalidVersion> {
        match text {
            None => Ok(Want::Pinned),
            Some("latest") => Ok(Want::Latest),
            Some(text) => text.parse().map(Want::Exact),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_cannot_lead_out_of_its_directory() {
        for good in ["2.1.325", "0.0.1790142911-g7618fb", "0.166.0-linux-x64", "2026.10.01", "1.0.0+a_b"] {
            assert_eq!(good.parse::<Version>().unwrap().as_str(), good);
        }
        for bad in ["", ".", "..", "../x", "a/b", "a b", "-x", "a\0", "<html>", &"1".repeat(65)] {
            assert!(bad.parse::<Version>().is_err(), "{bad}");
        }
    }

    #[test]
    fn releases_are_compared_by_their_numbers() {
        let check = |text: &str, expected| assert_eq!(Release::find(text), expected, "{text}");
        check("v20.20.2", Some(Release([20, 20, 2])));
        check("Python 3.12.1\n", Some(Release([3, 12, 1])));
        check("24", Some(Release([24, 0, 0])));
        check("0.0.1790142911-g7618fb", Some(Release([0, 0, 1_790_142_911])));
        check("none", None);
        assert!(Release::find("v9.0.0") < Release::find("10.0"));
    }
}
