import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import { codeBlocks } from "tombolo-testing";
import { expect, test } from "vitest";
import { Project } from "./project.js";

const snippets = await codeBlocks(join(import.meta.dirname, "../README.md"), "ts");

test("the README snippet runs where the package is installed", async () => {
  const [snippet = "", ...more] = snippets;
  expect(more).toEqual([]);
  await using project = await Project.start();
  await project.run("npm", "install", "@tombolo/cli");
  expect(await project.run("node", "--input-type=module", "--eval", snippet)).toMatch(/^tombolo \d/);
});

test("typescript-11: SandboxAgentClient.start() finds the installed program", async () => {
  await using project = await Project.start();
  const files = ["acp-http-client", "sandbox-agent"].map(Project.packedFile);
  await project.run("npm", "install", "@tombolo/cli", ...files);
  const script = `
    import { SandboxAgentClient } from "@tombolo/sandbox-agent/node";
    await using client = await SandboxAgentClient.start({ agent: "mock" });
    const { sessionId } = await client.newSession({ directory: "/" });
    console.log((await client.prompt(sessionId, "hello")).stopReason);
  `;
  const run = ["--input-type=module-typescript", "--eval", script];
  expect(await project.run(process.execPath, ...run)).toBe("end_turn");
});

/** Packages that must be importable after the install line of their README. */
const PACKAGES = ["acp-http-client", "sandbox-agent", "session", "react", "ai-sdk", "cli"];

test.each(PACKAGES)("the install line in the README of %s works with the packed files", async (name) => {
  const text = await readFile(join(import.meta.dirname, "../..", name, "README.md"), "utf8");
  const line =
    /^npm install \.\/target\/packages\/(?:.*\\\n)*.*$/m.exec(text)?.[0] ?? expect.fail("no install line");
  await using project = await Project.start();
  await project.linkPackages();
  await project.run("sh", "-c", line.replaceAll("linux-x64", `${process.platform}-${process.arch}`));
  await access(join(project.directory, "node_modules/@tombolo", name));
  await project.run("node", "--input-type=module", "--eval", `await import("@tombolo/${name}")`);
});
