//! What a sandbox shows of the system: programs and what they need, never anything of somebody's.

use std::{fs, path::Path};

/// Where a sandbox has something of its own.
pub(super) const PLACES: [&str; 14] = [
    "/bin", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/proc", "/run", "/sbin", "/tmp",
    "/usr", "/var",
];

/// What finds others, where the network is reached.
pub(super) const NETWORK: [&str; 1] = ["/etc/resolv.conf"];

/// Programs and libraries. Some are links to `/usr` on most systems, and directories on others.
const PROGRAMS: [&str; 7] = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"];

/// What programs read that is the same for everybody, without keys and passwords.
const SETTINGS: [&str; 24] = [
    "/etc/alternatives",
    "/etc/bash.bashrc",
    "/etc/ca-certificates",
    "/etc/debian_version",
    "/etc/fonts",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/inputrc",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
];

/// How bubblewrap is told to show it.
pub(super) fn system() -> Vec<String> {
    let mut args: Vec<String> = ["--ro-bind", "/usr", "/usr"].map(str::to_owned).into();
    for place in PROGRAMS {
        match fs::read_link(place) {
            Ok(target) => {
                args.extend(["--symlink".into(), target.to_string_lossy().into_owned(), place.into()])
            }
            Err(_) if Path::new(place).is_dir() => {
                args.extend(["--ro-bind", place, place].map(str::to_owned))
            }
            Err(_) => {}
        }
    }
    args.extend(SETTINGS.iter().flat_map(|place| ["--ro-bind-try", place, place].map(str::to_owned)));
    args
}
