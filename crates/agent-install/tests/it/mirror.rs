//! A place to install into, from a mirror on the loopback.

use std::{
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

use agent_catalog::{Catalog, Definition, Registry, SearchPath, UserEnvironment};
use agent_install::{Config, Installer, Mirror};
use tempfile::TempDir;
pub(crate) use testkit::download_mirror::{DownloadMirror, large_shell_script, sha256, shell_script, tar_gz};

/// A place to install into, with nothing on its PATH.
pub(crate) struct Home {
    pub(crate) directory: TempDir,
    pub(crate) config: Config,
    /// The ACP registry in place of the built-in one.
    registry: Option<Registry>,
}

impl Home {
    pub(crate) fn new(mirror: &DownloadMirror) -> Self {
        Self::at(&mirror.url)
    }

    /// With everything at `url`, whether or not a mirror is there.
    pub(crate) fn at(url: &str) -> Self {
        let directory = TempDir::new().unwrap();
        let variables = [("npm_config_registry".to_owned(), format!("{url}/npm"))];
        let config = Config {
            directory: directory.path().join("agents"),
            cache: Some(directory.path().join("cache")),
            allowed: true,
            // Whatever is not on the mirror is nowhere: a test asks nobody else.
            mirrors: vec![Mirror::parse(url).unwrap()],
            environment: UserEnvironment { variables: variables.into(), home: None, project: None },
            search_path: SearchPath::new("/nowhere"),
            ..Config::default()
        };
        Self { directory, config, registry: None }
    }

    /// With the agent `loopback`, whose archive is on the mirror and whose SHA-256 is in the ACP registry.
    pub(crate) fn with_agent(mirror: &DownloadMirror, archive: Vec<u8>) -> Self {
        let platform = agent_catalog::Platform::here().unwrap().in_registry();
        let binary = serde_json::json!({
            "archive": format!("http://{LOOPBACK}"), "cmd": "./loopback", "args": ["acp"], "sha256": sha256(&archive),
        });
        let entry = serde_json::json!({
            "id": "loopback", "name": "Loopback", "version": "1.0.0", "distribution": { "binary": { platform: binary } },
        });
        let document = serde_json::json!({ "version": "1.0.0", "agents": [entry] });
        mirror.put_file(LOOPBACK, archive);
        Self { registry: Some(Registry::parse(&document.to_string()).unwrap()), ..Self::new(mirror) }
    }

    pub(crate) fn installer(&self) -> Installer {
        let catalog = Catalog::new(Path::new("/own"), Default::default()).unwrap();
        let catalog =
            self.registry.as_ref().map(|registry| catalog.with_registry(registry)).unwrap_or(catalog);
        Installer::new(self.config.clone(), catalog)
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

/// Where the agent of [`Home::with_agent`] is, as a mirror has it. Its vendor's port has no listener.
pub(crate) const LOOPBACK: &str = "127.0.0.1:9/loopback.tar.gz";

/// A version that the catalog does not pin, so that tests can serve files of their own as this version.
pub(crate) const UNPINNED: &str = "0.0.0-loopback";

/// Where the catalog has the tarball of opencode's version [`UNPINNED`], as a mirror has it.
pub(crate) const OPENCODE: &str =
    "github.com/anomalyco/opencode/releases/download/v0.0.0-loopback/opencode-linux-x64.tar.gz";

/// Where the catalog has Claude's binary, as a mirror has it.
pub(crate) const CLAUDE: &str =
    "storage.googleapis.com/claude-code-dist-86c565f3-f756-42ad-8dfa-d59b1c096819/claude-code-releases";
