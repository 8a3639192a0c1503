//! Every check that a change must pass, in the order in which they fail fastest.

use std::time::Instant;

use crate::{codegen, schemathesis, sh, tidy};

type Step = (&'static str, fn() -> anyhow::Result<()>);

const STEPS: &[Step] = &[
    ("format", || sh::run("cargo fmt --all --check")),
    ("tidy", tidy::run),
    ("clippy", || sh::run("cargo clippy --workspace --all-targets -- --deny warnings")),
    ("tests", tests),
    ("generated files", || codegen::run(true)),
    ("docs", docs),
    ("schemathesis", schemathesis::run),
];

pub(crate) fn run() -> anyhow::Result<()> {
    for (name, step) in STEPS {
        println!("── {name}");
        let start = Instant::now();
        step()?;
        println!("── {name}: passed in {:.0} s", start.elapsed().as_secs_f32());
    }
    Ok(())
}

fn tests() -> anyhow::Result<()> {
    if sh::is_there("cargo", &["nextest"]) {
        sh::run("cargo nextest run --workspace")?;
        // nextest does not run the examples in documentation.
        return sh::run("cargo test --quiet --workspace --doc");
    }
    sh::run("cargo test --workspace")
}

fn docs() -> anyhow::Result<()> {
    let mut doc = sh::command("cargo");
    doc.args(["doc", "--workspace", "--no-deps", "--document-private-items", "--quiet"]);
    sh::status(doc.env("RUSTDOCFLAGS", "--deny warnings"))
}
