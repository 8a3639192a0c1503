//! What is installed was verified, or its user allowed otherwise; what one server sent is not installed for another.

use std::{path::Path, sync::Arc};

use agent_catalog::{Definition, Want};
use agent_install::{
    Ask, BundleError, Error, Fault, Installer, Manifest, Mirror, MissingChecksum,
    UnverifiedPolicy::{self, Allow, Refuse},
};
use serde_json::{Value, json};

use crate::mirror::{
    CLAUDE, DownloadMirror, Home, LOOPBACK, OPENCODE, UNPINNED, agent, says, sha256, shell_script, tar_gz,
};

/// A version of Claude that the catalog does not pin.
const CLAUDE_VERSION: &str = "9.9.9";

/// Claude without its ACP adapter, which has another source.
fn claude(installer: &Installer) -> Definition {
    Definition { acp: None, ..(*agent(installer, "claude")).clone() }
}

fn ask(unverified: UnverifiedPolicy) -> Ask {
    Ask { want: Want::Exact(UNPINNED.parse().unwrap()), unverified, ..Ask::default() }
}

fn again(ask: Ask) -> Ask {
    Ask { again: true, ..ask }
}

/// Installs an agent; what its program says, and what is recorded of it.
async fn install(home: &Home, name: &str, ask: &Ask) -> Result<(String, Manifest), Arc<Error>> {
    let installer = home.installer();
    let agent = match name {
        "claude" => claude(&installer),
        name => (*agent(&installer, name)).clone(),
    };
    installer.install(&agent, ask).await?.finish().await?;
    let stored = installer.store().current(&name.parse().unwrap()).unwrap();
    Ok((says(stored.found.program), stored.manifest))
}

async fn says_after(home: &Home, name: &str, ask: &Ask) -> String {
    install(home, name, ask).await.unwrap().0
}

/// A mirror that serves opencode as a program that prints `output`.
async fn mirror_of_opencode(output: &str) -> DownloadMirror {
    let mirror = DownloadMirror::start().await;
    mirror.put_file(OPENCODE, tar_gz(&[("opencode", &shell_script(output))]));
    mirror
}

/// A mirror that serves Claude as `program`, with `checksums` as the vendor's document, if any.
async fn mirror_of_claude(program: &[u8], checksums: Option<Value>) -> DownloadMirror {
    let mirror = DownloadMirror::start().await;
    mirror.put_file(&format!("{CLAUDE}/{CLAUDE_VERSION}/linux-x64/claude"), program);
    if let Some(checksums) = checksums {
        mirror.put_file(&format!("{CLAUDE}/{CLAUDE_VERSION}/manifest.json"), checksums.to_string());
    }
    mirror
}

/// The vendor's document with the right checksum.
fn checksums_of(program: &[u8]) -> Value {
    json!({ "platforms": { "linux-x64": { "checksum": sha256(program) } } })
}

fn claude_ask(unverified: UnverifiedPolicy) -> Ask {
    Ask { want: Want::Exact(CLAUDE_VERSION.parse().unwrap()), ..ask(unverified) }
}

/// A home of `mirror` with the cache of `other`.
fn next_home(other: &Home, mirror: &DownloadMirror) -> Home {
    let mut home = Home::new(mirror);
    home.config.cache = other.config.cache.clone();
    home
}

/// Everything out of reach: the vendor and the npm registry.
fn without_network(home: &mut Home) {
    home.config.mirrors = vec![Mirror::parse("http://127.0.0.1:9").unwrap()];
    let registry = ("npm_config_registry".to_owned(), "http://127.0.0.1:9/npm".to_owned());
    home.config.environment.variables = [registry].into();
}

fn fault(error: &Error) -> &Fault {
    &error.attempts()[0].fault
}

/// How many archives are cached.
fn cached(home: &Home) -> usize {
    let archives = home.config.cache.as_ref().unwrap().join("archives");
    std::fs::read_dir(archives).map_or(0, |archives| archives.count())
}

