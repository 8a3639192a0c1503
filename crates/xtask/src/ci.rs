//! Runs every check that a change must pass, the fastest to fail first, and sums up the tests.

use std::time::Instant;

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
    let empty_tree = sh::command("git").args(["hash-object", "-t", "tree", "/dev/null"]).output()?;
    let empty_tree = String::from_utf8(empty_tree.stdout)?;
    sh::run(&format!("git diff --check {}", empty_tree.trim()))
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

fn run_rust_tests() -> anyhow::Result<()> {
    if sh::is_there("cargo", &["nextest"]) {
        sh::run("cargo nextest run --workspace --features worker-runtime/ws-server")?;
        // nextest does not run the examples in documentation.
        return sh::run("cargo test --quiet --workspace --doc");
    }
    sh::run("cargo test --workspace --features worker-runtime/ws-server")
}

fn build_docs() -> anyhow::Result<()> {
    let mut doc = sh::command("cargo");
    doc.args(["doc", "--workspace", "--no-deps", "--document-private-items", "--quiet"]);
    sh::status(doc.env("RUSTDOCFLAGS", "--deny warnings"))
}
