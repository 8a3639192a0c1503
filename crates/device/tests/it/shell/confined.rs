//! What a sandbox keeps a command from. Each has a control: the same is possible without a sandbox, so the test can fail.

use std::{
    fs,
    os::{
        linux::net::SocketAddrExt,
        unix::{
            fs::PermissionsExt,
            net::{SocketAddr, UnixDatagram, UnixListener},
        },
    },
    path::Path,
    process::Stdio,
    time::Duration,
};

use device::shell::{Config, Limits, Sandbox};
use serde_json::{Value, json};
use testkit::within;
use tokio::io::{AsyncBufReadExt, BufReader};

use super::support::{
    Heard, Kind, LENDER, Laptop, config, nobody_runs, processes, runs, somebody_runs, unique,
};
use crate::support::SOON;

/// A script in Python for what a shell cannot do, which says whether it could.
pub(super) fn python(script: &str) -> Value {
    json!({ "argv": ["python3", "-c", script] })
}

/// The same with and without a sandbox.
async fn both(params: impl Fn(&Laptop) -> Value) -> (Heard, Heard) {
    let (sandboxed, local) = (Laptop::new(Kind::Sandboxed).await, Laptop::new(Kind::Local).await);
    (sandboxed.run(params(&sandboxed)).await, local.run(params(&local)).await)
}

/// relay-138: what is somebody's cannot be read, wherever it is.
#[tokio::test]
async fn credentials_are_not_there() {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    let ssh = home.path().join(".ssh");
    fs::create_dir(&ssh).unwrap();
    fs::write(ssh.join("id_ed25519"), "a key").unwrap();
    fs::set_permissions(ssh.join("id_ed25519"), fs::Permissions::from_mode(0o644)).unwrap();
    let key = ssh.join("id_ed25519");
    let (sandboxed, local) = both(|_| json!({ "argv": ["cat", key] })).await;
    assert_eq!((local.code(), local.stdout().as_str()), (0, "a key"), "control");
    assert_eq!((sandboxed.code(), sandboxed.stdout().as_str()), (1, ""));
    // A sibling of the directory that is lent.
    let (sandboxed, local) = both(|laptop| {
        fs::write(laptop.path("secret"), "a secret").unwrap();
        json!({ "command": format!("cat ../secret {}", laptop.path("secret").display()) })
    })
    .await;
    assert_eq!(local.stdout(), "a secreta secret", "control");
    assert_eq!(sandboxed.stdout(), "");
    let places = [
        "/etc/shadow",
        "/etc/ssl/private",
        "/etc/environment",
        "/root",
        "/home",
        "/var/lib",
        "/var/log",
        "/sys",
        "/boot",
        "/run/systemd",
        "/proc/1/root/root",
        "/etc/ssh",
    ];
    let there: Vec<_> = places.into_iter().filter(|place| fs::exists(place).unwrap_or(false)).collect();
    assert!(there.len() > 5, "control: {there:?}");
    let line = format!(
        "for i in {}; do test -e $i && echo $i; done; ls -A /root /home 2>/dev/null",
        places.join(" ")
    );
    let laptop = Laptop::new(Kind::Sandboxed).await;
    assert_eq!(laptop.line(&line).await.stdout(), "", "they are not there");
}

/// relay-138, relay-133: what is not lent, or lent to be read, cannot be written.
#[tokio::test]
async fn only_what_is_lent_can_be_written() {
    let laptop = Laptop::new(Kind::Sandboxed).await;
    let outside = laptop.path("outside");
    let line = |place: &str| format!("echo written > {place}");
    let local = Laptop::new(Kind::Local).await;
    let writes = [
        outside.to_str().unwrap(),
        "/workspace/docs/new",
        "/workspace/new",
        "/new",
        "/usr/new",
        "/etc/new",
        "/run/new",
        "/dev/new",
        "/var/new",
        "/bin/new",
    ];
    for place in writes {
        let heard = laptop.line(&line(place)).await;
        assert_ne!(heard.code(), 0, "{place}");
        assert!(!fs::exists(place).unwrap(), "{place}");
    }
    assert_eq!(local.line(&line(outside.to_str().unwrap())).await.code(), 0, "control");
    fs::remove_file(outside).unwrap();
    for place in ["/workspace/main/new", "new", "/tmp/new", "/var/tmp/new", "/dev/shm/new", "/dev/null"] {
        assert_eq!(laptop.line(&line(place)).await.code(), 0, "{place}");
    }
    assert_eq!(fs::read_to_string(laptop.path("main/new")).unwrap(), "written\n");
    // Settings of the kernel belong to root, which has no privileges inside but is root. What is written changes nothing.
    let setting = "/proc/sys/kernel/printk_ratelimit";
    let line = format!("now=$(cat {setting}) && echo $now > {setting}");
    assert_ne!(laptop.line(&line).await.code(), 0);
    if rustix::process::geteuid().is_root() {
        assert_eq!(local.line(&line).await.code(), 0, "control");
    }
}

