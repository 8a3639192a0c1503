"""An ACP agent that greets when a session begins, asks with a form, and otherwise repeats what it is told."""

import json
import sys

# The order of the fields is the agent's; a client must keep it.
FORM = {
    "mode": "form",
    "sessionId": "s",
    "message": "Fill in the deploy form",
    "requestedSchema": {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "count": {"type": "integer", "default": 2},
            "ratio": {"type": "number", "title": "Ratio"},
            "dry": {"type": "boolean"},
            "area": {"type": "string", "enum": ["north", "south"]},
        },
        "required": ["name"],
    },
}


def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def say(text):
    content = {"type": "text", "text": text}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    send(method="session/update", params={"sessionId": "s", "update": update})


prompt = None
for line in sys.stdin:
    message = json.loads(line)
    match message.get("method"):
        case "initialize":
            send(id=message["id"], result={"protocolVersion": 1, "agentCapabilities": {}})
        case "session/new":
            send(id=message["id"], result={"sessionId": "s"})
            say("Wel")
            say("come!")
        case "session/prompt":
            prompt = message["id"]
            text = message["params"]["prompt"][0]["text"]
            if text == "form":
                send(id="form", method="elicitation/create", params=FORM)
                continue
            say("echo:" + text)
            send(id=prompt, result={"stopReason": "end_turn"})
        case None if message.get("id") == "form":
            say(json.dumps(message["result"], sort_keys=True))
            send(id=prompt, result={"stopReason": "end_turn"})
