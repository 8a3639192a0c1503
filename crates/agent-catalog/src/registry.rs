//! The public ACP registry: its format, and how its entries become rows.

use std::collections::BTreeMap;

use protocol::AgentName;
use serde::Deserialize;

use crate::{
    Component, ComponentName, InvalidCatalog, Platform, Template, Version,
    table::{AgentRow, Archive, Credentials, LaunchRow, Source},
};

/// The Node that npm packages of the registry get at least: what most of them declare.
const NODE_MIN: &str = "20.20.0";

/// The npm that installs them at least.
const NPM_MIN: &str = "10.0.0";

/// The Python that packages of the registry get at least.
const PYTHON_MIN: &str = "3.10.0";

/// The uv that installs them at least: what is published for `uvx` may not work with pip, which has another order.
const UV_MIN: &str = "0.5.0";

/// The registry. What a newer one says besides is passed over.
#[derive(Debug, Clone, Deserialize)]
pub struct Registry {
    /// Its agents.
    pub agents: Vec<Entry>,
}

impl Registry {
    /// Reads the document.
    pub fn parse(text: &str) -> Result<Self, InvalidCatalog> {
        serde_json::from_str(text).map_err(|error| InvalidCatalog::Registry(error.to_string()))
    }
}

/// One agent of the registry.
#[derive(Debug, Clone, Deserialize)]
pub struct Entry {
    id: String,
    name: String,
    version: String,
    #[serde(default)]
    description: String,
    distribution: Distribution,
}

#[derive(Debug, Clone, Deserialize)]
struct Distribution {
    #[serde(default)]
    binary: BTreeMap<String, Binary>,
    npx: Option<Package>,
    uvx: Option<Package>,
}

/// A program for one platform.
#[derive(Debug, Clone, Deserialize)]
struct Binary {
    archive: String,
    cmd: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    sha256: Option<String>,
}

/// A package that is run by `npx` or `uvx`.
#[derive(Debug, Clone, Deserialize)]
struct Package {
    package: String,
    cmd: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// The rows of an entry; nothing if it is not for us.
pub(crate) fn row(entry: &Entry) -> Option<(AgentName, Component, AgentRow)> {
    let id: AgentName = entry.id.parse().ok()?;
    let own = ComponentName::from(id.clone());
    let version: Version = entry.version.parse().ok()?;
    let (component, launch) = binary(entry, &own, &version)
        .or_else(|| npx(entry, &own, &version))
        .or_else(|| uvx(entry, &own, &version))?;
    let row = AgentRow {
        name: entry.name.clone(),
        description: entry.description.clone(),
        note: None,
        acp: Some(launch),
        native: None,
        credentials: Credentials::default(),
        login_status: None,
        skills: None,
        capabilities: Default::default(),
        modes: Vec::new(),
        models: Vec::new(),
    };
    Some((id, component, row))
}

fn binary(entry: &Entry, own: &ComponentName, version: &Version) -> Option<(Component, LaunchRow)> {
    let here = Platform::here().ok()?;
    let of = |platform: Platform| entry.distribution.binary.get(platform.in_registry());
    let binary = of(here)?;
    let program = binary.cmd.trim_start_matches("./").to_owned();
    // Each platform has a URL of its own, so that is what the platform is called here.
    let names = |pick: fn(&Binary) -> Option<String>| -> BTreeMap<Platform, String> {
        Platform::ALL.into_iter().filter_map(|platform| Some((platform, pick(of(platform)?)?))).collect()
    };
    let source = Source::Download {
        url: "{platform}".into(),
        latest_url: None,
        latest: None,
        tag: "{version}".into(),
        checksum: None,
        sha256: names(|binary| binary.sha256.clone()),
        archive: Archive::ByName,
        program,
        platforms: names(|binary| Some(binary.archive.clone())),
        targets: BTreeMap::new(),
    };
    let launch = LaunchRow {
        program: Template::program_of(own),
        args: binary.args.iter().map(Template::literal).collect(),
        env: literals(&binary.env),
        path: Vec::new(),
        flags: Vec::new(),
    };
    Some((component(version, [], source), launch))
}

fn npx(entry: &Entry, own: &ComponentName, version: &Version) -> Option<(Component, LaunchRow)> {
    let npx = entry.distribution.npx.as_ref()?;
    // `@scope/name@1.2.3`: the version comes behind the last at sign that is not the first character.
    let package = match npx.package.rfind('@') {
        Some(at) if at > 0 => npx.package[..at].to_owned(),
        _ => npx.package.clone(),
    };
    let program = npx.cmd.as_ref().map(|cmd| format!("node_modules/.bin/{cmd}"));
    let source = Source::NpmInstall { package, program, integrity: None, omit_optional: false };
    let node: ComponentName = "node".parse().ok()?;
    let arguments = npx.args.iter().map(Template::literal);
    let launch = LaunchRow {
        program: Template::program_of(&node),
        args: std::iter::once(Template::program_of(own)).chain(arguments).collect(),
        env: literals(&npx.env),
        path: vec![Template::bin_of(&node)],
        flags: Vec::new(),
    };
    Some((component(version, [("node", NODE_MIN), ("npm", NPM_MIN)], source), launch))
}

fn uvx(entry: &Entry, own: &ComponentName, version: &Version) -> Option<(Component, LaunchRow)> {
    let uvx = entry.distribution.uvx.as_ref()?;
    let name = uvx.package.split(['=', '@', '<', '>', '~', '[']).next()?.trim().to_owned();
    let script = uvx.cmd.clone().unwrap_or_else(|| name.clone());
    let source =
        Source::Pypi { packages: vec![format!("{name}=={{version}}")], program: format!("bin/{script}") };
    let mut env = literals(&uvx.env);
    env.insert("PYTHONPATH".into(), Template::tree_of(own));
    let launch = LaunchRow {
        program: Template::program_of(own),
        args: uvx.args.iter().map(Template::literal).collect(),
        env,
        path: Vec::new(),
        flags: Vec::new(),
    };
    Some((component(version, [("python", PYTHON_MIN), ("uv", UV_MIN)], source), launch))
}

fn component<const N: usize>(version: &Version, requires: [(&str, &str); N], source: Source) -> Component {
    let requires =
        requires.into_iter().filter_map(|(name, min)| Some((name.parse().ok()?, crate::Release::find(min)?)));
    Component { version: version.clone(), on_path: None, requires: requires.collect(), sources: vec![source] }
}

fn literals(env: &BTreeMap<String, String>) -> BTreeMap<String, Template> {
    env.iter().map(|(name, value)| (name.clone(), Template::literal(value))).collect()
}
