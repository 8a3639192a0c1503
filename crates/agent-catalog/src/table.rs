//! The rows of `catalog.toml`.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{
    AgentName,
    agents::{AgentCapabilities, AgentMode, AgentProtocol},
};
use serde::Deserialize;

use crate::{ComponentName, Platform, Release, SkillsRow, Template, Version, template};

/// The whole file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// What can be put on disk.
    pub components: BTreeMap<ComponentName, Component>,
    /// What can be started.
    pub agents: BTreeMap<AgentName, AgentRow>,
}

/// Something that can be put on disk.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Component {
    /// The version that was tested.
    pub version: Version,
    /// What it is called where it is installed already.
    pub on_path: Option<OnPath>,
    /// What it needs, and how new.
    #[serde(default)]
    pub requires: BTreeMap<ComponentName, Release>,
    /// Where it comes from, in the order in which they are tried.
    #[serde(default)]
    pub sources: Vec<Source>,
}

/// What a component is called where it is installed already.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnPath {
    /// The name of its program.
    pub program: String,
}

/// Where a component comes from.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum Source {
    /// A file of its vendor.
    Download {
        /// The file of one version.
        url: String,
        /// The file of the newest version, where it has a name of its own.
        latest_url: Option<String>,
        /// How the newest version is found out.
        latest: Option<Latest>,
        /// How the tag of a version is called.
        #[serde(default = "bare_version")]
        tag: String,
        /// Where the file's SHA-256 is published.
        checksum: Option<Published>,
        /// The pinned SHA-256 of each platform's file in the catalog's version.
        #[serde(default)]
        sha256: BTreeMap<Platform, String>,
        /// What the file is.
        archive: Archive,
        /// The program in it.
        program: String,
        /// What each platform is called there; those that are not here are not served.
        platforms: BTreeMap<Platform, String>,
        /// A second name of each platform.
        #[serde(default)]
        targets: BTreeMap<Platform, String>,
    },
    /// The tarball of an npm package that holds a program for one platform; unpacked without npm.
    NpmTarball {
        /// The package.
        package: String,
        /// Its version.
        #[serde(default = "bare_version")]
        release: String,
        /// The program in it.
        program: String,
        /// The pinned checksum of the tarball of the catalog's version, as npm writes it.
        integrity: Option<Integrity>,
        /// What each platform is called there; none at all is for every platform.
        #[serde(default)]
        platforms: BTreeMap<Platform, String>,
        /// A second name of each platform.
        #[serde(default)]
        targets: BTreeMap<Platform, String>,
    },
    /// An npm package with its dependencies; installed by npm.
    NpmInstall {
        /// The package.
        package: String,
        /// The program in it; what its `bin` says if left out.
        program: Option<String>,
        /// The pinned checksum of the package's own tarball in the catalog's version, as npm writes it. Its dependencies
        /// are not pinned: npm compares them with what the registry publishes.
        integrity: Option<String>,
        /// Whether its optional dependencies are left out.
        #[serde(default)]
        omit_optional: bool,
    },
    /// Packages of the Python Package Index; installed by uv or pip.
    Pypi {
        /// The packages with their versions.
        packages: Vec<String>,
        /// The program in them.
        program: String,
    },
}

fn bare_version() -> String {
    "{version}".into()
}

impl Source {
    /// What kind of source it is, for people.
    pub fn kind(&self) -> &'static str {
        match self {
            Source::Download { .. } => "download",
            Source::NpmTarball { .. } => "npm tarball",
            Source::NpmInstall { .. } => "npm package",
            Source::Pypi { .. } => "PyPI package",
        }
    }

    /// Whether it has something for `platform`.
    pub fn serves(&self, platform: Platform) -> bool {
        match self {
            Source::Download { platforms, .. } => platforms.contains_key(&platform),
            Source::NpmTarball { platforms, .. } => platforms.is_empty() || platforms.contains_key(&platform),
            Source::NpmInstall { .. } | Source::Pypi { .. } => true,
        }
    }
}

/// The pinned checksum of an npm tarball, such as `sha512-…`.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Integrity {
    /// One tarball serves every platform.
    AllPlatforms(String),
    /// Each platform has a tarball of its own. A platform that is missing here is not pinned.
    PerPlatform(BTreeMap<Platform, String>),
}

impl Integrity {
    /// The checksum of the tarball for `platform`.
    pub fn of(&self, platform: Platform) -> Option<&str> {
        match self {
            Integrity::AllPlatforms(integrity) => Some(integrity),
            Integrity::PerPlatform(platforms) => platforms.get(&platform).map(String::as_str),
        }
    }
}

/// How the newest version is found out.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latest {
    /// What to ask.
    pub url: String,
    /// What the answer is.
    pub form: LatestForm,
}

/// What an answer that holds the newest version is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LatestForm {
    /// The version and nothing else.
    Text,
    /// A release as GitHub tells it; its `tag_name` is the tag.
    Github,
}

/// Where a vendor publishes the SHA-256 of its files.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum Published {
    /// In a JSON document of its own.
    Document {
        /// The document.
        url: String,
        /// The place in it, as a JSON Pointer.
        pointer: String,
    },
    /// In the description of a release on GitHub, which holds the digest of each file.
    Github {
        /// The release, as GitHub's API has it.
        github_release: String,
    },
}

impl Published {
    /// The address of the document that holds the checksum.
    pub fn url(&self) -> &str {
        match self {
            Published::Document { url, .. } => url,
            Published::Github { github_release } => github_release,
        }
    }
}

