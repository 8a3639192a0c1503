//! A download mirror on the loopback interface. It serves archives in the layouts of vendors, npm registries and
//! Python indexes, and can cut, stall or slow down downloads to test how the installer recovers.

use std::{
    collections::HashMap,
    io::{Cursor, Write},
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
use sha2::{Digest, Sha512};
use tokio::task::JoinSet;
use zip::{ZipWriter, write::SimpleFileOptions};

/// A shell script that prints `says`, which identifies the installed program to a test.
pub fn script(says: &str) -> Vec<u8> {
    format!("#!/bin/sh\necho {says}\n").into_bytes()
}

/// A gzipped tarball of these files. None of them is executable, so the installer must set that permission itself.
///
/// # Panics
/// Never: writing to memory does not fail.
pub fn tar_gz(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    for (name, content) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, *content).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap()
}

/// A shell script like [`script`], padded to 6 MB so that its download takes many reads and can be interrupted.
///
/// The padding is pseudo-random (a multiplicative hash of the position), so that it stays large when compressed.
pub fn large(says: &str) -> Vec<u8> {
    let mut bytes = script(says);
    bytes.extend_from_slice(b"exit 0\n#");
    bytes.extend((0..6_000_000u32).map(|at| b'a' + (at.wrapping_mul(2_654_435_761) >> 24) as u8 % 26));
    bytes
}

/// Size of one chunk of a download that is slowed down by [`Loopback::pace`].
const PIECE_BYTES: usize = 64 << 10;

/// A fault in the next `times` responses with more than `after` bytes: nothing is sent after that many bytes.
#[derive(Debug, Clone, Copy)]
struct Trouble {
    after: usize,
    times: usize,
    /// Keeps the connection open without sending more, instead of closing it.
    stalls: bool,
}

/// State shared by the mirror and its request handler.
#[derive(Debug, Default)]
struct Shelf {
    /// Contents by request path.
    files: Mutex<HashMap<String, Vec<u8>>>,
    trouble: Mutex<Option<Trouble>>,
    /// Delay before each chunk.
    pace: Mutex<Option<Duration>>,
    /// Path and `Range` header of every request, oldest first.
    asked: Mutex<Vec<(String, Option<String>)>>,
}

/// A download mirror on the loopback interface. It stops when dropped, because the `JoinSet` then aborts its task.
#[derive(Debug)]
pub struct Loopback {
    shelf: Arc<Shelf>,
    /// The base URL of the mirror.
    pub url: String,
    _serving: JoinSet<()>,
}

impl Loopback {
    /// Starts an empty mirror on a free port.
    ///
    /// # Panics
    /// If no port is free.
    pub async fn start() -> Self {
        let shelf = Arc::new(Shelf::default());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(serve).with_state(shelf.clone());
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { shelf, url, _serving: serving }
    }

    /// Adds the file that the mirror serves in place of `https://{place}`.
    pub fn put(&self, place: &str, content: impl Into<Vec<u8>>) {
        self.shelf.files.lock().unwrap().insert(format!("/{place}"), content.into());
    }

    /// Breaks the connection after `after` bytes in the next `times` downloads that are longer than that.
    pub fn cut(&self, after: usize, times: usize) {
        *self.shelf.trouble.lock().unwrap() = Some(Trouble { after, times, stalls: false });
    }

    /// Stops sending after `after` bytes in the next `times` longer downloads, and keeps their connections open.
    pub fn stall(&self, after: usize, times: usize) {
        *self.shelf.trouble.lock().unwrap() = Some(Trouble { after, times, stalls: true });
    }

    /// Waits for `pause` before each chunk of 64 KiB, in all downloads that start from now on.
    pub fn pace(&self, pause: Duration) {
        *self.shelf.pace.lock().unwrap() = Some(pause);
    }

    /// The `Range` header of each request so far whose path ends with `ending`; `None` for the whole file.
    pub fn asked(&self, ending: &str) -> Vec<Option<String>> {
        let asked = self.shelf.asked.lock().unwrap();
        asked.iter().filter(|(path, _)| path.ends_with(ending)).map(|(_, range)| range.clone()).collect()
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
        let right = format!("sha512-{}", STANDARD.encode(Sha512::digest(tarball)));
        let file = format!("npm/{package}/-/{version}.tgz");
        let mut told = manifest.clone();
        told["dist"] = json!({
            "tarball": format!("{}/{file}", self.url), "integrity": integrity.unwrap_or(&right),
        });
        let document = json!({
            "name": package, "dist-tags": { "latest": version }, "versions": { version: told },
        });
        self.put(&format!("npm/{}", package.replace('/', "%2f")), document.to_string());
        self.put(&file, tarball);
    }

    /// Publishes a Python package with one program of the same name, whose source is `program`.
    pub fn put_python(&self, name: &str, version: &str, program: &str) {
        let file = format!("wheels/{name}-{version}-py3-none-any.whl");
        let link = format!("<!DOCTYPE html><a href=\"/{file}\">{name}-{version}-py3-none-any.whl</a>");
        self.put(&format!("simple/{name}/"), link);
        self.put(&file, wheel(name, version, program));
    }
}

/// A wheel with one program. pip replaces the line `#!python` in `.data/scripts` with the path of its interpreter.
fn wheel(name: &str, version: &str, program: &str) -> Vec<u8> {
    let about = format!("{name}-{version}.dist-info");
    let mut files = vec![
        (format!("{name}-{version}.data/scripts/{name}"), format!("#!python\n{program}")),
        (format!("{about}/METADATA"), format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")),
        (
            format!("{about}/WHEEL"),
            "Wheel-Version: 1.0\nGenerator: us\nRoot-Is-Purelib: true\nTag: py3-none-any\n".into(),
        ),
    ];
    let record: String = files.iter().map(|(name, _)| format!("{name},,\n")).collect();
    files.push((format!("{about}/RECORD"), record));
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Serves a file, or the rest of it from the start of the requested range, with the configured fault or delay.
async fn serve(State(shelf): State<Arc<Shelf>>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let range = request.headers().get(header::RANGE).map(|value| value.to_str().unwrap().to_owned());
    shelf.asked.lock().unwrap().push((path.clone(), range.clone()));
    let found = shelf.files.lock().unwrap().get(&path).cloned();
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
        let shown = format!("bytes {start}-{}/{}", content.len() - 1, content.len());
        response = response.status(StatusCode::PARTIAL_CONTENT).header(header::CONTENT_RANGE, shown);
    }
    let content = content[start..].to_vec();
    response = response.header(header::CONTENT_LENGTH, content.len());
    let mut trouble = shelf.trouble.lock().unwrap();
    if let Some(trouble) = trouble.as_mut()
        && trouble.times > 0
        && content.len() > trouble.after
    {
        trouble.times -= 1;
        let first = stream::iter([Ok(Bytes::copy_from_slice(&content[..trouble.after]))]);
        let body = if trouble.stalls {
            Body::from_stream(first.chain(stream::pending::<std::io::Result<Bytes>>()))
        } else {
            Body::from_stream(first.chain(stream::iter([Err(std::io::Error::other("cut"))])))
        };
        return response.body(body).unwrap();
    }
    let Some(pause) = *shelf.pace.lock().unwrap() else { return response.body(Body::from(content)).unwrap() };
    let pieces: Vec<_> = content.chunks(PIECE_BYTES).map(Bytes::copy_from_slice).collect();
    let slowly = stream::iter(pieces).then(move |piece| async move {
        tokio::time::sleep(pause).await;
        Ok::<_, std::io::Error>(piece)
    });
    response.body(Body::from_stream(slowly)).unwrap()
}