#[tokio::test]
async fn what_a_mirror_sent_is_not_installed_without_that_mirror() {
    let hostile = mirror_of_opencode("evil").await;
    let honest = mirror_of_opencode("honest").await;
    let mut home = Home::new(&hostile);
    assert_eq!(says_after(&home, "opencode", &ask(Allow)).await, "evil");
    let asked = hostile.requested_ranges("").len();
    // A reinstallation without the mirror, while the vendor is out of reach, fails: there is nothing else to install.
    without_network(&mut home);
    let error = install(&home, "opencode", &again(ask(Allow))).await.unwrap_err();
    assert!(matches!(fault(&error), Fault::Unreachable { .. }), "{error}");
    // An honest mirror is asked, with and without a reinstallation.
    home.config.mirrors = vec![Mirror::parse(&honest.url).unwrap()];
    assert_eq!(says_after(&home, "opencode", &again(ask(Allow))).await, "honest");
    assert_eq!(says_after(&next_home(&home, &honest), "opencode", &ask(Allow)).await, "honest");
    assert_eq!(hostile.requested_ranges("").len(), asked);
}

/// A mirror can publish a checksum for whatever it sends. That verifies nothing for other mirrors.
#[tokio::test]
async fn what_a_mirror_verified_is_not_installed_without_that_mirror() {
    let (evil, right) = (shell_script("evil"), shell_script("honest"));
    let hostile = mirror_of_claude(&evil, Some(checksums_of(&evil))).await;
    let honest = mirror_of_claude(&right, Some(checksums_of(&right))).await;
    let home = Home::new(&hostile);
    assert_eq!(says_after(&home, "claude", &claude_ask(Refuse)).await, "evil");
    let mut other = next_home(&home, &honest);
    assert_eq!(says_after(&other, "claude", &claude_ask(Refuse)).await, "honest");
    without_network(&mut other);
    let error = install(&other, "claude", &again(claude_ask(Refuse))).await.unwrap_err();
    assert!(matches!(fault(&error), Fault::Unreachable { .. }), "{error}");
    // The same mirror again needs no network: its files are cached as its own.
    let (url, mut third) = (honest.url.clone(), Home::new(&honest));
    third.config.cache = home.config.cache.clone();
    drop(honest);
    assert_eq!(says_after(&third, "claude", &claude_ask(Refuse)).await, "honest", "{url}");
}

#[tokio::test]
async fn a_checksum_that_is_published_later_is_enforced() {
    let (evil, right) = (shell_script("evil"), shell_script("honest"));
    let hostile = mirror_of_claude(&evil, None).await;
    let honest = mirror_of_claude(&right, Some(checksums_of(&right))).await;
    let mut home = Home::new(&hostile);
    let (said, manifest) = install(&home, "claude", &claude_ask(Allow)).await.unwrap();
    assert_eq!((said.as_str(), manifest.verified), ("evil", false));
    home.config.mirrors = vec![Mirror::parse(&honest.url).unwrap()];
    let (said, manifest) = install(&home, "claude", &again(claude_ask(Refuse))).await.unwrap();
    assert_eq!((said.as_str(), manifest.verified), ("honest", true));
    assert_eq!(honest.requested_ranges("/claude").len(), 1);
    // The same mirror that had no checksum publishes one now: what it sent before does not count.
    hostile.put_file(&format!("{CLAUDE}/{CLAUDE_VERSION}/manifest.json"), checksums_of(&right).to_string());
    let error = install(&next_home(&home, &hostile), "claude", &claude_ask(Refuse)).await.unwrap_err();
    assert!(matches!(fault(&error), Fault::Checksum { .. }), "{error}");
}

#[tokio::test]
async fn a_reinstallation_downloads_again() {
    let [old, new] = ["old", "new"].map(|output| tar_gz(&[("package/bin/opencode", &shell_script(output))]));
    let mirror = DownloadMirror::start().await;
    mirror.put_npm("opencode-linux-x64", UNPINNED, &old, None);
    let home = Home::new(&mirror);
    assert_eq!(says_after(&home, "opencode", &ask(Refuse)).await, "old");
    mirror.put_npm("opencode-linux-x64", UNPINNED, &new, None);
    assert_eq!(says_after(&home, "opencode", &ask(Refuse)).await, "old", "it is installed");
    assert_eq!(says_after(&home, "opencode", &again(ask(Refuse))).await, "new");
    let downloads = || mirror.requested_ranges(&format!("{UNPINNED}.tgz")).len();
    assert_eq!(downloads(), 2);
    // The cache has the new one now.
    assert_eq!(says_after(&next_home(&home, &mirror), "opencode", &ask(Refuse)).await, "new");
    assert_eq!(downloads(), 2);
}

