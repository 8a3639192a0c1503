//! What is published: the npm packages, and the program in one for each kind of machine.

mod package;
mod platform;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};

use self::{package::Package, platform::Platform};
use crate::{sh, typescript};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// The kind of machine to build for; this one if left out
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// Pack the program as it is while it is developed, for the tests of the packages: `target/packages-unreleased`
    #[arg(long, conflicts_with = "target")]
    unreleased: bool,
}

/// Builds the program as it is released, and packs everything into `target/packages`.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    if options.unreleased {
        typescript::build()?;
        return unreleased(&sh::build()?).map(drop);
    }
    let (platform, program) = match &options.target {
        Some(target) => {
            sh::run(&format!("cargo build --profile dist --package cli --target {target}"))?;
            (Platform::of(target)?, sh::target_dir()?.join(target).join("dist/tombolo"))
        }
        None => {
            sh::run("cargo build --profile dist --package cli")?;
            (Platform::here()?, sh::target_dir()?.join("dist/tombolo"))
        }
    };
    typescript::build()?;
    let out = sh::target_dir()?.join("packages");
    pack(&platform, &program, &out)?;
    println!(
        "packed into {}: `npm publish --access public FILE` for each, the platform's first",
        out.display()
    );
    Ok(())
}

/// Packs what was built, with the program as it is while it is developed, for tests of the packages themselves.
pub(crate) fn unreleased(program: &Path) -> anyhow::Result<PathBuf> {
    let out = sh::target_dir()?.join("packages-unreleased");
    let stripped = out.with_extension("program");
    // What is there only to find faults is most of it.
    sh::status(sh::command("strip").arg("-o").arg(&stripped).arg(program))?;
    pack(&Platform::here()?, &stripped, &out)?;
    Ok(out)
}

/// Makes one file of each package, and one of their checksums.
fn pack(platform: &Platform, program: &Path, out: &Path) -> anyhow::Result<()> {
    if out.exists() {
        fs::remove_dir_all(out).with_context(|| format!("could not clear {}", out.display()))?;
    }
    let staged = out.join("staged");
    for package in Package::published(&typescript::workspace(), &staged)? {
        package.pack(out)?;
    }
    Package::of_program(platform, program, &staged)?.pack(out)?;
    fs::remove_dir_all(staged)?;
    checksums(out)
}

fn checksums(out: &Path) -> anyhow::Result<()> {
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
