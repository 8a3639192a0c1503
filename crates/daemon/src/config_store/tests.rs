use std::os::unix::fs::PermissionsExt;

use super::*;

fn skill(source: &str) -> Skill {
    serde_json::from_value(serde_json::json!({ "sources": [{ "type": "local", "source": source }] })).unwrap()
}

fn key(directory: &str, name: &str) -> (ConfigDirectory, EntryName) {
    (directory.to_owned().try_into().unwrap(), name.to_owned().try_into().unwrap())
}

/// daemon-12: stored, returned, and still there for the next daemon; readable by its owner only.
#[tokio::test]
async fn an_entry_outlives_the_store_that_wrote_it() {
    let home = tempfile::tempdir().unwrap();
    let (directory, name) = key("/work/", "a");
    let store = ConfigStore::new(home.path());
    store.skills.write(directory.clone(), name.clone(), skill("/s")).await.unwrap();
    let mode = home.path().join("skills.json").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let again = ConfigStore::new(home.path());
    let (same, _) = key("/work", "a");
    assert_eq!(again.skills.read(&same, &name).await.unwrap(), skill("/s"));
    again.skills.delete(same.clone(), name.clone()).await.unwrap();
    again.skills.delete(same.clone(), name.clone()).await.unwrap();
    assert!(again.skills.list(&same).await.unwrap().is_empty());
}

/// daemon-12: a corrupt store is reported, kept aside, never silently emptied.
#[tokio::test]
async fn a_corrupt_file_is_reported_and_kept() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("skills.json"), "{ not json").unwrap();
    let store = ConfigStore::new(home.path());
    let (directory, name) = key("/work", "a");
    let error = store.skills.write(directory.clone(), name.clone(), skill("/s")).await.unwrap_err();
    assert!(format!("{error:?}").contains("StoreCorrupt"));
    let kept: Vec<_> = std::fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(kept.len(), 1);
    assert_eq!(std::fs::read_to_string(&kept[0]).unwrap(), "{ not json");
    store.skills.write(directory.clone(), name.clone(), skill("/t")).await.unwrap();
    assert_eq!(store.skills.list(&directory).await.unwrap().len(), 1);
    assert!(kept[0].exists());
}

#[test]
fn directories_and_names_are_checked() {
    assert!(ConfigDirectory::try_from("relative".to_owned()).is_err());
    assert_eq!(ConfigDirectory::try_from("/".to_owned()).unwrap(), ConfigDirectory("/".into()));
    assert!(EntryName::try_from(String::new()).is_err() && EntryName::try_from("a\nb".to_owned()).is_err());
}
