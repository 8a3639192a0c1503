//! Finds the id and the method of a JSON-RPC request without parsing the line.

use memchr::memmem;

/// A JSON-RPC request.
#[derive(Debug, PartialEq)]
pub(super) struct JsonRpcRequest<'a> {
    /// The bytes of the JSON value, so that the response repeats them exactly.
    pub(super) id: &'a [u8],
    pub(super) method: &'a [u8],
}

impl<'a> JsonRpcRequest<'a> {
    /// Finds the request on this line; `None` for a response or a notification.
    pub(super) fn find_in(line: &'a [u8]) -> Option<Self> {
        let id = after(line, b"\"id\":")?;
        let id = &id[..memchr::memchr2(b',', b'}', id)?];
        let method = after(line, b"\"method\":\"")?;
        let method = &method[..memchr::memchr(b'"', method)?];
        Some(Self { id, method })
    }
}

/// Returns the number after `key`, or zero if the line does not contain the key.
pub(super) fn number_after(line: &[u8], key: &[u8]) -> u64 {
    let digits = after(line, key).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}

fn after<'a>(line: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    memmem::find(line, key).map(|at| &line[at + key.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_found_whatever_the_order_of_its_keys() {
        let request = Some(JsonRpcRequest { id: b"7", method: b"a/b" });
        assert_eq!(
            JsonRpcRequest::find_in(br#"{"jsonrpc":"2.0","id":7,"method":"a/b","params":{}}"#),
            request
        );
        assert_eq!(JsonRpcRequest::find_in(br#"{"params":{},"method":"a/b","id":7}"#), request);
        assert_eq!(JsonRpcRequest::find_in(br#"{"method":"a/b"}"#), None);
        assert_eq!(JsonRpcRequest::find_in(br#"{"id":7,"result":{}}"#), None);
    }

    #[test]
    fn a_missing_number_is_zero() {
        assert_eq!(number_after(br#"{"count":120,"bytes":5}"#, b"\"count\":"), 120);
        assert_eq!(number_after(br#"{"count":120}"#, b"\"bytes\":"), 0);
    }
}
