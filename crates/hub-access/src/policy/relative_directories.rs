//! Directories of sessions relative to a workspace root, so that a viewer does not learn where a runtime keeps its files.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use memchr::memmem;
use protocol::{Event, sessions::SessionSnapshot, wait::Wait};
use serde_json::Value;

use super::{Redactor, StreamRedactor};

/// The member of a session that holds its directory.
const DIRECTORY: &str = "directory";

/// How the member begins in an encoded frame. A quote within a text is escaped, so this is never part of one.
const ENCODED_DIRECTORY: &[u8] = b"\"directory\":";

/// The path of the root itself.
const ROOT: &str = ".";

/// Shows the directory of a session relative to a root. What agents and people say is not changed.
#[derive(Debug, Clone, Default)]
pub(super) struct RelativeDirectories {
    roots: Arc<[PathBuf]>,
}

impl RelativeDirectories {
    /// With these roots. A directory outside all of them is shown by its name alone.
    pub(super) fn new(roots: &[PathBuf]) -> Self {
        Self { roots: roots.into() }
    }

    /// The directory as it is shown. Anything but an absolute path, such as a path that another rule has hidden, stays.
    fn relative(&self, directory: &str) -> String {
        let path = Path::new(directory);
        if !path.is_absolute() {
            return directory.to_owned();
        }
        let roots = self.roots.iter().filter_map(|root| path.strip_prefix(root).ok());
        let below_root = roots.min_by_key(|rest| rest.components().count());
        let shown = below_root.or_else(|| path.file_name().map(Path::new)).unwrap_or_else(|| Path::new(ROOT));
        match shown.as_os_str().is_empty() {
            true => ROOT.to_owned(),
            false => shown.to_string_lossy().into_owned(),
        }
    }

    fn snapshot_directory(&self, snapshot: &mut SessionSnapshot) {
        snapshot.session.directory = self.relative(&snapshot.session.directory);
    }
}

impl Redactor for RelativeDirectories {
    fn hides_content(&self) -> bool {
        false
    }

    fn may_change(&self, frame: &[u8]) -> bool {
        memmem::find(frame, ENCODED_DIRECTORY).is_some()
    }

    fn redact_stream(&self) -> Box<dyn StreamRedactor> {
        Box::new(self.clone())
    }

    /// Sessions are edited as JSON rather than parsed: a newer daemon may send members that this hub does not know.
    fn value(&self, mut value: Value) -> Value {
        self.edit(&mut value);
        value
    }

    fn wait(&self, wait: Wait) -> Option<Wait> {
        Some(wait)
    }
}

impl RelativeDirectories {
    fn edit(&self, value: &mut Value) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    match member {
                        Value::String(directory) if name == DIRECTORY => {
                            *directory = self.relative(directory);
                        }
                        other => self.edit(other),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.edit(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

impl StreamRedactor for RelativeDirectories {
    fn event(&mut self, event: &Event) -> Option<Event> {
        let Event::Snapshot(snapshot) = event else { return None };
        let mut shown = snapshot.clone();
        self.snapshot_directory(&mut shown);
        Some(Event::Snapshot(shown))
    }

    fn snapshot(&self, mut snapshot: SessionSnapshot) -> SessionSnapshot {
        self.snapshot_directory(&mut snapshot);
        snapshot
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(roots: &[&str], directory: &str, shown: &str) {
        let roots: Vec<PathBuf> = roots.iter().map(PathBuf::from).collect();
        assert_eq!(RelativeDirectories::new(&roots).relative(directory), shown, "{directory}");
    }

    /// observation-18: a directory is shown below its innermost root, or by its name.
    #[test]
    fn a_directory_is_shown_relative_to_a_root() {
        let roots = ["/srv/lab", "/srv/lab/deep"];
        check(&roots, "/srv/lab/app/api", "app/api");
        check(&roots, "/srv/lab/deep/er", "er");
        check(&roots, "/srv/lab", ".");
        check(&roots, "/srv/lab/", ".");
        check(&roots, "/srv/labour/app", "app");
        check(&roots, "/", ".");
        check(&[], "/home/joe/secret/app", "app");
        check(&[], "***", "***");
        check(&["/"], "/home/joe", "home/joe");
    }

    #[test]
    fn only_directories_of_descriptions_change() {
        let redactor = RelativeDirectories::default();
        let list = |directory: &str| json!({ "items": [{ "directory": directory, "title": "/home/joe", "newer": 1 }] });
        assert_eq!(redactor.value(list("/home/joe")), list("joe"));
        assert!(redactor.may_change(list("/").to_string().as_bytes()));
        let quoted = json!({ "text": list("/").to_string() }).to_string();
        assert!(!redactor.may_change(quoted.as_bytes()), "{quoted}");
    }
}
