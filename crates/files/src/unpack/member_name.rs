//! The names of archive members, and the permitted targets of links.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt, OsStringExt},
};

use super::MemberRefusal;
use crate::{DEPTH_MAX, PATH_BYTES_MAX};

/// A name that stays below the destination: not absolute, without `..`, `.` and empty parts. A name without parts is the
/// destination itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MemberName(Vec<OsString>);

impl MemberName {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, MemberRefusal> {
        match bytes {
            [] => return Err(MemberRefusal::Unnamed),
            [b'/', ..] => return Err(MemberRefusal::Absolute),
            bytes if bytes.len() > PATH_BYTES_MAX => return Err(MemberRefusal::TooLong),
            bytes if bytes.contains(&0) => return Err(MemberRefusal::Nul),
            _ => {}
        }
        let mut parts = Vec::new();
        for part in bytes.split(|&byte| byte == b'/') {
            match part {
                b"" | b"." => {}
                b".." => return Err(MemberRefusal::Upwards),
                part => parts.push(OsStr::from_bytes(part).to_owned()),
            }
        }
        if parts.len() > DEPTH_MAX {
            return Err(MemberRefusal::TooDeep);
        }
        Ok(Self(parts))
    }

    /// The parent directories and the last part; `None` for the destination itself.
    pub(super) fn split(&self) -> Option<(&[OsString], &OsStr)> {
        self.0.split_last().map(|(last, parents)| (parents, last.as_os_str()))
    }

    pub(super) fn parts(&self) -> &[OsString] {
        &self.0
    }

    /// Checks the target of a symbolic link of this name.
    ///
    /// `..` is permitted only at the start, and at most as often as the link has parent directories. These parents are real
    /// directories, so the result is inside. The parts after that lead down, or through another link that was checked in the
    /// same way. A `..` after a name would start from wherever that name leads, which the text does not show: with `s -> .`,
    /// the target `s/../..` is above the destination.
    pub(super) fn check_target(&self, target: &[u8]) -> Result<OsString, MemberRefusal> {
        match target {
            [] | [b'/', ..] => return Err(MemberRefusal::LinkEscapes),
            target if target.len() > PATH_BYTES_MAX => return Err(MemberRefusal::TooLong),
            target if target.contains(&0) => return Err(MemberRefusal::Nul),
            _ => {}
        }
        let mut parents_left = self.0.len().saturating_sub(1);
        let mut descended = false;
        for part in target.split(|&byte| byte == b'/') {
            match part {
                b"" | b"." => {}
                b".." if descended || parents_left == 0 => return Err(MemberRefusal::LinkEscapes),
                b".." => parents_left -= 1,
                _ => descended = true,
            }
        }
        Ok(OsString::from_vec(target.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_below_the_destination() {
        for (name, expected) in [
            ("a", Ok(1)),
            ("./a//b/", Ok(2)),
            ("./", Ok(0)),
            ("..a/b..", Ok(2)),
            ("", Err(MemberRefusal::Unnamed)),
            ("/", Err(MemberRefusal::Absolute)),
            ("/etc/passwd", Err(MemberRefusal::Absolute)),
            ("..", Err(MemberRefusal::Upwards)),
            ("a/../b", Err(MemberRefusal::Upwards)),
            ("a\0b", Err(MemberRefusal::Nul)),
            (&"a/".repeat(DEPTH_MAX), Ok(DEPTH_MAX)),
            (&"a/".repeat(DEPTH_MAX + 1), Err(MemberRefusal::TooDeep)),
            (&"a".repeat(PATH_BYTES_MAX + 1), Err(MemberRefusal::TooLong)),
        ] {
            assert_eq!(MemberName::parse(name.as_bytes()).map(|name| name.0.len()), expected, "{name}");
        }
    }

    #[test]
    fn links_stay_below_the_destination() {
        for (name, target, inside) in [
            ("l", "a", true),
            ("l", "a/b", true),
            ("l", ".", true),
            ("l", "..", false),
            ("d/l", "../a", true),
            ("d/l", "..", true),
            ("d/l", "../..", false),
            ("d/l", "../../a", false),
            ("a/b/l", ".././../c", true),
            ("l", "/etc", false),
            ("l", "", false),
            // `a` may be a link to any directory below, so the directory above it is unknown.
            ("d/l", "a/..", false),
        ] {
            let name = MemberName::parse(name.as_bytes()).unwrap();
            assert_eq!(name.check_target(target.as_bytes()).is_ok(), inside, "{name:?} -> {target}");
        }
    }
}
