import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SandboxAgentClient } from "@tombolo/sandbox-agent";
import { Daemon } from "tombolo-testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callsOfPeer, installPeer, type PeerModule } from "./migration/peer.js";

/** The guide whose table this test checks. Set `TOMBOLO_WRITE_MIGRATION=1` to write the results into it. */
const guide = join(import.meta.dirname, "../../../../docs/migrating-from-sandbox-agent.md");

let peer: PeerModule;
let results: ReadonlyMap<string, string>;

beforeAll(async () => {
  peer = await installPeer();
  await using daemon = await Daemon.start();
  results = await callsOfPeer(peer, daemon);
}, 180_000);

afterAll(async () => {
  if (process.env.TOMBOLO_WRITE_MIGRATION !== "1") return;
  const text = await readFile(guide, "utf8");
  await writeFile(
    guide,
    text.replace(ROW, (row, call, _result, rest) => {
      const result = results.get(call);
      return result === undefined ? row : `| \`${call}\` | ${result} |${rest}`;
    }),
  );
});

/** A row of the table: the call, its result, and what to call instead. */
const ROW = /^\| `(\w+)` \| ([^|]*) \|(.*)$/gm;

async function table(): Promise<ReadonlyMap<string, string>> {
  const rows = (await readFile(guide, "utf8")).matchAll(ROW);
  return new Map([...rows].map(([, call = "", result = ""]) => [call, result.trim()]));
}

test("the guide has every call of the package", async () => {
  const methods = Object.getOwnPropertyNames(peer.SandboxAgent.prototype).filter(isPublicCall);
  const missing = methods.filter((method) => !results.has(method));
  expect(missing).toEqual([]);
  expect([...(await table()).keys()].sort()).toEqual([...results.keys()].sort());
});

test("each call of the package does what the guide says", async () => {
  expect(Object.fromEntries(await table())).toEqual(Object.fromEntries(results));
});

test("the calls that the guide names instead exist", async () => {
  const client = new SandboxAgentClient({ baseUrl: "http://127.0.0.1:2468" });
  const text = await readFile(guide, "utf8");
  const named = [...text.matchAll(/client\.([\w.]+)\(/g)].map(([, path = ""]) => path);
  expect(named.length).toBeGreaterThan(30);
  const member = (object: unknown, name: string) => (object as Record<string, unknown> | undefined)?.[name];
  const missing = named.filter((path) => typeof path.split(".").reduce(member, client) !== "function");
  expect(missing).toEqual([]);
});

/** The desktop has a row of its own: Tombolo has none. */
function isPublicCall(name: string): boolean {
  return !/desktop/i.test(name) && !PRIVATE.has(name);
}

/** Properties, and methods that the types of the package declare as private. */
const PRIVATE = new Set([
  "constructor",
  "sandboxId",
  "sandbox",
  "inspectorUrl",
  "setSessionCategoryValue",
  "hydrateSessionConfigOptions",
  "sendSessionMethodInternal",
  "persistSessionStateFromMethod",
  "getLiveConnection",
  "persistObservedEnvelope",
  "enqueueObservedEnvelopePersistence",
  "persistSessionStateFromEvent",
  "allocateSessionEventIndex",
  "ensureSessionEventIndexSeeded",
  "findMaxPersistedSessionEventIndex",
  "collectReplayEvents",
  "upsertSessionHandle",
  "requireSessionRecord",
  "enqueuePermissionRequest",
  "resolvePendingPermission",
  "cancelPendingPermissionsForSession",
  "requestJson",
  "requestRaw",
  "requestHealth",
  "startHealthWait",
  "awaitHealthy",
  "runHealthWait",
  "buildHeaders",
  "buildUrl",
]);
