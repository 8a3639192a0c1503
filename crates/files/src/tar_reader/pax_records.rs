//! Pax records: `"<length> <key>=<value>\n"`, where the length counts all of it.

/// The records that are used. As POSIX demands, the last of a kind applies.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PaxRecords {
    pub(super) path: Option<Vec<u8>>,
    pub(super) link: Option<Vec<u8>>,
    pub(super) size: Option<u64>,
    pub(super) modified: Option<i64>,
    /// The content is the map of a sparse file, in one of GNU's formats.
    pub(super) sparse: bool,
}

impl PaxRecords {
    /// Applies a block of records.
    pub(super) fn apply(&mut self, mut bytes: &[u8]) -> Result<(), &'static str> {
        while !bytes.is_empty() {
            let (key, value, rest) = split_record(bytes).ok_or("a pax record is malformed")?;
            self.set(key, value)?;
            bytes = rest;
        }
        Ok(())
    }

    fn set(&mut self, key: &[u8], value: &[u8]) -> Result<(), &'static str> {
        match key {
            b"path" => self.path = Some(value.to_owned()),
            b"linkpath" => self.link = Some(value.to_owned()),
            b"size" => self.size = Some(parse_digits(value).ok_or("a pax size is not a number")?),
            // Seconds with a fraction; the fraction is ignored.
            b"mtime" => {
                let whole = value.split(|&byte| byte == b'.').next().unwrap_or_default();
                self.modified = str::from_utf8(whole).ok().and_then(|whole| whole.parse().ok());
            }
            key if key.starts_with(b"GNU.sparse.") => self.sparse = true,
            _ => {}
        }
        Ok(())
    }
}

fn split_record(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let space = bytes.iter().position(|&byte| byte == b' ')?;
    let length = usize::try_from(parse_digits(&bytes[..space])?).ok()?;
    let (record, rest) = bytes.split_at_checked(length)?;
    let record = record.get(space + 1..)?.strip_suffix(b"\n")?;
    let equals = record.iter().position(|&byte| byte == b'=')?;
    Some((&record[..equals], &record[equals + 1..], rest))
}

/// Parses digits only; `parse` alone would also accept a sign.
fn parse_digits(digits: &[u8]) -> Option<u64> {
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(bytes: &[u8], expected: &PaxRecords) {
        let mut records = PaxRecords::default();
        records.apply(bytes).unwrap();
        assert_eq!(&records, expected);
    }

    #[test]
    fn records_are_read_by_their_length() {
        let path = |path: &[u8]| PaxRecords { path: Some(path.to_owned()), ..PaxRecords::default() };
        check(b"10 path=a\n", &path(b"a"));
        // A name may contain a newline, even one that looks like the next record.
        check(b"19 path=a\n9 path=b\n", &path(b"a\n9 path=b"));
        check(b"10 path=a\n10 path=b\n", &path(b"b"));
        check(
            b"22 mtime=1700000000.5\n",
            &PaxRecords { modified: Some(1_700_000_000), ..PaxRecords::default() },
        );
    }

    #[test]
    fn malformed_records_are_rejected() {
        for bytes in [
            &b"11 path=a\n"[..],
            b"8 path=a\n",
            b"path=a\n",
            b"2 \n",
            b"0 ",
            b"+10 path=a\n",
            b"99999999999999999999999 path=a\n",
            b"11 size=-1\n",
        ] {
            let mut records = PaxRecords::default();
            assert!(records.apply(bytes).is_err(), "{}", String::from_utf8_lossy(bytes));
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(bytes: Vec<u8>) {
            let _ = PaxRecords::default().apply(&bytes);
        }
    }
}
