//! Names chosen by a device, a runtime or a provider.

crate::ids::chosen_ids! {
    /// Identifies a device.
    ClientId = "client_id", 128, "^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,128}$",
        "1 to 128 of the characters A-Z a-z 0-9 . _ - and neither `.` nor `..`",
        |text| !matches!(text, "." | "..")
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
    /// Identifies a root: a directory that a device lends.
    RootId = "root_id", 64, "^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,64}$",
        "1 to 64 of the characters A-Z a-z 0-9 . _ - and neither `.` nor `..`",
        |text| !matches!(text, "." | "..")
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
    /// Name of a tool on a device.
    ToolName = "the name of a tool", 64, "^[A-Za-z0-9_-]{1,64}$",
        "1 to 64 of the characters A-Z a-z 0-9 _ -",
        |text| text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    /// A SHA-256 hash in hexadecimal.
    Sha256 = "sha256", 64, "^[0-9a-f]{64}$",
        "64 of the characters 0-9 a-f",
        |text| text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
}

impl From<[u8; 32]> for Sha256 {
    fn from(hash: [u8; 32]) -> Self {
        let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
        let text: String = hash.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect();
        Self(text.into())
    }
}
