//! The user's pip configuration, for a uv that we installed: uv does not read it.

use std::time::Duration;

use process::ProcessSpec;

use super::{Fault, tool};

/// How long pip may take to say how it is configured.
const PIP_ANSWER_MAX: Duration = Duration::from_secs(30);

/// What pip calls its settings, and uv its variables.
const SETTINGS: [(&str, &str); 4] = [
    ("index-url", "UV_DEFAULT_INDEX"),
    ("extra-index-url", "UV_INDEX"),
    ("find-links", "UV_FIND_LINKS"),
    ("cert", "SSL_CERT_FILE"),
];

/// What pip is configured with, as variables for uv: an address may hold a password, which is not for arguments.
pub(super) async fn as_uv(python: &ProcessSpec) -> Result<Vec<(&'static str, String)>, Fault> {
    let ask = python.clone().args(["-m", "pip", "config", "list", "--disable-pip-version-check"]);
    Ok(variables(&tool::run(&ask, PIP_ANSWER_MAX).await?))
}

/// Reads lines such as `global.index-url='https://…'`; those of the environment are called `:env:.…` and win.
fn variables(list: &str) -> Vec<(&'static str, String)> {
    let said = |setting: &str| {
        let values = list.lines().filter_map(|line| {
            let (name, value) = line.split_once('=')?;
            let (section, name) = name.rsplit_once('.')?;
            (name == setting).then_some((section == ":env:", value.trim_matches('\'').to_owned()))
        });
        values.max_by_key(|(of_the_environment, _)| *of_the_environment).map(|(_, value)| value)
    };
    SETTINGS.into_iter().filter_map(|(pip, uv)| Some((uv, said(pip)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_wins() {
        let list = ":env:.index-url='https://a.example/simple'\n:env:.timeout='180'\n\
                    global.cert='/ca.pem'\nglobal.index-url='https://b.example/simple?x=y'\n";
        let expected = [("UV_DEFAULT_INDEX", "https://a.example/simple"), ("SSL_CERT_FILE", "/ca.pem")];
        assert_eq!(variables(list), expected.map(|(name, value)| (name, value.to_owned())));
        let list = list.lines().skip(1).collect::<Vec<_>>().join("\n");
        assert_eq!(variables(&list)[0].1, "https://b.example/simple?x=y");
    }
}