/// With the right length, so that only unpacking or a checksum can tell.
#[tokio::test]
async fn a_truncated_archive_is_not_cached() {
    let whole = tar_gz(&[("loopback", &shell_script("whole"))]);
    let half = whole[..whole.len() / 2].to_vec();
    let mirror = DownloadMirror::start().await;
    // Its checksum is that of the truncated file, or that of the whole one, or there is none.
    let home = Home::with_agent(&mirror, half.clone());
    let error = install(&home, "loopback", &Ask::default()).await.unwrap_err();
    assert!(matches!(fault(&error), Fault::Unpack(_)), "{error}");
    let mut honest = Home::with_agent(&mirror, whole.clone());
    honest.config.cache = home.config.cache.clone();
    mirror.put_file(LOOPBACK, half);
    let error = install(&honest, "loopback", &Ask::default()).await.unwrap_err();
    assert!(matches!(fault(&error), Fault::Checksum { .. }), "{error}");
    assert_eq!(cached(&home), 0);
    mirror.put_file(LOOPBACK, whole);
    assert_eq!(says_after(&honest, "loopback", &Ask::default()).await, "whole");
    assert_eq!(cached(&home), 1);
}

#[tokio::test]
async fn a_truncated_archive_without_a_checksum_is_downloaded_again() {
    let mirror = mirror_of_opencode("whole").await;
    let whole = tar_gz(&[("opencode", &shell_script("whole"))]);
    mirror.put_file(OPENCODE, &whole[..whole.len() / 2]);
    let home = Home::new(&mirror);
    let error = install(&home, "opencode", &ask(Allow)).await.unwrap_err();
    assert!(matches!(fault(&error), Fault::Unpack(_)), "{error}");
    mirror.put_file(OPENCODE, whole);
    assert_eq!(says_after(&home, "opencode", &ask(Allow)).await, "whole");
    assert_eq!(cached(&home), 0, "what was not verified is not cached");
}

/// The checksums that a mirror may have for Claude, none of which says what the file must be.
fn unusable_checksums() -> Vec<Option<Value>> {
    let of = |checksum: Value| Some(json!({ "platforms": { "linux-x64": { "checksum": checksum } } }));
    vec![
        None,
        Some(json!({ "platforms": { "win32-x64": { "checksum": sha256(b"") } } })),
        Some(json!([])),
        of(Value::Null),
        of(json!(42)),
        of(json!("md5:d41d8cd98f00b204e9800998ecf8427e")),
        of(json!("")),
    ]
}

#[tokio::test]
async fn a_file_without_a_usable_checksum_is_refused_before_it_is_downloaded() {
    for checksums in unusable_checksums() {
        let mirror = mirror_of_claude(&shell_script("evil"), checksums.clone()).await;
        let home = Home::new(&mirror);
        let error = install(&home, "claude", &claude_ask(Refuse)).await.unwrap_err();
        assert!(matches!(*error, Error::Unverified { .. }), "{checksums:?}: {error}");
        let Fault::Unverified(missing) = fault(&error) else { panic!("{checksums:?}: {error}") };
        let no_document = matches!(missing, MissingChecksum::NoDocument { .. });
        assert_eq!(no_document, checksums.is_none(), "{checksums:?}: {missing}");
        assert!(error.to_string().contains("--allow-unverified"), "{error}");
        assert!(mirror.requested_ranges("/claude").is_empty(), "{checksums:?}");
        assert!(!home.config.directory.join("claude/current").exists());
    }
}

