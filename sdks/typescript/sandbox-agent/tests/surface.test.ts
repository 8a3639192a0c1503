import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import * as library from "@tombolo/sandbox-agent";
import { expect, test } from "vitest";

const api = join(import.meta.dirname, "../api");
const reports = await Promise.all(
  (await readdir(api)).map(async (name) => [name, await readFile(join(api, name), "utf8")] as const),
);

test("there is an API report for each entry point", () => {
  expect(reports.map(([name]) => name)).toEqual([
    "index.api.md",
    "indexeddb.api.md",
    "node.api.md",
    "postgres.api.md",
    "sqlite.api.md",
  ]);
});

test.each(reports)("typescript-7: `%s` exports no class or type of ACP", (_, report) => {
  const modules = [...report.matchAll(/from '([^']+)'/g)].map(([, name]) => name);
  expect(modules.filter((name) => name !== "@tombolo/acp-http-client/transport")).toEqual([]);
  const own = report.replaceAll("'@tombolo/acp-http-client/transport'", "");
  expect(own.match(/\w*(acp|json_?rpc|rpc)\w*/gi)).toBeNull();
});

test("the package exports exactly these names", () => {
  expect(Object.keys(library).sort()).toEqual([
    "AgentEndedError",
    "AgentFailedError",
    "AlreadyConnectedError",
    "ConnectionError",
    "GapError",
    "HubClient",
    "MemoryStore",
    "NotConnectedError",
    "ObservationError",
    "ProblemError",
    "ProtocolError",
    "RelayRequestError",
    "SandboxAgentClient",
    "SessionEndedError",
    "UnsupportedError",
  ]);
});

test("typescript-3: the client has the required methods", () => {
  const names = Object.getOwnPropertyNames(library.SandboxAgentClient.prototype);
  expect(names).toEqual(
    expect.arrayContaining([
      "connect",
      "newSession",
      "loadSession",
      "prompt",
      "cancel",
      "setSessionMode",
      "setSessionConfigOption",
      "listSessions",
      "forkSession",
      "resumeSession",
      "setSessionModel",
      "listModels",
      "setMetadata",
      "detachSession",
      "terminateSession",
      "disconnect",
    ]),
  );
});
