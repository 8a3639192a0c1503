import { join } from "node:path";
import * as library from "@tombolo/acp-http-client";
import { codeBlocks, snippetRuntimes } from "tombolo-testing";
import { daemonOf } from "tombolo-testing/vitest";
import { describe, expect, test } from "vitest";

const daemon = daemonOf();
const home = join(import.meta.dirname, "..");
const snippets = await codeBlocks(join(home, "README.md"), "ts");

test("there are snippets to run", () => {
  expect(snippets.length).toBe(2);
});

describe.each(await snippetRuntimes())("$name", (runtime) => {
  test.each(snippets.map((code, at) => [at + 1, code] as const))("snippet %i runs twice", async (_, code) => {
    const here = code.replaceAll("http://127.0.0.1:2468", daemon.url);
    for (let run = 1; run <= 2; run++) await runtime.run(here, { cwd: home });
  });
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
