//! The programs that audit entries may name.
//!
//! A word in the place of a program can be anything: a mistyped command may well be a password. An entry therefore never
//! repeats a word of a request; it names a program of this list, or none.

/// Directories whose programs are those that their names say. A program elsewhere may only share the name.
const SYSTEM_DIRECTORIES: [&str; 5] = ["/bin/", "/sbin/", "/usr/bin/", "/usr/local/bin/", "/usr/sbin/"];

/// Programs and shell built-ins that are common on development machines, sorted.
#[rustfmt::skip]
pub(super) const KNOWN_PROGRAMS: &[&str] = &[
    "age", "ansible", "ansible-playbook", "apt", "apt-get", "ar", "arch", "ash", "autoconf", "automake", "awk",
    "aws", "az", "b2sum", "base32", "base64", "basename", "bash", "bat", "bazel", "bc", "bg", "bison", "black",
    "break", "brew", "bun", "bundle", "bunx", "bwrap", "bzip2", "c++", "cal", "cargo", "cat", "cc", "cd",
    "chgrp", "chmod", "chown", "cksum", "clang", "clang++", "clang-format", "claude", "clear", "cmake", "cmp",
    "codex", "column", "comm", "command", "composer", "conda", "continue", "corepack", "cp", "cpio", "cron",
    "crontab", "csplit", "ctags", "ctest", "curl", "cut", "dart", "dash", "date", "dd", "declare", "deno", "df",
    "diff", "dig", "dir", "direnv", "dirname", "dmesg", "dnf", "docker", "docker-compose", "dotnet", "dpkg",
    "dprint", "du", "echo", "ed", "egrep", "elixir", "emacs", "env", "erl", "esbuild", "eslint", "eval", "ex",
    "exec", "exit", "expand", "export", "expr", "factor", "false", "fd", "ffmpeg", "fg", "fgrep", "file",
    "find", "firefox", "fish", "flake8", "flock", "flutter", "fmt", "fold", "free", "ftp", "fuser", "g++",
    "gawk", "gcc", "gcloud", "gdb", "gem", "getconf", "getent", "getopt", "getopts", "gh", "ghc", "git",
    "git-lfs", "go", "gofmt", "golangci-lint", "gpg", "gradle", "gradlew", "grep", "groups", "gulp", "gunzip",
    "gzip", "head", "helm", "help", "hexdump", "hg", "history", "host", "hostname", "htop", "iconv", "id",
    "ifconfig", "info", "install", "ip", "ipython", "isort", "jar", "java", "javac", "jest", "jobs", "join",
    "journalctl", "jq", "julia", "jupyter", "just", "kill", "killall", "kind", "ksh", "kubectl", "ld", "ldd",
    "less", "let", "lex", "link", "ln", "local", "locale", "locate", "logger", "login", "logname", "ls",
    "lsblk", "lscpu", "lsof", "lua", "lz4", "lzma", "m4", "mail", "make", "man", "mapfile", "md5sum", "meson",
    "mkdir", "mkfifo", "mknod", "mktemp", "mocha", "mongosh", "more", "mount", "mv", "mvn", "mypy", "mysql",
    "mysqldump", "nano", "nc", "ncat", "netstat", "next", "ng", "nice", "ninja", "nix", "nl", "nm", "node",
    "nodejs", "nohup", "nox", "npm", "nproc", "npx", "nslookup", "numfmt", "nvim", "objdump", "ocaml", "od",
    "opencode", "openssl", "pandoc", "parallel", "passwd", "paste", "patch", "pathchk", "perl", "pg_dump",
    "pgrep", "php", "phpunit", "pidof", "ping", "pip", "pip3", "pipenv", "pipx", "pkg-config", "pkill",
    "playwright", "pnpm", "podman", "poetry", "popd", "pre-commit", "prettier", "printenv", "printf", "protoc",
    "prove", "ps", "psql", "pushd", "pwd", "pyenv", "pylint", "pyright", "pytest", "python", "python2",
    "python3", "qemu-system-x86_64", "rake", "ranlib", "rbenv", "read", "readarray", "readelf", "readlink",
    "readonly", "realpath", "redis-cli", "rename", "renice", "reset", "return", "rev", "rg", "rm", "rmdir",
    "rspec", "rsync", "rubocop", "ruby", "ruff", "rustc", "rustfmt", "rustup", "scp", "screen", "sed", "seq",
    "service", "set", "setsid", "sftp", "sh", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum",
    "shellcheck", "shfmt", "shift", "shred", "shuf", "size", "sleep", "snap", "sort", "source", "split",
    "sqlite3", "ss", "ssh", "ssh-add", "ssh-agent", "ssh-keygen", "stat", "stdbuf", "strace", "strings",
    "strip", "stty", "stylelint", "su", "sudo", "sum", "svn", "swift", "sync", "sysctl", "systemctl", "tac",
    "tail", "tar", "task", "tee", "telnet", "terraform", "test", "tex", "tig", "timeout", "tmux", "top",
    "touch", "tox", "tput", "tr", "traceroute", "trap", "tree", "true", "truncate", "tsc", "tsort", "tsx",
    "tty", "turbo", "type", "typeset", "ulimit", "umask", "uname", "unexpand", "uniq", "unlink", "unset",
    "unshare", "unxz", "unzip", "update-alternatives", "uptime", "users", "uv", "uvx", "vagrant", "valgrind",
    "vi", "view", "vim", "vite", "vitest", "w", "wait", "watch", "watchman", "wc", "webpack", "wget", "whatis",
    "whereis", "which", "who", "whoami", "xargs", "xmllint", "xxd", "xz", "yacc", "yarn", "yes", "yq", "zcat",
    "zig", "zip", "zsh", "zstd",
];

/// Returns the known program that `word` starts, which is the name itself or its path in a system directory.
pub(super) fn find(word: &str) -> Option<&'static str> {
    let name = SYSTEM_DIRECTORIES.iter().find_map(|directory| word.strip_prefix(directory)).unwrap_or(word);
    let at = KNOWN_PROGRAMS.binary_search(&name).ok()?;
    Some(KNOWN_PROGRAMS[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_programs_are_found() {
        assert!(KNOWN_PROGRAMS.is_sorted());
        assert!(KNOWN_PROGRAMS.iter().all(|name| find(name) == Some(name)));
        assert_eq!((find("ls"), find("/usr/bin/ls")), (Some("ls"), Some("ls")));
        for word in ["", "hunter2", "./ls", "/tmp/ls", "/usr/bin/", "/usr/bin//ls", "bin/ls", "ls ", "LS"] {
            assert_eq!(find(word), None, "{word:?}");
        }
    }
}
