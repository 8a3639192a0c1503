//! Stages and packs npm packages.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use serde::Deserialize;
use serde_json::json;

use super::platform::Platform;
use crate::sh;

/// Entries of a package's directory that are not published.
const UNPUBLISHED: &[&str] = &["node_modules", "tests"];

const LICENSES: &[&str] = &["LICENSE-APACHE", "LICENSE-MIT"];

/// The version of the program and of every package.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The package whose launcher runs the program.
const LAUNCHER: &str = "@tombolo/cli";

/// A staged npm package.
pub(super) struct StagedPackage {
    directory: PathBuf,
}

#[derive(Deserialize)]
struct WorkspaceManifest {
    workspaces: Vec<String>,
}

#[derive(Deserialize)]
struct PackageManifest {
    name: String,
    version: String,
    #[serde(default)]
    private: bool,
}

impl StagedPackage {
    /// Stages the public packages of an npm workspace.
    pub(super) fn stage_public(workspace: &Path, staged: &Path) -> anyhow::Result<Vec<Self>> {
        let WorkspaceManifest { workspaces } = read_manifest(workspace)?;
        let mut packages = Vec::new();
        for member in workspaces {
            let source = workspace.join(member);
            let manifest: PackageManifest = read_manifest(&source)?;
            if !manifest.private {
                packages.push(Self::stage(&source, &manifest, staged)?);
            }
        }
        Ok(packages)
    }

    fn stage(source: &Path, manifest: &PackageManifest, staged: &Path) -> anyhow::Result<Self> {
        let PackageManifest { name, version, .. } = manifest;
        if version != VERSION {
            bail!(
                "the version of {name} is {version}, but that of the program is {VERSION}: make them equal"
            );
        }
        let directory = staged.join(name);
        copy_directory(source, &directory)?;
        let package = Self { directory };
        package.add_licenses()?;
        if name == LAUNCHER {
            // `npm pkg set` keeps the order of the existing keys. It matters in `exports`, and `serde_json` would sort them.
            let mut npm = sh::command("npm");
            npm.current_dir(&package.directory).args(["pkg", "set"]);
            for platform in Platform::all()? {
                npm.arg(format!("optionalDependencies[{}]={VERSION}", platform.package_name()));
            }
            sh::status(&mut npm)?;
        }
        Ok(package)
    }

    /// Stages the package that contains the program for one platform.
    pub(super) fn stage_program(platform: &Platform, program: &Path, staged: &Path) -> anyhow::Result<Self> {
        let Platform { target, os, cpu, libc, .. } = platform;
        let name = platform.package_name();
        let package = Self { directory: staged.join(&name) };
        fs::create_dir_all(package.directory.join("bin"))?;
        // `fs::copy` keeps the permissions.
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
        package.add_licenses()?;
        Ok(package)
    }

    fn add_licenses(&self) -> anyhow::Result<()> {
        for license in LICENSES {
            fs::copy(sh::root().join(license), self.directory.join(license))?;
        }
        Ok(())
    }

    /// Packs it into one file with `npm pack`.
    pub(super) fn pack(&self, out: &Path) -> anyhow::Result<()> {
        let mut npm = sh::command("npm");
        sh::status(npm.args(["pack", "--silent", "--pack-destination"]).arg(out).arg(&self.directory))
    }
}

fn read_manifest<T: for<'a> Deserialize<'a>>(package: &Path) -> anyhow::Result<T> {
    let file = package.join("package.json");
    let text = fs::read(&file).with_context(|| format!("could not read {}", file.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("could not parse {}", file.display()))
}

fn copy_directory(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        let path = entry.path();
        if UNPUBLISHED.iter().any(|unpublished| name == *unpublished) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy_directory(&path, &to.join(name))?;
        } else {
            fs::copy(path, to.join(name))?;
        }
    }
    Ok(())
}
