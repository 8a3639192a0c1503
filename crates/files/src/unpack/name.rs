//! Names in an archive, and where its links may point.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt, OsStringExt},
};

use super::Refusal;
use crate::{DEPTH_MAX, PATH_BYTES_MAX};

/// A name that stays below the destination: no `..`, not absolute, without `.` and empty parts. No parts at all is
/// the destination itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name(Vec<OsString>);

impl Name {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        match bytes {
            [] => return Err(Refusal::Unnamed),
            [b'/', ..] => return Err(Refusal::Absolute),
            bytes if bytes.len() > PATH_BYTES_MAX => return Err(Refusal::TooLong),
            bytes if bytes.contains(&0) => return Err(Refusal::Nul),
            _ => {}
        }
        let mut parts = Vec::new();
        for part in bytes.split(|&byte| byte == b'/') {
            match part {
                b"" | b"." => {}
                b".." => return Err(Refusal::Upwards),
                part => parts.push(OsStr::from_bytes(part).to_owned()),
            }
        }
        if parts.len() > DEPTH_MAX {
            return Err(Refusal::TooDeep);
        }
        Ok(Self(parts))
    }

    /// The directories on the way, and the last part; nothing for the destination itself.
    pub(super) fn split(&self) -> Option<(&[OsString], &OsStr)> {
        self.0.split_last().map(|(last, parents)| (parents, last.as_os_str()))
    }

    pub(super) fn parts(&self) -> &[OsString] {
        &self.0
    }

    /// Checks the target of a symbolic link of this name.
    ///
    /// `..` may only come first, and not more often than the link lies deep. The directories above a link are real
    /// ones, so those steps end inside; the parts behind them lead down, or through another link that was checked the
    /// same way. A `..` behind a name could start from wherever a link has led, which no text shows: `s/../..` with
    /// `s -> .` is above the destination.
    pub(super) fn check_target(&self, target: &[u8]) -> Result<OsString, Refusal> {
        match target {
            [] | [b'/', ..] => return Err(Refusal::LinkEscapes),
            target if target.len() > PATH_BYTES_MAX => return Err(Refusal::TooLong),
            target if target.contains(&0) => return Err(Refusal::Nul),
            _ => {}
        }
        let mut left = self.0.len().saturating_sub(1);
        let mut down = false;
        for part in target.split(|&byte| byte == b'/') {
            match part {
                b"" | b"." => {}
                b".." if down || left == 0 => return Err(Refusal::LinkEscapes),
                b".." => left -= 1,
                _ => down = true,
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
            ("", Err(Refusal::Unnamed)),
            ("/", Err(Refusal::Absolute)),
            ("/etc/passwd", Err(Refusal::Absolute)),
            ("..", Err(Refusal::Upwards)),
            ("a/../b", Err(Refusal::Upwards)),
            ("a\0b", Err(Refusal::Nul)),
            (&"a/".repeat(DEPTH_MAX), Ok(DEPTH_MAX)),
            (&"a/".repeat(DEPTH_MAX + 1), Err(Refusal::TooDeep)),
            (&"a".repeat(PATH_BYTES_MAX + 1), Err(Refusal::TooLong)),
        ] {
            assert_eq!(Name::parse(name.as_bytes()).map(|name| name.0.len()), expected, "{name}");
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
            // `a` may be a link to anywhere below, so what is above it is not known.
            ("d/l", "a/..", false),
        ] {
            let name = Name::parse(name.as_bytes()).unwrap();
            assert_eq!(name.check_target(target.as_bytes()).is_ok(), inside, "{name:?} -> {target}");
        }
    }
}
