//! The conversation in README.md is one that really happens.

use std::{
    fs::File,
    io::Write,
    process::{Command, Stdio},
};

use testkit::TestDaemon;

use crate::TOMBOLO;

const README: &str = include_str!("../../../../README.md");

/// The console block of the README, as the lines that a user types and the lines that the program prints.
fn conversation() -> (String, Vec<&'static str>) {
    let (_, block) = README.split_once("```console\n$ tombolo chat --agent mock\n").expect("a conversation");
    let (block, _) = block.split_once("```").expect("its end");
    let (mut typed, mut printed) = (String::new(), Vec::new());
    for line in block.lines() {
        // A prompt ends in `> `, and the user's text follows on the same line.
        match line.split_once("> ") {
            Some((_, input)) => typed += &format!("{input}\n"),
            None => printed.push(line),
        }
    }
    (typed, printed)
}

#[tokio::test]
async fn the_conversation_in_the_readme_happens_as_printed() {
    let daemon = TestDaemon::start(TOMBOLO);
    let (typed, printed) = conversation();
    let home = tempfile::tempdir().unwrap();
    let output = home.path().join("output");
    // Both streams go to one file, so that their lines are in the order in which a terminal shows them.
    let file = File::create(&output).unwrap();
    let mut chat = Command::new(TOMBOLO)
        .args(["chat", "--agent", "mock", "--endpoint", daemon.base()])
        .env_remove("TOMBOLO_TOKEN")
        .current_dir(home.path())
        .stdin(Stdio::piped())
        .stdout(file.try_clone().unwrap())
        .stderr(file)
        .spawn()
        .unwrap();
    chat.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    assert!(chat.wait().unwrap().success());
    let output = std::fs::read_to_string(output).unwrap();
    // The first line names the directory and the new session.
    let lines: Vec<&str> = output.lines().skip(1).collect();
    assert!(lines.starts_with(&printed), "README.md:\n{}\n\ntombolo chat:\n{output}", printed.join("\n"));
}
