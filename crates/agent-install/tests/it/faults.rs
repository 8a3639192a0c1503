use std::time::Duration;

use agent_catalog::{Purpose, Want};
use agent_install::{Ask, Error, Fault};

use testkit::TmpfsMount;

use crate::mirror::{
    DownloadMirror, Home, UNPINNED, agent, large_shell_script, says, sha256, shell_script, tar_gz,
};

/// How long a server may be silent here.
const SILENCE: Duration = Duration::from_millis(200);

/// Installs the agent of [`Home::with_agent`].
async fn install(home: &Home) -> Result<String, std::sync::Arc<Error>> {
    install_version(home, "loopback", Want::Pinned).await
}

/// Installs opencode from the npm registry: its other source has no checksums.
async fn install_from_npm(home: &Home) -> Result<String, std::sync::Arc<Error>> {
    install_version(home, "opencode", Want::Exact(UNPINNED.parse().unwrap())).await
}

async fn install_version(home: &Home, name: &str, want: Want) -> Result<String, std::sync::Arc<Error>> {
    let installer = home.installer();
    let agent = agent(&installer, name);
    installer.install(&agent, &Ask { want, ..Ask::default() }).await?.finish().await?;
    Ok(says(installer.launch(&agent, Purpose::Acp).await.unwrap().program))
}

/// daemon-6: a download that is cut goes on where it was, in the same try and in the next.
#[tokio::test]
async fn a_cut_download_goes_on_where_it_was() {
    let mirror = DownloadMirror::start().await;
    let tarball = tar_gz(&[("loopback", &large_shell_script("whole"))]);
    let home = Home::with_agent(&mirror, tarball.clone());
    mirror.cut_downloads(tarball.len() / 3, 1);
    assert_eq!(install(&home).await.unwrap(), "whole");
    let ranges = mirror.requested_ranges("loopback.tar.gz");
    assert_eq!(ranges.len(), 2, "{ranges:?}");
    assert_eq!(ranges[0], None);
    let start: usize = ranges[1].as_ref().unwrap()["bytes=".len()..].trim_end_matches('-').parse().unwrap();
    assert!(start > 0 && start <= tarball.len() / 3, "{start}");
}

/// daemon-6: a server that changes the file in between is noticed by the checksum, and the file is fetched anew.
#[tokio::test]
async fn a_part_of_another_file_is_thrown_away() {
    let mirror = DownloadMirror::start().await;
    let tarball = tar_gz(&[("package/bin/opencode", &large_shell_script("right"))]);
    mirror.put_npm("opencode-linux-x64", UNPINNED, &tarball, None);
    let home = Home::new(&mirror);
    let parts = home.config.directory.join("opencode/parts");
    std::fs::create_dir_all(&parts).unwrap();
    // What an earlier try left: the start of something else.
    let url = format!("{}/npm/opencode-linux-x64/-/{UNPINNED}.tgz", mirror.url);
    let name = sha256(url.as_bytes());
    std::fs::write(parts.join(format!("{name}.part")), vec![b'x'; 1000]).unwrap();
    let note = serde_json::json!({ "url": url, "validator": null, "total": tarball.len() });
    std::fs::write(parts.join(format!("{name}.json")), note.to_string()).unwrap();
    assert_eq!(install_from_npm(&home).await.unwrap(), "right");
    assert_eq!(mirror.requested_ranges(&format!("{UNPINNED}.tgz")), [Some("bytes=1000-".to_owned()), None]);
}

/// daemon-6: a server that never gets to the end is given up, and says how far it came.
#[tokio::test]
async fn a_server_that_always_cuts_is_given_up() {
    let mirror = DownloadMirror::start().await;
    let home = Home::with_agent(&mirror, tar_gz(&[("loopback", &large_shell_script("never"))]));
    mirror.cut_downloads(0, usize::MAX);
    let error = install(&home).await.unwrap_err();
    let Error::Failed { attempts, .. } = &*error else { panic!("{error}") };
    assert!(matches!(*attempts[0].fault, Fault::Truncated { .. } | Fault::Unreachable { .. }), "{error}");
}

/// daemon-6: a server that falls silent is asked again, and goes on where it was; one that is always silent is given up.
#[tokio::test]
async fn a_silent_server_is_asked_again_and_given_up_at_last() {
    let mirror = DownloadMirror::start().await;
    let tarball = tar_gz(&[("loopback", &large_shell_script("patient"))]);
    let mut home = Home::with_agent(&mirror, tarball.clone());
    home.config.silence_max = Some(SILENCE);
    mirror.stall_downloads(tarball.len() / 2, 1);
    assert_eq!(install(&home).await.unwrap(), "patient");
    let ranges = mirror.requested_ranges("loopback.tar.gz");
    assert!(ranges.len() == 2 && ranges[1].is_some(), "{ranges:?}");

    let mut home = Home::with_agent(&mirror, tarball);
    home.config.silence_max = Some(SILENCE);
    mirror.stall_downloads(0, usize::MAX);
    let error = install(&home).await.unwrap_err();
    let Error::Failed { attempts, .. } = &*error else { panic!("{error}") };
    assert!(matches!(*attempts[0].fault, Fault::Silent { waited: SILENCE, .. }), "{error}");
}

/// daemon-6: what is not what was published is not installed.
#[tokio::test]
async fn a_wrong_checksum_is_refused() {
    let mirror = DownloadMirror::start().await;
    let tarball = tar_gz(&[("package/bin/opencode", &shell_script("evil"))]);
    let other =
        "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==";
    mirror.put_npm("opencode-linux-x64", UNPINNED, &tarball, Some(other));
    let home = Home::new(&mirror);
    let error = install_from_npm(&home).await.unwrap_err();
    let Error::Failed { attempts, .. } = &*error else { panic!("{error}") };
    assert!(matches!(*attempts.last().unwrap().fault, Fault::Checksum { .. }), "{error}");
    assert_eq!(home.names("opencode"), ["lock", "parts"]);
    assert!(!home.config.cache.as_ref().unwrap().exists(), "it is not kept either");
}

/// daemon-6: a full disk is told as such, and leaves nothing; with room it works.
#[tokio::test]
async fn a_full_disk_is_told_and_leaves_nothing() {
    let mirror = DownloadMirror::start().await;
    // Small to fetch, large to unpack: both places of the failure are hit, one after the other.
    let tarball = tar_gz(&[("loopback", &large_shell_script("roomy"))]);
    let (too_small, only_for_the_download) = (tarball.len() / 2, tarball.len() + (2 << 20));
    let mut home = Home::with_agent(&mirror, tarball);
    let small = home.directory.path().join("small");
    std::fs::create_dir(&small).unwrap();
    let Some(mounted) = TmpfsMount::new(&small, too_small) else {
        eprintln!("SKIPPED: a_full_disk_is_told_and_leaves_nothing needs the right to mount a tmpfs");
        return;
    };
    home.config.directory = small.join("agents");
    home.config.cache = None;
    let error = install(&home).await.unwrap_err();
    assert!(matches!(*error, Error::NoSpace(_)), "{error}");
    let left: Vec<_> = home.names("loopback").into_iter().filter(|name| name.starts_with('.')).collect();
    assert!(left.is_empty(), "{left:?}");
    // Room for the download, not for what is in it.
    mounted.resize(only_for_the_download);
    let error = install(&home).await.unwrap_err();
    assert!(matches!(*error, Error::NoSpace(_)), "{error}");
    mounted.resize(64 << 20);
    assert_eq!(install(&home).await.unwrap(), "roomy");
}
