use agent_catalog::Purpose;
use agent_install::Ask;

use crate::mirror::{DownloadMirror, Home, agent, large_shell_script, says, tar_gz};

/// daemon-6: twenty who need it at once get one download, one installation and twenty answers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_at_once_are_one_installation() {
    let mirror = DownloadMirror::start().await;
    let home = Home::with_agent(&mirror, tar_gz(&[("loopback", &large_shell_script("once"))]));
    let installer = home.installer();
    let loopback = agent(&installer, "loopback");
    let mut all = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let (installer, loopback) = (installer.clone(), loopback.clone());
        all.spawn(async move { installer.ready(&loopback, Purpose::Acp).await.unwrap().program });
    }
    let programs = all.join_all().await;
    assert_eq!(programs.len(), 20);
    assert!(programs.iter().all(|program| program == &programs[0]));
    assert_eq!(says(programs[0].clone()), "once");
    assert_eq!(mirror.requested_ranges("loopback.tar.gz").len(), 1);
}

/// daemon-6: two installers that know nothing of each other, as two processes would, do not get in each other's way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_installers_of_one_place_do_it_once() {
    let mirror = DownloadMirror::start().await;
    let home = Home::with_agent(&mirror, tar_gz(&[("loopback", &large_shell_script("shared"))]));
    let (one, two) = (home.installer(), home.installer());
    let loopback = agent(&one, "loopback");
    let (first, second) =
        tokio::join!(one.ready(&loopback, Purpose::Acp), two.ready(&loopback, Purpose::Acp));
    assert_eq!(first.unwrap().program, second.unwrap().program);
    assert_eq!(mirror.requested_ranges("loopback.tar.gz").len(), 1);
}

/// daemon-6: whoever leaves does not end it for the others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_who_leaves_ends_nothing() {
    let mirror = DownloadMirror::start().await;
    let home = Home::with_agent(&mirror, tar_gz(&[("loopback", &large_shell_script("stays"))]));
    let installer = home.installer();
    let loopback = agent(&installer, "loopback");
    drop(installer.install(&loopback, &Ask::default()).await.unwrap());
    let launch = installer.ready(&loopback, Purpose::Acp).await.unwrap();
    assert_eq!(says(launch.program), "stays");
    assert_eq!(mirror.requested_ranges("loopback.tar.gz").len(), 1);
}
