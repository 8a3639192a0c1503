import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { AcpHttpClient, ConnectionError, ProblemError, ProtocolError } from "@tombolo/acp-http-client";
import { until } from "tombolo-testing";
import { daemonOf } from "tombolo-testing/vitest";
import { expect, test } from "vitest";
import { converse, Reading } from "./conversing.js";
import { instanceOf } from "./daemon.js";

const CONFIG = `
[agents.broken]
command = ["/nonexistent/agent"]
`;
const daemon = daemonOf({ config: CONFIG });
const clientOf = (serverId: string, options = {}): AcpHttpClient =>
  new AcpHttpClient({ baseUrl: daemon.url, serverId, agent: "mock", ...options });

/** The problem that a promise rejects with. */
async function problemOf(promise: Promise<unknown>): Promise<ProblemError> {
  const error = await promise.then(
    () => undefined,
    (error) => error,
  );
  expect(error).toBeInstanceOf(ProblemError);
  return error;
}

test("an error response is a ProblemError with all members of the document", async () => {
  await using client = clientOf("first");
  await converse(client);
  await using other = clientOf("first", { agent: "broken" });
  const problem = await problemOf(other.request("initialize"));
  expect(problem).toMatchObject({
    type: "urn:problem:agent-mismatch",
    title: "The instance belongs to another agent",
    status: 409,
    documented: true,
  });
  expect(problem.detail).toContain("instance `first` runs agent `mock`");
  expect(problem.message).toBe(`${problem.title}: ${problem.detail}`);
  expect(problem.problem.requestId).toEqual(expect.any(String));
});

test("each kind of error response has its type", async () => {
  const asks: [string, AcpHttpClient, number, string][] = [
    ["no agent", clientOf("nobody", { agent: undefined }), 400, "agent-required"],
    ["unknown agent", clientOf("nobody", { agent: "unheard-of" }), 400, "unknown-agent"],
    ["bad id", clientOf("what an id"), 400, "invalid-request"],
    ["no program", clientOf("nobody", { agent: "broken" }), 502, "agent-start"],
  ];
  for (const [what, client, status, type] of asks) {
    const problem = await problemOf(client.request("initialize"));
    expect(problem, what).toMatchObject({ status, type: `urn:problem:${type}` });
    await client.close();
  }
});

test("reading an instance that does not exist fails if the client has no agent", async () => {
  await using client = clientOf("absent", { agent: undefined });
  const problem = await problemOf(client.events().next());
  expect(problem).toMatchObject({ status: 404, type: "urn:problem:instance-not-found" });
});

test("a request id that is in use is rejected", async () => {
  await using client = clientOf("in-flight");
  const session = await converse(client);
  const params = { sessionId: session.sessionId, prompt: [{ type: "text", text: "/hang" }] };
  await client.send({ jsonrpc: "2.0", id: 7, method: "session/prompt", params });
  const problem = await problemOf(client.send({ jsonrpc: "2.0", id: 7, method: "session/load" }));
  expect(problem).toMatchObject({ status: 409, type: "urn:problem:id-in-flight" });
});

test("a late response is a problem, and later an event of the stream", async () => {
  await using client = clientOf("late");
  const reading = new Reading(client);
  const session = await converse(client);
  const problem = await problemOf(session.prompt("/drip 4 50", { timeoutMs: 50 }));
  expect(problem).toMatchObject({ status: 504, type: "urn:problem:agent-timeout" });
  await until(() => reading.messages.length === 2 + 4 + 1);
  expect(reading.messages.at(-1)).toMatchObject({ result: { stopReason: "end_turn" } });
  const late = session.prompt("/hang", { timeoutMs: 50, respondAsync: true });
  await expect(late).rejects.toMatchObject({ name: "TimeoutError" });
});

/** A server with scripted answers, in place of a daemon. */
async function serverOf(answer: RequestListener): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

test("a message is sent again after a busy server or gateway", async () => {
  const answers = [503, 502, 429, 504, 200];
  const keys = new Set<string | undefined>();
  await using server = await serverOf((request, response) => {
    keys.add(request.headers["idempotency-key"] as string | undefined);
    const status = answers.shift() ?? 500;
    if (status !== 200) {
      response.writeHead(status, { "retry-after": "0" }).end("come back later");
      return;
    }
    let body = "";
    request.on("data", (bytes) => {
      body += bytes;
    });
    request.on("end", () => {
      const asked = JSON.parse(body) as { id: string };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ jsonrpc: "2.0", id: asked.id, result: "at last" }));
    });
  });
  await using client = new AcpHttpClient({ baseUrl: server.url, serverId: "busy" });
  expect(await client.request("initialize")).toBe("at last");
  expect(answers).toEqual([]);
  expect(keys.size).toBe(1);
});

test("an error response that is not a problem document becomes the detail", async () => {
  await using server = await serverOf((_, response) => response.writeHead(418).end("I'm a teapot"));
  await using client = new AcpHttpClient({ url: `${server.url}/elsewhere` });
  const problem = await problemOf(client.request("initialize"));
  expect(problem).toMatchObject({ type: "about:blank", status: 418, documented: false });
  expect(problem.detail).toBe("I'm a teapot");
});

test("a response that is not a stream of events is a ProtocolError", async () => {
  await using server = await serverOf((_, response) => response.end("<html>"));
  await using client = new AcpHttpClient({ url: server.url });
  await expect(client.events().next()).rejects.toBeInstanceOf(ProtocolError);
  await expect(client.request("initialize")).rejects.toBeInstanceOf(ProtocolError);
});

test("an unreachable server is a ConnectionError", async () => {
  const reconnect = { giveUpAfterMs: 100, maxDelayMs: 20 };
  await using client = new AcpHttpClient({ url: "http://127.0.0.1:1/", reconnect });
  await expect(client.request("initialize")).rejects.toBeInstanceOf(ConnectionError);
  await expect(client.events().next()).rejects.toBeInstanceOf(ConnectionError);
});

test("an unknown control event does not end the stream", async () => {
  const message = { jsonrpc: "2.0", method: "hello" };
  await using server = await serverOf((request, response) => {
    if (request.headers["last-event-id"] !== "0") {
      response.writeHead(404).end();
      return;
    }
    response.setHeader("content-type", "text/event-stream");
    const frames = [
      "event: news\ndata: {}",
      "data: not json\nid: 1",
      `retry: 5\nid: 2\ndata: ${JSON.stringify(message)}`,
    ];
    response.end(`${frames.join("\n\n")}\n\n`);
  });
  await using client = new AcpHttpClient({ url: server.url });
  const reading = new Reading(client);
  await reading.heard("gone");
  expect(reading.events).toEqual([
    { type: "unknown", event: "news", data: "{}" },
    { type: "unparsed", text: "not json", bytes: 8, truncated: false },
    { type: "message", eventId: 2, message },
    { type: "gone" },
  ]);
});

test("close({ delete: true }) deletes the instance", async () => {
  const client = clientOf("ended");
  await converse(client);
  expect((await instanceOf(daemon.url, "ended"))?.state).toBe("running");
  await client.close();
  expect((await instanceOf(daemon.url, "ended"))?.state).toBe("running");
  await client.close({ delete: true });
  expect(await instanceOf(daemon.url, "ended")).toBeUndefined();
});
