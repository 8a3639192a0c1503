import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as library from "@tombolo/ai-sdk";
import { createElement } from "react";
import { codeBlocks, until } from "tombolo-testing";
import { expect, test } from "vitest";
import { renderElement } from "../../react/tests/render-hook.js";
import { sandbox } from "../../react/tests/sandbox.js";
import { Chat } from "./example.js";

const here = sandbox();

test("the README contains this example", async () => {
  const example = await readFile(join(import.meta.dirname, "example.tsx"), "utf8");
  expect(await codeBlocks(join(import.meta.dirname, "../README.md"), "tsx")).toEqual([example]);
});

test("the example works", async () => {
  await here.client.sessions.create("example", { agent: "mock" });
  // In strict mode `useChat` drops a message that is sent before its effects have run twice.
  using shown = renderElement(createElement(Chat, { client: here.client, id: "example" }), { strict: false });
  const press = (label: string) =>
    until(() => {
      const buttons = [...shown.element.querySelectorAll("button")];
      const button = buttons.find(({ textContent }) => textContent === label);
      button?.click();
      return button !== undefined;
    }, label);
  await press("say hello");
  await press("allow: Remove everything");
  await until(() => shown.element.textContent?.includes("permission answered: allow") ?? false, "answered");
});

test("the package exports exactly these names", () => {
  expect(Object.keys(library).sort()).toEqual(["SessionChatTransport", "approvalsAnswered", "toUIMessages"]);
});