/// What a downloaded file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Archive {
    /// The program itself.
    #[serde(rename = "raw")]
    Raw,
    /// A compressed tarball.
    #[serde(rename = "tar.gz")]
    TarGz,
    /// A tarball that is compressed more slowly.
    #[serde(rename = "tar.bz2")]
    TarBz2,
    /// A zip.
    #[serde(rename = "zip")]
    Zip,
    /// What the end of its name says.
    #[serde(rename = "by-name")]
    ByName,
}

impl Archive {
    /// What the file at `url` is.
    pub fn of(self, url: &str) -> Self {
        let ends = |endings: &[&str]| endings.iter().any(|ending| url.ends_with(ending));
        match self {
            Archive::ByName if ends(&[".tar.gz", ".tgz"]) => Archive::TarGz,
            Archive::ByName if ends(&[".tar.bz2", ".tbz2"]) => Archive::TarBz2,
            Archive::ByName if ends(&[".zip"]) => Archive::Zip,
            Archive::ByName => Archive::Raw,
            known => known,
        }
    }
}

/// Something that can be started.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AgentRow {
    /// Its name for people.
    pub name: String,
    /// What it is.
    #[serde(default)]
    pub description: String,
    /// What people should know before they choose it.
    pub note: Option<String>,
    /// How it is started to speak ACP.
    pub acp: Option<LaunchRow>,
    /// How it is started to speak a protocol of its own.
    pub native: Option<NativeRow>,
    /// Where its credentials are.
    #[serde(default)]
    pub credentials: Credentials,
    /// A command that succeeds if the user is logged in with the agent.
    pub login_status: Option<LaunchRow>,
    /// How it is given skills over ACP.
    pub skills: Option<SkillsRow>,
    /// What it can do.
    #[serde(default)]
    pub capabilities: AgentCapabilities,
    /// The ways it can behave.
    #[serde(default)]
    pub modes: Vec<AgentMode>,
    /// The models it can use.
    #[serde(default)]
    pub models: Vec<ModelRow>,
}

/// How a program is started.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchRow {
    /// The program.
    pub program: Template,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<Template>,
    /// Variables added to its environment.
    #[serde(default)]
    pub env: BTreeMap<String, Template>,
    /// Directories that come first in its `PATH`.
    #[serde(default)]
    pub path: Vec<Template>,
    /// Inherited variables that say yes or no, and that its programs read differently: they get `1`, or nothing for no.
    #[serde(default)]
    pub flags: Vec<String>,
}

impl LaunchRow {
    /// The components that it names.
    pub fn components(&self) -> BTreeSet<ComponentName> {
        let program = std::iter::once(&self.program);
        template::components(program.chain(&self.args).chain(self.env.values()).chain(&self.path))
    }
}

/// How a program is started to speak a protocol of its own.
#[derive(Debug, Clone, Deserialize)]
pub struct NativeRow {
    /// The protocol.
    pub protocol: AgentProtocol,
    /// How it is started.
    #[serde(flatten)]
    pub launch: LaunchRow,
}

/// Where the credentials of an agent are.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Credentials {
    /// Variables that hold one.
    #[serde(default)]
    pub variables: Vec<String>,
    /// Files that hold one.
    #[serde(default)]
    pub files: Vec<CredentialFile>,
    /// Variables that the program does not read itself, in the order in which they are tried: the adapter logs in with the
    /// first one that is set.
    #[serde(default)]
    pub login_keys: Vec<LoginKey>,
    /// For an agent whose models are called `provider/model`: the variable that it reads the key of each provider from.
    #[serde(default)]
    pub providers: BTreeMap<String, String>,
}

impl Credentials {
    /// The variable that hands a key to the agent: that of the model's provider, or the first one for an agent that has one
    /// provider or that chooses its model by the keys that it has.
    ///
    /// # Errors
    /// If it is not known which variable the provider reads.
    pub fn key_variable(&self, model: Option<&str>) -> Result<Option<&str>, UnknownProvider> {
        let Some(model) = model.filter(|_| !self.providers.is_empty()) else {
            return Ok(self.variables.first().map(String::as_str));
        };
        let provider = model.split_once('/').map(|(provider, _)| provider);
        let variable = provider.and_then(|provider| self.providers.get(provider));
        let unknown = || UnknownProvider {
            model: model.to_owned(),
            known: self.providers.keys().cloned().collect::<Vec<_>>().join(", "),
        };
        variable.map(|variable| Some(variable.as_str())).ok_or_else(unknown)
    }
}

/// It is not known which variable the provider of a model reads its key from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`token` cannot be passed on for the model `{model}`, because the variable of its provider is not known (known providers: {known}): leave `token` out and set the variable in `env`, as the documents of the provider call it"
)]
pub struct UnknownProvider {
    model: String,
    known: String,
}

/// A variable with a key that the adapter logs in with.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LoginKey {
    /// The name of the variable.
    pub variable: String,
    /// It is used only if the user is not logged in with the agent.
    #[serde(default)]
    pub after_login: bool,
}

/// A credential in a file of JSON.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CredentialFile {
    /// The file, below the home directory.
    pub path: String,
    /// Where in it the credential is.
    pub pointer: String,
    /// The variable that hands it to the agent; none if only the file does.
    pub variable: Option<String>,
    /// Where in it is said, in milliseconds, when it expires.
    pub expires: Option<String>,
    /// The file is another agent's: this one does not read it, and is handed the variable.
    #[serde(default)]
    pub lent: bool,
}

/// One model of an agent.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelRow {
    /// Its id in requests.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Variants of it.
    #[serde(default)]
    pub variants: Vec<String>,
}
