//! Every check that a change must pass, in the order in which they fail fastest.

use std::time::Instant;

use crate::{codegen, schemathesis, sh, system, tidy, typescript};

type Step = (&'static str, fn() -> anyhow::Result<()>);

const STEPS: &[Step] = &[
    ("format", || sh::run("cargo fmt --all --check")),
    ("tidy", tidy::run),
    ("clippy", || sh::run("cargo clippy --workspace --all-targets -- --deny warnings")),
    ("features", features),
    // It makes the sandbox of commands that a device lends.
    ("bubblewrap", || system::install("bwrap", "bubblewrap", "the tests of the sandbox")),
    ("tests", tests),
    ("generated files", || codegen::run(true)),
    ("docs", docs),
    ("typescript", typescript::run),
    ("schemathesis", schemathesis::run),
];

/// What only a server of streams needs.
const SERVERS: &[&str] = &["axum ", "tokio-tungstenite "];

pub(crate) fn run() -> anyhow::Result<()> {
    for (name, step) in STEPS {
        println!("── {name}");
        let start = Instant::now();
        step()?;
        println!("── {name}: passed in {:.0} s", start.elapsed().as_secs_f32());
    }
    Ok(())
}

/// Fails if `worker-runtime` without its `ws-server` feature depends on a server crate.
fn features() -> anyhow::Result<()> {
    let mut tree = sh::command("cargo");
    let tree = tree.args(["tree", "--package", "worker-runtime", "--edges", "normal", "--prefix", "none"]);
    let tree = String::from_utf8(tree.output()?.stdout)?;
    let server = tree.lines().find(|line| SERVERS.iter().any(|name| line.starts_with(name)));
    match (tree.is_empty(), server) {
        (false, None) => Ok(()),
        (true, _) => anyhow::bail!("what `worker-runtime` needs could not be found out"),
        (_, Some(server)) => anyhow::bail!("`worker-runtime` needs {server} without `ws-server`"),
    }
}

fn tests() -> anyhow::Result<()> {
    if sh::is_there("cargo", &["nextest"]) {
        sh::run("cargo nextest run --workspace --features worker-runtime/ws-server")?;
        // nextest does not run the examples in documentation.
        return sh::run("cargo test --quiet --workspace --doc");
    }
    sh::run("cargo test --workspace --features worker-runtime/ws-server")
}

fn docs() -> anyhow::Result<()> {
    let mut doc = sh::command("cargo");
    doc.args(["doc", "--workspace", "--no-deps", "--document-private-items", "--quiet"]);
    sh::status(doc.env("RUSTDOCFLAGS", "--deny warnings"))
}
