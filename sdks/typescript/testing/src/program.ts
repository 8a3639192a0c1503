import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { until } from "./wait.js";

/**
 * Shell script that runs a program and kills it when our end of its standard input is closed. That happens also if the
 * test process is killed, so no program is left behind.
 */
export const KILL_ON_STDIN_CLOSE: string = '"$@" & exec >/dev/null 2>&1; read -r _; kill -KILL $!; wait';

/** The program that an environment variable names. */
export function programFrom(variable: string): string {
  const program = process.env[variable];
  if (program === undefined) throw new Error(`${variable} must be the path of the program to test`);
  return program;
}

/** A running program with its own home directory. Disposing kills it. */
export class Program implements AsyncDisposable {
  readonly home: string;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #lines: string[] = [];
  #stderrTail = "";
  #stdoutEnded = false;

  constructor(
    home: string,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    program: string = programFrom("TOMBOLO_BIN"),
  ) {
    this.home = home;
    this.#child = spawn("sh", ["-c", KILL_ON_STDIN_CLOSE, "sh", program, ...args], {
      env: { PATH: process.env.PATH, HOME: home, ...env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    createInterface({ input: this.#child.stdout })
      .on("line", (line) => this.#lines.push(line))
      .on("close", () => {
        this.#stdoutEnded = true;
      });
    this.#child.stderr.on("data", (bytes) => {
      this.#stderrTail = (this.#stderrTail + bytes).slice(-10_000);
    });
  }

  /** The first capture group of the first line of output that matches. */
  findOutput(wanted: RegExp): string | undefined {
    return this.#lines.map((line) => wanted.exec(line)?.[1]).find((found) => found !== undefined);
  }

  /** Waits for a line of output that matches. */
  async waitForOutput(wanted: RegExp): Promise<string> {
    await until(() => this.findOutput(wanted) !== undefined || this.#stdoutEnded, "output of the program");
    const found = this.findOutput(wanted);
    if (found === undefined) throw new Error(`the program exited: ${this.#stderrTail}`);
    return found;
  }

  /** Kills the program. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exited = once(this.#child, "exit");
    this.#child.stdin.end();
    await exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await rm(this.home, { recursive: true, force: true });
  }
}
