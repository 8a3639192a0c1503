//! Appending to a file in place.

use std::{fs::File, io::Write};

use crate::{EntryMetadata, Error, FileOperation, RootedPath, error::ErrorContext};

/// A file that is extended in place: readers may see a partial append.
#[derive(Debug)]
pub struct AppendFile {
    pub(crate) file: File,
    pub(crate) stat: EntryMetadata,
    pub(crate) path: RootedPath,
}

impl AppendFile {
    /// The file, for reading.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Its metadata when it was opened.
    pub fn stat(&self) -> &EntryMetadata {
        &self.stat
    }

    /// Appends `bytes` durably and returns the metadata afterwards.
    ///
    /// # Errors
    /// Mainly [`FileErrorCause::NoSpace`](crate::FileErrorCause::NoSpace). A partial append is undone.
    pub fn append(mut self, bytes: &[u8]) -> Result<EntryMetadata, Error> {
        let before = EntryMetadata::read(&self.file).at(FileOperation::Write, &self.path)?.size;
        let written = self.file.write_all(bytes).and_then(|()| self.file.sync_data());
        if written.is_err() {
            self.undo_append(before, bytes.len() as u64);
        }
        written.at(FileOperation::Write, &self.path)?;
        EntryMetadata::read(&self.file).at(FileOperation::Write, &self.path)
    }

    /// Truncates the file to its size before a failed append, unless another process has appended after it. An error is ignored:
    /// there is nothing else to try.
    fn undo_append(&self, before: u64, bytes: u64) {
        if EntryMetadata::read(&self.file).is_ok_and(|now| now.size <= before + bytes) {
            let _ = self.file.set_len(before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with the content `before` and the partial append `written`.
    fn file(before: &str, written: &str) -> AppendFile {
        let mut file = tempfile::tempfile().unwrap();
        write!(file, "{before}{written}").unwrap();
        let stat = EntryMetadata::read(&file).unwrap();
        AppendFile { file, stat, path: RootedPath::parse("a").unwrap() }
    }

    #[test]
    fn a_partial_append_is_undone_unless_others_have_appended_after_it() {
        for (written, left) in [("", 3), ("de", 3), ("def", 3), ("defg", 7)] {
            let file = file("abc", written);
            file.undo_append(3, 3);
            assert_eq!(EntryMetadata::read(&file.file).unwrap().size, left, "{written}");
        }
    }
}
