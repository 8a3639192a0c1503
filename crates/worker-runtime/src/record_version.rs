//! The version of the records that hold the state of a session.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// The newest format that this program reads, and the one that it writes. Records of earlier programs have no version and the
/// same fields.
///
/// Raise it only for a change that an earlier program would misunderstand: that program then reports the session as unreadable.
/// A new field that an earlier program may ignore needs no new version, because every record keeps the fields that it does not
/// know when it is written again.
const NEWEST: u32 = 1;

/// The version of a record: written as the newest, and refused on reading if it is newer still.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RecordVersion;

impl Serialize for RecordVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(NEWEST)
    }
}

impl<'de> Deserialize<'de> for RecordVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let found = u32::deserialize(deserializer)?;
        if found > NEWEST {
            return Err(D::Error::custom(NewerVersion(found)));
        }
        Ok(Self)
    }
}

/// The message about a record that a later program wrote.
struct NewerVersion(u32);

impl fmt::Display for NewerVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(found) = self;
        write!(formatter, "a newer version of Tombolo wrote it (format {found}, this version reads {NEWEST})")
    }
}
