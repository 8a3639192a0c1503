//! Leaving out what never runs: half of the files of an npm package are for compilers and debuggers.

use std::{fs, io, path::Path};

/// How the names of such files end. A package that looks for one goes on without it.
const UNUSED: [&str; 4] = [".map", ".d.ts", ".d.mts", ".d.cts"];

/// Removes what never runs from a tree of npm packages.
pub(super) fn prune(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            prune(&entry.path())?;
        } else if kind.is_file()
            && UNUSED.iter().any(|end| entry.file_name().as_encoded_bytes().ends_with(end.as_bytes()))
        {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_stays() {
        let root = tempfile::tempdir().unwrap();
        let deep = root.path().join("@scope/name/dist.map");
        fs::create_dir_all(&deep).unwrap();
        for name in [
            "index.js",
            "index.js.map",
            "index.d.ts",
            "index.d.mts",
            "types.d.cts",
            "main.ts",
            "map",
            "package.json",
        ] {
            fs::write(deep.join(name), "").unwrap();
        }
        std::os::unix::fs::symlink("/no/such/file.map", deep.join("link.map")).unwrap();
        prune(root.path()).unwrap();
        let mut left = Vec::from_iter(
            fs::read_dir(&deep).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()),
        );
        left.sort();
        assert_eq!(left, ["index.js", "link.map", "main.ts", "map", "package.json"]);
    }
}
