import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { randomId } from "@tombolo/acp-http-client/transport";

/** How long agents have to end by themselves. */
const GRACE_MS = 400;

/** How long the daemon has after that: ending what is stubborn takes it less. */
const END_MS = 550;

/** The most that is kept of what the daemon says while it starts. */
const TALK_CHARS_MAX = 10_000;

/** How a daemon is started. */
export interface StartOptions {
  /**
   * The program; if left out, what the variable `TOMBOLO_BIN` names, that of the package `@tombolo/cli`, or else
   * `tombolo` on the path.
   */
  readonly program?: string | undefined;
  /** How long agents have to end by themselves when the client is stopped. 400 ms if left out. */
  readonly graceMs?: number | undefined;
  /** More arguments, such as `--data-dir`. */
  readonly args?: readonly string[] | undefined;
  /** The directory that it runs in; that of this process if left out. */
  readonly cwd?: string | undefined;
  /** Its environment; that of this process if left out. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** A daemon that ends with this process. */
export class EmbeddedDaemon {
  readonly url: string;
  /** What it lets in; nobody else knows it. */
  readonly token: string;
  readonly #child: ChildProcess;
  readonly #graceMs: number;
  readonly #onExit: () => void;

  private constructor(child: ChildProcess, url: string, token: string, graceMs: number, onExit: () => void) {
    this.#child = child;
    this.url = url;
    this.token = token;
    this.#graceMs = graceMs;
    this.#onExit = onExit;
  }

  /** Starts a daemon on a free port, and waits until it listens. */
  static async start(options: StartOptions = {}): Promise<EmbeddedDaemon> {
    const { graceMs = GRACE_MS, args = [], cwd, env = process.env } = options;
    const program = options.program ?? process.env.TOMBOLO_BIN ?? (await installed()) ?? "tombolo";
    const token = randomId();
    const child = spawn(program, ["daemon", "--port", "0", "--grace-ms", String(graceMs), ...args], {
      cwd,
      env: { ...env, TOMBOLO_TOKEN: token },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const onExit = (): void => {
      child.kill("SIGTERM");
    };
    process.once("exit", onExit);
    try {
      const url = await addressOf(child, child.stdout, child.stderr);
      return new EmbeddedDaemon(child, url, token, graceMs, onExit);
    } catch (error) {
      process.off("exit", onExit);
      child.kill("SIGKILL");
      throw error;
    }
  }

  /** Ends it, and every agent. */
  async stop(): Promise<void> {
    process.off("exit", this.#onExit);
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    const late = setTimeout(() => this.#child.kill("SIGKILL"), this.#graceMs + END_MS);
    await exited;
    clearTimeout(late);
  }
}

/** The program that is installed beside this package, if it is. */
async function installed(): Promise<string | undefined> {
  const cli = await import("@tombolo/cli").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
  });
  return cli?.programPath();
}

/** Where it listens, which is the first that it says. */
async function addressOf(child: ChildProcess, stdout: Readable, stderr: Readable): Promise<string> {
  let talk = "";
  stderr.setEncoding("utf8").on("data", (text: string) => {
    talk = (talk + text).slice(-TALK_CHARS_MAX);
  });
  const failed = once(child, "error").then(([cause]) => {
    throw new Error("the daemon could not be started", { cause });
  });
  const listens = (async () => {
    for await (const line of createInterface({ input: stdout })) {
      const url = /^listening on (\S+)$/.exec(line)?.[1];
      // What it says later is not kept, but must be read, or it could not go on.
      if (url !== undefined) return url;
    }
    throw new Error(`the daemon ended before it listened: ${talk.trim()}`);
  })();
  try {
    return await Promise.race([listens, failed]);
  } finally {
    failed.catch(() => {});
    stdout.resume();
  }
}
