import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import * as library from "@tombolo/acp-http-client";
import { codeBlocks } from "tombolo-testing";
import { daemonOf } from "tombolo-testing/vitest";
import { expect, test } from "vitest";

const daemon = daemonOf();
const home = join(import.meta.dirname, "..");
const snippets = await codeBlocks(join(home, "README.md"), "ts");

test("there are snippets to run", () => {
  expect(snippets.length).toBe(2);
});

test.each(snippets.map((code, at) => [at + 1, code] as const))("snippet %i runs", async (_, code) => {
  const here = code.replaceAll("http://127.0.0.1:2468", daemon.url);
  const args = ["--input-type=module-typescript", "--eval", here];
  await promisify(execFile)(process.execPath, args, { cwd: home, timeout: 30_000 });
});

test("typescript-1: only names of the protocol are public", () => {
  expect(Object.keys(library).sort()).toEqual([
    "AcpHttpClient",
    "BusyError",
    "ClosedError",
    "ConnectionError",
    "ExitedError",
    "GapError",
    "GoneError",
    "ProblemError",
    "ProtocolError",
    "RpcError",
  ]);
});
