use std::path::Path;

use agent_catalog::{Catalog, Purpose, SearchPath, UserEnvironment};
use agent_install::{Config, Error, Fault, Installer, ReadyError};

/// daemon-7: a real platform package of the npm registry that the user of this machine has configured, 42 MB,
/// unpacked without npm or Node. Skipped, loudly, where no registry can be reached.
#[tokio::test]
async fn a_real_agent_comes_from_the_users_npm_registry() {
    let home = tempfile::tempdir().unwrap();
    let variables =
        std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)));
    let variables: std::collections::BTreeMap<_, _> = variables.collect();
    let certificates =
        ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"].iter().filter_map(|name| variables.get(*name));
    let config = Config {
        directory: home.path().join("agents"),
        allowed: true,
        certificates: certificates.map(Into::into).collect(),
        search_path: SearchPath::new(variables.get("PATH").cloned().unwrap_or_default()),
        environment: UserEnvironment {
            home: variables.get("HOME").map(Into::into),
            project: None,
            variables,
        },
        ..Config::default()
    };
    let installer = Installer::new(config, Catalog::new(Path::new("/own"), Default::default()).unwrap());
    let amp = installer.agent(&"amp".parse().unwrap()).await.unwrap();
    let launch = match installer.ready(&amp, Purpose::Native).await {
        Ok(launch) => launch,
        Err(ReadyError::Install(error)) if out_of_reach(&error) => {
            eprintln!(
                "SKIPPED: a_real_agent_comes_from_the_users_npm_registry needs an npm registry: {error}"
            );
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let version =
        std::process::Command::new(&launch.program).arg("--version").env("HOME", home.path()).output();
    let version = String::from_utf8(version.unwrap().stdout).unwrap();
    assert!(version.starts_with("0.0.1790142911-g7618fb"), "{version}");
    let stored = installer.store().current(&"amp".parse().unwrap()).unwrap();
    assert!(stored.manifest.verified, "{:?}", stored.manifest);
    assert_eq!(stored.found.program, launch.program);
}

fn out_of_reach(error: &Error) -> bool {
    let last = error.attempts().last().map(|tried| &*tried.fault);
    matches!(last, Some(Fault::Npm(_) | Fault::Unreachable { .. } | Fault::Silent { .. }))
}
