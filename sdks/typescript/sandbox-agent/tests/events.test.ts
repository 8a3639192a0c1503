import {
  type PermissionRequest,
  ProblemError,
  type QuestionRequest,
  SandboxAgentClient,
  type SandboxAgentOptions,
} from "@tombolo/sandbox-agent";
import { Network, until } from "tombolo-testing";
import { daemonOf } from "tombolo-testing/vitest";
import { expect, test } from "vitest";
import { chunks, Reading, texts } from "./talking.js";

const daemon = daemonOf();
const clientOf = (options: Partial<SandboxAgentOptions> = {}): SandboxAgentClient =>
  new SandboxAgentClient({ baseUrl: daemon.url, agent: "mock", ...options });
const directory = "/";

test("updates of the agent are converted to the types of this package", async () => {
  await using client = clientOf();
  const reading = new Reading(client.events());
  const { sessionId } = await client.newSession({ directory });
  await client.prompt(sessionId, "hello\n/think about it\n/tool\n/plan\n/commands");
  const types = reading.items.map((event) => event.type === "sessionUpdate" && event.update.type);
  expect([...new Set(types)]).toEqual([
    "agentMessage",
    "thought",
    "toolCall",
    "toolCallUpdate",
    "plan",
    "commands",
  ]);
  const updates = reading.items.flatMap((event) => (event.type === "sessionUpdate" ? [event.update] : []));
  expect(updates[1]).toEqual({ type: "thought", content: { type: "text", text: "about it" } });
  const call = updates.find(({ type }) => type === "toolCall");
  expect(call).toMatchObject({ call: { callId: expect.any(String), title: expect.any(String) } });
  const plan = updates.find(({ type }) => type === "plan");
  expect(plan).toMatchObject({ steps: [{ text: expect.any(String), status: expect.any(String) }, {}, {}] });
  const commands = updates.find(({ type }) => type === "commands");
  expect(commands).toMatchObject({ commands: [{ name: "review", description: "Looks at a change" }] });
  expect(
    reading.items.every((event) => event.type === "sessionUpdate" && event.sessionId === sessionId),
  ).toBe(true);
});

test("typescript-5: an invalid line is a parse error", async () => {
  await using client = clientOf();
  const reading = new Reading(client.events());
  const { sessionId } = await client.newSession({ directory });
  await client.prompt(sessionId, "/garbage");
  const errors = reading.items.filter(({ type }) => type === "parseError");
  expect(errors.length).toBe(5);
  expect(errors[0]).toEqual({ type: "parseError", text: "this is not JSON", bytes: 16, truncated: false });
});

test("typescript-5: sessions end when their agent exits", async () => {
  await using client = clientOf();
  const reading = new Reading(client.events());
  const one = await client.newSession({ directory });
  const other = await client.newSession({ directory });
  const failure = await client.prompt(one.sessionId, "/crash 3").catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ProblemError);
  await until(() => reading.items.length === 2);
  expect(reading.items).toMatchObject([
    { type: "sessionEnded", sessionId: one.sessionId, reason: "agentExited", code: 3, signal: null },
    { type: "sessionEnded", sessionId: other.sessionId, reason: "agentExited", code: 3 },
  ]);
  expect(await client.listSessions()).toMatchObject([{ ended: true }, { ended: true }]);
  await client.disconnect();
  await client.connect();
  const { sessionId } = await client.newSession({ directory });
  expect(await client.prompt(sessionId, "hello")).toEqual({ stopReason: "end_turn" });
});

test("typescript-5: terminating a session ends it and its turn", async () => {
  await using client = clientOf();
  const reading = new Reading(client.events());
  const { sessionId } = await client.newSession({ directory });
  const prompt = client.prompt(sessionId, "begun\n/hang");
  await until(() => texts(reading.items).includes("begun"));
  await client.terminateSession(sessionId);
  expect(await prompt).toEqual({ stopReason: "cancelled" });
  const ends = reading.items.filter(({ type }) => type === "sessionEnded");
  expect(ends).toEqual([{ type: "sessionEnded", sessionId, reason: "terminated" }]);
  await client.terminateSession(sessionId);
  expect(reading.items.filter(({ type }) => type === "sessionEnded").length).toBe(1);
});

test("a detached session sends no more events, and continues", async () => {
  await using client = clientOf();
  const reading = new Reading(client.events());
  const [one, other] = [await client.newSession({ directory }), await client.newSession({ directory })];
  const prompt = client.prompt(one.sessionId, "begun\n/hang");
  await until(() => texts(reading.items).includes("begun"));
  await client.detachSession(one.sessionId);
  await client.cancel(one.sessionId);
  expect(await prompt).toEqual({ stopReason: "cancelled" });
  await client.prompt(one.sessionId, "unheard");
  await client.prompt(other.sessionId, "heard");
  expect(texts(reading.items)).toEqual(["begun", "heard"]);
  await client.loadSession(one.sessionId, { directory });
  await client.prompt(one.sessionId, "heard again");
  expect(texts(reading.items).at(-1)).toBe("heard again");
});

test("cancel ends a turn", async () => {
  await using client = clientOf();
  const reading = new Reading(client.events());
  const { sessionId } = await client.newSession({ directory });
  const prompt = client.prompt(sessionId, "begun\n/hang");
  await until(() => texts(reading.items).includes("begun"));
  await client.cancel(sessionId);
  expect(await prompt).toEqual({ stopReason: "cancelled" });
});

