//! A mirror on the loopback: serves what it is given, and misbehaves when it is told to.

use std::{
    collections::HashMap,
    io::Write,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use agents::{
    Catalog, Definition, Installer, SearchPath,
    install::{Config, Environment, Mirror},
};
use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{StatusCode, header},
    response::Response,
};
use tempfile::TempDir;

/// A program that says which it is.
pub(crate) fn script(says: &str) -> Vec<u8> {
    format!("#!/bin/sh\necho {says}\n").into_bytes()
}

pub(crate) fn tar_gz(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    for (name, content) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, *content).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap()
}

/// Something of a size that takes several pieces to come.
pub(crate) fn large(says: &str) -> Vec<u8> {
    let mut bytes = script(says);
    bytes.extend_from_slice(b"exit 0\n#");
    bytes.extend((0..6_000_000u32).map(|at| b'a' + (at.wrapping_mul(2_654_435_761) >> 24) as u8 % 26));
    bytes
}

#[derive(Default)]
struct Shelf {
    files: Mutex<HashMap<String, Vec<u8>>>,
    /// Cuts the connection after so many bytes of a file, so many times.
    cuts: Mutex<Option<(usize, usize)>>,
    asked: Mutex<Vec<(String, Option<String>)>>,
    bodies: AtomicUsize,
}

/// A mirror on the loopback.
pub(crate) struct Loopback {
    shelf: Arc<Shelf>,
    pub(crate) url: String,
}

impl Loopback {
    pub(crate) async fn start() -> Self {
        let shelf = Arc::new(Shelf::default());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(serve).with_state(shelf.clone());
        // Ends with the test's runtime.
        tokio::task::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { shelf, url }
    }

    /// Puts a file where a mirror has what is at `https://{place}`.
    pub(crate) fn put(&self, place: &str, content: impl Into<Vec<u8>>) {
        self.shelf.files.lock().unwrap().insert(format!("/{place}"), content.into());
    }

    pub(crate) fn cut(&self, after: usize, times: usize) {
        *self.shelf.cuts.lock().unwrap() = Some((after, times));
    }

    /// What was asked for: paths and ranges.
    pub(crate) fn asked(&self, ending: &str) -> Vec<Option<String>> {
        let asked = self.shelf.asked.lock().unwrap();
        asked.iter().filter(|(path, _)| path.ends_with(ending)).map(|(_, range)| range.clone()).collect()
    }

    /// Puts a package where an npm registry has it.
    pub(crate) fn put_npm(&self, package: &str, version: &str, tarball: &[u8], integrity: Option<&str>) {
        use base64::{Engine, engine::general_purpose::STANDARD};
        use sha2::{Digest, Sha512};
        let right = format!("sha512-{}", STANDARD.encode(Sha512::digest(tarball)));
        let file = format!("npm/{package}/-/{version}.tgz");
        let dist = serde_json::json!({
            "tarball": format!("{}/{file}", self.url), "integrity": integrity.unwrap_or(&right),
        });
        let document = serde_json::json!({ "dist-tags": { "latest": version }, "versions": { version: { "dist": dist } } });
        self.put(&format!("npm/{}", package.replace('/', "%2f")), document.to_string());
        self.put(&file, tarball);
    }
}

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
    if start > 0 {
        let shown = format!("bytes {start}-{}/{}", content.len() - 1, content.len());
        response = response.status(StatusCode::PARTIAL_CONTENT).header(header::CONTENT_RANGE, shown);
    }
    let content = content[start..].to_vec();
    shelf.bodies.fetch_add(1, Ordering::SeqCst);
    response = response.header(header::CONTENT_LENGTH, content.len());
    let mut cuts = shelf.cuts.lock().unwrap();
    if let Some((after, times)) = cuts.as_mut()
        && *times > 0
        && content.len() > *after
    {
        *times -= 1;
        let first = Bytes::copy_from_slice(&content[..*after]);
        let cut = futures_util::stream::iter([Ok(first), Err(std::io::Error::other("cut"))]);
        return response.body(Body::from_stream(cut)).unwrap();
    }
    response.body(Body::from(content)).unwrap()
}

/// A place to install into, with nothing on its PATH.
pub(crate) struct Home {
    pub(crate) directory: TempDir,
    pub(crate) config: Config,
}

impl Home {
    pub(crate) fn new(mirror: &Loopback) -> Self {
        let directory = TempDir::new().unwrap();
        let variables = [("npm_config_registry".to_owned(), format!("{}/npm", mirror.url))];
        let config = Config {
            directory: directory.path().join("agents"),
            cache: Some(directory.path().join("cache")),
            allowed: true,
            // Whatever is not on the mirror is nowhere: a test asks nobody else.
            mirrors: vec![Mirror::parse(&mirror.url).unwrap()],
            environment: Environment { variables: variables.into(), home: None, project: None },
            search_path: SearchPath::new("/nowhere"),
            ..Config::default()
        };
        Self { directory, config }
    }

    pub(crate) fn installer(&self) -> Installer {
        Installer::new(self.config.clone(), Catalog::new(Path::new("/own"), Default::default()).unwrap())
    }

    /// What is in the directory of a component, sorted.
    pub(crate) fn names(&self, component: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.config.directory.join(component)).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

pub(crate) fn agent(installer: &Installer, name: &str) -> Arc<Definition> {
    installer.catalog().get(&name.parse().unwrap()).unwrap().clone()
}

/// What the program at `path` says.
pub(crate) fn says(path: PathBuf) -> String {
    let output = std::process::Command::new(path).output().unwrap();
    std::io::stderr().write_all(&output.stderr).unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Where the catalog has opencode's tarball, as a mirror has it.
pub(crate) const OPENCODE: &str =
    "github.com/anomalyco/opencode/releases/download/v1.18.33/opencode-linux-x64.tar.gz";

/// Where the catalog has Claude's binary, as a mirror has it.
pub(crate) const CLAUDE: &str =
    "storage.googleapis.com/claude-code-dist-86c565f3-f756-42ad-8dfa-d59b1c096819/claude-code-releases";
