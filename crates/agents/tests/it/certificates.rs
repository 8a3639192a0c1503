use std::sync::Arc;

use agents::{
    Purpose, Want,
    install::{Ask, Environment, Error, Fault, Mirror},
};
use testkit::mirror::Loopback;
use tokio::{
    io::{AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    },
};

use crate::mirror::{Home, agent, says, script, tar_gz};

/// Of `localhost`, signed by itself, for a hundred years: nobody trusts it who is not told to, so that its key is no secret.
const CERTIFICATE: &str = include_str!("certificates/certificate.pem");
const KEY: &str = include_str!("certificates/key.pem");

/// One that nobody else has.
const VERSION: &str = "0.0.0-loopback";

/// A registry that only those trust who have its certificate.
struct Registry {
    url: String,
    _serving: JoinSet<()>,
}

impl Registry {
    /// Speaks TLS before `mirror`.
    async fn start(mirror: &Loopback) -> Self {
        let certificate = CertificateDer::from_pem_slice(CERTIFICATE.as_bytes()).unwrap();
        let key = PrivateKeyDer::from_pem_slice(KEY.as_bytes()).unwrap();
        let config = ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key);
        let acceptor = TlsAcceptor::from(Arc::new(config.unwrap()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
        let behind = mirror.url.trim_start_matches("http://").to_owned();
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let (acceptor, behind) = (acceptor.clone(), behind.clone());
                connections.spawn(async move {
                    // Who does not trust us hangs up.
                    let Ok(mut client) = acceptor.accept(client).await else { return };
                    let mut server = TcpStream::connect(behind).await.unwrap();
                    let _ = copy_bidirectional(&mut client, &mut server).await;
                    let _ = client.shutdown().await;
                });
            }
        });
        Self { url, _serving: serving }
    }
}

/// daemon #7: the certificates that npm is configured with are trusted, and needed.
#[tokio::test]
async fn the_certificates_of_npm_are_trusted() {
    let mut mirror = Loopback::start().await;
    let registry = Registry::start(&mirror).await;
    mirror.url.clone_from(&registry.url);
    let tarball = tar_gz(&[("package/bin/opencode", &script("trusted"))]);
    mirror.put_npm("opencode-linux-x64", VERSION, &tarball, None);
    let ask = Ask { want: Want::Exact(VERSION.parse().unwrap()), ..Ask::default() };
    for (trusts, npmrc) in [(false, ""), (true, "cafile=${HERE}/ca.pem")] {
        let mut home = Home::new(&mirror);
        let here = home.directory.path().to_path_buf();
        std::fs::write(here.join("ca.pem"), CERTIFICATE).unwrap();
        std::fs::write(here.join(".npmrc"), format!("registry={}/npm\n{npmrc}\n", registry.url)).unwrap();
        home.config.mirrors = vec![Mirror::parse("https://github.com=http://127.0.0.1:9").unwrap()];
        let variables = [("HERE".to_owned(), here.display().to_string())].into();
        home.config.environment = Environment { variables, home: Some(here), project: None };
        let installer = home.installer();
        let opencode = agent(&installer, "opencode");
        let done = installer.install(&opencode, &ask).await.unwrap().finish().await;
        if trusts {
            done.unwrap();
            assert_eq!(says(installer.launch(&opencode, Purpose::Acp).await.unwrap().program), "trusted");
        } else {
            let error = done.unwrap_err();
            let Error::Failed { attempts, .. } = &*error else { panic!("{error}") };
            let Fault::Unreachable { reason, .. } = &*attempts.last().unwrap().fault else {
                panic!("{error}")
            };
            assert!(reason.contains("certificate"), "{reason}");
        }
    }
}
