//! How a user starts this program in another terminal.

use std::{
    env,
    path::{Path, PathBuf},
};

use crate::{environment, shell_word::quoted};

/// The name under which the program is installed.
const NAME: &str = "tombolo";

/// The manifest of this program in a checkout of its source.
const MANIFEST: &str = "crates/cli/Cargo.toml";

/// How a user starts this program.
#[derive(Debug, PartialEq)]
pub(super) enum Program {
    /// A launcher said how, such as `npx tombolo`, or the program is on the PATH.
    Command(String),
    /// It is not on the PATH, and starts by its path only.
    Path(PathBuf),
}

impl Program {
    /// Finds out how this process was started: `run_as` is what a launcher said, and `called` the path that was used.
    pub(super) fn find(called: &Path, run_as: Option<String>) -> Self {
        if let Some(run_as) = run_as {
            return Self::Command(run_as);
        }
        let program = env::current_exe().or_else(|_| std::path::absolute(called));
        let program = program.unwrap_or_else(|_| called.into());
        let search_path = environment::variable("PATH").unwrap_or_default();
        if is_on_path(&program, env::split_paths(&search_path)) {
            Self::Command(NAME.into())
        } else {
            Self::Path(program)
        }
    }

    /// The beginning of a command line.
    pub(super) fn command(&self) -> String {
        match self {
            Self::Command(command) => command.clone(),
            Self::Path(path) => quoted(&path.display().to_string()),
        }
    }

    /// The lines that say how to start it by its name.
    pub(super) fn how_to_install(&self) -> Vec<String> {
        let Self::Path(path) = self else { return Vec::new() };
        let quoted = |path: &Path| quoted(&path.display().to_string());
        let checkout = path.ancestors().find(|ancestor| ancestor.join(MANIFEST).is_file());
        let (title, command) = match (checkout, path.parent()) {
            (Some(checkout), _) => {
                // From the checkout, where the program was built, the short form is enough.
                let is_here = env::current_dir().is_ok_and(|here| here == checkout);
                let package =
                    if is_here { "crates/cli".into() } else { quoted(&checkout.join("crates/cli")) };
                ("install `tombolo`, so that its name is enough", format!("cargo install --path {package}"))
            }
            (None, Some(parent)) => (
                "put `tombolo` on the PATH of a terminal",
                format!("export PATH=\"$PATH\":{}", quoted(parent)),
            ),
            (None, None) => return Vec::new(),
        };
        vec![format!("\n# {title}"), format!("  {command}")]
    }
}

/// Whether the name of the program starts this very file.
fn is_on_path(program: &Path, mut directories: impl Iterator<Item = PathBuf>) -> bool {
    let resolved = |path: &Path| path.canonicalize().ok();
    let found = directories.find_map(|directory| resolved(&directory.join(NAME)));
    found.is_some() && found == resolved(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_enough_if_it_starts_this_file() {
        let home = tempfile::tempdir().unwrap();
        let [bin, other] = ["bin", "other"].map(|name| home.path().join(name));
        for directory in [&bin, &other] {
            std::fs::create_dir(directory).unwrap();
            std::fs::write(directory.join(NAME), "").unwrap();
        }
        let is_found = |directories: &[&PathBuf]| {
            is_on_path(&bin.join(NAME), directories.iter().map(|directory| (*directory).clone()))
        };
        assert!(is_found(&[&bin, &other]));
        assert!(!is_found(&[&other, &bin]), "another file of the name comes first");
        assert!(!is_found(&[]));
    }

    #[test]
    fn a_program_in_a_checkout_is_installed_from_there() {
        let checkout = tempfile::tempdir().unwrap();
        let checkout = checkout.path();
        let program = Program::Path(checkout.join("target/release/tombolo"));
        let without = program.how_to_install().join("\n");
        assert!(without.contains("export PATH=") && without.contains("target/release"), "{without}");
        std::fs::create_dir_all(checkout.join("crates/cli")).unwrap();
        std::fs::write(checkout.join(MANIFEST), "").unwrap();
        let within = program.how_to_install().join("\n");
        assert!(
            within.contains(&format!("  cargo install --path {}/crates/cli", checkout.display())),
            "{within}"
        );
    }
}