/// relay-133: what may only be read stays as it is, from wherever it is reached.
#[tokio::test]
async fn a_root_that_may_only_be_read_stays_as_it_is() {
    let laptop = Laptop::new(Kind::Sandboxed).await;
    fs::write(laptop.path("docs/readme"), "read me").unwrap();
    fs::create_dir(laptop.path("docs/sub")).unwrap();
    let lines = [
        "echo x > readme",
        "echo x >> readme",
        "rm readme",
        "mv readme moved",
        "mkdir new",
        "touch new",
        "ln readme new",
        "ln -s readme new",
        "chmod 777 readme",
        "rmdir sub",
        "cp readme new",
        "truncate -s 0 readme",
        "mv readme /workspace/main/",
        "echo x > sub/new",
        "touch -d 2001-01-01 readme",
    ];
    for line in lines {
        let heard = laptop.run(json!({ "command": line, "cwd": "/workspace/docs" })).await;
        assert_ne!(heard.code(), 0, "{line}");
    }
    let heard = laptop.run(json!({ "command": "cat readme; ls", "cwd": "/workspace/docs" })).await;
    assert_eq!(heard.stdout(), "read mereadme\nsub\n");
    assert_eq!(fs::read_dir(laptop.path("docs")).unwrap().count(), 2);
    // Control: the same lines do what they say where that is allowed.
    fs::write(laptop.path("main/readme"), "read me").unwrap();
    assert_eq!(laptop.line("echo x > readme && mkdir new && rm readme").await.code(), 0);
}

/// relay-138: `/tmp` is empty and gone with the command.
#[tokio::test]
async fn nothing_is_left_in_tmp() {
    let number = unique();
    let file = format!("/tmp/tombolo-{number}");
    let laptop = Laptop::new(Kind::Sandboxed).await;
    let heard =
        laptop.line(&format!("ls -A /tmp /var/tmp | grep -v -e : -e '^$'; touch {file} && echo made")).await;
    assert_eq!(heard.stdout(), "made\n");
    assert!(!fs::exists(&file).unwrap());
    assert_eq!(laptop.line(&format!("test -e {file}")).await.code(), 1);
    let local = Laptop::new(Kind::Local).await;
    local.line(&format!("touch {file}")).await;
    assert!(fs::exists(&file).unwrap(), "control");
    fs::remove_file(file).unwrap();
}

/// relay-138: neither this machine nor another is reached, nor a socket that has no file.
#[tokio::test]
async fn the_network_is_not_there() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!("import socket; socket.create_connection(('127.0.0.1', {port}), 5)");
    let (sandboxed, local) = both(|_| json!({ "argv": ["python3", "-c", script] })).await;
    assert_eq!(
        (local.code(), sandboxed.code()),
        (0, 0),
        "control: the owner of these devices lends the network"
    );
    let laptop = Laptop::new(Kind::Sandboxed).await;
    let none = super::support::terms(super::support::grant());
    let heard = laptop.run_under(none.clone(), python(&script)).await;
    assert!(heard.code() == 1 && heard.stderr().contains("refused"), "{}", heard.stderr());
    // Its own loopback is there: tests of servers run.
    let own = "import socket; s = socket.create_server(('localhost', 0)); socket.create_connection(s.getsockname())";
    assert_eq!(laptop.run_under(none, python(own)).await.code(), 0);
}

