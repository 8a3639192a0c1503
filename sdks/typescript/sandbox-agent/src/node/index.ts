import { SandboxAgentClient as Client, type SandboxAgentOptions } from "../client.js";
import { EmbeddedDaemon, type StartOptions } from "./daemon.js";

export type { StartOptions } from "./daemon.js";

/** Options of a client with its own daemon. */
export interface EmbeddedOptions extends Omit<SandboxAgentOptions, "baseUrl" | "token"> {
  /** Options for starting the daemon. */
  readonly daemon?: StartOptions | undefined;
}

/** A client that can start its own daemon. */
export class SandboxAgentClient extends Client {
  #daemon: EmbeddedDaemon | undefined;

  /**
   * Starts a daemon on a free port with a random token, and returns a client of it. `stop()` or `await using` ends
   * both.
   */
  static async start({
    daemon: startOptions,
    ...options
  }: EmbeddedOptions = {}): Promise<SandboxAgentClient> {
    const daemon = await EmbeddedDaemon.start(startOptions);
    const client = new SandboxAgentClient({ ...options, baseUrl: daemon.url, token: daemon.token });
    client.#daemon = daemon;
    return client;
  }

  /** URL of its own daemon, if it has one. */
  get daemonUrl(): string | undefined {
    return this.#daemon?.url;
  }

  /** Disconnects, and ends its own daemon and all agents, within a second. */
  async stop(): Promise<void> {
    try {
      if (this.connected) await this.disconnect({ keepAgent: this.#daemon !== undefined });
    } finally {
      await this.#daemon?.stop();
    }
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
