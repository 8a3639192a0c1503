//! Where programs are looked up.

use std::{
    ffi::OsString,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// The directories that hold programs, in the form of the `PATH` variable.
#[derive(Debug, Clone, Default)]
pub struct SearchPath(OsString);

impl SearchPath {
    /// From the text of a `PATH` variable.
    pub fn new(path: impl Into<OsString>) -> Self {
        Self(path.into())
    }

    /// The program that `name` stands for: itself if it has a slash in it, else the first of that name.
    pub fn find(&self, name: &Path) -> Option<PathBuf> {
        if name.components().count() != 1 || name.is_absolute() {
            return is_program(name).then(|| name.to_path_buf());
        }
        std::env::split_paths(&self.0).map(|directory| directory.join(name)).find(|path| is_program(path))
    }

    /// The text of a `PATH` variable that looks into these directories first.
    pub fn behind(&self, first: &[String]) -> String {
        let rest = self.0.to_string_lossy();
        let first = first.iter().map(String::as_str);
        first.chain([rest.as_ref()]).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(":")
    }
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_looked_up_and_a_path_is_taken_as_it_is() {
        let path = SearchPath::new("/nowhere:/bin:/usr/bin");
        assert!(path.find(Path::new("sh")).is_some_and(|found| found.ends_with("sh")));
        assert_eq!(path.find(Path::new("/bin/sh")), Some("/bin/sh".into()));
        assert_eq!(path.find(Path::new("no-such-program")), None);
        assert_eq!(path.find(Path::new("/etc/passwd")), None, "a file that cannot be executed is no program");
    }
}
