//! Writing after what is in a file.

use std::{fs::File, io::Write};

use crate::{Error, Stat, VirtualPath, error::At};

/// A file that is written after what is in it, where it is: readers may see a part.
#[derive(Debug)]
pub struct AppendFile {
    pub(crate) file: File,
    pub(crate) stat: Stat,
    pub(crate) path: VirtualPath,
}

impl AppendFile {
    /// The file, to be read.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// As it was when it was opened.
    pub fn stat(&self) -> &Stat {
        &self.stat
    }

    /// Writes `bytes` after all that is in the file, so that they survive the end of the machine; how it is then.
    ///
    /// # Errors
    /// [`Cause::NoSpace`](crate::Cause::NoSpace) above all. What was written of them is taken back.
    pub fn append(mut self, bytes: &[u8]) -> Result<Stat, Error> {
        let before = Stat::of(&self.file).at("write", &self.path)?.size;
        let written = self.file.write_all(bytes).and_then(|()| self.file.sync_data());
        if written.is_err() {
            self.take_back(before, bytes.len() as u64);
        }
        written.at("write", &self.path)?;
        Stat::of(&self.file).at("write", &self.path)
    }

    /// Cuts off what was written of so many bytes, unless others have written more after it. If that fails too there is
    /// nothing left to try.
    fn take_back(&self, before: u64, bytes: u64) {
        if Stat::of(&self.file).is_ok_and(|now| now.size <= before + bytes) {
            let _ = self.file.set_len(before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of which `written` is what was meant to be appended to `before`.
    fn file(before: &str, written: &str) -> AppendFile {
        let mut file = tempfile::tempfile().unwrap();
        write!(file, "{before}{written}").unwrap();
        let stat = Stat::of(&file).unwrap();
        AppendFile { file, stat, path: VirtualPath::parse("a").unwrap() }
    }

    #[test]
    fn a_part_is_taken_back_unless_others_have_written_after_it() {
        for (written, left) in [("", 3), ("de", 3), ("def", 3), ("defg", 7)] {
            let file = file("abc", written);
            file.take_back(3, 3);
            assert_eq!(Stat::of(&file.file).unwrap().size, left, "{written}");
        }
    }
}
