//! A device whose audit log is on a full disk.

use std::{fs, path::Path, sync::Arc};

use device::{
    Consent, Device, Fileops, Kept, Ledger,
    ledger::{Entries, verify},
};
use protocol::relay::RelayErrorCode;
use serde_json::{Value, json};
use testkit::{TmpfsMount, fill_disk, free_disk, within};

use crate::{
    shell::support::{Kind, config, open, roots},
    support::{Lent, SOON},
};

/// The size of the disk: room for the reserve of the audit log and some more.
const DISK_BYTES: usize = 24 << 20;

/// The number of requests of each kind that are sent while the disk is full.
const REQUESTS: usize = 200;

fn entries(disk: &Path) -> Vec<Value> {
    Entries::read(&disk.join("audit")).unwrap().map(Result::unwrap).collect()
}

/// relay-154: whatever was done is on record, also when the disk fills at any moment. Commands can be stopped on a full disk,
/// and with space everything works again.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_done_without_a_record_on_a_full_disk() {
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let disk = home.path();
    let Some(_mounted) = TmpfsMount::new(disk, DISK_BYTES) else {
        eprintln!(
            "SKIPPED: nothing_is_done_without_a_record_on_a_full_disk needs the right to mount a tmpfs"
        );
        return;
    };
    let lent_roots = roots(disk);
    fs::write(disk.join("main/file"), "content").unwrap();
    let kept = Kept { file_bytes_max: 200_000, ..Kept::default() };
    let ledger = Ledger::open(&disk.join("audit"), "laptop".parse().unwrap(), kept).unwrap();
    let shell = open(disk, config(Kind::Local)).await;
    let providers: Vec<Box<dyn device::Provider>> =
        vec![Box::new(Fileops::new(Arc::new(lent_roots))), Box::new(shell)];
    let device = Device::recording(providers, Consent::default(), Some(ledger));
    let lent = Arc::new(Lent::connect(device.clone()).await);

    let start = json!({ "command": "sleep 600", "background": true });
    let command = lent.ask_any("shell.start", start.clone()).await.unwrap()["command_id"].clone();
    let read = json!({ "root_id": "main", "path": "file" });
    let mut done_before = 1;
    // The disk fills while requests are running.
    let reads = tokio::spawn({
        let (lent, read) = (lent.clone(), read.clone());
        async move {
            let mut done = 0;
            for _ in 0..REQUESTS {
                done += usize::from(lent.ask_any("file.read", read.clone()).await.is_ok());
            }
            done
        }
    });
    fill_disk(disk);
    done_before += reads.await.unwrap();

    let mut done = [0; 3];
    for number in 0..REQUESTS {
        let name = format!("made-{number}");
        let requests = [
            ("file.read", read.clone()),
            ("file.mkdir", json!({ "root_id": "main", "path": name })),
            ("shell.start", json!({ "command": format!("mkdir run-{number}") })),
        ];
        for (kind, (method, params)) in requests.into_iter().enumerate() {
            match lent.ask_any(method, params).await {
                Ok(_) => done[kind] += 1,
                Err(error) => assert_eq!(error.code, RelayErrorCode::ProviderError, "{error:?}"),
            }
        }
    }
    let made = |prefix: &str| {
        let names = fs::read_dir(disk.join("main")).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_str().unwrap().starts_with(prefix)).count()
    };
    assert_eq!((done[1], done[2]), (made("made-"), made("run-")), "what was refused was not done");

    // Does not wait for space, of which there is none until the next step.
    let stopped = within(SOON, lent.ask_any("shell.cancel", json!({ "command_id": command }))).await;

    // With space everything works again.
    free_disk(disk);
    within(SOON, async { while lent.ask_any("file.read", read.clone()).await.is_err() {} }).await;
    lent.ask_any("file.mkdir", json!({ "root_id": "main", "path": "after" })).await.unwrap();
    within(SOON, device.end()).await;

    let recorded = entries(disk);
    let begun = |method: &str| {
        let begun = |entry: &&Value| entry["method"] == method && entry.get("completed_at").is_none();
        recorded.iter().filter(begun).count()
    };
    let began = [begun("file.read") - 1, begun("file.mkdir") - 1, begun("shell.start")];
    eprintln!("before {done_before}, done {done:?}, begun on record {began:?}");
    assert!(done_before + done[0] <= began[0] + 1 && done[1] <= began[1] && done[2] < began[2]);
    stopped.unwrap();
    let stopped = |entry: &&Value| entry["method"] == "shell.cancel" && entry["status"] == "succeeded";
    assert_eq!(recorded.iter().filter(stopped).count(), 1);
    let verified = verify(Entries::read(&disk.join("audit")).unwrap()).unwrap();
    assert_eq!(verified.unfinished, 0, "every end is on record");
    // What is allocated beyond the reserve is used first.
    assert!(done.iter().all(|done| *done < REQUESTS / 2), "a full disk refuses: {done:?}");
}
