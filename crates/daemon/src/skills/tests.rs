use std::{fs, process::Command};

use protocol::config::{Skill, SkillSource, SkillSourceKind};

use super::*;

fn skill(directory: &Path, name: &str) {
    let place = directory.join(name);
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join(SKILL_FILE), format!("---\nname: {name}\n---\n")).unwrap();
}

fn source(kind: SkillSourceKind, source: &Path) -> SkillSource {
    let source = source.display().to_string();
    SkillSource { kind, source, skills: None, reference: None, subpath: None }
}

async fn resolved(skills: &SkillResolver, source: SkillSource) -> Vec<(String, PathBuf)> {
    let entries = BTreeMap::from([("entry".to_owned(), Skill { sources: vec![source] })]);
    skills.resolve(Path::new("/"), &entries).await.0.into_iter().collect()
}

fn git(directory: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-C"]).arg(directory).args(args);
    assert!(command.output().unwrap().status.success(), "git {args:?}");
}

#[tokio::test]
async fn a_directory_is_one_skill_or_holds_many() {
    let home = tempfile::tempdir().unwrap();
    let skills = SkillResolver::new(home.path().join("cache"), Vec::new());
    let all = home.path().join("all");
    skill(&all, "review");
    skill(&all.join("skills"), "deploy");
    let local = || source(SkillSourceKind::Local, &all);
    let names = |found: Vec<(String, PathBuf)>| found.into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(names(resolved(&skills, local()).await), ["deploy", "review"]);
    let only = SkillSource { skills: Some(vec!["review".into()]), ..local() };
    assert_eq!(names(resolved(&skills, only).await), ["review"]);
    let one = SkillSource { subpath: Some("review".into()), ..local() };
    assert_eq!(resolved(&skills, one).await, [("review".to_owned(), all.join("review"))]);
    for outside in ["../all", "/etc"] {
        let source = SkillSource { subpath: Some(outside.into()), ..local() };
        assert_eq!(resolved(&skills, source).await, []);
    }
    assert_eq!(resolved(&skills, source(SkillSourceKind::Local, &home.path().join("none"))).await, []);
}

/// A repository is fetched once, at the commit that was asked for, and is there when it can no longer be reached.
#[tokio::test]
async fn a_repository_is_fetched_and_kept() {
    let home = tempfile::tempdir().unwrap();
    let skills = SkillResolver::new(home.path().join("cache"), Vec::new());
    let repository = home.path().join("repository");
    skill(&repository.join("skills"), "review");
    git(&repository, &["init", "--quiet", "--initial-branch=main"]);
    git(&repository, &["add", "."]);
    git(&repository, &["commit", "--quiet", "-m", "one"]);
    git(&repository, &["tag", "v1"]);
    let tagged = || SkillSource { reference: Some("v1".into()), ..source(SkillSourceKind::Git, &repository) };
    let found = resolved(&skills, tagged()).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].1.starts_with(home.path().join("cache")) && found[0].1.join(SKILL_FILE).is_file(),
        "{found:?}"
    );
    fs::remove_dir_all(&repository).unwrap();
    assert_eq!(resolved(&skills, tagged()).await, found);
    assert_eq!(resolved(&skills, source(SkillSourceKind::Git, &repository)).await, []);
}
