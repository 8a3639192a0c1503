use agent_catalog::{ComponentName, Purpose, Want};
use agent_install::{Ask, Error, Fault, Manifest, UnverifiedPolicy};
use protocol::agents::InstallPhase;

use crate::mirror::{
    CLAUDE, DownloadMirror, Home, OPENCODE, UNPINNED, agent, large_shell_script, says, sha256, shell_script,
    tar_gz,
};

/// opencode in a version that the catalog does not pin.
fn unpinned() -> Ask {
    Ask { want: Want::Exact(UNPINNED.parse().unwrap()), ..Ask::default() }
}

fn component(name: &str) -> ComponentName {
    name.parse().unwrap()
}

fn manifest(home: &Home, name: &str) -> Manifest {
    let path = home.config.directory.join(name).join("current/manifest.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// daemon-6, daemon-7: a tarball from a mirror becomes a program that runs; the second time there is nothing to do.
#[tokio::test]
async fn a_tarball_of_a_mirror_becomes_a_program() {
    let mirror = DownloadMirror::start().await;
    let home = Home::with_agent(&mirror, tar_gz(&[("loopback", &shell_script("loopback-here"))]));
    let installer = home.installer();
    let loopback = agent(&installer, "loopback");
    assert!(installer.launch(&loopback, Purpose::Acp).await.is_err());
    let mut installation = installer.install(&loopback, &Ask::default()).await.unwrap();
    let mut phases = Vec::new();
    while let Some(progress) = installation.next().await {
        phases.push(progress.phase);
    }
    assert_eq!(phases.last(), Some(&InstallPhase::Done));
    assert!(installation.finish().await.unwrap().is_new);
    let launch = installer.launch(&loopback, Purpose::Acp).await.unwrap();
    assert_eq!((says(launch.program), launch.args), ("loopback-here".into(), vec!["acp".to_owned()]));
    let manifest = manifest(&home, "loopback");
    assert!(manifest.verified && manifest.sha256.is_some(), "{manifest:?}");
    assert!(installer.install(&loopback, &Ask::default()).await.unwrap().is_empty());
    assert_eq!(home.names("loopback"), ["1.0.0", "current", "lock"]);
    assert_eq!(mirror.requested_ranges("loopback.tar.gz").len(), 1);
}

/// daemon-6: an installer that is killed between the rename of the version and that of the link leaves both the version
/// and a temporary link. The next installation uses the version and deletes the temporary link.
#[tokio::test]
async fn a_version_without_its_link_is_put_into_use_and_the_remains_are_deleted() {
    let mirror = DownloadMirror::start().await;
    let home = Home::with_agent(&mirror, tar_gz(&[("loopback", &shell_script("loopback-here"))]));
    let installer = home.installer();
    let loopback = agent(&installer, "loopback");
    installer.install(&loopback, &Ask::default()).await.unwrap().finish().await.unwrap();
    let directory = home.config.directory.join("loopback");
    std::fs::rename(directory.join("current"), directory.join(".new-current-4242")).unwrap();
    std::fs::create_dir(directory.join(".new-stage")).unwrap();

    let exact = Ask { want: Want::Exact("1.0.0".parse().unwrap()), ..Ask::default() };
    installer.install(&loopback, &exact).await.unwrap().finish().await.unwrap();

    assert_eq!(home.names("loopback"), ["1.0.0", "current", "lock"]);
    assert_eq!(mirror.requested_ranges("loopback.tar.gz").len(), 1);
}

/// daemon-6, daemon-7: a raw binary, its newest version, and its published SHA-256.
#[tokio::test]
async fn the_newest_version_is_verified_with_the_published_checksum() {
    let mirror = DownloadMirror::start().await;
    let program = shell_script("claude-9");
    let sha256 = sha256(&program);
    mirror.put_file(&format!("{CLAUDE}/latest"), "9.9.9\n");
    mirror.put_file(&format!("{CLAUDE}/9.9.9/linux-x64/claude"), program);
    mirror.put_file(
        &format!("{CLAUDE}/9.9.9/manifest.json"),
        serde_json::json!({ "platforms": { "linux-x64": { "checksum": sha256 } } }).to_string(),
    );
    let home = Home::new(&mirror);
    let installer = home.installer();
    let claude = agent(&installer, "claude");
    let ask = Ask { want: Want::Latest, ..Ask::default() };
    // The adapter has no source here; Claude itself does.
    let _ = installer.install(&claude, &ask).await.unwrap().finish().await;
    let stored = wait_for(&installer, "claude").await;
    assert_eq!(stored.manifest.version.as_str(), "9.9.9");
    assert!(stored.manifest.verified);
    assert_eq!(says(stored.found.program), "claude-9");
}

async fn wait_for(installer: &agent_install::Installer, name: &str) -> agent_install::Stored {
    for _ in 0..500 {
        if let Some(stored) = installer.store().current(&component(name)) {
            return stored;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("{name} was not installed");
}

/// daemon-7: where the vendor is out of reach, the npm registry's platform package is taken, without npm or Node.
#[tokio::test]
async fn the_second_source_is_the_platform_package_of_npm() {
    let mirror = DownloadMirror::start().await;
    let tarball =
        tar_gz(&[("package/bin/opencode", &shell_script("from-npm")), ("package/package.json", b"{}")]);
    mirror.put_npm("opencode-linux-x64", UNPINNED, &tarball, None);
    let mut home = Home::new(&mirror);
    // The vendor's own address: nobody listens there.
    home.config.mirrors =
        vec![agent_install::Mirror::parse("https://github.com=http://127.0.0.1:9").unwrap()];
    let installer = home.installer();
    let opencode = agent(&installer, "opencode");
    installer.install(&opencode, &unpinned()).await.unwrap().finish().await.unwrap();
    let launch = installer.launch(&opencode, Purpose::Acp).await.unwrap();
    assert_eq!(says(launch.program), "from-npm");
    let manifest = manifest(&home, "opencode");
    assert!(manifest.verified && manifest.source.starts_with("npm tarball"), "{manifest:?}");
}

/// daemon-6: with the cache of another home, no network is needed: what it installed is linked, or its archive unpacked.
#[tokio::test]
async fn a_second_home_needs_no_network() {
    let mirror = DownloadMirror::start().await;
    let tarball = tar_gz(&[("package/bin/opencode", &shell_script("cached"))]);
    mirror.put_npm("opencode-linux-x64", UNPINNED, &tarball, None);
    let first = Home::new(&mirror);
    let install = async |home: &Home| {
        let installer = home.installer();
        let opencode = agent(&installer, "opencode");
        installer.install(&opencode, &unpinned()).await.unwrap().finish().await.unwrap();
        says(installer.launch(&opencode, Purpose::Acp).await.unwrap().program)
    };
    assert_eq!(install(&first).await, "cached");
    let (url, cache) = (mirror.url.clone(), first.config.cache.clone());
    drop(mirror);
    let mut second = Home::at(&url);
    second.config.cache = cache.clone();
    assert_eq!(install(&second).await, "cached");
    std::fs::remove_dir_all(cache.as_ref().unwrap().join("trees")).unwrap();
    let mut third = Home::at(&url);
    third.config.cache = cache;
    assert_eq!(install(&third).await, "cached");
}

/// daemon-6: at the end, every source that was tried is named with why it failed.
#[tokio::test]
async fn a_failure_names_every_source() {
    let mirror = DownloadMirror::start().await;
    let mut home = Home::new(&mirror);
    home.config
        .mirrors
        .insert(0, agent_install::Mirror::parse("https://github.com=http://127.0.0.1:9").unwrap());
    let installer = home.installer();
    let opencode = agent(&installer, "opencode");
    let ask = Ask { unverified: UnverifiedPolicy::Allow, ..unpinned() };
    let error = installer.install(&opencode, &ask).await.unwrap().finish().await.unwrap_err();
    let Error::Failed { attempts, .. } = &*error else { panic!("{error}") };
    assert!(matches!(*attempts[0].fault, Fault::Unreachable { .. }), "{}", attempts[0].fault);
    assert!(matches!(*attempts[1].fault, Fault::Status { status: 404, .. }), "{}", attempts[1].fault);
    assert!(attempts.last().unwrap().from.starts_with("npm tarball"), "{error}");
    assert!(error.to_string().contains("does not exist"), "{error}");
    assert_eq!(home.names("opencode"), ["lock", "parts"], "nothing is left that could be taken for it");
}

/// daemon-6: a version that is asked for by name, and back again; the reinstalled one replaces the old.
#[tokio::test]
async fn versions_stand_side_by_side_and_one_is_used() {
    let mirror = DownloadMirror::start().await;
    for version in ["1.18.33", "1.0.0"] {
        let place = OPENCODE.replace(UNPINNED, version);
        mirror.put_file(&place, tar_gz(&[("opencode", &shell_script(&format!("v{version}")))]));
    }
    let home = Home::new(&mirror);
    let installer = home.installer();
    let opencode = agent(&installer, "opencode");
    let install = async |want: Want, again: bool| {
        let ask = Ask { want, again, unverified: UnverifiedPolicy::Allow, ..Ask::default() };
        let anything = installer.install(&opencode, &ask).await.unwrap().finish().await.unwrap().is_new;
        (anything, says(installer.launch(&opencode, Purpose::Acp).await.unwrap().program))
    };
    assert_eq!(install(Want::Pinned, false).await, (true, "v1.18.33".into()));
    let old = Want::Exact("1.0.0".parse().unwrap());
    assert_eq!(install(old.clone(), false).await, (true, "v1.0.0".into()));
    assert_eq!(install(Want::Pinned, false).await, (false, "v1.0.0".into()), "what was chosen stays");
    assert_eq!(install(Want::Exact("1.18.33".parse().unwrap()), false).await, (false, "v1.18.33".into()));
    std::fs::write(home.config.directory.join("opencode/1.18.33/opencode"), "broken").unwrap();
    assert_eq!(install(Want::Exact("1.18.33".parse().unwrap()), true).await, (true, "v1.18.33".into()));
    assert_eq!(home.names("opencode"), ["1.0.0", "1.18.33", "current", "lock"]);
}

/// daemon-6: what may not be installed is refused, with nothing asked of anybody.
#[tokio::test]
async fn nothing_is_installed_where_that_is_forbidden() {
    let mirror = DownloadMirror::start().await;
    let mut home = Home::with_agent(&mirror, large_shell_script("x"));
    home.config.allowed = false;
    let installer = home.installer();
    let error = installer.install(&agent(&installer, "loopback"), &Ask::default()).await.unwrap_err();
    assert!(matches!(*error, Error::Forbidden(_)), "{error}");
    assert!(mirror.requested_ranges("").is_empty() && !home.directory.path().join("agents").exists());
}

/// daemon-8: another registry is asked when it is needed, once, and remembered for when it is out of reach.
#[tokio::test]
async fn another_registry_adds_its_agents() {
    let mirror = DownloadMirror::start().await;
    let platform = agent_catalog::Platform::here().unwrap().in_registry();
    let archive = tar_gz(&[("it/run", &shell_script("from-registry"))]);
    let sha256 = sha256(&archive);
    mirror.put_file("archive.tar.gz", archive);
    let document = serde_json::json!({ "version": "1.0.0", "agents": [{
        "id": "newone", "name": "New", "version": "1.0.0", "description": "d",
        "distribution": { "binary": { platform: {
            "archive": format!("{}/archive.tar.gz", mirror.url), "cmd": "./it/run", "args": ["acp"],
            "sha256": sha256 } } },
    }] });
    mirror.put_file("registry.json", document.to_string());
    let mut home = Home::new(&mirror);
    home.config.mirrors.clear();
    home.config.acp_registry = Some(format!("{}/registry.json", mirror.url));
    let installer = home.installer();
    assert!(installer.agent(&"mock".parse().unwrap()).await.is_some());
    assert!(mirror.requested_ranges("registry.json").is_empty(), "what is known already needs no registry");
    let new = installer.agent(&"newone".parse().unwrap()).await.unwrap();
    installer.install(&new, &Ask::default()).await.unwrap().finish().await.unwrap();
    let launch = installer.launch(&new, Purpose::Acp).await.unwrap();
    assert_eq!((says(launch.program), launch.args), ("from-registry".into(), vec!["acp".to_owned()]));
    assert!(installer.agent(&"nobody".parse().unwrap()).await.is_none());
    assert_eq!(mirror.requested_ranges("registry.json").len(), 1);
    home.config.acp_registry = Some("http://127.0.0.1:9/registry.json".into());
    assert!(home.installer().agent(&"newone".parse().unwrap()).await.is_some());
}