/// A script that says whether it reaches a socket, which other kinds of sockets are to be had, and whether those reach it.
fn reaching(address: &str) -> Value {
    let script = format!(
        r"
import errno, socket
def attempt(name, do):
    try: do(); print(name, 'ok')
    except OSError as e: print(name, errno.errorcode[e.errno])
attempt('connect', lambda: socket.socket(socket.AF_UNIX).connect('{address}'))
for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM, socket.SOCK_RAW):
    attempt(f'pair {{int(kind)}}', lambda: socket.socketpair(socket.AF_UNIX, kind | socket.SOCK_CLOEXEC))
attempt('stream', lambda: socket.socketpair()[0].connect('{address}'))
attempt('datagram', lambda: socket.socketpair(type=socket.SOCK_DGRAM)[0].sendto(b'hello', '{address}-datagrams'))
"
    );
    python(&script)
}

/// What it says where it reaches them, …
const REACHED: &str = "connect ok\npair 1 ok\npair 5 ok\npair 2 ok\npair 3 ok\nstream EISCONN\ndatagram ok\n";

/// … where there are no sockets that could, …
const PAIRS: &str =
    "connect EPERM\npair 1 ok\npair 5 ok\npair 2 EPERM\npair 3 EPERM\nstream EISCONN\ndatagram EPERM\n";

/// … and where the system keeps all sockets inside.
fn kept_inside(errno: &str) -> String {
    REACHED
        .replace("connect ok", &format!("connect {errno}"))
        .replace("datagram ok", &format!("datagram {errno}"))
}

