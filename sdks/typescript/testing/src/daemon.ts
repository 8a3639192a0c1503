import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installerEnvironment, shareAgents } from "./installer.js";
import { Program } from "./program.js";

/** How a daemon is started. */
export interface DaemonOptions {
  /** More arguments of `daemon`. */
  readonly args?: readonly string[];
  /** The token that requests must carry. */
  readonly token?: string;
  /** A configuration file: agents of one's own. */
  readonly config?: string;
  /** Its home, which is removed with it; a fresh one if left out. */
  readonly home?: string;
  /** Variables that it has, and its agents with it. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where it installs agents; it installs none if left out. */
  readonly agents?: string;
}

/** The real daemon on a port of its own, with a home of its own, until it is disposed of. */
export class Daemon extends Program {
  /** Starts the program that `TOMBOLO_BIN` names, and waits until it listens. */
  static async start(options: DaemonOptions = {}): Promise<Daemon> {
    const { args = [], token, config, env = {}, agents } = options;
    const home = options.home ?? (await mkdtemp(join(tmpdir(), "tombolo-")));
    const data = join(home, "data");
    const command = ["daemon", "--port", "0", "--data-dir", data, ...args];
    if (agents === undefined) command.push("--no-install");
    else await shareAgents(agents, data);
    if (config !== undefined) {
      await writeFile(join(home, "agents.toml"), config);
      command.push("--config", join(home, "agents.toml"));
    }
    const tokens = token === undefined ? {} : { TOMBOLO_TOKEN: token };
    const daemon = new Daemon(home, command, {
      ...tokens,
      ...(agents === undefined ? {} : installerEnvironment()),
      ...env,
    });
    await daemon.waitForOutput(/^listening on (\S+)$/);
    return daemon;
  }

  get url(): string {
    return this.findOutput(/^listening on (\S+)$/) ?? "";
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }
}
