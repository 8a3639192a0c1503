import { until } from "tombolo-testing";
import { expect, test } from "vitest";
import { sandbox } from "../../react/tests/sandbox.js";
import { type Chat, chat, isReady, partsOf, textOf } from "./chat.js";

const here = sandbox();

test.each([
  [true, "output-available", "allow"],
  [false, "output-denied", "reject"],
])("an approval is answered in the chat: %s", async (approved, state, answered) => {
  const id = `approval-${approved}`;
  using shown = await chat(here.client, id);
  await shown.until(({ status }) => status === "ready");
  await shown.now().sendMessage({ text: "first\n/permission\nlast" });
  const { messages } = await shown.until(isReady, "asked");
  const asked = partsOf(messages[1])?.find((part) => part.type === "dynamic-tool");
  expect(asked).toMatchObject({ state: "approval-requested", toolName: "Remove everything" });
  expect((await here.client.sessions.get(id)).state).toBe("waiting");
  if (asked?.state !== "approval-requested") throw new Error("it does not wait");
  await shown.now().addToolApprovalResponse({ id: asked.approval.id, approved });
  const { messages: after } = await shown.until(
    (now) => isReady(now) && (textOf(now.messages[1])?.endsWith("last") ?? false),
    "answered",
  );
  expect(after.length, "it is the same turn").toBe(2);
  expect(textOf(after[1])).toContain(`permission answered: ${answered}`);
  expect(partsOf(after[1])?.filter(({ type }) => type === "dynamic-tool")).toMatchObject([{ state }]);
});

test("another client may answer first", async () => {
  using shown = await chat(here.client, "faster");
  await shown.until(({ status }) => status === "ready");
  await shown.now().sendMessage({ text: "/permission\nlast" });
  await shown.until(isReady, "asked");
  const [wait] = await here.client.waits.list();
  await here.client.waits.answer(wait?.id ?? "", { permission: "always" });
  await shown.now().addToolApprovalResponse({ id: wait?.id ?? "", approved: false });
  await shown.until(({ messages }) => textOf(messages[1])?.endsWith("last") ?? false, "it went on");
  expect(textOf(shown.now().messages[1])).toContain("permission answered: always");
});

test("a question is part of the chat, and the stream continues after the answer", async () => {
  using shown = await chat(here.client, "question");
  await shown.until(({ status }) => status === "ready");
  void shown.now().sendMessage({ text: "/approve First this" });
  const waitOf = ({ messages }: Chat) => partsOf(messages[1])?.find(({ type }) => type === "data-wait");
  await shown.until((now) => waitOf(now) !== undefined, "asked");
  expect(waitOf(shown.now())).toMatchObject({
    data: { settlement: null, request: { question: { plan: "First this" } } },
  });
  const [wait] = await here.client.waits.list();
  await here.client.waits.answer(wait?.id ?? "", "reject", { author: "ada" });
  await shown.until(isReady, "ready");
  expect(waitOf(shown.now())).toMatchObject({
    data: { settlement: { outcome: { question: "rejected" }, author: "ada" } },
  });
});

test("resuming shows the whole running turn", async () => {
  await here.client.sessions.create("resumed", { agent: "mock" });
  await here.client.sessions.send("resumed", "hello\n/permission\nlast");
  await until(async () => (await here.client.waits.list()).length === 1, "asked");
  using shown = await chat(here.client, "resumed", { resume: true });
  const { messages } = await shown.until(
    ({ messages, status }) => messages.length === 1 && status === "ready",
    "shown",
  );
  expect(partsOf(messages[0])).toMatchObject([{ text: "hello" }, { state: "approval-requested" }]);
  const [wait] = await here.client.waits.list();
  await shown.now().addToolApprovalResponse({ id: wait?.id ?? "", approved: true });
  await shown.until(({ messages }) => textOf(messages[0])?.endsWith("last") ?? false, "it went on");
  expect(shown.now().messages.length).toBe(1);
});
