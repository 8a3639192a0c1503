import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as library from "@tombolo/react";
import { createElement } from "react";
import { codeBlocks, until } from "tombolo-testing";
import { expect, test } from "vitest";
import { Session } from "./example.js";
import { renderElement } from "./render-hook.js";
import { sandbox } from "./sandbox.js";

const here = sandbox();

test("the README contains this example", async () => {
  const example = await readFile(join(import.meta.dirname, "example.tsx"), "utf8");
  expect(await codeBlocks(join(import.meta.dirname, "../README.md"), "tsx")).toEqual([example]);
});

test("the example works", async () => {
  await here.client.sessions.create("example", { agent: "mock" });
  using shown = renderElement(createElement(Session, { client: here.client, id: "example" }));
  const { element } = shown;
  const press = (label: string) =>
    until(() => {
      const button = [...element.querySelectorAll("button")].find((each) => each.textContent === label);
      if (button === undefined || button.disabled) return false;
      button.click();
      return true;
    }, label);
  await press("say hello");
  await press("Remove everything");
  await until(() => element.textContent?.includes("permission answered: allow") ?? false, "answered");
});

test("the package exports exactly these names", () => {
  expect(Object.keys(library).sort()).toEqual(["useApprovals", "useObservation", "useSession"]);
});
