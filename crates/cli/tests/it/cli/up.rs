//! `tombolo up`: what it prints can be typed.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

use super::{Run, tombolo};

/// Ends with the test.
struct Up(Child);

impl Drop for Up {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn up_prints_commands_that_work_as_they_are() {
    check_printed_commands(&[]);
}

/// Commands look for the daemon's token in the default directory only.
#[test]
fn up_in_another_directory_prints_commands_that_work_as_they_are() {
    check_printed_commands(&["--data-dir", "my data"]);
}

fn check_printed_commands(options: &[&str]) {
    let home = TempDir::new().unwrap();
    let mut up = tombolo();
    up.args(["up", "--port", "0"])
        .args(options)
        .env_remove("XDG_DATA_HOME")
        .env("HOME", home.path())
        .current_dir(home.path())
        .stdout(Stdio::piped());
    let mut up = Up(up.spawn().unwrap());
    let mut lines = BufReader::new(up.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.next().unwrap().starts_with("listening on http://127.0.0.1:"));
    assert!(lines.next().unwrap().starts_with("hub on http://127.0.0.1:"));
    let mut commands = Vec::new();
    for line in lines {
        if line.starts_with("  ") {
            commands.push(line.trim().to_owned());
        }
        if line.ends_with("api acp delete demo") || line.contains("api acp delete demo ") {
            break;
        }
    }
    assert_eq!(commands.len(), 12, "{commands:?}");
    // They are typed into one terminal: what was exported holds for those after it.
    let exported = commands.iter().position(|command| command.starts_with("export ")).unwrap();
    let export = commands.remove(exported);
    let outputs: Vec<Run> = commands
        .iter()
        .map(|line| {
            // Another terminal of the same user.
            let mut terminal = Command::new("sh");
            terminal.env("HOME", home.path()).env_remove("TOMBOLO_TOKEN").env_remove("XDG_DATA_HOME");
            Run::of(terminal.arg("-c").arg(format!("{export}; {line}")).output().unwrap())
        })
        .collect();
    for (command, run) in commands.iter().zip(&outputs) {
        assert_eq!(run.code, Some(0), "{command}: {}", run.stderr);
    }
    assert!(outputs[0].stdout.contains("mock"));
    assert!(outputs[3].stdout.contains("local"));
    assert!(outputs[4].stdout.contains("hello"));
    assert!(outputs[7].stdout.contains("end_turn"));
    assert!(outputs[8].stdout.contains("hello"));
    let stopped = Command::new("kill").arg(up.0.id().to_string()).status().unwrap();
    assert!(stopped.success() && up.0.wait().unwrap().success());
}
