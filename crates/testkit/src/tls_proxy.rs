//! A TLS-terminating proxy in front of a server that speaks plain HTTP.

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
        crypto::aws_lc_rs,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    },
};

/// The certificate that [`TlsProxy`] presents: self-signed, for the name `localhost`, valid for a hundred years. Only a
/// client configured to trust it accepts it, so its private key may be in the repository.
pub const CERTIFICATE: &str = include_str!("tls_proxy/certificate.pem");
const KEY: &str = include_str!("tls_proxy/key.pem");

/// Another self-signed certificate for `localhost`. Clients that trust only this one must reject [`TlsProxy`].
pub const OTHER_CERTIFICATE: &str = include_str!("tls_proxy/other.pem");

/// A TLS proxy that presents [`CERTIFICATE`]. It stops when dropped, because the `JoinSet` then aborts its task.
#[derive(Debug)]
pub struct TlsProxy {
    port: u16,
    handshakes: watch::Receiver<HandshakeCounts>,
    _serving: JoinSet<()>,
}

/// The number of TLS handshakes so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HandshakeCounts {
    /// Completed handshakes: the client accepted the certificate.
    pub completed: usize,
    /// Failed handshakes, usually because the client rejected the certificate.
    pub failed: usize,
}

impl TlsProxy {
    /// Starts a proxy in front of the server at `base`, such as `http://127.0.0.1:1234`.
    ///
    /// # Panics
    /// If no port is free.
    pub async fn in_front_of(base: &str) -> Self {
        let certificate = CertificateDer::from_pem_slice(CERTIFICATE.as_bytes()).unwrap();
        let key = PrivateKeyDer::from_pem_slice(KEY.as_bytes()).unwrap();
        // Named, because the program under test brings another provider into the same build.
        let provider = Arc::new(aws_lc_rs::default_provider());
        let config =
            ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = config.with_no_client_auth().with_single_cert(vec![certificate], key);
        let acceptor = TlsAcceptor::from(Arc::new(config.unwrap()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let behind = base.trim_start_matches("http://").to_owned();
        let (count, handshakes) = watch::channel(HandshakeCounts::default());
        let count = Arc::new(count);
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let (acceptor, behind, count) = (acceptor.clone(), behind.clone(), Arc::clone(&count));
                connections.spawn(async move {
                    let Ok(mut client) = acceptor.accept(client).await else {
                        count.send_modify(|handshakes| handshakes.failed += 1);
                        return;
                    };
                    count.send_modify(|handshakes| handshakes.completed += 1);
                    // Connect only now: the server must see nothing of a client that rejects the certificate.
                    let mut server = TcpStream::connect(behind).await.unwrap();
                    let _ = copy_bidirectional(&mut client, &mut server).await;
                    // Sends `close_notify` if the copy ended with an error; else the client reports truncation.
                    let _ = client.shutdown().await;
                });
            }
        });
        Self { port, handshakes, _serving: serving }
    }

    /// The base URL with `localhost`, the name in the certificate.
    pub fn base(&self) -> String {
        format!("https://localhost:{}", self.port)
    }

    /// The base URL with `127.0.0.1`, which the certificate does not contain: a client must reject it here.
    pub fn base_with_wrong_name(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// Waits until the counts satisfy `condition` and returns them.
    ///
    /// # Panics
    /// Never: the proxy owns the task that counts.
    pub async fn handshakes_until(
        &mut self,
        condition: impl FnMut(&HandshakeCounts) -> bool,
    ) -> HandshakeCounts {
        *self.handshakes.wait_for(condition).await.unwrap()
    }
}
