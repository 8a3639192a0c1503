import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

/**
 * Runs a program until our end of its input is closed, which it is when we are gone, however that came: a
 * test that is killed leaves nothing behind.
 */
export const LEASH: string = '"$@" & exec >/dev/null 2>&1; read -r _; kill -KILL $!; wait';

/** How a daemon is started. */
export interface DaemonOptions {
  /** More arguments of `daemon`. */
  readonly args?: readonly string[];
  /** The token that requests must carry. */
  readonly token?: string;
  /** A configuration file: agents of one's own. */
  readonly config?: string;
}

/** The real program on a port of its own, with a home of its own, until it is disposed of. */
export class Daemon implements AsyncDisposable {
  readonly url: string;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #home: string;

  private constructor(child: ChildProcessByStdio<Writable, Readable, Readable>, home: string, url: string) {
    this.#child = child;
    this.#home = home;
    this.url = url;
  }

  /** Starts the program that `TOMBOLO_BIN` names, and waits until it listens. */
  static async start({ args = [], token, config }: DaemonOptions = {}): Promise<Daemon> {
    const program = process.env.TOMBOLO_BIN;
    if (program === undefined) throw new Error("TOMBOLO_BIN must name the program to test with");
    const home = await mkdtemp(join(tmpdir(), "tombolo-"));
    const command = [
      program,
      "daemon",
      "--port",
      "0",
      "--data-dir",
      join(home, "data"),
      "--no-install",
      ...args,
    ];
    if (config !== undefined) {
      await writeFile(join(home, "agents.toml"), config);
      command.push("--config", join(home, "agents.toml"));
    }
    const env = {
      PATH: process.env.PATH,
      HOME: home,
      ...(token === undefined ? {} : { TOMBOLO_TOKEN: token }),
    };
    const child = spawn("sh", ["-c", LEASH, "sh", ...command], { env, stdio: ["pipe", "pipe", "pipe"] });
    return new Daemon(child, home, await address(child.stdout, child.stderr));
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** Ends it at once, as a crash would. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exited = once(this.#child, "exit");
    this.#child.stdin.end();
    await exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await rm(this.#home, { recursive: true, force: true });
  }
}

/** Where it listens, which is the first that it says. */
async function address(stdout: Readable, stderr: Readable): Promise<string> {
  let talk = "";
  stderr.on("data", (bytes) => {
    talk = (talk + bytes).slice(-10_000);
  });
  for await (const line of createInterface({ input: stdout })) {
    const url = /^listening on (\S+)$/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error(`the daemon did not start: ${talk}`);
}
