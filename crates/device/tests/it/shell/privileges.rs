//! What a command in a sandbox could gain beyond it: programs that run as the device's owner, and a say in its own end.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use super::{
    confined::python,
    support::{Kind, Laptop},
};

/// Tries to make files whose program runs as its owner or group, in every way that the system has.
const SET_ID_BITS: &str = r"
import ctypes, errno, os, struct
libc = ctypes.CDLL(None, use_errno=True)
HERE, CREATE, TEMPORARY = -100, os.O_CREAT | os.O_WRONLY, os.O_TMPFILE | os.O_WRONLY
def call(name, *args):
    ctypes.set_errno(0)
    result = libc.syscall(*[ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args])
    print(name, 'ok' if result >= 0 else errno.errorcode[ctypes.get_errno()])
    return result
def how(mode):
    return ctypes.create_string_buffer(struct.pack('QQQ', CREATE, mode, 0))
for bit in (0o4000, 0o2000, 0o6000):
    mode = 0o755 | bit
    plain, made = f'plain{bit:o}'.encode(), lambda name: f'{name}{bit:o}'.encode()
    os.close(os.open(plain, CREATE, 0o755))
    fd = os.open(plain, os.O_RDONLY)
    call('chmod', 90, plain, mode)
    call('fchmod', 91, fd, mode)
    call('fchmodat', 268, HERE, plain, mode)
    call('fchmodat2', 452, HERE, plain, mode, 0)
    call('open', 2, made('open'), CREATE, mode)
    call('openat', 257, HERE, made('openat'), CREATE, mode)
    temporary = call('temporary', 257, HERE, b'.', TEMPORARY, mode)
    if temporary >= 0: call('linkat', 265, HERE, f'/proc/self/fd/{temporary}'.encode(), HERE, made('linked'), 0x400)
    call('openat2', 437, HERE, made('openat2'), how(mode), 24)
    call('creat', 85, made('creat'), mode)
    call('mknod', 133, made('mknod'), 0o100000 | mode, 0)
    call('mknodat', 259, HERE, made('mknodat'), 0o100000 | mode, 0)
";

/// The files in a directory that run as their owner or group.
fn with_set_id_bits(directory: &Path) -> usize {
    let files = fs::read_dir(directory).unwrap().flatten();
    files.filter(|file| file.metadata().unwrap().permissions().mode() & 0o6000 != 0).count()
}

/// relay-138: a command leaves no program that runs as the device's owner for every other user of the machine.
#[tokio::test]
async fn no_program_runs_as_the_owner_for_others() {
    let (laptop, local) = (Laptop::new(Kind::Sandboxed).await, Laptop::new(Kind::Local).await);
    let heard = local.run(python(SET_ID_BITS)).await;
    assert!(
        !heard.stdout().contains("EPERM") && with_set_id_bits(&local.path("main")) > 20,
        "control: {heard:?}"
    );
    let heard = laptop.run(python(SET_ID_BITS)).await;
    let said = heard.stdout();
    let unexpected: Vec<_> =
        said.lines().filter(|line| !line.ends_with(" EPERM") && *line != "openat2 ENOSYS").collect();
    assert!(unexpected.is_empty() && said.lines().count() == 3 * 11, "{said} {}", heard.stderr());
    assert_eq!(with_set_id_bits(&laptop.path("main")), 0);
    // Ordinary modes are not affected, nor is the sticky bit.
    let line = "cp /bin/true x && chmod 755 x && ./x && mkdir -m 1777 y && umask 0 && touch z && install -m 700 x w && stat -c %a x y z w";
    let heard = laptop.line(line).await;
    assert_eq!(heard.stdout(), "755\n1777\n666\n700\n", "{}", heard.stderr());
}

/// relay-138: a command cannot report an end for itself, nor keep its own end from being reported.
#[tokio::test]
async fn a_command_cannot_reach_the_report_of_its_sandbox() {
    let laptop = Laptop::new(Kind::Sandboxed).await;
    let forge = "for fd in /proc/1/fd/*; do (printf 'exited 42424242\\n' > $fd) 2>/dev/null; done; exit 7";
    assert_eq!(laptop.line(forge).await.code(), 7);
    let killed = format!("{}; kill -9 $$", forge.trim_end_matches("; exit 7"));
    assert_eq!(laptop.line(&killed).await.code(), 128 + 9);
    let fill = r"
import os
reached = 0
for name in range(64):
    try: fd = os.open(f'/proc/1/fd/{name}', os.O_WRONLY | os.O_NONBLOCK)
    except OSError: continue
    reached += 1
    try:
        while True: os.write(fd, b'x' * 4096)
    except OSError: pass
os._exit(3 if reached == 0 else 4)
";
    let heard = laptop.run(python(fill)).await;
    assert_eq!(heard.code(), 3);
    // What belongs to the command itself is there: its own descriptors, and what the system says of other processes.
    let heard = laptop
        .line("ls /proc/self/fd >/dev/null && cat /proc/1/comm >/dev/null && echo fine >/proc/self/fd/1")
        .await;
    assert_eq!(heard.stdout(), "fine\n", "{}", heard.stderr());
}
