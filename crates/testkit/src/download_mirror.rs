//! A download mirror on the loopback interface. It serves archives in the layouts of vendors, npm registries and
//! Python indexes, and can cut, stall or slow down downloads to test how the installer recovers.

mod archives;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{StatusCode, header},
    response::Response,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use sha2::{Digest, Sha256, Sha512};
use tokio::task::JoinSet;

use self::archives::wheel;
pub use self::archives::{large_shell_script, shell_script, tar_gz};

/// Size of one chunk of a download that is slowed down by [`DownloadMirror::slow_downloads`].
const CHUNK_BYTES: usize = 64 << 10;

/// A fault in the next `times` responses with more than `after` bytes: nothing is sent after that many bytes.
#[derive(Debug, Clone, Copy)]
struct DownloadFault {
    after: usize,
    times: usize,
    /// Keeps the connection open without sending more, instead of closing it.
    stalls: bool,
}

/// State shared by the mirror and its request handler.
#[derive(Debug, Default)]
struct MirrorState {
    /// Contents by request path.
    files: Mutex<HashMap<String, Vec<u8>>>,
    fault: Mutex<Option<DownloadFault>>,
    /// Delay before each chunk.
    chunk_delay: Mutex<Option<Duration>>,
    /// Path and `Range` header of every request, oldest first.
    requests: Mutex<Vec<(String, Option<String>)>>,
}

/// A download mirror on the loopback interface. It stops when dropped, because the `JoinSet` then aborts its task.
#[derive(Debug)]
pub struct DownloadMirror {
    state: Arc<MirrorState>,
    /// The base URL of the mirror.
    pub url: String,
    _serving: JoinSet<()>,
}

impl DownloadMirror {
    /// Starts an empty mirror on a free port.
    ///
    /// # Panics
    /// If no port is free.
    pub async fn start() -> Self {
        let state = Arc::new(MirrorState::default());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(serve).with_state(state.clone());
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { state, url, _serving: serving }
    }

    /// Adds the file that the mirror serves in place of `https://{address}`.
    pub fn put_file(&self, address: &str, content: impl Into<Vec<u8>>) {
        self.state.files.lock().unwrap().insert(format!("/{address}"), content.into());
    }

    /// Breaks the connection after `after` bytes in the next `times` downloads that are longer than that.
    pub fn cut_downloads(&self, after: usize, times: usize) {
        *self.state.fault.lock().unwrap() = Some(DownloadFault { after, times, stalls: false });
    }

    /// Stops sending after `after` bytes in the next `times` longer downloads, and keeps their connections open.
    pub fn stall_downloads(&self, after: usize, times: usize) {
        *self.state.fault.lock().unwrap() = Some(DownloadFault { after, times, stalls: true });
    }

    /// Waits for `delay` before each chunk of 64 KiB, in all downloads that start from now on.
    pub fn slow_downloads(&self, delay: Duration) {
        *self.state.chunk_delay.lock().unwrap() = Some(delay);
    }

    /// The `Range` header of each request so far whose path ends with `ending`; `None` for the whole file.
    pub fn requested_ranges(&self, ending: &str) -> Vec<Option<String>> {
        let requests = self.state.requests.lock().unwrap();
        requests.iter().filter(|(path, _)| path.ends_with(ending)).map(|(_, range)| range.clone()).collect()
    }

    /// Publishes a tarball as an npm package. `integrity` replaces the correct checksum in the registry document.
    pub fn put_npm(&self, package: &str, version: &str, tarball: &[u8], integrity: Option<&str>) {
        self.publish(&json!({ "name": package, "version": version }), tarball, integrity);
    }

    /// Publishes an npm package made of a `package.json` and its other files.
    pub fn put_npm_package(&self, manifest: &Value, files: &[(&str, &[u8])]) {
        let text = manifest.to_string();
        let named: Vec<_> =
            files.iter().map(|(name, content)| (format!("package/{name}"), *content)).collect();
        let mut members = vec![("package/package.json", text.as_bytes())];
        members.extend(named.iter().map(|(name, content)| (name.as_str(), *content)));
        self.publish(manifest, &tar_gz(&members), None);
    }

