import {
  client as app,
  type ClientApp,
  type ClientContext,
  methods,
  RequestError,
} from "@agentclientprotocol/sdk";
import { AcpHttpClient, ExitedError, GapError, GoneError } from "@tombolo/acp-http-client";
import { Network, until } from "tombolo-testing";
import { daemonOf } from "tombolo-testing/vitest";
import { expect, test } from "vitest";
import { chunks } from "./conversing.js";
import { instanceOf } from "./daemon.js";

const daemon = daemonOf({ args: ["--events-max", "600"] });
const clientOf = (serverId: string, options = {}): AcpHttpClient =>
  new AcpHttpClient({ baseUrl: daemon.url, serverId, agent: "mock", ...options });

/** An editor that grants every permission and records the updates. */
function editorOf(texts: string[]): ClientApp {
  return app({ name: "test" })
    .onNotification(methods.client.session.update, ({ params: { update } }) => {
      if (update.sessionUpdate !== "agent_message_chunk" || update.content.type !== "text") return;
      texts.push(update.content.text);
    })
    .onRequest(methods.client.session.requestPermission, ({ params: { options } }) => ({
      outcome: { outcome: "selected", optionId: options[1]?.optionId ?? "" },
    }));
}

/** A session of an editor. */
async function sessionOf(agent: ClientContext): Promise<{
  sessionId: string;
  prompt(text: string): Promise<{ stopReason: string }>;
}> {
  await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await agent.request(methods.agent.session.new, { cwd: "/", mcpServers: [] });
  return {
    sessionId,
    prompt: (text) =>
      agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] }),
  };
}

test("typescript-9: the official SDK works on top of the stream, including permission requests", async () => {
  await using client = clientOf("official");
  const texts: string[] = [];
  await editorOf(texts).connectWith(client.stream(), async (agent) => {
    const { agentInfo } = await agent.request(methods.agent.initialize, {
      protocolVersion: 1,
      clientCapabilities: {},
    });
    expect(agentInfo?.name).toBe("mock");
    const { sessionId } = await agent.request(methods.agent.session.new, { cwd: "/", mcpServers: [] });
    const ask = (text: string) =>
      agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
    expect((await ask("hello\n/permission\n/chunks 3")).stopReason).toBe("end_turn");
    expect(texts).toEqual(["hello", "permission answered: reject", ...chunks(3)]);
    const hanging = ask("before\n/hang");
    await until(() => texts.includes("before"));
    await agent.notify(methods.agent.session.cancel, { sessionId });
    expect((await hanging).stopReason).toBe("cancelled");
    await expect(ask("/fail -32000 No credit")).rejects.toMatchObject({ code: -32000, message: "No credit" });
  });
  // The stream is closed, so nothing reads it.
  await until(async () => (await instanceOf(daemon.url, "official"))?.subscribers === 0);
});

test("typescript-9: the official SDK does not notice lost connections", async () => {
  await using network = await Network.start(daemon.port);
  await using client = clientOf("official-cut", { baseUrl: network.url });
  const texts: string[] = [];
  await editorOf(texts).connectWith(client.stream(), async (agent) => {
    const session = await sessionOf(agent);
    for (let turn = 0; turn < 10; turn += 1) {
      texts.length = 0;
      const cut = setTimeout(() => network.cutAny(), Math.random() * 10);
      expect((await session.prompt("/chunks 200")).stopReason).toBe("end_turn");
      expect(texts).toEqual(chunks(200));
      clearTimeout(cut);
    }
  });
});

test("a second stream of an instance does not receive messages of the first", async () => {
  for (const round of [1, 2]) {
    await using client = clientOf("second");
    const texts: string[] = [];
    await editorOf(texts).connectWith(client.stream(), async (agent) => {
      const session = await sessionOf(agent);
      await session.prompt(`round ${round}`);
      expect(texts).toEqual([`round ${round}`]);
    });
  }
});

test("a request that the server rejects is answered with the problem", async () => {
  await using client = clientOf("refused", { agent: "unheard-of" });
  await editorOf([]).connectWith(client.stream(), async (agent) => {
    const failure = await sessionOf(agent).catch((error) => error);
    expect(failure).toBeInstanceOf(RequestError);
    expect(failure).toMatchObject({ code: -32600, data: { type: "urn:problem:unknown-agent" } });
  });
});

test("a stream fails when the agent exits", async () => {
  await using client = clientOf("crashing");
  const connection = editorOf([]).connect(client.stream());
  const session = await sessionOf(connection.agent);
  const failure = await session.prompt("/crash 5").catch((error) => error);
  expect(failure).toBeInstanceOf(ExitedError);
  expect(failure.exit.code).toBe(5);
  await connection.closed;
});

test("a stream fails when the instance is deleted, and at a gap", async () => {
  await using network = await Network.start(daemon.port);
  for (const [kind, ends] of [
    ["gone", GoneError],
    ["gap", GapError],
  ] as const) {
    const reconnect = { initialDelayMs: 10, maxDelayMs: 50 };
    await using client = clientOf(kind, { baseUrl: network.url, reconnect });
    const connection = editorOf([]).connect(client.stream());
    const { sessionId } = await sessionOf(connection.agent);
    network.refuse(true);
    network.cut();
    await using other = clientOf(kind);
    if (kind === "gone") await other.close({ delete: true });
    else {
      await other.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "/chunks 2000" }] });
    }
    network.refuse(false);
    await connection.closed;
    expect(connection.signal.reason).toBeInstanceOf(ends);
  }
});

test("a gap does not end a stream that has onControl", async () => {
  await using network = await Network.start(daemon.port);
  const reconnect = { initialDelayMs: 10, maxDelayMs: 50 };
  await using client = clientOf("told", { baseUrl: network.url, reconnect });
  const [texts, told]: [string[], string[]] = [[], []];
  const connection = editorOf(texts).connect(client.stream({ onControl: ({ type }) => told.push(type) }));
  const { sessionId, prompt } = await sessionOf(connection.agent);
  network.refuse(true);
  network.cut();
  await using other = clientOf("told");
  const params = { sessionId, prompt: [{ type: "text", text: "/garbage\n/chunks 2000\n/garbage" }] };
  await other.request("session/prompt", params);
  network.refuse(false);
  await until(() => texts.includes("chunk 2000 "));
  await prompt("still here");
  expect(texts.at(-1)).toBe("still here");
  expect(told).toEqual(["gap", ...Array.from({ length: 5 }, () => "unparsed")]);
  connection.close();
});