test("onPermission answers a permission request", async () => {
  const asked: PermissionRequest[] = [];
  const answers: (string | undefined)[] = [];
  const onPermission = (request: PermissionRequest): string | undefined => {
    asked.push(request);
    return answers.shift();
  };
  await using client = clientOf({ onPermission });
  const reading = new Reading(client.events());
  const { sessionId } = await client.newSession({ directory });
  answers.push("reject");
  await client.prompt(sessionId, "/permission");
  expect(asked[0]).toMatchObject({ sessionId, call: { callId: expect.stringMatching(/./) } });
  const allow = asked[0]?.options.find(({ kind }) => kind === "allow_once");
  const before = texts(reading.items).join();
  answers.push(allow?.id);
  await client.prompt(sessionId, "/permission");
  expect(texts(reading.items).join()).not.toBe(before);
  expect(texts(reading.items).at(-1)).toContain(allow?.id);
});

test("onQuestion answers a question", async () => {
  const asked: QuestionRequest[] = [];
  const answers: (Record<string, unknown> | undefined)[] = [{ a_colour: "r" }, undefined];
  const onQuestion = (request: QuestionRequest): Record<string, unknown> | undefined => {
    asked.push(request);
    return answers.shift();
  };
  await using client = clientOf({ onQuestion });
  const reading = new Reading(client.events());
  const { sessionId } = await client.newSession({ directory });
  await client.prompt(sessionId, "/question\n/question");
  expect(asked[0]).toMatchObject({ sessionId, message: "Some questions", schema: { type: "object" } });
  expect(texts(reading.items)).toEqual(['question answered: {"a_colour":"r"}', "question answered: cancel"]);
});

test("a handler may return nothing or throw without blocking the agent", async () => {
  await using silent = clientOf();
  const reading = new Reading(silent.events());
  const { sessionId } = await silent.newSession({ directory });
  await silent.prompt(sessionId, "/permission\n/question");
  expect(texts(reading.items)[0]).toContain("cancelled");
  expect(texts(reading.items)[1]).toContain("question");
  const onPermission = (): never => {
    throw new Error("nobody is here");
  };
  await using failing = clientOf({ onPermission });
  const other = await failing.newSession({ directory });
  expect(await failing.prompt(other.sessionId, "/permission")).toMatchObject({
    stopReason: expect.any(String),
  });
});

test("typescript-8: lost connections lose and duplicate nothing", async () => {
  await using network = await Network.start(daemon.port);
  await using client = clientOf({ baseUrl: network.url });
  const reading = new Reading(client.events());
  const { sessionId } = await client.newSession({ directory });
  const prompt = client.prompt(sessionId, "/drip 100 5");
  for (let cut = 1; cut <= 3; cut += 1) {
    await until(() => texts(reading.items).length >= cut * 20);
    network.cut();
  }
  expect(await prompt).toEqual({ stopReason: "end_turn" });
  expect(texts(reading.items)).toEqual(chunks(100));
});

test("an aborted reader throws its reason, and others continue", async () => {
  await using client = clientOf();
  const stop = new AbortController();
  const [one, other] = [new Reading(client.events({ signal: stop.signal })), new Reading(client.events())];
  const { sessionId } = await client.newSession({ directory });
  await client.prompt(sessionId, "hello");
  await until(() => texts(one.items).length === 1);
  stop.abort(new Error("enough"));
  await expect(one.done).rejects.toThrow("enough");
  await client.prompt(sessionId, "/chunks 1000");
  expect(texts(other.items).length).toBe(1001);
});

test("a prompt resolves after all readers have taken its events, however slowly", async () => {
  let answers = 0;
  const counting: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (init?.method !== "POST") return response;
    const whole = new Response(await response.text(), response);
    answers += 1;
    return whole;
  };
  await using client = clientOf({ fetch: counting });
  const { sessionId } = await client.newSession({ directory });
  const [slow, leaving, unread] = [client.events(), client.events(), client.events()];
  let over = false;
  const prompt = client.prompt(sessionId, "/chunks 3").finally(() => {
    over = true;
  });
  await Promise.all([slow.next(), leaving.next()]);
  await until(() => answers === 3);
  for (const leave of [() => slow.next(), () => slow.next(), () => leaving.return(undefined)]) {
    await client.cancel(sessionId);
    expect(over).toBe(false);
    await leave();
  }
  await client.cancel(sessionId);
  expect(over).toBe(false);
  // Requesting the next event acknowledges the last.
  const next = slow.next();
  expect(await prompt).toEqual({ stopReason: "end_turn" });
  await client.disconnect();
  expect(await next).toEqual({ done: true, value: undefined });
  // The prompt did not wait for a reader that had not started, and that reader still gets all events.
  const reading = new Reading(unread);
  await reading.done;
  expect(texts(reading.items)).toEqual(chunks(3));
});

test("an aborted prompt does not wait for readers", async () => {
  await using client = clientOf();
  const { sessionId } = await client.newSession({ directory });
  const slow = client.events();
  const stop = new AbortController();
  const prompt = client.prompt(sessionId, "/chunks 3", { signal: stop.signal });
  await slow.next();
  stop.abort(new Error("enough"));
  await expect(prompt).rejects.toThrow("enough");
});

test("a reader may await calls that do not wait for it", async () => {
  await using client = clientOf();
  const { sessionId } = await client.newSession({ directory });
  const begun = (async () => {
    for await (const event of client.events()) {
      if (event.type !== "sessionUpdate") continue;
      const { sessionId } = await client.newSession({ directory });
      return sessionId;
    }
    return undefined;
  })();
  await client.prompt(sessionId, "/chunks 3");
  expect(await begun).toMatch(/^mock-/);
});
