import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { until } from "./wait.js";

/**
 * Runs a program until our end of its input is closed, which it is when we are gone, however that came: a
 * test that is killed leaves nothing behind.
 */
export const LEASH: string = '"$@" & exec >/dev/null 2>&1; read -r _; kill -KILL $!; wait';

/** The program that a variable names. */
export function programOf(variable: string): string {
  const program = process.env[variable];
  if (program === undefined) throw new Error(`${variable} must name the program to test with`);
  return program;
}

/** A program with a home of its own, until it is disposed of. */
export class Program implements AsyncDisposable {
  readonly home: string;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #lines: string[] = [];
  #talk = "";
  #silent = false;

  constructor(
    home: string,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    program: string = programOf("TOMBOLO_BIN"),
  ) {
    this.home = home;
    this.#child = spawn("sh", ["-c", LEASH, "sh", program, ...args], {
      env: { PATH: process.env.PATH, HOME: home, ...env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    createInterface({ input: this.#child.stdout })
      .on("line", (line) => this.#lines.push(line))
      .on("close", () => {
        this.#silent = true;
      });
    this.#child.stderr.on("data", (bytes) => {
      this.#talk = (this.#talk + bytes).slice(-10_000);
    });
  }

  /** What it has said of this kind. */
  said(wanted: RegExp): string | undefined {
    return this.#lines.map((line) => wanted.exec(line)?.[1]).find((found) => found !== undefined);
  }

  /** Waits until it has said something of this kind, and gives what that was. */
  async says(wanted: RegExp): Promise<string> {
    await until(() => this.said(wanted) !== undefined || this.#silent, "what the program says");
    const found = this.said(wanted);
    if (found === undefined) throw new Error(`the program ended: ${this.#talk}`);
    return found;
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
    await rm(this.home, { recursive: true, force: true });
  }
}
