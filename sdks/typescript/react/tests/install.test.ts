import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { version } from "react";
import { afterAll, expect, test } from "vitest";

/** The npm workspace. */
const WORKSPACE = join(import.meta.dirname, "../..");

/** The published packages. */
const OURS = ["acp-http-client", "sandbox-agent", "session", "react", "ai-sdk"].map(
  (name) => `@tombolo/${name}`,
);

/** Packages of others that they are used with. */
const THEIRS = ["@agentclientprotocol/sdk", "@ai-sdk/react", "ai", "zod"];

const program = await mkdtemp(join(tmpdir(), "program-"));
afterAll(() => rm(program, { recursive: true, force: true }));

const npm = async (cwd: string, ...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)("npm", [...args, "--ignore-scripts"], { cwd })).stdout;

/** Packs the packages. Returns the name and file of each. */
async function packed(): Promise<readonly [string, string][]> {
  const chosen = OURS.map((name) => `--workspace=${name}`);
  const output = await npm(WORKSPACE, "pack", "--json", "--pack-destination", program, ...chosen);
  const packages = Object.values(JSON.parse(output) as Record<string, { name: string; filename: string }>);
  return packages.map(({ name, filename }) => [name, `file:${filename}`]);
}

/** The installed version of a package. */
async function present(name: string): Promise<[string, string]> {
  const manifest = await readFile(join(WORKSPACE, "node_modules", name, "package.json"), "utf8");
  return [name, JSON.parse(manifest).version];
}

test("all packages install together with this React without peer conflicts", async () => {
  const react = [
    ["react", version],
    ["react-dom", version],
  ];
  const dependencies = [...(await packed()), ...(await Promise.all(THEIRS.map(present))), ...react];
  const manifest = { private: true, dependencies: Object.fromEntries(dependencies) };
  await writeFile(join(program, "package.json"), JSON.stringify(manifest));
  await npm(program, "install", "--package-lock-only", "--strict-peer-deps");
  const lock = JSON.parse(await readFile(join(program, "package-lock.json"), "utf8"));
  const installed = Object.keys(lock.packages).filter((path) => path.endsWith("/react"));
  expect(installed.sort()).toEqual([
    "node_modules/@ai-sdk/react",
    "node_modules/@tombolo/react",
    "node_modules/react",
  ]);
  for (const name of OURS) expect(lock.packages[`node_modules/${name}`].resolved).toMatch(/^file:.*\.tgz$/);
});
