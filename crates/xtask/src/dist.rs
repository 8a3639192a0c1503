//! Builds what is published: the npm packages, and one package with the program for each platform.

mod package;
mod platform;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};

use self::{package::StagedPackage, platform::Platform};
use crate::{npm::NpmWorkspace, published_build::PublishedBuild, sh, typescript};

#[derive(clap::Args)]
pub(crate) struct DistOptions {
    /// Target triple to build for [default: this machine]
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// Pack a debug build into target/packages-unreleased, for the tests of the packages
    #[arg(long, conflicts_with = "target")]
    unreleased: bool,
}

/// Builds the program with the profile `dist`, and packs everything into `target/packages`.
pub(crate) fn run(options: &DistOptions) -> anyhow::Result<()> {
    if options.unreleased {
        typescript::build()?;
        return unreleased(&sh::build()?).map(drop);
    }
    let build = match &options.target {
        Some(target) => PublishedBuild::for_target(target),
        None => PublishedBuild::for_host()?,
    };
    let platform = Platform::for_target(build.target())?;
    let program = build.build("cli")?.join("tombolo");
    typescript::build()?;
    let out = sh::target_dir()?.join("packages");
    pack(&platform, &program, &out)?;
    println!(
        "packed into {}: `npm publish --access public FILE` for each, the platform's first",
        out.display()
    );
    Ok(())
}

/// Packs the packages with a debug build of the program, for their tests.
pub(crate) fn unreleased(program: &Path) -> anyhow::Result<PathBuf> {
    let out = sh::target_dir()?.join("packages-unreleased");
    let stripped = out.with_extension("program");
    // Debug information is most of its size, and the tests install it several times.
    sh::status(sh::command("strip").arg("-o").arg(&stripped).arg(program))?;
    pack(&Platform::for_target(PublishedBuild::for_host()?.target())?, &stripped, &out)?;
    Ok(out)
}

/// Packs each package into a file, and writes their checksums to `SHA256SUMS`.
fn pack(platform: &Platform, program: &Path, out: &Path) -> anyhow::Result<()> {
    if out.exists() {
        fs::remove_dir_all(out).with_context(|| format!("could not clear {}", out.display()))?;
    }
    let staged = out.join("staged");
    for package in StagedPackage::stage_public(NpmWorkspace::typescript().directory(), &staged)? {
        package.pack(out)?;
    }
    StagedPackage::stage_program(platform, program, &staged)?.pack(out)?;
    fs::remove_dir_all(staged)?;
    write_checksums(out)
}

fn write_checksums(out: &Path) -> anyhow::Result<()> {
    let mut names = Vec::new();
    for entry in fs::read_dir(out)? {
        names.push(entry?.file_name());
    }
    names.sort();
    let sums = sh::command("sha256sum").current_dir(out).args(names).output()?;
    if !sums.status.success() {
        bail!("sha256sum failed: {}", String::from_utf8_lossy(&sums.stderr));
    }
    Ok(fs::write(out.join("SHA256SUMS"), sums.stdout)?)
}
