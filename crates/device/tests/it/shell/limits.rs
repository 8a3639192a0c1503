//! What a grant says of commands, and what their owner says: each is kept to (relay-136).

use std::{collections::BTreeMap, fs, os::unix::fs::symlink, path::Path, sync::Arc};

use device::{
    Consent, Device, Provider,
    shell::{Config, Runtime, Sandbox, Shell},
};
use protocol::relay::{
    CommandNetwork, DeviceCapabilities, RelayErrorCode, RequestLimits, RootMode, ShellGrant,
};
use serde_json::json;

use super::support::{BOTH, Kind, LENDER, Laptop, config, grant, root, roots, terms};
use crate::support::Lent;

fn granted(kind: Kind) -> ShellGrant {
    ShellGrant { unsandboxed: kind == Kind::Local, ..grant() }
}

/// relay-136: cwd.
#[tokio::test]
async fn commands_run_where_they_may() {
    for kind in BOTH {
        let laptop = Laptop::new(kind).await;
        fs::create_dir_all(laptop.path("main/a/b")).unwrap();
        fs::create_dir_all(laptop.path("main/ab")).unwrap();
        let only =
            terms(ShellGrant { cwd: Some(vec!["/workspace/main/a".parse().unwrap()]), ..granted(kind) });
        let run = async |cwd: &str| {
            laptop.run_under(only.clone(), json!({ "command": "echo ran", "cwd": cwd })).await.outcome
        };
        for cwd in ["/workspace/main/a", "/workspace/main/a/b", "/workspace/main/a/./b/"] {
            assert_eq!(run(cwd).await.unwrap()["exit_code"], 0, "{kind:?} {cwd}");
        }
        for cwd in ["/workspace/main", "/workspace/main/ab", "/workspace/docs", "/workspace/other", "/etc"] {
            assert_eq!(run(cwd).await.unwrap_err().code, RelayErrorCode::PermissionDenied, "{kind:?} {cwd}");
        }
        let nowhere = terms(ShellGrant { cwd: Some(Vec::new()), ..granted(kind) });
        let error = laptop.run_under(nowhere, json!({ "command": "true" })).await.error();
        assert_eq!(error.code, RelayErrorCode::PermissionDenied);
        assert_eq!(
            laptop.run(json!({ "command": "true", "cwd": "/workspace/main/none" })).await.error().code,
            RelayErrorCode::NotFound
        );
    }
}

/// relay-132, relay-136: a link does not lead out of the root.
#[tokio::test]
async fn commands_do_not_run_outside_of_their_root() {
    for kind in BOTH {
        let laptop = Laptop::new(kind).await;
        symlink("/etc", laptop.path("main/absolute")).unwrap();
        symlink("../docs", laptop.path("main/relative")).unwrap();
        symlink("/proc/self/cwd", laptop.path("main/magic")).unwrap();
        for cwd in ["absolute", "relative", "magic"] {
            let cwd = format!("/workspace/main/{cwd}");
            let error = laptop.run(json!({ "command": "pwd", "cwd": cwd })).await.error();
            assert_eq!(error.code, RelayErrorCode::PermissionDenied, "{kind:?} {cwd}");
            let home = laptop.home.path().to_str().unwrap();
            assert!(laptop.lent.said().iter().all(|frame| !frame.contains(home)), "relay-135");
        }
    }
}

/// relay-127, relay-136: roots that are not granted are not there, nor is a shell.
#[tokio::test]
async fn commands_see_what_is_granted() {
    let laptop = Laptop::new(Kind::Sandboxed).await;
    fs::write(laptop.path("docs/readme"), "read me").unwrap();
    let line = json!({ "command": "ls /workspace; cat /workspace/docs/readme" });
    assert_eq!(laptop.run_under(terms(grant()), line.clone()).await.stdout(), "docs\nmain\nread me");
    let only = RequestLimits { roots: vec![root("main", RootMode::Rw)], shell: Some(grant()) };
    let heard = laptop.run_under(only, line.clone()).await;
    assert_eq!((heard.stdout().as_str(), heard.code()), ("main\n", 1));
    let none = RequestLimits { shell: None, ..terms(grant()) };
    assert_eq!(laptop.run_under(none, line.clone()).await.error().code, RelayErrorCode::PermissionDenied);
    let no_roots = RequestLimits { roots: Vec::new(), shell: Some(grant()) };
    assert_eq!(laptop.run_under(no_roots, line).await.error().code, RelayErrorCode::PermissionDenied);
}

