import { once } from "node:events";
import { readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { systemNode, until } from "tombolo-testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Project, signalGroup } from "./project.js";

let project: Project;
beforeAll(async () => {
  project = await Project.start();
  await project.run("npm", "install", "@tombolo/cli");
}, 60_000);
afterAll(() => project?.[Symbol.asyncDispose]());

const launcher = (): string => join(project.directory, "node_modules/@tombolo/cli/dist/main.js");

/** Those that can be replaced by the program, and those that have to stand in for it. */
const nodes = [
  ["the oldest Node", await systemNode()],
  ["a Node of today", process.execPath],
] as const;

test("`npx @tombolo/cli up` gives somebody who has nothing a daemon and a hub", async () => {
  await using somebody = await Project.start();
  const { url, child, said } = await somebody.listening("npx", "--yes", "@tombolo/cli", "up", "--port", "0");
  expect(await (await fetch(`${url}/v1/health`)).json()).toEqual({ status: "ok" });
  await until(
    () => said.some((line) => line.startsWith("  npx @tombolo/cli api agents list")),
    "what to try",
  );
  signalGroup(child.pid, "SIGINT");
  await until(async () => !(await reachable(url)), "the end of the daemon");
});

describe.each(nodes)("%s", (_, node) => {
  test("is told what the program says", async () => {
    expect(await project.run(node, launcher(), "--version")).toMatch(/^tombolo \d+\.\d+\.\d+/);
    await expect(project.run(node, launcher(), "no-such-command")).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining("no-such-command"),
    });
  });

  test.each(["SIGTERM", "SIGINT"] as const)("passes on %s, and ends as the program does", async (signal) => {
    const { url, child } = await project.listening(node, launcher(), "daemon", "--port", "0");
    const ended = once(child, "exit");
    child.kill(signal);
    expect(await ended).toEqual([0, null]);
    expect(await reachable(url)).toBe(false);
  });
});

test("a Node of today is no longer there once the program runs", async () => {
  const { child } = await project.listening(process.execPath, launcher(), "daemon", "--port", "0");
  expect(await readlink(`/proc/${child.pid}/exe`)).toMatch(/cli-linux-\w+\/bin\/tombolo$/);
});

test("one that stands in for the program ends by the signal that ends it", async () => {
  const { child } = await project.listening(await systemNode(), launcher(), "daemon", "--port", "0");
  const program = Number(await readFile(`/proc/${child.pid}/task/${child.pid}/children`, "utf8"));
  const ended = once(child, "exit");
  process.kill(program, "SIGKILL");
  expect(await ended).toEqual([null, "SIGKILL"]);
});

test("a program that is missing is told by its package", async () => {
  await using other = await Project.start();
  await other.run("npm", "install", "--omit=optional", "@tombolo/cli");
  await expect(other.run("npx", "tombolo", "--version")).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`@tombolo/cli-${process.platform}-${process.arch} is not installed`),
  });
});

function reachable(url: string): Promise<boolean> {
  return fetch(`${url}/v1/health`).then(
    () => true,
    () => false,
  );
}
