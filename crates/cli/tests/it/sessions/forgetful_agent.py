"""An ACP agent that keeps no conversation: a process that comes after another knows nothing of it."""

import json
import sys


def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


for line in sys.stdin:
    message = json.loads(line)
    match message.get("method"):
        case "initialize":
            send(id=message["id"], result={"protocolVersion": 1, "agentCapabilities": {}})
        case "session/new":
            send(id=message["id"], result={"sessionId": "s"})
        case "session/prompt":
            text = message["params"]["prompt"][0]["text"]
            if text == "die":
                sys.exit(3)
            content = {"type": "text", "text": text}
            update = {"sessionUpdate": "agent_message_chunk", "content": content}
            send(method="session/update", params={"sessionId": "s", "update": update})
            send(id=message["id"], result={"stopReason": "end_turn"})
