//! A place to install into, from a mirror on the loopback.

use std::{
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

use agents::{
    Catalog, Definition, Installer, SearchPath,
    install::{Config, Environment, Mirror},
};
use tempfile::TempDir;
pub(crate) use testkit::download_mirror::{DownloadMirror, large_shell_script, shell_script, tar_gz};

/// A place to install into, with nothing on its PATH.
pub(crate) struct Home {
    pub(crate) directory: TempDir,
    pub(crate) config: Config,
}

impl Home {
    pub(crate) fn new(mirror: &DownloadMirror) -> Self {
        let directory = TempDir::new().unwrap();
        let variables = [("npm_config_registry".to_owned(), format!("{}/npm", mirror.url))];
        let config = Config {
            directory: directory.path().join("agents"),
            cache: Some(directory.path().join("cache")),
            allowed: true,
            // Whatever is not on the mirror is nowhere: a test asks nobody else.
            mirrors: vec![Mirror::parse(&mirror.url).unwrap()],
            environment: Environment { variables: variables.into(), home: None, project: None },
            search_path: SearchPath::new("/nowhere"),
            ..Config::default()
        };
        Self { directory, config }
    }

    pub(crate) fn installer(&self) -> Installer {
        Installer::new(self.config.clone(), Catalog::new(Path::new("/own"), Default::default()).unwrap())
    }

    /// What is in the directory of a component, sorted.
    pub(crate) fn names(&self, component: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.config.directory.join(component)).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

pub(crate) fn agent(installer: &Installer, name: &str) -> Arc<Definition> {
    installer.catalog().get(&name.parse().unwrap()).unwrap().clone()
}

/// What the program at `path` says.
pub(crate) fn says(path: PathBuf) -> String {
    let output = std::process::Command::new(path).output().unwrap();
    std::io::stderr().write_all(&output.stderr).unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Where the catalog has opencode's tarball, as a mirror has it.
pub(crate) const OPENCODE: &str =
    "github.com/anomalyco/opencode/releases/download/v1.18.33/opencode-linux-x64.tar.gz";

/// Where the catalog has Claude's binary, as a mirror has it.
pub(crate) const CLAUDE: &str =
    "storage.googleapis.com/claude-code-dist-86c565f3-f756-42ad-8dfa-d59b1c096819/claude-code-releases";
