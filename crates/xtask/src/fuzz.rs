//! Runs the fuzz targets with libFuzzer on the stable compiler, each for a bounded time.

use anyhow::{Context, bail};

use crate::sh;

/// Flags that make the compiler count every edge, as libFuzzer needs.
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 -Cdebug-assertions=on";

pub(crate) fn run(seconds: u32, only: Option<&str>) -> anyhow::Result<()> {
    let targets = sh::root().join("fuzz/targets");
    let mut names: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(&targets).context("could not list the fuzz targets")? {
        let path = entry?.path();
        names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
    }
    names.sort();
    names.retain(|name| only.is_none_or(|only| only == name));
    if names.is_empty() {
        bail!("no fuzz target has this name: see fuzz/targets");
    }
    let built = sh::target_dir()?.join("fuzz");
    let host = host_triple()?;
    let mut build = sh::command("cargo");
    // With `--target`, cargo does not pass RUSTFLAGS to build scripts, which have no fuzzer to report coverage to.
    build.args([
        "build",
        "--release",
        "--manifest-path",
        "fuzz/Cargo.toml",
        "--target",
        &host,
        "--target-dir",
    ]);
    sh::status(build.arg(&built).env("RUSTFLAGS", COVERAGE))?;
    for name in names {
        println!("── {name}");
        let corpus = built.join("corpus").join(&name);
        std::fs::create_dir_all(&corpus)?;
        let mut fuzz = sh::command(built.join(&host).join("release").join(&name));
        let artifacts = format!("-artifact_prefix={}/", built.display());
        fuzz.arg(&corpus)
            .arg(format!("-max_total_time={seconds}"))
            .args(["-timeout=10", "-rss_limit_mb=2048"]);
        sh::status(fuzz.arg(artifacts))?;
    }
    Ok(())
}

/// The target triple of this machine.
fn host_triple() -> anyhow::Result<String> {
    let output = String::from_utf8(sh::command("rustc").arg("-vV").output()?.stdout)?;
    let host = output.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc -vV` printed no host")?.to_owned())
}
