//! Paths inside a tree, as clients name them.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    os::unix::ffi::{OsStrExt, OsStringExt},
    str::FromStr,
};

use crate::{Error, FileErrorCause, FileOperation};

/// The maximum length of a path in bytes. The kernel accepts no longer ones.
pub const PATH_BYTES_MAX: usize = 4096;

/// A path inside a [`RootDirectory`](crate::RootDirectory): `/` is the root itself, and a relative path starts at the root's base.
///
/// It is not empty, contains no NUL and has at most [`PATH_BYTES_MAX`] bytes. It need not be UTF-8, as names on disk need not
/// be. `..` is kept: only the kernel, which knows the links on the way, can tell where it leads.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RootedPath(OsString);

impl RootedPath {
    /// Parses a path from a client.
    ///
    /// # Errors
    /// [`FileErrorCause::InvalidPath`] with the rule that it breaks.
    pub fn parse(path: impl AsRef<OsStr>) -> Result<Self, Error> {
        let path = path.as_ref();
        let reason = match path.as_bytes() {
            [] => "it is empty",
            bytes if bytes.len() > PATH_BYTES_MAX => "it is too long",
            bytes if bytes.contains(&0) => "it contains a NUL byte",
            _ => return Ok(Self(path.to_owned())),
        };
        let shown = String::from_utf8_lossy(path.as_bytes()).chars().take(200).collect();
        Err(Error {
            operation: FileOperation::UsePath,
            path: shown,
            cause: FileErrorCause::InvalidPath { reason },
        })
    }

    /// The root of the tree.
    #[must_use]
    pub fn root() -> Self {
        Self(OsString::from("/"))
    }

    /// The exact bytes.
    #[must_use]
    pub fn as_os_str(&self) -> &OsStr {
        &self.0
    }

    /// Whether it starts at the root instead of the base.
    #[must_use]
    pub fn is_absolute(&self) -> bool {
        self.0.as_bytes().starts_with(b"/")
    }

    /// Whether it ends in a slash and so can only name a directory.
    pub(crate) fn names_directory(&self) -> bool {
        self.0.as_bytes().ends_with(b"/")
    }

    /// The absolute form of the path, without `.` and repeated slashes; a slash at the end is kept.
    pub(crate) fn resolve_from(&self, base: &Self) -> Self {
        if self.is_absolute() { self.normalized() } else { base.join(&self.0).normalized() }
    }

    /// An absolute path in the form for a call relative to the root's handle.
    pub(crate) fn relative_to_root(&self) -> &OsStr {
        let bytes = self.0.as_bytes();
        let slashes = bytes.iter().take_while(|&&byte| byte == b'/').count();
        OsStr::from_bytes(if slashes == bytes.len() { b"." } else { &bytes[slashes..] })
    }

    fn normalized(&self) -> Self {
        let mut normalized = Vec::with_capacity(self.0.len());
        for part in self.parts() {
            normalized.push(b'/');
            normalized.extend_from_slice(part);
        }
        if normalized.is_empty() || self.names_directory() {
            normalized.push(b'/');
        }
        Self(OsString::from_vec(normalized))
    }

    fn parts(&self) -> impl Iterator<Item = &[u8]> {
        self.0.as_bytes().split(|&byte| byte == b'/').filter(|part| !matches!(*part, b"" | b"."))
    }

    /// `self/rest`. An absolute `rest` replaces the path, as the target of a link does.
    pub(crate) fn join(&self, rest: &OsStr) -> Self {
        if rest.as_bytes().starts_with(b"/") {
            return Self(rest.to_owned());
        }
        let mut joined = self.0.clone();
        if !self.names_directory() {
            joined.push("/");
        }
        joined.push(rest);
        Self(joined)
    }

    /// The directory and the last name of a normalized path; `None` for the root and for a path that ends in `..`.
    pub(crate) fn split(&self) -> Option<(Self, &OsStr)> {
        let bytes = self.0.as_bytes();
        let bytes = bytes.strip_suffix(b"/").unwrap_or(bytes);
        let slash = bytes.iter().rposition(|&byte| byte == b'/')?;
        let name = &bytes[slash + 1..];
        if matches!(name, b"" | b"..") {
            return None;
        }
        let parent = if slash == 0 { &b"/"[..] } else { &bytes[..slash] };
        Some((Self(OsStr::from_bytes(parent).to_owned()), OsStr::from_bytes(name)))
    }

    /// The path of each directory on the way, starting below the root and ending with the path itself.
    pub(crate) fn prefixes(&self) -> Vec<Self> {
        let mut prefixes = Vec::new();
        let mut prefix = Vec::new();
        for part in self.parts() {
            prefix.push(b'/');
            prefix.extend_from_slice(part);
            prefixes.push(Self(OsString::from_vec(prefix.clone())));
        }
        prefixes
    }
}

impl fmt::Display for RootedPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_string_lossy())
    }
}

impl fmt::Debug for RootedPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl FromStr for RootedPath {
    type Err = Error;

    fn from_str(path: &str) -> Result<Self, Error> {
        Self::parse(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, base: &str, expected: &str) {
        let base = RootedPath::parse(base).unwrap();
        assert_eq!(RootedPath::parse(path).unwrap().resolve_from(&base).to_string(), expected);
    }

    #[test]
    fn a_path_is_resolved_from_the_base() {
        check("a/b", "/", "/a/b");
        check("a", "/home/me", "/home/me/a");
        check("/a", "/home/me", "/a");
        check(".", "/home/me", "/home/me");
        check("./a//./b/", "/", "/a/b/");
        check("/", "/x", "/");
        check("//.//", "/x", "/");
        check("../a", "/x", "/x/../a");
    }

    #[test]
    fn an_invalid_path_is_rejected_with_the_reason() {
        for (path, expected) in [("", "empty"), ("a\0b", "NUL"), (&"a".repeat(PATH_BYTES_MAX + 1), "long")] {
            let error = RootedPath::parse(path).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
        RootedPath::parse("a".repeat(PATH_BYTES_MAX)).unwrap();
    }

    #[test]
    fn the_root_and_what_ends_above_itself_have_no_name_to_act_on() {
        for (path, expected) in [
            ("/a/b", Some(("/a", "b"))),
            ("/a/", Some(("/", "a"))),
            ("/", None),
            ("/a/..", None),
            ("/a/../b", Some(("/a/..", "b"))),
        ] {
            let path = RootedPath::parse(path).unwrap();
            let split = path.split().map(|(parent, name)| (parent.to_string(), name.to_owned()));
            assert_eq!(split, expected.map(|(parent, name)| (parent.to_owned(), OsString::from(name))));
        }
    }
}
