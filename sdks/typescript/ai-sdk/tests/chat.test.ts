import { SessionChatTransport, toUIMessages } from "@tombolo/ai-sdk";
import type { UIMessage } from "ai";
import { until } from "tombolo-testing";
import { expect, test } from "vitest";
import { sandbox } from "../../react/tests/sandbox.js";
import { chat, isReady, partsOf, textOf } from "./chat.js";

const here = sandbox();

test("text, reasoning and tool calls of the agent are in the chat", async () => {
  using shown = await chat(here.client, "whole");
  await shown.until(({ status }) => status === "ready");
  await shown.now().sendMessage({ text: "/think hm\nhello\n/tool\n/edit\nbye" });
  const { messages } = await shown.until(isReady, "ready");
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  const said = { providerExecuted: true, state: "output-available" };
  expect(partsOf(messages[1])).toMatchObject([
    { type: "reasoning", text: "hm", state: "done" },
    { type: "text", text: "hello", state: "done" },
    {
      type: "dynamic-tool",
      toolName: "List files",
      input: { command: "ls" },
      output: { output: "README.md" },
      ...said,
    },
    {
      type: "dynamic-tool",
      toolName: "Edit greeting.txt",
      output: { diffs: [{ path: "greeting.txt" }] },
      ...said,
    },
    { type: "text", text: "bye", state: "done" },
  ]);
  expect(messages[1]?.metadata).toMatchObject({ sessionId: "whole", turnId: messages[1]?.id });
});

test("closing the page does not end the turn, and a reload shows it again", async () => {
  const first = await chat(here.client, "left");
  await first.until(({ status }) => status === "ready");
  void first.now().sendMessage({ text: "hello\n/hang" });
  await first.until(({ messages }) => textOf(messages[1]) === "hello", "hello");
  first[Symbol.dispose]();
  using again = await chat(here.client, "left", { resume: true });
  const { messages } = await again.until(({ messages }) => textOf(messages[0]) === "hello", "hello again");
  expect((await here.client.sessions.get("left")).turnId).toBe(messages[0]?.id);
  await new SessionChatTransport(here.client).interrupt("left");
  await again.until(({ status }) => status === "ready", "interrupted");
  expect((await here.client.sessions.get("left")).state).toBe("idle");
});

test("a message that is sent during resume is shown once", async () => {
  await here.client.sessions.create("at-once", { agent: "mock" });
  const transport = new SessionChatTransport(here.client);
  const messages: UIMessage[] = [{ id: "u", role: "user", parts: [{ type: "text", text: "/hang" }] }];
  const asked = { trigger: "submit-message", chatId: "at-once", messageId: undefined } as const;
  const stream = await transport.sendMessages({ ...asked, messages, abortSignal: undefined });
  await until(async () => (await here.client.sessions.get("at-once")).turnId !== null, "it runs");
  expect(await transport.reconnectToStream({ chatId: "at-once" })).toBeNull();
  await stream.cancel();
  const resumed = await transport.reconnectToStream({ chatId: "at-once" });
  await resumed?.cancel();
  expect(resumed).not.toBeNull();
});

test("there is nothing to resume if no turn is running", async () => {
  await here.client.sessions.create("quiet", { agent: "mock" });
  const transport = new SessionChatTransport(here.client);
  expect(await transport.reconnectToStream({ chatId: "quiet" })).toBeNull();
});

test("a turn that fails is an error of the chat", async () => {
  using shown = await chat(here.client, "failing");
  await shown.until(({ status }) => status === "ready");
  await shown.now().sendMessage({ text: "/fail -32000 out of luck" });
  const { error } = await shown.until(({ status }) => status === "error", "error");
  expect(error?.message).toContain("out of luck");
});

test("a withdrawn message is an error of the chat", async () => {
  using shown = await chat(here.client, "withdrawn");
  await shown.until(({ status }) => status === "ready");
  await here.client.sessions.send("withdrawn", "/hang");
  void shown.now().sendMessage({ text: "later" });
  const waiting = () => here.client.sessions.inputs("withdrawn");
  await until(async () => (await waiting()).length === 1, "it waits");
  await here.client.sessions.withdrawInput("withdrawn", (await waiting())[0]?.id ?? "");
  const { error } = await shown.until(({ status }) => status === "error", "error");
  expect(error?.message).toContain("withdrawn");
});

test("regenerating a message is rejected", async () => {
  using shown = await chat(here.client, "anew");
  await shown.until(({ status }) => status === "ready");
  await shown.now().sendMessage({ text: "hello" });
  await shown.until(isReady, "ready");
  await shown.now().regenerate();
  expect((await shown.until(({ status }) => status === "error")).error?.message).toContain(
    "cannot regenerate a message",
  );
});

test("the history equals what the chat showed", async () => {
  using shown = await chat(here.client, "history");
  await shown.until(({ status }) => status === "ready");
  for (const [at, text] of ["/think hm\nhello\n/tool", "/edit\nbye"].entries()) {
    await shown.now().sendMessage({ text });
    await shown.until(({ status, messages }) => status === "ready" && messages.length === 2 * at + 2, text);
  }
  const { messages } = shown.now();
  const before = await toUIMessages(await here.client.sessions.snapshot("history"));
  expect(before.map(partsOf)).toMatchObject(messages.map(partsOf) as object[]);
  expect(before.filter(({ role }) => role === "assistant").map(({ id }) => id)).toEqual(
    messages.filter(({ role }) => role === "assistant").map(({ id }) => id),
  );
});

test("the history leaves out a running turn", async () => {
  await here.client.sessions.create("runs", { agent: "mock" });
  await here.client.sessions.send("runs", "hello\n/hang");
  const state = () => here.client.sessions.snapshot("runs");
  await until(async () => (await state()).messages.length === 2, "said");
  expect((await toUIMessages(await state())).map(({ role }) => role)).toEqual(["user"]);
  await here.client.sessions.cancel("runs");
});
