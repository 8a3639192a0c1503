import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { SqliteStore } from "@tombolo/sandbox-agent/sqlite";
import { daemonOf } from "tombolo-testing/vitest";
import { afterAll } from "vitest";
import { storeContract } from "./contract.js";

const home = await mkdtemp(join(tmpdir(), "sandbox-agent-"));
const databases: DatabaseSync[] = [];
afterAll(async () => {
  for (const database of databases) database.close();
  await rm(home, { recursive: true, force: true });
});

storeContract(() => {
  const database = new DatabaseSync(join(home, "sessions.sqlite"), { timeout: 10_000 });
  databases.push(database);
  return new SqliteStore(database);
}, daemonOf());