/// relay-136, relay-139: the environment is what both sides name, and nothing else.
#[tokio::test]
async fn a_command_has_the_variables_that_it_may() {
    for kind in BOTH {
        let own = ["GIVEN", "ASKED", "BOTH"].map(str::to_owned);
        let config = Config {
            lends: ShellGrant { env: own.to_vec(), ..config(kind).lends },
            environment: ["GIVEN", "BOTH", "SECRET"].map(|name| (name.to_owned(), "ours".to_owned())).into(),
            ..config(kind)
        };
        assert!(!format!("{config:?}").contains("ours"), "values are not shown");
        let laptop = Laptop::with(config).await;
        let env =
            |names: &[&'static str]| names.iter().map(|name| (*name, "asked")).collect::<BTreeMap<_, _>>();
        let params = json!({ "command": "env", "env": env(&["ASKED", "BOTH"]) });
        let heard = laptop.run(params.clone()).await;
        let mut names: Vec<_> = heard.stdout().lines().map(str::to_owned).collect();
        names.retain(|line| {
            !line.starts_with("TOMBOLO_CHILD=") && !line.starts_with("PWD=") && !line.starts_with("OLDPWD=")
        });
        names.sort();
        let path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
        let expected = ["ASKED=asked", "BOTH=asked", "GIVEN=ours", "HOME=/tmp", "LANG=C.UTF-8", path];
        assert_eq!(names, expected, "{kind:?}");

        let fewer = terms(ShellGrant { env: vec!["ASKED".into(), "SECRET".into()], ..granted(kind) });
        let heard =
            laptop.run_under(fewer.clone(), json!({ "command": "env", "env": env(&["ASKED"]) })).await;
        assert!(heard.stdout().contains("ASKED=asked"));
        assert!(["GIVEN", "BOTH", "SECRET"].iter().all(|name| !heard.stdout().contains(name)), "{kind:?}");
        let error = laptop.run_under(fewer, params).await.error();
        assert_eq!(
            (error.code, error.details["variable"].as_str()),
            (RelayErrorCode::PermissionDenied, Some("BOTH"))
        );
        let error = laptop.run(json!({ "command": "env", "env": env(&["SECRET"]) })).await.error();
        assert_eq!(error.code, RelayErrorCode::PermissionDenied, "its owner does not lend it");
    }
}

/// relay-139: nothing of this process comes with a command.
#[tokio::test]
async fn nothing_is_inherited() {
    // Cargo and nextest leave many variables here, the control of this test.
    assert!(std::env::vars().any(|(name, _)| name.starts_with("CARGO")));
    for kind in BOTH {
        let laptop = Laptop::new(kind).await;
        // Process 1 of a sandbox is ours and must hide its environment; without a sandbox it is the machine's own.
        let first_process = match kind {
            Kind::Sandboxed => "; cat /proc/1/environ 2>/dev/null",
            Kind::Local => "",
        };
        let heard = laptop.line(&format!("env; ls -l /proc/self/fd{first_process}")).await;
        assert!(!heard.stdout().contains("TOMBOLO_ENV_"), "{kind:?}");
        assert!(!heard.stdout().contains("CARGO"), "{kind:?}");
        // Standard streams, and the directory that is listed.
        assert_eq!(
            heard.stdout().lines().filter(|line| line.contains(" -> ")).count(),
            4,
            "{kind:?} {}",
            heard.stdout()
        );
    }
}

/// relay-138: what bubblewrap is told to load would be loaded outside.
#[tokio::test]
async fn variables_of_the_loader_are_heeded_inside_only() {
    let lends =
        ShellGrant { env: vec!["LD_PRELOAD".into(), "LD_DEBUG".into()], ..config(Kind::Sandboxed).lends };
    let laptop = Laptop::with(Config { lends, ..config(Kind::Sandboxed) }).await;
    let env = json!({ "LD_DEBUG": "files", "LD_PRELOAD": "/none.so" });
    let heard = laptop.run(json!({ "command": "echo $LD_PRELOAD", "env": env })).await;
    let loads: Vec<_> =
        heard.stderr().lines().filter(|line| line.contains("calling init")).map(str::to_owned).collect();
    assert_eq!(heard.stdout(), "/none.so\n");
    assert!(heard.stderr().contains("/none.so") && !loads.is_empty(), "the shell inside heeds it");
    assert!(!heard.stderr().contains("libcap") && !heard.stderr().contains("bwrap"), "{}", heard.stderr());
}

/// relay-136: the longest that a command may take.
#[tokio::test]
async fn a_command_takes_no_longer_than_it_may() {
    for kind in BOTH {
        let laptop = Laptop::new(kind).await;
        let short = terms(ShellGrant { runtime_max_ms: Some(200), ..granted(kind) });
        for params in
            [json!({ "command": "sleep 60" }), json!({ "command": "sleep 60", "timeout_ms": 50_000 })]
        {
            let error = laptop.run_under(short.clone(), params).await.error();
            assert_eq!(
                (error.code, &error.details["limit"]),
                (RelayErrorCode::Timeout, &json!(200)),
                "{kind:?}"
            );
        }
        let error =
            laptop.run_under(short, json!({ "command": "sleep 60", "timeout_ms": 100 })).await.error();
        assert_eq!(error.details["limit"], 100);
    }
    let lends = ShellGrant { runtime_max_ms: Some(200), ..config(Kind::Local).lends };
    let laptop = Laptop::with(Config { lends, ..config(Kind::Local) }).await;
    assert_eq!(laptop.line("sleep 60").await.error().code, RelayErrorCode::Timeout, "its owner says so too");
}

/// relay-49, relay-136: how much a command may write.
#[tokio::test]
async fn output_is_cut_where_it_must_be() {
    for kind in BOTH {
        let laptop = Laptop::new(kind).await;
        let small = terms(ShellGrant { output_limit_bytes: Some(1000), ..granted(kind) });
        let check = async |params, sent: usize| {
            let heard = laptop.run_under(small.clone(), params).await;
            let ended = heard.outcome.as_ref().unwrap();
            assert_eq!((heard.stdout().len(), &ended["truncated"]), (sent, &json!(true)), "{kind:?}");
            assert_eq!((&ended["bytes_seen"], &ended["bytes_sent"]), (&json!(200_000), &json!(sent)));
            assert_eq!(ended["exit_code"], 7, "it comes to its end all the same");
        };
        let line = "head -c 200000 /dev/zero; exit 7";
        check(json!({ "command": line }), 1000).await;
        check(json!({ "command": line, "output_limit_bytes": 5000 }), 1000).await;
        check(json!({ "command": line, "output_limit_bytes": 10 }), 10).await;
        check(json!({ "command": line, "output_limit_bytes": 0 }), 0).await;
        let heard = laptop.run_under(small, json!({ "command": "head -c 1000 /dev/zero" })).await;
        assert!(heard.outcome.unwrap()["truncated"].is_null(), "all of it was sent");
    }
}

/// relay-137: without a sandbox a shell says so, and is there only if both sides want that.
#[tokio::test]
async fn a_shell_without_a_sandbox_says_so() {
    let offered = |shell: &Shell| {
        let mut capabilities = DeviceCapabilities::default();
        shell.offer(&mut capabilities);
        capabilities.shell.map(|shell| shell.runtime)
    };
    let home = tempfile::tempdir().unwrap();
    let open = async |config| Shell::open(Arc::new(roots(home.path())), config).await.unwrap();

    let sandboxed = open(config(Kind::Sandboxed)).await;
    assert_eq!(offered(&sandboxed).as_deref(), Some("sandboxed_local_shell"));

    let local = open(config(Kind::Local)).await;
    assert_eq!((local.runtime(), offered(&local).as_deref()), (Runtime::Local, Some("local_shell")));
    let lent = Lent::connect(Device::new(vec![Box::new(local)], Consent::default())).await;
    let params = json!({ "command": "true" });
    let error = lent.ask_under(terms(grant()), "shell.start", params.clone()).await.unwrap_err();
    assert_eq!(error.code, RelayErrorCode::PermissionDenied, "the grant wants a sandbox");
    let any = terms(ShellGrant { unsandboxed: true, ..grant() });
    assert_eq!(lent.ask_under(any.clone(), "shell.start", params.clone()).await.unwrap()["exit_code"], 0);

    // Where bubblewrap does not work, no sandbox is claimed.
    for bwrap in ["/bin/false", "/bin/true", "/no/such/program"] {
        let sandbox = Sandbox::new(Path::new(LENDER)).unwrap().bwrap(bwrap);
        let broken = open(Config { sandbox: Some(sandbox), ..config(Kind::Sandboxed) }).await;
        assert_eq!((broken.runtime(), offered(&broken)), (Runtime::Unavailable, None), "{bwrap}");
        let lent = Lent::connect(Device::new(vec![Box::new(broken)], Consent::default())).await;
        let error = lent.ask_under(any.clone(), "shell.start", params.clone()).await.unwrap_err();
        assert_eq!(error.code, RelayErrorCode::CapabilityUnavailable);
    }
    let sandbox = Some(Sandbox::new(Path::new(LENDER)).unwrap().bwrap("/bin/false"));
    let fallen_back = open(Config { sandbox, ..config(Kind::Local) }).await;
    assert_eq!(offered(&fallen_back).as_deref(), Some("local_shell"), "its owner chose so");
}

/// relay-133: without a sandbox nothing would keep a command from writing, so it does not run in what may only be read.
#[tokio::test]
async fn a_shell_without_a_sandbox_does_not_run_where_it_may_only_read() {
    let laptop = Laptop::new(Kind::Local).await;
    let error = laptop.run(json!({ "command": "true", "cwd": "/workspace/docs" })).await.error();
    assert_eq!(error.code, RelayErrorCode::PermissionDenied);
    let read_only =
        RequestLimits { roots: vec![root("main", RootMode::Ro)], shell: Some(granted(Kind::Local)) };
    let error = laptop.run_under(read_only, json!({ "command": "true" })).await.error();
    assert_eq!(error.code, RelayErrorCode::PermissionDenied);
}

/// relay-136: the network, as far as both sides allow it.
#[tokio::test]
async fn the_network_is_reached_where_both_sides_say_so() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let line = json!({ "argv": ["bash", "-c", format!("exec 3<>/dev/tcp/127.0.0.1/{port}")] });
    let full = terms(ShellGrant { network: CommandNetwork::Host, ..grant() });
    let laptop = Laptop::new(Kind::Sandboxed).await;
    assert_eq!(laptop.run_under(full.clone(), line.clone()).await.code(), 0, "control");
    assert_eq!(laptop.run_under(terms(grant()), line.clone()).await.code(), 1);
    let lends = ShellGrant { network: CommandNetwork::None, ..config(Kind::Sandboxed).lends };
    let strict = Laptop::with(Config { lends, ..config(Kind::Sandboxed) }).await;
    assert_eq!(strict.run_under(full, line).await.code(), 1);
}

/// A root cannot be where a sandbox has something of its own.
#[tokio::test]
async fn a_root_is_not_seen_among_the_programs() {
    let home = tempfile::tempdir().unwrap();
    for path in ["/usr", "/usr/share/mine", "/tmp/x", "/etc", "/proc"] {
        let mut taken = root("main", RootMode::Rw);
        taken.virtual_path = path.parse().unwrap();
        let roots = device::Roots::open([(taken, home.path().to_owned())]).unwrap();
        assert!(Shell::open(Arc::new(roots), config(Kind::Sandboxed)).await.is_err(), "{path}");
    }
}
