//! The head of an HTTP response: the status and the framing of the body.

/// How the reader finds the end of a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum BodyFraming {
    /// The body has this many bytes.
    Length(usize),
    /// The body ends with an empty chunk.
    Chunked,
}

/// The parsed head of a response.
#[derive(Debug, PartialEq)]
pub(crate) struct ResponseHead {
    pub(crate) status: u16,
    pub(crate) framing: BodyFraming,
    /// The length of the head itself, with the empty line at its end.
    pub(crate) bytes: usize,
}

impl ResponseHead {
    /// Parses the head at the beginning of `data`; `None` if it is not complete yet.
    pub(crate) fn parse(data: &[u8]) -> Option<Self> {
        let bytes = memchr::memmem::find(data, b"\r\n\r\n")? + 4;
        let status = data
            .get(9..12)?
            .iter()
            .fold(0, |status, digit| status * 10 + u16::from(digit.wrapping_sub(b'0')));
        // A response without a framing header has no body: the measured servers always frame their bodies.
        let mut framing = BodyFraming::Length(0);
        for line in data[..bytes].split(|byte| *byte == b'\n') {
            let Some(colon) = memchr::memchr(b':', line) else { continue };
            let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
            if name.eq_ignore_ascii_case(b"content-length") {
                let length =
                    value.iter().fold(0, |length, digit| length * 10 + usize::from(digit.wrapping_sub(b'0')));
                framing = BodyFraming::Length(length);
            } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
                framing = BodyFraming::Chunked;
            }
        }
        Some(Self { status, framing, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, status: u16, framing: BodyFraming) {
        assert_eq!(
            ResponseHead::parse(text.as_bytes()),
            Some(ResponseHead { status, framing, bytes: text.len() })
        );
        assert_eq!(ResponseHead::parse(&text.as_bytes()[..text.len() - 1]), None);
    }

    #[test]
    fn status_and_framing_are_read() {
        check("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n", 200, BodyFraming::Length(12));
        check("HTTP/1.1 204 No Content\r\n\r\n", 204, BodyFraming::Length(0));
        check("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nx: y\r\n\r\n", 200, BodyFraming::Chunked);
    }
}
