//! TLS before a server that speaks none.

use std::sync::Arc;

use tokio::{
    io::{AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    },
};

/// What it shows. Of `localhost`, signed by itself, for a hundred years: nobody trusts it who is not told to, so that its
/// key is no secret.
pub const CERTIFICATE: &str = include_str!("tls/certificate.pem");
const KEY: &str = include_str!("tls/key.pem");

/// One for the same name that somebody else has.
pub const OTHER_CERTIFICATE: &str = include_str!("tls/other.pem");

/// Speaks TLS before a server, to those who trust [`CERTIFICATE`].
#[derive(Debug)]
pub struct Tls {
    port: u16,
    calls: watch::Receiver<Calls>,
    _serving: JoinSet<()>,
}

/// How many have called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Calls {
    /// Those who went on to say something.
    pub trusting: usize,
    /// Those who hung up when they saw the certificate.
    pub distrusting: usize,
}

impl Tls {
    /// Before the server at `base`, such as `http://127.0.0.1:1234`.
    ///
    /// # Panics
    /// If there is no address to listen on.
    pub async fn before(base: &str) -> Self {
        let certificate = CertificateDer::from_pem_slice(CERTIFICATE.as_bytes()).unwrap();
        let key = PrivateKeyDer::from_pem_slice(KEY.as_bytes()).unwrap();
        let config = ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key);
        let acceptor = TlsAcceptor::from(Arc::new(config.unwrap()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let behind = base.trim_start_matches("http://").to_owned();
        let (count, calls) = watch::channel(Calls::default());
        let count = Arc::new(count);
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let (acceptor, behind, count) = (acceptor.clone(), behind.clone(), Arc::clone(&count));
                connections.spawn(async move {
                    let Ok(mut client) = acceptor.accept(client).await else {
                        count.send_modify(|calls| calls.distrusting += 1);
                        return;
                    };
                    count.send_modify(|calls| calls.trusting += 1);
                    let mut server = TcpStream::connect(behind).await.unwrap();
                    let _ = copy_bidirectional(&mut client, &mut server).await;
                    let _ = client.shutdown().await;
                });
            }
        });
        Self { port, calls, _serving: serving }
    }

    /// Its address by the name that its certificate has.
    pub fn base(&self) -> String {
        format!("https://localhost:{}", self.port)
    }

    /// Its address by a name that its certificate has not.
    pub fn base_by_another_name(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// How many have called, once that is so.
    ///
    /// # Panics
    /// Never: it counts for as long as it is there.
    pub async fn calls_until(&mut self, are_so: impl FnMut(&Calls) -> bool) -> Calls {
        *self.calls.wait_for(are_so).await.unwrap()
    }
}
