//! Gives an agent the skills of a session where neither its protocol nor an argument of its own program does.

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use files::private_file;
use serde::Deserialize;

/// How an agent is given skills.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SkillsRow {
    /// It reads them from its home. In a session with skills, it gets a home of its own.
    Home {
        /// The variable that names the home.
        variable: String,
        /// Where it reads skills, below the home.
        directory: PathBuf,
        /// Directories of the user's home that are part of its own home too.
        shared: Vec<PathBuf>,
    },
    /// Its program takes them as arguments. An adapter starts it, without a way to pass arguments on.
    Arguments {
        /// The variable that names the program to the adapter.
        variable: String,
        /// The argument before the path of a skill.
        argument: String,
    },
}

impl SkillsRow {
    /// Prepares the directory `private` of a session so that its agent has `skills`, which are directories by their names.
    /// Returns the variable to set, and its value. `variable` looks up a variable of the agent.
    ///
    /// # Errors
    /// If the files cannot be written, or a variable that is needed is not set.
    pub fn prepare(
        &self,
        skills: &BTreeMap<String, PathBuf>,
        private: &Path,
        variable: impl Fn(&str) -> Option<PathBuf>,
    ) -> io::Result<(String, PathBuf)> {
        match self {
            SkillsRow::Home { variable: name, directory, shared } => {
                let user = variable(name).or_else(|| variable("HOME"));
                let user = user.ok_or_else(|| io::Error::other("the agent has no home"))?;
                Ok((name.clone(), home(&user, directory, shared, skills, &private.join("home"))?))
            }
            SkillsRow::Arguments { variable: name, argument } => {
                let program = variable(name);
                let program = program.ok_or_else(|| io::Error::other(format!("{name} is not set")))?;
                Ok((name.clone(), wrapper(&program, argument, skills, &private.join("agent"))?))
            }
        }
    }
}

/// Makes a home with `skills` whose `shared` directories are those of the home `user`.
fn home(
    user: &Path,
    directory: &Path,
    shared: &[PathBuf],
    skills: &BTreeMap<String, PathBuf>,
    own: &Path,
) -> io::Result<PathBuf> {
    match fs::remove_dir_all(own) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => private_file::create_directory(own)?,
    }
    for name in shared {
        // A link to nothing could not be made a directory by the agent.
        fs::create_dir_all(user.join(name))?;
        symlink(user.join(name), own.join(name))?;
    }
    let own_skills = own.join(directory);
    fs::create_dir_all(&own_skills)?;
    for (name, skill) in skills {
        symlink(skill, own_skills.join(name))?;
    }
    // A skill of the session comes before one of the user with the same name.
    for entry in fs::read_dir(user.join(directory)).into_iter().flatten() {
        let entry = entry?;
        let link = own_skills.join(entry.file_name());
        if !link.is_symlink() {
            symlink(entry.path(), link)?;
        }
    }
    Ok(own.to_path_buf())
}

/// Writes a script that starts `program` with `skills`.
fn wrapper(
    program: &Path,
    argument: &str,
    skills: &BTreeMap<String, PathBuf>,
    script: &Path,
) -> io::Result<PathBuf> {
    let skills = skills.values().map(|skill| format!(" {argument} {}", quoted(skill)));
    let text = format!("#!/bin/sh\nexec {} \"$@\"{}\n", quoted(program), skills.collect::<String>());
    private_file::write(script, text.as_bytes())?;
    fs::set_permissions(script, fs::Permissions::from_mode(0o700))?;
    Ok(script.to_path_buf())
}

/// A path as one word of a shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_home_of_its_own_has_the_skills_and_shares_the_rest() {
        let directory = tempfile::tempdir().unwrap();
        let (user, private) = (directory.path().join("user"), directory.path().join("private"));
        for skill in ["tides", "stars"] {
            fs::create_dir_all(user.join(".agents/skills").join(skill)).unwrap();
        }
        let mine = directory.path().join("mine");
        fs::create_dir_all(mine.join("inner")).unwrap();
        let row = SkillsRow::Home {
            variable: "OWN_HOME".into(),
            directory: ".agents/skills".into(),
            shared: vec![".agent".into()],
        };
        let skills = [("tides".to_owned(), mine.clone())].into();
        for _ in 0..2 {
            let variable = |name: &str| (name == "HOME").then(|| user.clone());
            let (name, home) = row.prepare(&skills, &private, variable).unwrap();
            assert_eq!(name, "OWN_HOME");
            assert_eq!(fs::read_link(home.join(".agents/skills/tides")).unwrap(), mine);
            assert!(home.join(".agents/skills/stars").is_dir());
            fs::write(home.join(".agent/key"), "kept").unwrap();
        }
        assert_eq!(fs::read_to_string(user.join(".agent/key")).unwrap(), "kept");
        assert!(
            mine.join("inner").exists() && user.join(".agents/skills/tides").exists(),
            "only links are removed"
        );
    }

    #[test]
    fn a_program_gets_the_skills_behind_its_own_arguments() {
        let private = tempfile::tempdir().unwrap();
        let row = SkillsRow::Arguments { variable: "PROGRAM".into(), argument: "--skill".into() };
        let skills = [("a".to_owned(), "/it's a/skill".into()), ("b".to_owned(), "/b".into())].into();
        let variable = |name: &str| (name == "PROGRAM").then(|| "/bin/echo".into());
        let (_, script) = row.prepare(&skills, private.path(), variable).unwrap();
        let said = Command::new(script).args(["--mode", "r p c"]).output().unwrap().stdout;
        assert_eq!(String::from_utf8(said).unwrap(), "--mode r p c --skill /it's a/skill --skill /b\n");
    }
}
