import { PostgresStore } from "@tombolo/sandbox-agent/postgres";
import pg from "pg";
import { daemonOf } from "tombolo-testing/vitest";
import { afterAll, expect, test } from "vitest";
import { storeContract } from "./contract.js";
import { Postgres } from "./server.js";

const server = await Postgres.start();
const pool = new pg.Pool({ connectionString: server.url });
afterAll(async () => {
  await pool.end();
  await server[Symbol.asyncDispose]();
});

storeContract(() => new PostgresStore(pool), daemonOf());

test("many can make the table at once", async () => {
  for (let round = 0; round < 10; round += 1) {
    await pool.query("DROP TABLE IF EXISTS sandbox_agent_sessions");
    const stores = Array.from({ length: 10 }, () => new PostgresStore(pool));
    expect(await Promise.all(stores.map((store) => store.list()))).toEqual(stores.map(() => []));
  }
});