#[tokio::test]
async fn an_unverified_installation_is_marked_and_stays_usable() {
    for checksums in unusable_checksums() {
        let mirror = mirror_of_claude(&shell_script("allowed"), checksums.clone()).await;
        let home = Home::new(&mirror);
        let (said, manifest) = install(&home, "claude", &claude_ask(Allow)).await.unwrap();
        assert_eq!((said.as_str(), manifest.verified), ("allowed", false), "{checksums:?}");
        let installer = home.installer();
        assert_eq!(installer.presence(&claude(&installer)).await.verified, Some(false));
        // Nobody has to allow it again to use it, but another home does.
        assert_eq!(says_after(&home, "claude", &claude_ask(Refuse)).await, "allowed");
        let next = install(&next_home(&home, &mirror), "claude", &claude_ask(Refuse)).await;
        assert!(matches!(*next.unwrap_err(), Error::Unverified { .. }), "{checksums:?}");
    }
}

#[tokio::test]
async fn a_source_without_a_checksum_is_skipped_before_its_file_is_downloaded() {
    let mirror = mirror_of_opencode("evil").await;
    let home = Home::new(&mirror);
    let error = install(&home, "opencode", &ask(Refuse)).await.unwrap_err();
    assert!(matches!(fault(&error), Fault::Unverified(MissingChecksum::NoDocument { .. })), "{error}");
    assert!(matches!(*error, Error::Unverified { .. }), "{error}");
    assert!(mirror.requested_ranges(OPENCODE).is_empty());
    // The npm registry publishes checksums, so it serves as the next source.
    let tarball = tar_gz(&[("package/bin/opencode", &shell_script("from-npm"))]);
    mirror.put_npm("opencode-linux-x64", UNPINNED, &tarball, None);
    let (said, manifest) = install(&home, "opencode", &ask(Refuse)).await.unwrap();
    assert_eq!((said.as_str(), manifest.verified), ("from-npm", true));
}

#[tokio::test]
async fn an_npm_tarball_without_a_usable_checksum_is_refused() {
    for dist in
        [json!({}), json!({ "integrity": null, "shasum": "short" }), json!({ "integrity": "md99-AAAA" })]
    {
        let mirror = DownloadMirror::start().await;
        let tarball = tar_gz(&[("package/bin/opencode", &shell_script("from-npm"))]);
        let mut dist = dist.clone();
        dist["tarball"] = format!("{}/npm/opencode.tgz", mirror.url).into();
        let document = json!({ "dist-tags": {}, "versions": { UNPINNED: { "dist": dist } } });
        mirror.put_file("npm/opencode-linux-x64", document.to_string());
        mirror.put_file("npm/opencode.tgz", tarball);
        let home = Home::new(&mirror);
        let error = install(&home, "opencode", &ask(Refuse)).await.unwrap_err();
        let last = &*error.attempts().last().unwrap().fault;
        assert!(matches!(last, Fault::Unverified(MissingChecksum::Npm { .. })), "{error}");
        assert!(mirror.requested_ranges("opencode.tgz").is_empty());
        let (said, manifest) = install(&home, "opencode", &ask(Allow)).await.unwrap();
        assert_eq!((said.as_str(), manifest.verified), ("from-npm", false));
    }
}

/// GitHub has the SHA-256 of each file in the description of its release.
#[tokio::test]
async fn a_release_on_github_is_verified_with_its_digest() {
    let mirror = mirror_of_opencode("released").await;
    let right = format!("sha256:{}", sha256(&tar_gz(&[("opencode", &shell_script("released"))])));
    let release = |digest: Value| {
        let other =
            json!({ "name": "opencode-linux-arm64.tar.gz", "digest": format!("sha256:{}", sha256(b"")) });
        let ours = json!({ "name": "opencode-linux-x64.tar.gz", "digest": digest });
        let place = format!("api.github.com/repos/anomalyco/opencode/releases/tags/v{UNPINNED}");
        mirror.put_file(&place, json!({ "tag_name": UNPINNED, "assets": [other, ours] }).to_string());
    };
    // Releases from before June 2025 have no digests.
    release(Value::Null);
    let error = install(&Home::new(&mirror), "opencode", &ask(Refuse)).await.unwrap_err();
    assert!(matches!(fault(&error), Fault::Unverified(MissingChecksum::NoUsableEntry { .. })), "{error}");
    release(format!("sha256:{}", sha256(b"other")).into());
    let error = install(&Home::new(&mirror), "opencode", &ask(Allow)).await.unwrap_err();
    assert!(matches!(fault(&error), Fault::Checksum { .. }), "{error}");
    release(right.into());
    let (said, manifest) = install(&Home::new(&mirror), "opencode", &ask(Refuse)).await.unwrap();
    assert_eq!((said.as_str(), manifest.verified), ("released", true));
}

