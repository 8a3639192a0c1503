//! A path inside a tree, as a caller names it.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    os::unix::ffi::{OsStrExt, OsStringExt},
    str::FromStr,
};

use crate::{Cause, Error};

/// The longest path taken, in bytes: as much as the kernel takes, so a longer one could not be opened anyway.
pub const PATH_BYTES_MAX: usize = 4096;

/// A path inside a [`Root`](crate::Root): `/` is the root itself, and a relative path starts at the root's base.
///
/// Not empty, without NUL, at most [`PATH_BYTES_MAX`] bytes. It need not be UTF-8, since names on disk need not be.
/// `..` is kept as it is: only the kernel, which knows the links on the way, can say where it leads.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VirtualPath(OsString);

impl VirtualPath {
    /// Takes a path from outside.
    ///
    /// # Errors
    /// [`Cause::InvalidPath`] with the rule it breaks.
    pub fn parse(path: impl AsRef<OsStr>) -> Result<Self, Error> {
        let path = path.as_ref();
        let reason = match path.as_bytes() {
            [] => "it is empty",
            bytes if bytes.len() > PATH_BYTES_MAX => "it is too long",
            bytes if bytes.contains(&0) => "it contains a NUL byte",
            _ => return Ok(Self(path.to_owned())),
        };
        let shown = String::from_utf8_lossy(path.as_bytes()).chars().take(200).collect();
        Err(Error { doing: "use the path", path: shown, cause: Cause::InvalidPath { reason } })
    }

    /// The top of the tree.
    #[must_use]
    pub fn root() -> Self {
        Self(OsString::from("/"))
    }

    /// The exact bytes.
    #[must_use]
    pub fn as_os_str(&self) -> &OsStr {
        &self.0
    }

    /// Whether it starts at the root, not at the base.
    #[must_use]
    pub fn is_absolute(&self) -> bool {
        self.0.as_bytes().starts_with(b"/")
    }

    /// Whether it can only mean a directory, as `a/` does.
    pub(crate) fn names_a_directory(&self) -> bool {
        self.0.as_bytes().ends_with(b"/")
    }

    /// The path as seen from the root, without `.` and doubled slashes; a slash at the end stays.
    pub(crate) fn seen_from(&self, base: &Self) -> Self {
        if self.is_absolute() { self.tidied() } else { base.join(&self.0).tidied() }
    }

    /// A path seen from the root, as the kernel takes it from a handle of the root.
    pub(crate) fn below_root(&self) -> &OsStr {
        let bytes = self.0.as_bytes();
        let slashes = bytes.iter().take_while(|&&byte| byte == b'/').count();
        OsStr::from_bytes(if slashes == bytes.len() { b"." } else { &bytes[slashes..] })
    }

    fn tidied(&self) -> Self {
        let mut tidy = Vec::with_capacity(self.0.len());
        for part in self.parts() {
            tidy.push(b'/');
            tidy.extend_from_slice(part);
        }
        if tidy.is_empty() || self.names_a_directory() {
            tidy.push(b'/');
        }
        Self(OsString::from_vec(tidy))
    }

    fn parts(&self) -> impl Iterator<Item = &[u8]> {
        self.0.as_bytes().split(|&byte| byte == b'/').filter(|part| !matches!(*part, b"" | b"."))
    }

    /// `self/rest`, where an absolute `rest` starts over, exactly as a link's target does.
    pub(crate) fn join(&self, rest: &OsStr) -> Self {
        if rest.as_bytes().starts_with(b"/") {
            return Self(rest.to_owned());
        }
        let mut joined = self.0.clone();
        if !self.names_a_directory() {
            joined.push("/");
        }
        joined.push(rest);
        Self(joined)
    }

    /// A tidied path's directory and last name; nothing for the root and for what ends in `..`.
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

    /// The path of each directory on the way, the nearest to the root first, ending with the path itself.
    pub(crate) fn prefixes(&self) -> Vec<Self> {
        let mut prefixes = Vec::new();
        let mut so_far = Vec::new();
        for part in self.parts() {
            so_far.push(b'/');
            so_far.extend_from_slice(part);
            prefixes.push(Self(OsString::from_vec(so_far.clone())));
        }
        prefixes
    }
}

impl fmt::Display for VirtualPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_string_lossy())
    }
}

impl fmt::Debug for VirtualPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl FromStr for VirtualPath {
    type Err = Error;

    fn from_str(path: &str) -> Result<Self, Error> {
        Self::parse(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, base: &str, expected: &str) {
        let base = VirtualPath::parse(base).unwrap();
        assert_eq!(VirtualPath::parse(path).unwrap().seen_from(&base).to_string(), expected);
    }

    #[test]
    fn a_path_is_seen_from_the_root() {
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
    fn what_cannot_be_a_path_is_refused_with_the_reason() {
        for (path, expected) in [("", "empty"), ("a\0b", "NUL"), (&"a".repeat(PATH_BYTES_MAX + 1), "long")] {
            let error = VirtualPath::parse(path).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
        VirtualPath::parse("a".repeat(PATH_BYTES_MAX)).unwrap();
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
            let path = VirtualPath::parse(path).unwrap();
            let split = path.split().map(|(parent, name)| (parent.to_string(), name.to_owned()));
            assert_eq!(split, expected.map(|(parent, name)| (parent.to_owned(), OsString::from(name))));
        }
    }
}
