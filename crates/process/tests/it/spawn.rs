//! Starting a child, and the reasons why it cannot be started.

use std::os::unix::fs::PermissionsExt;

use process::{Error, ProcessSpec, SpawnFailure, spawn as try_spawn};

use crate::support::*;

async fn reason(spec: ProcessSpec) -> (SpawnFailure, String) {
    match try_spawn(&spec).await {
        Err(error @ Error::Spawn { .. }) => {
            let words = error.to_string();
            let Error::Spawn { reason, .. } = error else { unreachable!() };
            (reason, words)
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_failed_start_reports_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "#!/nowhere/sh\n").unwrap();
    let (found, words) = reason(ProcessSpec::new("no-such-program-anywhere")).await;
    assert_eq!(found, SpawnFailure::NotFound);
    assert_eq!(
        words,
        "could not start `no-such-program-anywhere`: no such program; install it or check PATH"
    );
    assert_eq!(reason(ProcessSpec::new(dir.path().join("none"))).await.0, SpawnFailure::NotFound);
    assert_eq!(reason(ProcessSpec::new(&file)).await.0, SpawnFailure::NotExecutable);
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(reason(ProcessSpec::new(&file)).await.0, SpawnFailure::NoInterpreter);
    let nowhere = dir.path().join("nowhere");
    assert_eq!(reason(sh("true").cwd(&nowhere)).await.0, SpawnFailure::NoDirectory(nowhere));
    assert_eq!(reason(sh("true").cwd(&file)).await.0, SpawnFailure::NoDirectory(file));
}

#[tokio::test]
async fn a_child_gets_the_environment_and_directory_of_its_spec() {
    let dir = tempfile::tempdir().unwrap();
    let spec = sh("pwd -P; echo $ADDED; echo ${HOME-none}; echo ${#TOMBOLO_CHILD}")
        .cwd(dir.path())
        .env("ADDED", "a b")
        .env_remove("HOME");
    let mut child = spawn(&spec).await;
    let cwd = dir.path().canonicalize().unwrap();
    assert_eq!(all_lines(&mut child.stdout).await, [cwd.to_str().unwrap(), "a b", "none", "64"]);
    let mut child = spawn(&ProcessSpec::new("/usr/bin/env").env_clear().env("ONLY", "this")).await;
    let names: Vec<_> = all_lines(&mut child.stdout).await;
    assert!(names.len() == 2 && names.contains(&"ONLY=this".to_owned()), "{names:?}");
    assert!(!format!("{spec:?}").contains("a b"), "the value of a variable was printed");
}

/// Descriptors are not inherited, and the child has its own group.
#[tokio::test]
async fn a_child_inherits_no_descriptor() {
    let leak = std::fs::File::open("/dev/null").unwrap();
    rustix::io::fcntl_setfd(&leak, rustix::io::FdFlags::empty()).unwrap();
    let script = "import os\nprint(*sorted(map(int, os.listdir('/proc/self/fd')))[:-1])\nprint(os.getpgrp() == os.getpid())";
    let mut child = spawn(&python(script)).await;
    assert_eq!(all_lines(&mut child.stdout).await, ["0 1 2", "True"]);
    drop(leak);
}

/// A daemon under `nohup` ignores HUP; its children must not.
#[tokio::test]
async fn a_child_inherits_no_ignored_signal() {
    const IGNORING: &str = "PROCESS_TEST_IGNORING";
    if std::env::var_os(IGNORING).is_none() {
        let test = "spawn::a_child_inherits_no_ignored_signal";
        let script = "trap '' HUP TERM USR1; exec \"$0\" \"$@\"";
        let mut command = std::process::Command::new("sh");
        command
            .args(["-c", script])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", test])
            .env(IGNORING, "1");
        assert!(command.status().unwrap().success());
        return;
    }
    let mut child = spawn(&sh("grep -E 'Sig(Blk|Ign)' /proc/self/status")).await;
    let masks = all_lines(&mut child.stdout).await;
    let mask = |nth: usize| u64::from_str_radix(masks[nth].split_once('\t').unwrap().1, 16).unwrap();
    // 32 and 33 belong to the C library, which does not let them be set.
    assert_eq!((mask(0), mask(1) & !(3 << 31)), (0, 0), "{masks:?}");
}

/// A helper that waits for others in its group leaves the signals to them.
#[tokio::test]
async fn a_child_can_ignore_all_signals_that_can_be_ignored() {
    let mut child = spawn(&sh("grep SigIgn /proc/self/status; cat").ignore_signals()).await;
    let mask = one_line(&mut child.stdout).await;
    let mask = u64::from_str_radix(mask.split_once('\t').unwrap().1, 16).unwrap();
    let ignored = |signal: i32| mask & (1 << (signal - 1)) != 0;
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT, libc::SIGUSR1, libc::SIGTSTP] {
        assert!(ignored(signal), "{signal}");
    }
    assert!(!ignored(libc::SIGCHLD) && !ignored(libc::SIGCONT));
    child.control.signal(process::Signal::TERM).unwrap();
    child.stdin.try_send("still here".into()).unwrap();
    assert_eq!(one_line(&mut child.stdout).await, "still here");
}

