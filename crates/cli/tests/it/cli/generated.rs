//! What is made from the definition of the commands.

use tempfile::TempDir;

use super::{Run, assert_shown, tombolo};

fn run(arguments: &[&str]) -> String {
    Run::of(tombolo().args(arguments).output().unwrap()).ok()
}

#[test]
fn help_says_what_there_is() {
    assert_shown!("help", run(&["--help"]));
    assert_shown!("help_daemon", run(&["daemon", "--help"]));
    assert_shown!("help_api", run(&["api", "--help"]));
    assert_shown!("help_acp_send", run(&["api", "acp", "send", "--help"]));
}

/// daemon-3: everything that can be typed is in the reference, and every API command says what it mirrors.
#[test]
fn the_reference_has_every_command() {
    let reference = run(&["reference"]);
    for line in run(&["reference", "operations"]).lines() {
        let [command, method, path] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let (_, section) = reference.split_once(&format!("\n## tombolo api {command}\n")).unwrap();
        let section = section.split("\n## ").next().unwrap();
        assert!(section.contains(&format!("Endpoint: {method} {path}\n")), "{section}");
    }
    assert!(!reference.contains("mock-agent"));
}

#[test]
fn completions_know_the_commands_in_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(run(&["completions", shell]).contains("upload-batch"), "{shell}");
    }
    assert!(run(&["completions", "bash", "--name", "sandbox-daemon"]).contains("_sandbox__daemon"));
}

#[test]
fn manual_pages_are_written_for_every_command() {
    assert!(run(&["man"]).contains(".TH tombolo 1"));
    let directory = TempDir::new().unwrap();
    let pages = directory.path().join("man1");
    assert_eq!(run(&["man", "--dir", pages.to_str().unwrap()]), "");
    for page in ["tombolo.1", "tombolo-daemon.1", "tombolo-api-fs-upload-batch.1", "sandbox-daemon.1"] {
        assert!(pages.join(page).exists(), "{page}");
    }
    assert!(!pages.join("tombolo-mock-agent.1").exists());
}

/// Whoever reads our output may leave before its end.
#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = tombolo()
        .arg("reference")
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
}
