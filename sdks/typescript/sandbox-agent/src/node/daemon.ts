import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { randomId } from "@tombolo/acp-http-client/transport";

/** Default time for agents to exit by themselves. */
const GRACE_MS = 400;

/** How long the daemon may take after that time; killing the remaining agents takes less. */
const SHUTDOWN_MS = 550;

/** How much of the daemon's standard error is kept for the error message. */
const STDERR_CHARS_MAX = 10_000;

/** Options for starting a daemon. */
export interface StartOptions {
  /**
   * The program. Default: the environment variable `TOMBOLO_BIN`, or the program in the package `@tombolo/cli`, or
   * `tombolo` on the PATH.
   */
  readonly program?: string | undefined;
  /** How long agents may take to exit when the client stops. Default: 400 ms. */
  readonly graceMs?: number | undefined;
  /** Additional arguments, such as `--data-dir`. */
  readonly args?: readonly string[] | undefined;
  /** Working directory. Default: that of this process. */
  readonly cwd?: string | undefined;
  /** Environment variables. Default: those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** A daemon that this process started, and that ends with it. */
export class EmbeddedDaemon {
  readonly url: string;
  /** Random access token of the daemon. */
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
    const program = options.program ?? process.env.TOMBOLO_BIN ?? (await installedProgram()) ?? "tombolo";
    const token = randomId();
    const child = spawn(program, ["daemon", "--port", "0", "--grace", `${graceMs}ms`, ...args], {
      cwd,
      env: { ...env, TOMBOLO_TOKEN: token },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const onExit = (): void => {
      child.kill("SIGTERM");
    };
    process.once("exit", onExit);
    try {
      const url = await readAddress(child, child.stdout, child.stderr);
      return new EmbeddedDaemon(child, url, token, graceMs, onExit);
    } catch (error) {
      process.off("exit", onExit);
      child.kill("SIGKILL");
      throw error;
    }
  }

  /** Ends the daemon and all agents. */
  async stop(): Promise<void> {
    process.off("exit", this.#onExit);
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    const late = setTimeout(() => this.#child.kill("SIGKILL"), this.#graceMs + SHUTDOWN_MS);
    await exited;
    clearTimeout(late);
  }
}

/** The program in the package `@tombolo/cli`, if that is installed. */
async function installedProgram(): Promise<string | undefined> {
  const cli = await import("@tombolo/cli").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
  });
  return cli?.programPath();
}

/** Waits until the daemon prints its address. */
async function readAddress(child: ChildProcess, stdout: Readable, stderr: Readable): Promise<string> {
  let stderrTail = "";
  stderr.setEncoding("utf8").on("data", (text: string) => {
    stderrTail = (stderrTail + text).slice(-STDERR_CHARS_MAX);
  });
  const failed = once(child, "error").then(([cause]) => {
    throw new Error("could not start the daemon", { cause });
  });
  const address = (async () => {
    for await (const line of createInterface({ input: stdout })) {
      const url = /^listening on (\S+)$/.exec(line)?.[1];
      // The rest of its output is not needed, but must be read below, or the daemon would block on a full pipe.
      if (url !== undefined) return url;
    }
    throw new Error(`the daemon exited before it was listening: ${stderrTail.trim()}`);
  })();
  try {
    return await Promise.race([address, failed]);
  } finally {
    failed.catch(() => {});
    stdout.resume();
  }
}