/// A session of its own has no terminal, and the child leads session and group.
#[tokio::test]
async fn a_child_leads_a_new_session_on_request() {
    let script = "import os\nprint(os.getsid(0) == os.getpid(), os.getpgrp() == os.getpid())";
    let mut child = spawn(&python(script)).await;
    assert_eq!(all_lines(&mut child.stdout).await, ["False True"]);
    let mut child = spawn(&python(script).new_session()).await;
    assert_eq!(all_lines(&mut child.stdout).await, ["True True"]);
}

/// It inherits the given descriptors under the same numbers, and no others.
#[tokio::test]
async fn a_child_inherits_the_given_descriptors() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("kept");
    let kept = std::sync::Arc::new(std::os::fd::OwnedFd::from(std::fs::File::create(&path).unwrap()));
    let number = std::os::fd::AsRawFd::as_raw_fd(&*kept);
    let script = format!(
        "import os\nnumbers = sorted(map(int, os.listdir('/proc/self/fd')))\n\
         print(*(n for n in numbers if os.path.exists(f'/proc/self/fd/{{n}}')))\nos.write({number}, b'x')"
    );
    let mut child = spawn(&python(&script).inherit_fd(kept)).await;
    assert_eq!(all_lines(&mut child.stdout).await, [format!("0 1 2 {number}")]);
    assert_eq!(std::fs::read(path).unwrap(), b"x");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_children_run_concurrently() {
    let start = std::time::Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for i in 0..50 {
        tasks.spawn(async move {
            let mut child = spawn(&sh("read line; echo $line; exec cat")).await;
            child.stdin.try_send(format!("number {i}").into()).unwrap();
            assert_eq!(one_line(&mut child.stdout).await, format!("number {i}"));
            let identity = Identity::of(child.control.pid());
            let exit = within(PATIENCE, child.control.stop()).await;
            // Where thousands of processes run, 50 scans of them take longer than a child has to exit by itself.
            assert!(exit.success() || exit.signal == Some(libc::SIGTERM), "{exit:?}");
            assert!(!identity.lives());
        });
    }
    within(PATIENCE, tasks.join_all()).await;
    println!("50 children were started, used and stopped in {:?}", start.elapsed());
}

/// A caller that stops waiting for its child to start leaves none behind.
#[tokio::test]
async fn a_cancelled_start_leaves_no_process() {
    let dir = tempfile::tempdir().unwrap();
    for wait_us in (0..2000).step_by(50) {
        let spec = sh("sleep 600").env("ABANDONED", dir.path());
        let _ = tokio::time::timeout(std::time::Duration::from_micros(wait_us), try_spawn(&spec)).await;
    }
    let mark = format!("ABANDONED={}", dir.path().display());
    until(PATIENCE, "no process is left", || marked(&mark).is_empty()).await;
}
