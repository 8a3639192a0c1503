import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installerEnvironment, shareAgents } from "./installer.js";
import { Program } from "./program.js";

/** Options of a daemon. */
export interface DaemonOptions {
  /** Additional arguments of `tombolo daemon`. */
  readonly args?: readonly string[];
  /** The token that requests must carry. */
  readonly token?: string;
  /** Content of a configuration file with additional agents. */
  readonly config?: string;
  /** Home directory, which is removed afterwards. Default: a new one. */
  readonly home?: string;
  /** Environment variables of the daemon and its agents. */
  readonly env?: Readonly<Record<string, string>>;
  /** Directory for installed agents. Without it, the daemon installs none. */
  readonly agents?: string;
}

/** The real daemon with its own port and home directory. Disposing stops it. */
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
    const hasToken = token !== undefined || args.some((arg) => arg.startsWith("--token"));
    if (!hasToken) command.push("--no-token");
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
