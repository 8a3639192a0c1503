//! The text of the unit.

use std::path::PathBuf;

use anyhow::Context;

/// A unit that runs these words.
pub(super) fn unit(words: &[PathBuf]) -> anyhow::Result<String> {
    let words: anyhow::Result<Vec<_>> = words
        .iter()
        .map(|word| {
            let text = word.to_str().with_context(|| format!("`{}` is not a text", word.display()))?;
            quoted(text).with_context(|| format!("`{}` cannot be in a unit", word.display()))
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
# It ends its commands itself; what is left after that is killed.
KillMode=mixed
TimeoutStopSec=20
Restart=on-failure
RestartSec=5
# The hub does not let it in, or what is to be lent makes no sense: again would be the same.
RestartPreventExitStatus=1 2
NoNewPrivileges=yes
UMask=0077

[Install]
WantedBy=default.target
"
    ))
}

/// A word as systemd reads it back; none if it cannot be written.
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
    fn a_word_is_read_back_as_it_is() {
        check("/usr/bin/tombolo", Some("/usr/bin/tombolo"));
        check("/my files/x", Some("\"/my files/x\""));
        check("/100%/x", Some("/100%%/x"));
        check("/$HOME/\"x\"\\", Some("\"/$$HOME/\\\"x\\\"\\\\\""));
        check("", Some("\"\""));
        check("a\nExecStart=/bin/sh", None);
    }
}
