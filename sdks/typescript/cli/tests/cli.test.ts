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

/** A Node that cannot replace its process by the program, and one that can. */
const nodes = [
  ["the oldest supported Node", await systemNode()],
  ["a current Node", process.execPath],
] as const;

test("`npx @tombolo/cli up` starts a daemon and a hub from nothing", async () => {
  await using user = await Project.start();
  const { url, child, lines } = await user.startServer("npx", "--yes", "@tombolo/cli", "up", "--port", "0");
  expect(await (await fetch(`${url}/v1/health`)).json()).toEqual({ status: "ok" });
  await until(
    () => lines.some((line) => line.startsWith("  npx @tombolo/cli api agents list")),
    "the commands to try",
  );
  signalGroup(child.pid, "SIGINT");
  await until(async () => !(await reachable(url)), "the daemon to end");
});

describe.each(nodes)("%s", (_, node) => {
  test("passes on output and exit code of the program", async () => {
    expect(await project.run(node, launcher(), "--version")).toMatch(/^tombolo \d+\.\d+\.\d+/);
    await expect(project.run(node, launcher(), "no-such-command")).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining("no-such-command"),
    });
  });

  test.each(["SIGTERM", "SIGINT"] as const)("forwards %s, and exits like the program", async (signal) => {
    const { url, child } = await project.startServer(node, launcher(), "daemon", "--port", "0");
    const ended = once(child, "exit");
    child.kill(signal);
    expect(await ended).toEqual([0, null]);
    expect(await reachable(url)).toBe(false);
  });
});

test("a current Node is replaced by the program", async () => {
  const { child } = await project.startServer(process.execPath, launcher(), "daemon", "--port", "0");
  expect(await readlink(`/proc/${child.pid}/exe`)).toMatch(/cli-linux-\w+\/bin\/tombolo$/);
  // The next daemon uses the same data directory, which a running one would have locked.
  const ended = once(child, "exit");
  child.kill();
  await ended;
});

test("an older Node ends by the signal that ended the program", async () => {
  const { child } = await project.startServer(await systemNode(), launcher(), "daemon", "--port", "0");
  const program = Number(await readFile(`/proc/${child.pid}/task/${child.pid}/children`, "utf8"));
  const ended = once(child, "exit");
  process.kill(program, "SIGKILL");
  expect(await ended).toEqual([null, "SIGKILL"]);
});

test("the error names the missing package", async () => {
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
