//! Packages with dependencies, which their own tools install: npm, and uv or pip.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use process::ProcessSpec;
use protocol::agents::InstallPhase;
use serde_json::Value;

use super::{
    Fault, UnverifiedPolicy,
    digest::Checksum,
    npm::Lockfile,
    pip,
    prune::prune,
    tool,
    work::{Work, off_thread},
};
use agent_catalog::{ComponentName, Version};

/// How long a tool may take to install a package with all that it needs.
const TOOL_MAX: Duration = Duration::from_secs(15 * 60);

/// An npm package to install.
pub(super) struct Npm<'a> {
    pub(super) package: &'a str,
    pub(super) version: &'a Version,
    pub(super) program: Option<&'a str>,
    pub(super) omit_optional: bool,
    /// The checksum that the catalog pins for the package itself.
    pub(super) pinned: Option<Checksum>,
    /// Whether to ask the registry again for what is cached.
    pub(super) again: bool,
    pub(super) unverified: UnverifiedPolicy,
}

/// An npm package that is installed.
pub(super) struct NpmInstalled {
    /// Its program, below the directory that it was installed into.
    pub(super) program: String,
    /// Whether npm compared it and all its dependencies with published checksums.
    pub(super) verified: bool,
}

/// Installs an npm package into `stage`. Nothing of it runs: a package that is refused has done no harm.
pub(super) async fn npm(work: &Work<'_>, asked: &Npm<'_>, stage: &Path) -> Result<NpmInstalled, Fault> {
    let node = work.need("node").await?;
    let npm = work.need("npm").await?;
    work.teller.phase(InstallPhase::Installing);
    let bin = node.found.program.parent().map(|bin| bin.to_string_lossy().into_owned());
    let mut spec = match npm.managed {
        // Ours is a script; one on the PATH may be anything that can be started.
        true => ProcessSpec::new(&node.found.program).arg(&npm.found.program),
        false => ProcessSpec::new(&npm.found.program),
    };
    spec = spec
        .args(["install", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--no-progress"])
        .args(["--no-update-notifier", "--loglevel=error", "--global=false", "--save=false", "--prefix"])
        .arg(stage)
        .cwd(stage)
        .env("PATH", work.inner.config.search_path.behind(&Vec::from_iter(bin)));
    if asked.omit_optional {
        spec = spec.arg("--omit=optional");
    }
    if let Some(cache) = &work.inner.config.cache {
        // With a cache of ours, what was installed once is installed again without a network. npm's cache has the URL of
        // the registry in its keys, so it does not mix registries.
        let prefer = if asked.again { "--prefer-online" } else { "--prefer-offline" };
        spec = spec.arg(prefer).arg("--cache").arg(cache.join("npm"));
    }
    // A name out of a registry is a name, whatever it begins with.
    spec = spec.arg("--").arg(format!("{}@{}", asked.package, asked.version));
    tool::run(&work.scrubbed(spec), TOOL_MAX).await.map_err(full_disk)?;
    let modules = stage.join("node_modules");
    let lockfile = Lockfile::read(&modules)?;
    if let Some(pinned) = &asked.pinned {
        lockfile.check_pin(asked.package, asked.version, pinned)?;
    }
    let verified = asked.unverified.check(lockfile.check_verified())?.is_some();
    off_thread(move || prune(&modules).map_err(Fault::local("remove unneeded files"))).await?;
    let program = match asked.program {
        Some(program) => program.to_owned(),
        None => bin_of(stage, asked.package)?,
    };
    Ok(NpmInstalled { program, verified })
}

/// The program that a package names in its `package.json`.
fn bin_of(stage: &Path, package: &str) -> Result<String, Fault> {
    let directory = PathBuf::from("node_modules").join(package);
    let missing = || Fault::NoProgram(format!("{package} (its `bin`)"));
    let text = std::fs::read(stage.join(&directory).join("package.json")).map_err(|_| missing())?;
    let manifest: Value = serde_json::from_slice(&text).map_err(|_| missing())?;
    let short = package.rsplit('/').next().unwrap_or(package);
    let bin = match &manifest["bin"] {
        Value::String(bin) => Some(bin.as_str()),
        // As npx does it: the only one, or the one that is called like the package.
        Value::Object(bins) if bins.len() == 1 => bins.values().next().and_then(Value::as_str),
        Value::Object(bins) => bins.get(short).and_then(Value::as_str),
        _ => None,
    };
    let bin = bin.ok_or_else(missing)?.trim_start_matches("./");
    Ok(directory.join(bin).to_string_lossy().into_owned())
}

/// Installs Python packages into `stage`.
///
/// Not as a virtual environment: that holds its own path in many places, so it could not be moved into place.
///
/// pip and uv compare each file with the hash that the index publishes for it, as the Python Package Index does for all.
/// They do not say whether an index published one.
pub(super) async fn pypi(
    work: &Work<'_>,
    packages: &[String],
    again: bool,
    stage: &Path,
) -> Result<(), Fault> {
    let python = work.need("python").await?.found.program;
    let uv = match work.row.requires.contains_key(&name("uv")?) {
        true => Some(work.need("uv").await?),
        false => work.inner.look(&name("uv")?, None).await,
    };
    work.teller.phase(InstallPhase::Installing);
    let (spec, kept) = match uv {
        Some(uv) => {
            let spec =
                ProcessSpec::new(&uv.found.program).args(["pip", "install", "--quiet", "--no-progress"]);
            // Who has a uv of their own has told it where to look.
            let env = match uv.managed {
                true => pip::as_uv(&work.scrubbed(ProcessSpec::new(&python))).await?,
                false => Vec::new(),
            };
            let spec = env.into_iter().fold(spec, |spec, (name, value)| spec.env(name, value));
            (spec.arg("--python").arg(python), "uv")
        }
        None => {
            let spec = ProcessSpec::new(python).args(["-m", "pip", "install", "--quiet", "--no-input"]);
            (spec.args(["--disable-pip-version-check", "--no-warn-script-location"]), "pip")
        }
    };
    let spec = match &work.inner.config.cache {
        Some(_) if again => spec.arg("--no-cache-dir"), // both know this option
        Some(cache) => spec.arg("--cache-dir").arg(cache.join(kept)),
        None => spec,
    };
    let spec = spec.arg("--target").arg(stage).arg("--").args(packages);
    tool::run(&work.scrubbed(spec), TOOL_MAX).await.map_err(full_disk)?;
    Ok(())
}

/// Tools tell of a full disk in words.
fn full_disk(fault: Fault) -> Fault {
    match fault {
        Fault::Tool { said, .. } if said.contains("ENOSPC") || said.contains("No space left") => {
            Fault::NoSpace
        }
        other => other,
    }
}

/// The components that a tool needs to install something.
pub(super) fn name(text: &str) -> Result<ComponentName, Fault> {
    text.parse().map_err(|error| Fault::Answer(format!("{error}")))
}
