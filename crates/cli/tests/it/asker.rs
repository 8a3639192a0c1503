//! An agent that asks for many permissions at once.

use serde_json::Value;
use testkit::TestDaemonOptions;

/// Asks for as many permissions as it is told to, one a millisecond or so, and waits for all answers. The tool's arguments
/// are those that it is given, if any.
const SCRIPT: &str = r#"
import json, sys, time
def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
count, prompt, open_asks = int(sys.argv[1]), None, set()
more = {"rawInput": json.loads(sys.argv[2])} if len(sys.argv) > 2 else {}
for line in sys.stdin:
    heard = json.loads(line)
    method, id = heard.get("method"), heard.get("id")
    if method == "initialize":
        say({"id": id, "result": {"protocolVersion": 1, "agentCapabilities": {}}})
    elif method == "session/new":
        say({"id": id, "result": {"sessionId": "asker-1"}})
    elif method == "session/prompt":
        prompt = id
        for number in range(count):
            open_asks.add(f"ask-{number}")
            call = {"toolCallId": f"call-{number}", "title": f"Ask {number}", "kind": "delete", "status": "pending", **more}
            options = [
                {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
                {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
            ]
            params = {"sessionId": "asker-1", "toolCall": call, "options": options}
            say({"id": f"ask-{number}", "method": "session/request_permission", "params": params})
            time.sleep(0.001)
    elif method == "session/cancel":
        say({"id": prompt, "result": {"stopReason": "cancelled"}})
    elif method is None and id in open_asks:
        open_asks.remove(id)
        if not open_asks:
            say({"id": prompt, "result": {"stopReason": "end_turn"}})
    elif id is not None and method is not None:
        say({"id": id, "error": {"code": -32601, "message": "no such method"}})
"#;

/// A daemon whose agent `asker` asks so much.
pub(crate) fn asker(count: usize) -> TestDaemonOptions {
    TestDaemonOptions::default().agent("asker", &["python3", "-uc", SCRIPT, &count.to_string()])
}

/// A daemon whose agent `asker` asks once, for a tool call with these arguments.
pub(crate) fn asker_with_input(input: &Value) -> TestDaemonOptions {
    let input = input.to_string();
    TestDaemonOptions::default().agent("asker", &["python3", "-uc", SCRIPT, "1", &input])
}
