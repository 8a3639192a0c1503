import pg from "pg";
import { PostgresStore } from "sandbox-agent/postgres";
import { daemonOf } from "tombolo-testing/vitest";
import { afterAll } from "vitest";
import { storeContract } from "./contract.js";
import { Postgres } from "./server.js";

const server = await Postgres.start();
const pool = new pg.Pool({ connectionString: server.url });
afterAll(async () => {
  await pool.end();
  await server[Symbol.asyncDispose]();
});

storeContract(() => new PostgresStore(pool), daemonOf());
