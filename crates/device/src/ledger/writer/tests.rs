use std::{collections::BTreeMap, time::Duration};

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

use super::*;

/// From now on this thread opens no file, as if the process had too many.
fn open_no_more() {
    let action = SeccompAction::Errno(libc::EMFILE.cast_unsigned());
    let rules = BTreeMap::from([(libc::SYS_openat, Vec::new())]);
    let arch = std::env::consts::ARCH.try_into().unwrap();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, arch).unwrap();
    seccompiler::apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
}

/// A record that could not be turned over goes on when it can.
#[test]
fn a_file_that_could_not_be_begun_is_begun_later() {
    let directory = tempfile::tempdir().unwrap();
    let kept = Kept { file_bytes_max: 0, files_max: 8, young: Duration::ZERO, bytes_max: 0 };
    let mut writer = Writer::open(directory.path(), kept).unwrap();
    std::thread::scope(|scope| {
        let failing = scope.spawn(|| {
            open_no_more();
            writer.restore().unwrap_err()
        });
        assert_eq!(failing.join().unwrap().raw_os_error(), Some(libc::EMFILE));
    });
    writer.restore().unwrap();
    assert!(pages::current(directory.path()).exists() && !pages::next(directory.path()).exists());
}
