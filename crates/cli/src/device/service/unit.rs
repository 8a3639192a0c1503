//! The text of the systemd unit.

use std::path::PathBuf;

use anyhow::Context;

/// A systemd unit that runs this command line.
pub(super) fn unit_text(command: &[PathBuf]) -> anyhow::Result<String> {
    let words: anyhow::Result<Vec<_>> = command
        .iter()
        .map(|word| {
            let text = word.to_str().with_context(|| format!("`{}` is not valid UTF-8", word.display()))?;
            quoted(text).with_context(|| {
                format!("`{}` contains control characters, which a unit cannot contain", word.display())
            })
        })
        .collect();
    let command = words?.join(" ");
    Ok(format!(
        "\
# Written by `tombolo device service install`.
[Unit]
Description=Tombolo device: lends this machine to agents
After=network-online.target

[Service]
Type=exec
ExecStart={command}
# The device stops its commands itself; systemd kills what is left after that.
KillMode=mixed
TimeoutStopSec=20
Restart=on-failure
RestartSec=5
# 1: the hub rejects the device. 2: the configuration is invalid. Restarting would not help.
RestartPreventExitStatus=1 2
NoNewPrivileges=yes
UMask=0077

[Install]
WantedBy=default.target
"
    ))
}

/// Quotes a word for `ExecStart`; `None` if it contains control characters, for which systemd has no safe spelling.
fn quoted(word: &str) -> Option<String> {
    if word.chars().any(char::is_control) {
        return None;
    }
    let escaped = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '%');
    Some(if !word.is_empty() && word.chars().all(plain) { escaped } else { format!("\"{escaped}\"") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, expected: Option<&str>) {
        assert_eq!(quoted(word).as_deref(), expected);
    }

    #[test]
    fn words_are_quoted_for_systemd() {
        check("/usr/bin/tombolo", Some("/usr/bin/tombolo"));
        check("/my files/x", Some("\"/my files/x\""));
        check("/100%/x", Some("/100%%/x"));
        check("/$HOME/\"x\"\\", Some("\"/$$HOME/\\\"x\\\"\\\\\""));
        check("", Some("\"\""));
        check("a\nExecStart=/bin/sh", None);
    }
}
