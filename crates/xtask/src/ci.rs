//! Runs every check that a change must pass, the fastest to fail first, and sums up the tests.

use std::{path::Path, time::Instant};

use anyhow::{Context, bail};

use crate::{
    api_lint, codegen, generated_clients, mcp_conformance, schemathesis, sh, system,
    test_summary::TestSummary, tidy, typescript,
};

/// One check of CI.
struct CiStep {
    name: &'static str,
    run: fn() -> anyhow::Result<()>,
}

const fn step(name: &'static str, run: fn() -> anyhow::Result<()>) -> CiStep {
    CiStep { name, run }
}

const STEPS: &[CiStep] = &[
    step("format", || sh::run("cargo fmt --all --check")),
    step("whitespace", check_whitespace),
    step("tidy", tidy::run),
    step("clippy", || sh::run("cargo clippy --workspace --all-targets -- --deny warnings")),
    step("features", check_features),
    // The device runs lent commands in a bubblewrap sandbox.
    step("bubblewrap", || system::install("bwrap", "bubblewrap", "the sandbox tests")),
    step("prometheus", || system::install("promtool", "prometheus", "the test of the metrics")),
    step("tests", run_rust_tests),
    step("generated files", || codegen::run(true)),
    step("docs", build_docs),
    step("api lint", api_lint::run),
    step("typescript", typescript::run),
    step("schemathesis", schemathesis::run),
    step("generated clients", generated_clients::run),
    step("mcp conformance", mcp_conformance::run),
];

/// Dependencies that only a server of event streams needs.
const SERVER_CRATES: &[&str] = &["axum ", "tokio-tungstenite "];

pub(crate) fn run() -> anyhow::Result<()> {
    TestSummary::forget_previous_run()?;
    for CiStep { name, run } in STEPS {
        println!("── {name}");
        let start = Instant::now();
        run().with_context(|| format!("CI step `{name}` failed"))?;
        println!("── {name}: passed in {:.0} s", start.elapsed().as_secs_f32());
    }
    let summary = TestSummary::collect()?;
    println!("── summary\n{summary}");
    if is_ci() { summary.check_complete() } else { Ok(()) }
}

/// Whether a CI service runs this. A developer's machine may lack the rights or the network for some tests.
#[expect(clippy::disallowed_methods, reason = "a development tool has no configuration to pass this in")]
fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}

/// Fails if whitespace is wrong anywhere: trailing, mixed in indentation, or left by a conflict.
fn check_whitespace() -> anyhow::Result<()> {
    check_whitespace_in(&sh::root())
}

fn check_whitespace_in(repository: &Path) -> anyhow::Result<()> {
    let mut git = sh::command("git");
    git.current_dir(repository).args(["hash-object", "-t", "tree", "/dev/null"]);
    let empty_tree = String::from_utf8(git.output()?.stdout)?;
    let mut diff = sh::command("git");
    sh::status(diff.current_dir(repository).args(["diff", "--check", empty_tree.trim()]))
}

/// Fails if `worker-runtime` without its `ws-server` feature depends on a server crate.
fn check_features() -> anyhow::Result<()> {
    let mut tree = sh::command("cargo");
    let tree = tree.args(["tree", "--package", "worker-runtime", "--edges", "normal", "--prefix", "none"]);
    let tree = String::from_utf8(tree.output()?.stdout)?;
    if tree.is_empty() {
        bail!("`cargo tree` printed no dependencies of `worker-runtime`");
    }
    match tree.lines().find(|line| SERVER_CRATES.iter().any(|name| line.starts_with(name))) {
        Some(server) => bail!("`worker-runtime` depends on {server} without its feature `ws-server`"),
        None => Ok(()),
    }
}

/// The tested packages: all crates, with the stream server of `worker-runtime`.
const TESTED: &str = "--workspace --features worker-runtime/ws-server";

fn run_rust_tests() -> anyhow::Result<()> {
    if sh::is_there("cargo", &["nextest"]) {
        sh::run(&format!("cargo nextest run {TESTED}"))?;
        // nextest does not run the examples in documentation.
        return sh::run("cargo test --quiet --workspace --doc");
    }
    sh::run(&format!("cargo test {TESTED}"))
}

fn build_docs() -> anyhow::Result<()> {
    let mut doc = sh::command("cargo");
    doc.args(["doc", "--workspace", "--no-deps", "--document-private-items", "--quiet"]);
    sh::status(doc.env("RUSTDOCFLAGS", "--deny warnings"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// observation-73: a difference with a whitespace error fails CI, and one without does not.
    #[test]
    fn whitespace_errors_fail() {
        let repository = tempfile::tempdir().unwrap();
        let git =
            |args: &[&str]| sh::status(sh::command("git").current_dir(repository.path()).args(args)).unwrap();
        git(&["init", "--quiet"]);
        let file = repository.path().join("file");
        for (text, is_right) in
            [("right\n", true), ("trailing \n", false), ("\tindented\n", true), ("  \tmixed\n", false)]
        {
            std::fs::write(&file, text).unwrap();
            git(&["add", "--all"]);
            assert_eq!(check_whitespace_in(repository.path()).is_ok(), is_right, "{text:?}");
        }
    }

    /// observation-10, observation-73: CI tests every crate with the stream server and checks that it is optional; and it builds what
    /// is published, whose tests run with the TypeScript packages.
    #[test]
    fn ci_covers_the_stream_server() {
        assert!(TESTED.contains("--workspace") && TESTED.contains("worker-runtime/ws-server"));
        check_features().unwrap();
        let names: Vec<_> = STEPS.iter().map(|step| step.name).collect();
        for needed in ["whitespace", "features", "tests", "typescript"] {
            assert!(names.contains(&needed), "{needed}");
        }
    }
}
