import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Project } from "./project.js";

const readme = await readFile(join(import.meta.dirname, "../README.md"), "utf8");
const snippets = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code ?? "");

test("the snippet runs where the package is installed", async () => {
  const [snippet = "", ...more] = snippets;
  expect(more).toEqual([]);
  await using project = await Project.start();
  await project.run("npm", "install", "@tombolo/cli");
  expect(await project.run("node", "--input-type=module", "--eval", snippet)).toMatch(/^tombolo \d/);
});

test("typescript-11: a client finds the program that is installed beside it", async () => {
  await using project = await Project.start();
  const files = ["acp-http-client", "sandbox-agent"].map(Project.file);
  await project.run("npm", "install", "@tombolo/cli", ...files);
  const script = `
    import { SandboxAgentClient } from "sandbox-agent/node";
    await using client = await SandboxAgentClient.start({ agent: "mock" });
    const { sessionId } = await client.newSession({ directory: "/" });
    console.log((await client.prompt(sessionId, "hello")).stopReason);
  `;
  const run = ["--input-type=module-typescript", "--eval", script];
  expect(await project.run(process.execPath, ...run)).toBe("end_turn");
});
