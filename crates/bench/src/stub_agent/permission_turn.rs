//! A turn that requests permissions one after the other.

use std::time::Duration;

use memchr::memmem;

use super::{json_rpc_request::number_after, streamed_message::push_chunk};
use crate::piece_stamp::PieceStamp;

/// The beginning of the prompt that starts such a turn, with the JSON before it.
const PROMPT_START: &[u8] = b"\"text\":\"bench/ask ";

/// A turn that requests a permission, reports when it read the answer, and requests the next one.
#[derive(Debug)]
pub(crate) struct PermissionTurn {
    /// The id of the prompt, as the bytes of its JSON value.
    pub(super) prompt: Vec<u8>,
    /// The number of permissions that have not been requested yet.
    left: u64,
}

impl PermissionTurn {
    /// Reads the parameters from a prompt; `None` if it starts another kind of turn.
    pub(super) fn from_prompt(line: &[u8], id: &[u8]) -> Option<Self> {
        let words = &line[memmem::find(line, PROMPT_START)?..];
        Some(Self { prompt: id.to_vec(), left: number_after(words, b"count=") })
    }

    /// Formats the prompt that starts this turn.
    pub(crate) fn prompt(count: u64) -> String {
        format!("bench/ask count={count}")
    }

    /// Appends the next permission request to `output`; returns false if there was none left.
    pub(super) fn request_permission(&mut self, output: &mut Vec<u8>) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = left;
        // Agent and client number their requests independently. A text id cannot be confused with the client's
        // numbers.
        let request = format!(
            r#"{{"jsonrpc":"2.0","id":"ask-{left}","method":"session/request_permission","params":{{"sessionId":"stub","toolCall":{{"toolCallId":"call-{left}","title":"Remove it","kind":"delete","status":"pending","rawInput":{{"path":"build"}}}},"options":[{{"optionId":"allow","name":"Remove","kind":"allow_once"}},{{"optionId":"reject","name":"Keep","kind":"reject_once"}}]}}}}"#
        );
        output.extend_from_slice(request.as_bytes());
        output.push(b'\n');
        true
    }

    /// Appends a piece of text that carries the time at which the stub read the answer.
    pub(super) fn report_answer(&self, at: Duration, output: &mut Vec<u8>) {
        push_chunk(PieceStamp { at, number: self.left }, 0, output);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permission_is_requested_as_often_as_the_prompt_says() {
        let prompt = format!(r#"{{"text":"{}"}}"#, PermissionTurn::prompt(2));
        let (mut turn, mut requests) =
            (PermissionTurn::from_prompt(prompt.as_bytes(), b"7").unwrap(), Vec::new());
        let requested = [(); 3].map(|()| turn.request_permission(&mut requests));
        assert_eq!(requested, [true, true, false]);
        let lines: Vec<_> = requests.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
        assert!(lines.iter().all(|line| serde_json::from_slice::<serde_json::Value>(line).is_ok()));
        assert_eq!(lines.len(), 2);
    }
}