/// The version of landlock that there is here.
fn landlock() -> i32 {
    let version = r"import ctypes; print(ctypes.CDLL(None).syscall(444, 0, 0, 1))";
    let output = std::process::Command::new("python3").args(["-c", version]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

/// A device on a system that knows no newer landlock than this.
async fn on_landlock(version: i32) -> Laptop {
    let sandbox = Sandbox::new(Path::new(LENDER)).unwrap().landlock(version);
    Laptop::with(Config { sandbox: Some(sandbox), ..config(Kind::Sandboxed) }).await
}

/// relay-138: a socket without a file is not reached even where the network is, also on systems that could not prevent it.
#[tokio::test]
async fn sockets_without_a_file_are_out_of_reach() {
    let name = format!("tombolo-test-{}", unique());
    let address = |name: &str| SocketAddr::from_abstract_name(name).unwrap();
    let _listener = UnixListener::bind_addr(&address(&name)).unwrap();
    let _receiver = UnixDatagram::bind_addr(&address(&format!("{name}-datagrams"))).unwrap();
    let reaching = reaching(&format!("\\0{name}"));
    let local = Laptop::new(Kind::Local).await;
    assert_eq!(local.run(reaching.clone()).await.stdout(), REACHED, "control");
    assert_eq!(on_landlock(5).await.run(reaching.clone()).await.stdout(), PAIRS, "before Linux 6.12");
    if landlock() >= 6 {
        let heard = Laptop::new(Kind::Sandboxed).await.run(reaching).await;
        assert_eq!(heard.stdout(), kept_inside("EPERM"));
    }
}

/// relay-138: without a network nobody outside is reached through a file either, in whatever root it is.
#[tokio::test]
async fn sockets_with_a_file_are_out_of_reach_without_a_network() {
    let (old, new, local) =
        (on_landlock(8).await, Laptop::new(Kind::Sandboxed).await, Laptop::new(Kind::Local).await);
    let none = || super::support::terms(super::support::grant());
    for root in ["main", "docs"] {
        let listen = |laptop: &Laptop| {
            let listener = UnixListener::bind(laptop.path(root).join("s")).unwrap();
            (listener, UnixDatagram::bind(laptop.path(root).join("s-datagrams")).unwrap())
        };
        let _listeners = [&old, &new, &local].map(listen);
        let inside = reaching(&format!("/workspace/{root}/s"));
        let expected = if landlock() >= 9 { kept_inside("EACCES") } else { PAIRS.to_owned() };
        assert_eq!(new.run_under(none(), inside.clone()).await.stdout(), expected, "{root}");
        assert_eq!(old.run_under(none(), inside).await.stdout(), PAIRS, "{root}, before Linux 7.1");
        let outside = reaching(local.path(root).join("s").to_str().unwrap());
        assert_eq!(local.run(outside).await.stdout(), REACHED, "control");
    }
}

/// relay-138: what builds and tests do with sockets of their own works without a network.
#[tokio::test]
async fn ordinary_programs_run_without_a_network() {
    let laptop = on_landlock(8).await;
    let none = super::support::terms(super::support::grant());
    let script = r"
import asyncio, multiprocessing, subprocess
async def main():
    process = await asyncio.create_subprocess_exec('echo', 'asyncio', stdout=subprocess.PIPE)
    print((await process.communicate())[0])
    server = await asyncio.start_server(lambda reader, writer: writer.close(), '127.0.0.1', 0)
    reader, _ = await asyncio.open_connection(*server.sockets[0].getsockname())
    print(await reader.read())
asyncio.run(main())
with multiprocessing.get_context('fork').Pool(2) as pool: print(pool.map(abs, [-1, -2]))
";
    let heard = laptop.run_under(none.clone(), python(script)).await;
    assert_eq!(heard.stdout(), "b'asyncio\\n'\nb''\n[1, 2]\n", "{}", heard.stderr());
    let line = "git init -q . && touch a && git add a && git -c user.name=a -c user.email=a@b commit -qm one && \
                git log --format=%s && getent passwd root | cut -d: -f1 && id -un >/dev/null";
    let heard = laptop.run_under(none, json!({ "command": line })).await;
    assert_eq!(heard.stdout(), "one\nroot\n", "{}", heard.stderr());
}

/// relay-138: other processes are not seen.
#[tokio::test]
async fn others_are_not_seen() {
    let (sandboxed, local) = both(|_| json!({ "command": format!("kill -0 {} && echo seen; ls /proc | grep -c '^[0-9]'", std::process::id()) })).await;
    assert!(local.stdout().starts_with("seen"), "control");
    let seen: u32 = sandboxed.stdout().trim().parse().unwrap();
    assert!(seen <= 5, "{seen}");
}

/// relay-138: system calls that take a sandbox apart are refused, with the errors that they are refused with.
#[tokio::test]
async fn some_system_calls_are_refused() {
    let script = r"
import ctypes, os, errno
libc = ctypes.CDLL(None, use_errno=True)
def call(*args):
    ctypes.set_errno(0)
    libc.syscall(*args)
    return errno.errorcode.get(ctypes.get_errno(), 'ok')
numbers = {'ptrace': 101, 'mount': 165, 'umount2': 166, 'bpf': 321, 'keyctl': 250, 'add_key': 248, 'setns': 308, 'perf_event_open': 298,
    'io_uring_setup': 425, 'open_tree_attr': 467, 'userfaultfd': 323, 'kexec_load': 246, 'init_module': 175, 'process_vm_readv': 310, 'chroot': 161}
for name, number in numbers.items():
    print(name, call(number, 0, 0, 0, 0, 0))
print('unshare', call(272, 0x10000000))
print('unshare files', call(272, 0x400))
print('clone3', call(435, 0, 0))
print('x32', call(0x40000000 + 39))
import socket
for family in (socket.AF_INET, socket.AF_NETLINK, 38, 40, 17):
    try: socket.socket(family, socket.SOCK_RAW if family == 17 else socket.SOCK_SEQPACKET if family == 38 else socket.SOCK_DGRAM if family not in (38,40) else socket.SOCK_STREAM); print('socket', int(family), 'ok')
    except OSError as e: print('socket', int(family), errno.errorcode[e.errno])
";
    let (sandboxed, local) = both(|_| python(script)).await;
    let refused = sandboxed.stdout();
    let refused: Vec<_> = refused.lines().collect();
    let names = [
        "ptrace",
        "mount",
        "umount2",
        "bpf",
        "keyctl",
        "add_key",
        "setns",
        "perf_event_open",
        "io_uring_setup",
        "open_tree_attr",
        "userfaultfd",
        "kexec_load",
        "init_module",
        "process_vm_readv",
        "chroot",
        "unshare",
    ];
    for name in names {
        assert!(refused.contains(&format!("{name} EPERM").as_str()), "{name}: {refused:?}");
    }
    for line in [
        "unshare files ok",
        "clone3 ENOSYS",
        "x32 ENOSYS",
        "socket 2 ok",
        "socket 16 ok",
        "socket 38 EPERM",
        "socket 40 EPERM",
        "socket 17 EPERM",
    ] {
        assert!(refused.contains(&line), "{line}: {refused:?}");
    }
    // Control: without a sandbox they are refused for other reasons, or not at all.
    let others = local.stdout();
    let same = names.iter().filter(|name| others.contains(&format!("{name} EPERM\n"))).count();
    assert!(same < names.len() / 2, "{others}");
    assert!(!others.contains("clone3 ENOSYS"));
}

/// relay-138: nobody becomes more than they are, and there is an end to what they take.
#[tokio::test]
async fn privileges_are_gone_and_limits_hold() {
    let laptop = Laptop::new(Kind::Sandboxed).await;
    let heard = laptop
        .line("grep -E '^(NoNewPrivs|Seccomp|CapEff|CapPrm|CapBnd|CapAmb|CapInh):' /proc/self/status")
        .await;
    let status: Vec<_> = heard.stdout().split_whitespace().map(str::to_owned).collect();
    let expected = "CapInh: 0000000000000000 CapPrm: 0000000000000000 CapEff: 0000000000000000 CapBnd: 0000000000000000 \
        CapAmb: 0000000000000000 NoNewPrivs: 1 Seccomp: 2";
    assert_eq!(status.join(" "), expected);
    let line = "ulimit -u; ulimit -n; ulimit -c; ulimit -H -n; ulimit -f";
    let limits = laptop.run(json!({ "argv": ["bash", "-c", line] })).await.stdout();
    let limits: Vec<_> = limits.lines().collect();
    assert_eq!((limits[0], limits[2]), ("4096", "0"));
    assert!(limits[1].parse::<u64>().unwrap() <= 16384 && limits[3].parse::<u64>().unwrap() <= 16384);
    assert_eq!(limits[4].parse::<u64>().unwrap(), (16 << 30) / 1024);
    // A file of more than that, which takes no room.
    let (sandboxed, local) =
        both(|_| json!({ "command": "truncate -s 20G large && echo made; rm -f large" })).await;
    assert_eq!((local.stdout().as_str(), sandboxed.stdout().as_str()), ("made\n", ""), "control and sandbox");
}

/// relay-138: when there is no memory left a command is ended, and not what its owner uses; nobody inside changes that.
#[tokio::test]
async fn a_command_is_the_first_to_go_without_memory() {
    let line = "cat /proc/self/oom_score_adj; (echo 0 > /proc/self/oom_score_adj) 2>/dev/null; \
                cat /proc/self/oom_score_adj /proc/1/oom_score_adj";
    let (sandboxed, local) = both(|_| json!({ "command": line })).await;
    assert_eq!(sandboxed.stdout(), "1000\n1000\n1000\n");
    assert!(!local.stdout().contains("1000"), "control: {}", local.stdout());
}

/// relay-138: what is memory has an end, which all places together have.
#[tokio::test]
async fn files_in_memory_have_an_end() {
    // As much as one of 64 has of it, and a quarter of the other half: 8.5 MiB, of which a quarter is in `/dev/shm`.
    let limits = Limits { scratch_bytes_max: 64 << 20, ..config(Kind::Sandboxed).limits };
    let laptop = Laptop::with(Config { limits, ..config(Kind::Sandboxed) }).await;
    let fill =
        |place: &str, mib: u32| format!("head -c {mib}M /dev/zero > {place}/fill || echo {place} is full");
    let check = async |line: String, expected: &str| {
        let heard = laptop.line(&line).await;
        assert_eq!(heard.stdout(), expected, "{}", heard.stderr());
        assert_eq!(heard.stderr().contains("No space left"), !expected.is_empty(), "{}", heard.stderr());
    };
    check(format!("{}; {}", fill("/tmp", 6), fill("/dev/shm", 2)), "").await;
    check(fill("/tmp", 7), "/tmp is full\n").await;
    check(fill("/dev/shm", 3), "/dev/shm is full\n").await;
    let both = format!("{}; mkdir /var/tmp/b; {}", fill("/tmp", 4), fill("/var/tmp/b", 4));
    check(both, "/var/tmp/b is full\n").await;
    // Whoever comes later has less, and still something.
    let id = laptop.background("sleep 60").await;
    check(fill("/tmp", 6), "/tmp is full\n").await;
    check(fill("/tmp", 4), "").await;
    laptop.ask("shell.cancel", json!({ "command_id": id })).await.unwrap();
    check(fill("/tmp", 6), "").await;
}

/// relay-138: a terminal of somebody else cannot be typed on.
#[tokio::test]
async fn nobody_types_for_others() {
    let script = "import fcntl, os, termios\nfd = os.open('/dev/tty', os.O_RDWR)\nfcntl.ioctl(fd, termios.TIOCSTI, b'x')";
    let (sandboxed, local) = (Laptop::new(Kind::Sandboxed).await, Laptop::new(Kind::Local).await);
    for laptop in [&sandboxed, &local] {
        let heard = laptop.run(python(script)).await;
        assert!(heard.stderr().contains("/dev/tty"), "{}", heard.stderr());
        // There is no terminal to be had, whatever we have here: a command is not in our session.
        let number = unique();
        laptop.background(&format!("sleep {number}")).await;
        runs(&number).await;
        for pid in processes(&number) {
            assert_ne!(session_of(&pid.to_string()), session_of("self"));
        }
    }
    let with_terminal = json!({ "argv": ["python3", "-c", script], "pty": { "cols": 80, "rows": 24 } });
    let heard = sandboxed.run(with_terminal).await;
    assert!(heard.stdout().contains("Operation not permitted"), "{}", heard.stdout());
}

/// The session of a process as the kernel tells it: nothing of one that has left, 0 of one that was begun outside of this
/// namespace of processes.
fn session_of(process: &str) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(") ")?;
    after_name.split(' ').nth(3).map(str::to_owned)
}

/// relay-135, relay-138: the paths of the machine are not in what a command sees of itself.
#[tokio::test]
async fn a_command_sees_virtual_paths() {
    let laptop = Laptop::new(Kind::Sandboxed).await;
    let home = laptop.home.path().to_str().unwrap().to_owned();
    let line = "pwd; readlink /proc/self/cwd; tr '\\0' ' ' < /proc/1/cmdline; tr '\\0' ' ' < /proc/1/environ; env; hostname; \
                ls -l /proc/self/fd /proc/1/fd 2>&1; cat no-such-file";
    let heard = laptop.line(line).await;
    assert!(heard.stdout().starts_with("/workspace/main\n/workspace/main\n"), "{}", heard.stdout());
    assert!(heard.stdout().contains("sandbox-init"), "control");
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    assert!(heard.stdout().contains("\nsandbox\n") && host.trim() != "sandbox");
    assert!(laptop.lent.said().iter().all(|frame| !frame.contains(&home)), "{:?}", laptop.lent.said());
    // Control: without a sandbox the directory is where it is.
    let local = Laptop::new(Kind::Local).await;
    assert!(local.line("pwd").await.stdout().contains("/main"));
}

/// relay-138: with the device its commands die, whoever they started.
#[tokio::test]
async fn commands_die_with_the_device() {
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let number = unique();
    let line = format!(
        "(setsid env -i sleep {number} &); trap '' TERM HUP; echo ready > ready; sleep {number}; sleep {number}"
    );
    let mut command = tokio::process::Command::new(LENDER);
    command.arg("hold").arg(home.path()).arg(&line).stdout(Stdio::piped()).kill_on_drop(true);
    let mut lender = command.spawn().unwrap();
    let mut lines = BufReader::new(lender.stdout.take().unwrap()).lines();
    assert_eq!(within(SOON, lines.next_line()).await.unwrap().as_deref(), Some("started"));
    within(SOON, async {
        while !home.path().join("ready").exists() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
    runs(&number).await;
    lender.kill().await.unwrap();
    nobody_runs(&number).await;
}

/// relay-138: who leaves the group, the session and the environment behind is found all the same.
#[tokio::test]
async fn nobody_hides_in_a_sandbox() {
    let laptop = Laptop::new(Kind::Sandboxed).await;
    let number = unique();
    let hide = format!(
        "(setsid env -i sh -c 'trap \"\" TERM HUP; sleep {number}; sleep {number}' >/dev/null 2>&1 &)"
    );
    laptop.line(&format!("{hide}; sleep 0.1")).await;
    assert!(!somebody_runs(&number));
    // Control: without a sandbox they could.
    let local = Laptop::new(Kind::Local).await;
    local.line(&format!("{hide}; sleep 0.1")).await;
    runs(&number).await;
    for pid in processes(&number) {
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}
