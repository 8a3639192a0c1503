import { SessionChatTransport } from "@tombolo/ai-sdk";
import type { SendMessageRequest, SessionClient } from "@tombolo/session";
import type { UIMessage } from "ai";
import { expect, test } from "vitest";
import { cases } from "../../session/tests/cases.js";

/** The request that is sent for a chat message. */
async function sentFor(parts: UIMessage["parts"]): Promise<SendMessageRequest | string> {
  const sent: (SendMessageRequest | string)[] = [];
  const unused = () => expect.fail("this is not asked");
  const client: SessionClient = {
    sessions: {
      snapshot: async () => cases[0]?.[1].start ?? expect.fail(),
      send: async (_, message) => {
        sent.push(message);
        return { inputId: "i", turnId: "t", state: "accepted" };
      },
      async *events() {},
      cancel: unused,
    },
    waits: { events: unused, answer: unused },
  };
  const messages: UIMessage[] = [{ id: "m", role: "user", parts }];
  const asked = {
    trigger: "submit-message",
    chatId: "c",
    messageId: undefined,
    abortSignal: undefined,
  } as const;
  await (await new SessionChatTransport(client).sendMessages({ ...asked, messages })).cancel();
  return sent[0] ?? expect.fail("nothing was sent");
}

const file = (mediaType: string, url: string, filename?: string) =>
  ({ type: "file", mediaType, url, ...(filename && { filename }) }) as const;

test("texts become one message, and files its attachments", async () => {
  expect(await sentFor([{ type: "text", text: "a" }])).toEqual({ message: "a" });
  const parts: UIMessage["parts"] = [
    { type: "text", text: "look" },
    file("image/png", "data:image/png;base64,AAAA"),
    { type: "text", text: "at this" },
    file("text/plain", `data:text/plain;base64,${btoa("\u00c3\u00a9")}`, "e.txt"),
    file("application/json", "data:application/json,%22%E2%82%AC%22"),
    file("image/svg+xml", "data:image/svg+xml,%3Csvg/%3E"),
  ];
  expect(await sentFor(parts)).toEqual({
    message: "look\nat this",
    attachments: [
      { type: "image", mimeType: "image/png", data: "AAAA" },
      { type: "text", name: "e.txt", text: "é" },
      { type: "text", name: null, text: '"€"' },
      { type: "image", mimeType: "image/svg+xml", data: btoa("<svg/>") },
    ],
  });
});

test("files that an agent cannot read are rejected", async () => {
  await expect(sentFor([file("image/png", "https://example.com/a.png")])).rejects.toThrow(
    "must be a data URL",
  );
  await expect(sentFor([file("video/mp4", "data:video/mp4;base64,AAAA")])).rejects.toThrow("video/mp4");
});
