import { SessionChatTransport } from "@tombolo/ai-sdk";
import { reduceSession, type SessionClient, type SessionSnapshot } from "@tombolo/session";
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { describe, expect, test } from "vitest";
import { type Case, cases } from "../../session/tests/cases.js";

/** A client that replays the events of a recorded session. */
function recorded({ events, states }: Case, now: SessionSnapshot, turnId: string): SessionClient {
  const unused = () => expect.fail("this is not asked");
  return {
    sessions: {
      snapshot: async () => now,
      async *events(_, { after = 0 } = {}) {
        for (const { seq = 0, time, event } of events) if (seq > after) yield { seq, time, event };
      },
      send: async () => ({ inputId: "inp", turnId, state: "accepted" }),
      cancel: unused,
    },
    waits: {
      events: unused,
      answer: async () => states[0]?.snapshot.waits[0] ?? ({} as never),
    },
  };
}

/** The final message of a stream. The AI SDK throws if chunks are inconsistent. */
async function messageOf(stream: ReadableStream<UIMessageChunk>, message?: UIMessage): Promise<UIMessage> {
  let last = message;
  for await (const next of readUIMessageStream({
    stream,
    terminateOnError: false,
    ...(message && { message }),
  })) {
    last = next;
  }
  return last ?? expect.fail("nothing was said");
}

/** Follows a turn to its end, and grants every permission. */
async function followed(found: Case, turnId: string, from: SessionSnapshot): Promise<UIMessage> {
  const sessionId = () => found.start.session.id;
  const transport = new SessionChatTransport(recorded(found, from, turnId), { sessionId });
  const messages: UIMessage[] = [{ id: "u", role: "user", parts: [{ type: "text", text: "go" }] }];
  const ask = {
    trigger: "submit-message",
    chatId: "c",
    messageId: undefined,
    abortSignal: undefined,
  } as const;
  let shown = await messageOf(await transport.sendMessages({ ...ask, messages }));
  for (let asked = 0; asked < 9 && shown.parts.some(isAsking); asked += 1) {
    shown = { ...shown, parts: shown.parts.map(allowed) };
    shown = await messageOf(await transport.sendMessages({ ...ask, messages: [...messages, shown] }), shown);
  }
  return shown;
}

const isAsking = (part: UIMessage["parts"][number]) => "state" in part && part.state === "approval-requested";

function allowed(part: UIMessage["parts"][number]): UIMessage["parts"][number] {
  if (part.type !== "dynamic-tool" || part.state !== "approval-requested") return part;
  return { ...part, state: "approval-responded", approval: { ...part.approval, approved: true } };
}

const said = (shown: UIMessage, kind: "text" | "reasoning") =>
  shown.parts.flatMap((part) => (part.type === kind ? part.text : [])).join("");

const real = cases.filter(([name]) => !name.startsWith("edge-"));

describe.each(real)("%s", (_, found) => {
  const { start, events } = found;
  const states = [start];
  for (const told of events) states.push(reduceSession(states.at(-1) ?? start, told));
  const end = states.at(-1) ?? start;
  const turns = events.flatMap(({ event }, at) =>
    "turnStarted" in event ? [{ id: event.turnStarted.turnId, before: states[at] ?? start }] : [],
  );
  const told = (turnId: string, kind: "text" | "reasoning") =>
    end.messages
      .filter((message) => message.turnId === turnId && message.role === "assistant")
      .filter(({ parentToolCallId }) => parentToolCallId === undefined)
      .flatMap(({ parts }) => parts.flatMap((part) => (part.type === kind ? part.text : [])))
      .join("");

  test("each turn becomes one chat message with all of its parts", async () => {
    expect(turns.length).toBeGreaterThan(0);
    for (const { id, before } of turns) {
      const shown = await followed(found, id, before);
      expect(shown).toMatchObject({ id, role: "assistant" });
      expect(said(shown, "text")).toBe(told(id, "text"));
      expect(said(shown, "reasoning")).toBe(told(id, "reasoning"));
      for (const part of shown.parts) {
        if (part.type === "dynamic-tool") expect(part.state).toMatch(/^output-/);
        if (part.type === "text") expect(part.state).toBe("done");
      }
    }
  });

  test("resuming in the middle of a turn gives the same message", async () => {
    for (const { id } of turns) {
      for (const state of states.filter(({ session }) => session.turnId === id)) {
        const transport = new SessionChatTransport(recorded(found, state, id));
        const stream = (await transport.reconnectToStream({ chatId: "c" })) ?? expect.fail("no turn runs");
        const shown = await messageOf(stream);
        if (!shown.parts.some(isAsking)) expect(said(shown, "text")).toBe(told(id, "text"));
      }
    }
  });
});

test("messages of a sub-agent are not part of the message", async () => {
  const [, found] = real.find(([name]) => name === "mock-turns.json") ?? expect.fail();
  const inner = found.events.map((told) =>
    "message" in told.event && told.event.message.role === "assistant"
      ? { ...told, event: { message: { ...told.event.message, parentToolCallId: "call" } } }
      : told,
  );
  const started = found.events.find(({ event }) => "turnStarted" in event)?.event;
  const { turnId } = started !== undefined && "turnStarted" in started ? started.turnStarted : expect.fail();
  expect(said(await followed(found, turnId, found.start), "text")).not.toBe("");
  expect(said(await followed({ ...found, events: inner }, turnId, found.start), "text")).toBe("");
});
