//! `tombolo up`: what it prints can be typed.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use tempfile::TempDir;

use super::{Run, tombolo};

#[test]
fn up_prints_commands_that_work_as_they_are() {
    let home = TempDir::new().unwrap();
    let mut child = tombolo()
        .args(["up", "--port", "0"])
        .env("HOME", home.path())
        .current_dir(home.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.next().unwrap().starts_with("listening on http://127.0.0.1:"));
    let mut commands = Vec::new();
    for line in lines {
        if line.starts_with("  ") {
            commands.push(line.trim().to_owned());
        }
        if line.ends_with("api acp delete demo") || line.contains("api acp delete demo ") {
            break;
        }
    }
    let outputs: Vec<Run> = commands
        .iter()
        .map(|line| Run::of(Command::new("sh").arg("-c").arg(line).output().unwrap()))
        .collect();
    for (command, run) in commands.iter().zip(&outputs) {
        assert_eq!(run.code, Some(0), "{command}: {}", run.stderr);
    }
    assert_eq!(commands.len(), 7, "{commands:?}");
    assert!(outputs[0].stdout.contains("mock"));
    assert!(outputs[3].stdout.contains("end_turn"));
    assert!(outputs[4].stdout.contains("hello"));
    let stopped = Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(stopped.success() && child.wait().unwrap().success());
}
