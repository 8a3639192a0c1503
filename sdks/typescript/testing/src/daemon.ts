import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Program } from "./program.js";

/** How a daemon is started. */
export interface DaemonOptions {
  /** More arguments of `daemon`. */
  readonly args?: readonly string[];
  /** The token that requests must carry. */
  readonly token?: string;
  /** A configuration file: agents of one's own. */
  readonly config?: string;
}

/** The real daemon on a port of its own, with a home of its own, until it is disposed of. */
export class Daemon extends Program {
  /** Starts the program that `TOMBOLO_BIN` names, and waits until it listens. */
  static async start({ args = [], token, config }: DaemonOptions = {}): Promise<Daemon> {
    const home = await mkdtemp(join(tmpdir(), "tombolo-"));
    const command = ["daemon", "--port", "0", "--data-dir", join(home, "data"), "--no-install", ...args];
    if (config !== undefined) {
      await writeFile(join(home, "agents.toml"), config);
      command.push("--config", join(home, "agents.toml"));
    }
    const daemon = new Daemon(home, command, token === undefined ? {} : { TOMBOLO_TOKEN: token });
    await daemon.says(/^listening on (\S+)$/);
    return daemon;
  }

  get url(): string {
    return this.said(/^listening on (\S+)$/) ?? "";
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }
}
