use agent_catalog::{Purpose, UserEnvironment, Want};
use agent_install::{Ask, Fault, Mirror};
use testkit::{
    download_mirror::DownloadMirror,
    tls_proxy::{CERTIFICATE, TlsProxy},
};

use crate::mirror::{Home, agent, says, shell_script, tar_gz};

/// One that nobody else has.
const VERSION: &str = "0.0.0-loopback";

/// daemon-7: the certificates that npm is configured with are trusted, and needed.
#[tokio::test]
async fn the_certificates_of_npm_are_trusted() {
    let mut mirror = DownloadMirror::start().await;
    let registry = TlsProxy::in_front_of(&mirror.url).await;
    mirror.url = registry.base();
    let tarball = tar_gz(&[("package/bin/opencode", &shell_script("trusted"))]);
    mirror.put_npm("opencode-linux-x64", VERSION, &tarball, None);
    let ask = Ask { want: Want::Exact(VERSION.parse().unwrap()), ..Ask::default() };
    for (trusts, npmrc) in [(false, ""), (true, "cafile=${HERE}/ca.pem")] {
        let mut home = Home::new(&mirror);
        let here = home.directory.path().to_path_buf();
        std::fs::write(here.join("ca.pem"), CERTIFICATE).unwrap();
        std::fs::write(here.join(".npmrc"), format!("registry={}/npm\n{npmrc}\n", mirror.url)).unwrap();
        home.config.mirrors = vec![Mirror::parse("https://github.com=http://127.0.0.1:9").unwrap()];
        let variables = [("HERE".to_owned(), here.display().to_string())].into();
        home.config.environment = UserEnvironment { variables, home: Some(here), project: None };
        let installer = home.installer();
        let opencode = agent(&installer, "opencode");
        let done = installer.install(&opencode, &ask).await.unwrap().finish().await;
        if trusts {
            done.unwrap();
            assert_eq!(says(installer.launch(&opencode, Purpose::Acp).await.unwrap().program), "trusted");
        } else {
            let error = done.unwrap_err();
            let Fault::Unreachable { reason, .. } = &*error.attempts().last().unwrap().fault else {
                panic!("{error}")
            };
            assert!(reason.contains("certificate"), "{reason}");
        }
    }
}