    /// Adds the tarball and the package's registry document, whose path has an encoded slash for a scoped package.
    fn publish(&self, manifest: &Value, tarball: &[u8], integrity: Option<&str>) {
        let text = |name: &str| manifest[name].as_str().unwrap_or_default();
        let (package, version) = (text("name"), text("version"));
        let correct = format!("sha512-{}", STANDARD.encode(Sha512::digest(tarball)));
        let file = format!("npm/{package}/-/{version}.tgz");
        let mut published = manifest.clone();
        published["dist"] = json!({
            "tarball": format!("{}/{file}", self.url), "integrity": integrity.unwrap_or(&correct),
        });
        let document = json!({
            "name": package, "dist-tags": { "latest": version }, "versions": { version: published },
        });
        self.put_file(&format!("npm/{}", package.replace('/', "%2f")), document.to_string());
        self.put_file(&file, tarball);
    }

    /// Publishes a Python package with one program of the same name, whose source is `program`.
    pub fn put_python(&self, name: &str, version: &str, program: &str) {
        let file = format!("wheels/{name}-{version}-py3-none-any.whl");
        let link = format!("<!DOCTYPE html><a href=\"/{file}\">{name}-{version}-py3-none-any.whl</a>");
        self.put_file(&format!("simple/{name}/"), link);
        self.put_file(&file, wheel(name, version, program));
    }
}

/// The SHA-256 of a file in hexadecimal, as vendors publish it.
pub fn sha256(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Serves a file, or the rest of it from the start of the requested range, with the configured fault or delay.
async fn serve(State(state): State<Arc<MirrorState>>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let range = request.headers().get(header::RANGE).map(|value| value.to_str().unwrap().to_owned());
    state.requests.lock().unwrap().push((path.clone(), range.clone()));
    let found = state.files.lock().unwrap().get(&path).cloned();
    let Some(content) = found else {
        return Response::builder().status(StatusCode::NOT_FOUND).body(Body::empty()).unwrap();
    };
    let start: usize = range
        .as_ref()
        .map_or(0, |range| range.trim_start_matches("bytes=").trim_end_matches('-').parse().unwrap());
    let mut response = Response::builder().header(header::ETAG, format!("\"{}\"", content.len()));
    if path.ends_with('/') {
        response = response.header(header::CONTENT_TYPE, "text/html"); // pip ignores an index of another type
    }
    if start > 0 {
        let content_range = format!("bytes {start}-{}/{}", content.len() - 1, content.len());
        response = response.status(StatusCode::PARTIAL_CONTENT).header(header::CONTENT_RANGE, content_range);
    }
    let content = content[start..].to_vec();
    response = response.header(header::CONTENT_LENGTH, content.len());
    let mut fault = state.fault.lock().unwrap();
    if let Some(fault) = fault.as_mut()
        && fault.times > 0
        && content.len() > fault.after
    {
        fault.times -= 1;
        let first = stream::iter([Ok(Bytes::copy_from_slice(&content[..fault.after]))]);
        let body = if fault.stalls {
            Body::from_stream(first.chain(stream::pending::<std::io::Result<Bytes>>()))
        } else {
            Body::from_stream(first.chain(stream::iter([Err(std::io::Error::other("cut"))])))
        };
        return response.body(body).unwrap();
    }
    let Some(delay) = *state.chunk_delay.lock().unwrap() else {
        return response.body(Body::from(content)).unwrap();
    };
    let chunks: Vec<_> = content.chunks(CHUNK_BYTES).map(Bytes::copy_from_slice).collect();
    let slowly = stream::iter(chunks).then(move |chunk| async move {
        tokio::time::sleep(delay).await;
        Ok::<_, std::io::Error>(chunk)
    });
    response.body(Body::from_stream(slowly)).unwrap()
}
