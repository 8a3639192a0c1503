//! One npm package, as it is published.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use serde::Deserialize;
use serde_json::json;

use super::platform::Platform;
use crate::sh;

/// What of a package's directory is only there to develop it.
const OWN: &[&str] = &["node_modules", "tests"];

const LICENSES: &[&str] = &["LICENSE-APACHE", "LICENSE-MIT"];

/// The version of everything.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The package that runs the program, wherever that is.
const LAUNCHER: &str = "@tombolo/cli";

pub(super) struct Package {
    directory: PathBuf,
}

#[derive(Deserialize)]
struct Workspace {
    workspaces: Vec<String>,
}

#[derive(Deserialize)]
struct Manifest {
    name: String,
    version: String,
    #[serde(default)]
    private: bool,
}

impl Package {
    /// Those of a workspace that are for others, as copies with what is only known when they are published.
    pub(super) fn published(workspace: &Path, staged: &Path) -> anyhow::Result<Vec<Self>> {
        let Workspace { workspaces } = read(workspace)?;
        let mut packages = Vec::new();
        for member in workspaces {
            let source = workspace.join(member);
            let manifest: Manifest = read(&source)?;
            if !manifest.private {
                packages.push(Self::staged(&source, &manifest, staged)?);
            }
        }
        Ok(packages)
    }

    fn staged(source: &Path, manifest: &Manifest, staged: &Path) -> anyhow::Result<Self> {
        let Manifest { name, version, .. } = manifest;
        if version != VERSION {
            bail!("{name} is {version}, and the program is {VERSION}");
        }
        let directory = staged.join(name);
        copy(source, &directory)?;
        let package = Self { directory };
        package.license()?;
        if name == LAUNCHER {
            // npm keeps the order of what is there, which has a meaning in `exports`.
            let mut npm = sh::command("npm");
            npm.current_dir(&package.directory).args(["pkg", "set"]);
            for platform in Platform::all()? {
                npm.arg(format!("optionalDependencies[{}]={VERSION}", platform.package()));
            }
            sh::status(&mut npm)?;
        }
        Ok(package)
    }

    /// The program of a kind of machine, in a package of its own.
    pub(super) fn of_program(platform: &Platform, program: &Path, staged: &Path) -> anyhow::Result<Self> {
        let Platform { target, os, cpu, libc, .. } = platform;
        let name = platform.package();
        let package = Self { directory: staged.join(&name) };
        fs::create_dir_all(package.directory.join("bin"))?;
        // With its permissions.
        fs::copy(program, package.directory.join("bin/tombolo"))
            .with_context(|| format!("could not copy {}", program.display()))?;
        let readme = format!("# {name}\n\nThe `tombolo` program for {target}, which `{LAUNCHER}` runs.\n");
        fs::write(package.directory.join("README.md"), readme)?;
        let manifest = json!({
            "name": name,
            "version": VERSION,
            "description": format!("The tombolo program for {target}"),
            "license": "Apache-2.0 OR MIT",
            "os": [os],
            "cpu": [cpu],
            "libc": [libc],
            "files": ["bin", "LICENSE-*"],
        });
        fs::write(package.directory.join("package.json"), serde_json::to_vec_pretty(&manifest)?)?;
        package.license()?;
        Ok(package)
    }

    fn license(&self) -> anyhow::Result<()> {
        for license in LICENSES {
            fs::copy(sh::root().join(license), self.directory.join(license))?;
        }
        Ok(())
    }

    /// Makes one file of it, as npm does.
    pub(super) fn pack(&self, out: &Path) -> anyhow::Result<()> {
        let mut npm = sh::command("npm");
        sh::status(npm.args(["pack", "--silent", "--pack-destination"]).arg(out).arg(&self.directory))
    }
}

fn read<T: for<'a> Deserialize<'a>>(package: &Path) -> anyhow::Result<T> {
    let file = package.join("package.json");
    let text = fs::read(&file).with_context(|| format!("could not read {}", file.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("could not understand {}", file.display()))
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (name, path) = (entry.file_name(), entry.path());
        if OWN.iter().any(|own| name == *own) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy(&path, &to.join(name))?;
        } else {
            fs::copy(path, to.join(name))?;
        }
    }
    Ok(())
}
