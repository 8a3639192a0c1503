use agent_catalog::Purpose;
use agent_install::{BundleError, Fault, UnverifiedPolicy::Refuse};

use crate::mirror::{DownloadMirror, Home, agent, large_shell_script, says, tar_gz};

/// daemon-6: agents travel in one file to a machine without a network.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bundle_is_installed_without_a_network() {
    let mirror = DownloadMirror::start().await;
    let home = Home::with_agent(&mirror, tar_gz(&[("loopback", &large_shell_script("bundled"))]));
    let (installer, file) = (home.installer(), home.directory.path().join("agents.tar.zst"));
    let loopback = agent(&installer, "loopback");
    let packed = installer.bundle(std::slice::from_ref(&loopback), Refuse, &file).await.unwrap();
    assert_eq!(packed.len(), 1);
    let mut other = Home::new(&mirror);
    other.config.mirrors.clear();
    other.config.allowed = false;
    let there = other.installer();
    assert_eq!(there.unbundle(&file, &[], Refuse).await.unwrap(), packed);
    let launch = there.launch(&loopback, Purpose::Acp).await.unwrap();
    assert_eq!(says(launch.program), "bundled");
    assert_eq!(other.names("loopback"), ["1.0.0", "current", "lock"]);
    assert!(
        there.unbundle(&file, &[agent(&there, "codex")], Refuse).await.unwrap().is_empty(),
        "only what was named"
    );
}

/// daemon-6: a bundle that is damaged installs nothing of what is damaged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_bundle_is_refused() {
    let mirror = DownloadMirror::start().await;
    let home = Home::with_agent(&mirror, tar_gz(&[("loopback", &large_shell_script("bundled"))]));
    let (installer, file) = (home.installer(), home.directory.path().join("agents.tar.zst"));
    let loopback = agent(&installer, "loopback");
    installer.bundle(&[loopback], Refuse, &file).await.unwrap();
    let whole = zstd::decode_all(std::fs::File::open(&file).unwrap()).unwrap();
    let mut flipped = whole.clone();
    let at = flipped.windows(7).position(|bytes| bytes == b"bundled").unwrap();
    flipped[at] = b'B';
    let cut = whole[..whole.len() / 2].to_vec();
    for (what, bytes) in [("flipped", flipped), ("cut", cut), ("nonsense", b"nonsense".to_vec())] {
        std::fs::write(&file, zstd::encode_all(bytes.as_slice(), 1).unwrap()).unwrap();
        let other = Home::new(&mirror);
        let error = other.installer().unbundle(&file, &[], Refuse).await.unwrap_err();
        if what == "flipped" {
            assert!(matches!(error, BundleError::Fault(Fault::Checksum { .. })), "{error}");
        }
        assert!(!other.config.directory.join("loopback/current").exists(), "{what}");
    }
}