/// The catalog pins its version: what a registry or mirror publishes does not matter.
#[tokio::test]
async fn a_pinned_version_is_only_installed_as_it_is_pinned() {
    let mirror = DownloadMirror::start().await;
    let tarball = tar_gz(&[("package/bin/opencode", &shell_script("evil"))]);
    let pinned = pinned_version();
    mirror.put_npm("opencode-linux-x64", &pinned, &tarball, None);
    let home = Home::new(&mirror);
    for unverified in [Refuse, Allow] {
        let error = install(&home, "opencode", &Ask { unverified, ..Ask::default() }).await.unwrap_err();
        let last = &*error.attempts().last().unwrap().fault;
        assert!(matches!(last, Fault::Checksum { .. }), "{error}");
        assert!(matches!(*error, Error::Failed { .. }), "an attack is not to be allowed: {error}");
    }
    assert_eq!(cached(&home), 0);
}

fn pinned_version() -> String {
    let table = agent_catalog::Table::built_in().unwrap();
    table.components[&"opencode".parse().unwrap()].version.to_string()
}

#[tokio::test]
async fn an_empty_file_is_never_a_program() {
    let mirror = mirror_of_claude(b"", Some(checksums_of(b""))).await;
    let error = install(&Home::new(&mirror), "claude", &claude_ask(Allow)).await.unwrap_err();
    assert!(matches!(fault(&error), Fault::Empty), "{error}");
    let home = Home::with_agent(&mirror, tar_gz(&[("loopback", b"")]));
    let error = install(&home, "loopback", &Ask::default()).await.unwrap_err();
    assert!(matches!(fault(&error), Fault::EmptyProgram(_)), "{error}");
    assert_eq!(cached(&home), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unverified_component_of_a_bundle_has_to_be_allowed() {
    let mirror = mirror_of_opencode("carried").await;
    let home = Home::new(&mirror);
    install(&home, "opencode", &ask(Allow)).await.unwrap();
    let (installer, file) = (home.installer(), home.directory.path().join("agents.tar.zst"));
    installer.bundle(&[agent(&installer, "opencode")], Refuse, &file).await.unwrap();
    let other = Home::new(&mirror);
    let unbundle = async |unverified| {
        let path: &Path = &file;
        other.installer().unbundle(path, &[], unverified).await
    };
    let error = unbundle(Refuse).await.unwrap_err();
    let BundleError::Fault(Fault::Unverified(MissingChecksum::Bundled(_))) = &error else {
        panic!("{error}")
    };
    assert!(error.to_string().contains("--allow-unverified"), "{error}");
    assert!(!other.config.directory.join("opencode/current").exists());
    assert!(!unbundle(Allow).await.unwrap()[0].verified);
}

/// Agents share components such as Node: that one is installed says nothing of an agent that is not.
#[tokio::test]
async fn an_agent_that_is_not_installed_is_not_called_verified() {
    let mirror = DownloadMirror::start().await;
    let home = Home::new(&mirror);
    let node = home.config.directory.join("node");
    std::fs::create_dir_all(node.join("24.0.0")).unwrap();
    std::fs::write(node.join("24.0.0/node"), shell_script("node")).unwrap();
    let manifest = json!({
        "component": "node", "version": "24.0.0", "platform": "linux-x64", "program": "node", "source": "a test",
        "sha256": null, "verified": true, "installedAt": "2026-01-01T00:00:00Z",
    });
    std::fs::write(node.join("24.0.0/manifest.json"), manifest.to_string()).unwrap();
    std::os::unix::fs::symlink("24.0.0", node.join("current")).unwrap();
    let installer = home.installer();
    assert!(installer.store().current(&"node".parse().unwrap()).is_some());
    assert_eq!(installer.presence(&agent(&installer, "gemini")).await.verified, None);
}
