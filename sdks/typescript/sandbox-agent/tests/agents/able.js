/** An agent with features that the mock agent lacks: it lists, forks, resumes and closes sessions, and has options. */
import { createInterface } from "node:readline";

const closed = [];
const answers = {
  initialize: ({ clientInfo }) => ({
    protocolVersion: 1,
    agentInfo: { name: "able", title: "Able agent", version: clientInfo.version },
    agentCapabilities: { sessionCapabilities: { list: {}, fork: {}, resume: {}, close: {} } },
  }),
  "session/new": () => ({ sessionId: `new-${process.pid}`, configOptions: options() }),
  "session/list": () => ({ sessions: [{ sessionId: "old", cwd: "/old", title: "An old one" }] }),
  "session/fork": ({ sessionId }) => ({ sessionId: `fork-of-${sessionId}`, configOptions: options() }),
  "session/resume": () => ({ configOptions: options() }),
  "session/close": ({ sessionId }) => {
    closed.push(sessionId);
    return {};
  },
  "session/set_config_option": ({ sessionId, configId, value }) => {
    if (configId === "none") throw { code: -32602, message: "there is no such option", data: { configId } };
    told(sessionId, `${configId} is ${value}`);
    return { configOptions: options() };
  },
  "session/prompt": ({ sessionId }) => {
    told(sessionId, `closed: ${closed.join()}`);
    return { stopReason: "end_turn" };
  },
};

const options = () => [
  {
    id: "model",
    category: "model",
    name: "Model",
    type: "select",
    currentValue: "small",
    options: [
      { value: "small", name: "Small" },
      { value: "large", name: "Large" },
    ],
  },
];
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const told = (sessionId, text) =>
  say({
    method: "session/update",
    params: { sessionId, update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } } },
  });

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  try {
    say({ id, result: answers[method](params) });
  } catch (error) {
    say({ id, error: error.code ? error : { code: -32603, message: String(error) } });
  }
}
