import { SandboxAgentClient as Client, type SandboxAgentOptions } from "../client.js";
import { EmbeddedDaemon, type StartOptions } from "./daemon.js";

export type { StartOptions } from "./daemon.js";

/** What an embedded client is made of. */
export interface EmbeddedOptions extends Omit<SandboxAgentOptions, "baseUrl" | "token"> {
  /** How its daemon is started. */
  readonly daemon?: StartOptions | undefined;
}

/** A client that can bring its own daemon. */
export class SandboxAgentClient extends Client {
  #daemon: EmbeddedDaemon | undefined;

  /**
   * Starts a daemon on a free port of this machine, that lets in nobody else, and makes a client of it. Both end
   * with `stop()` or `await using`.
   */
  static async start({ daemon: how, ...options }: EmbeddedOptions = {}): Promise<SandboxAgentClient> {
    const daemon = await EmbeddedDaemon.start(how);
    const client = new SandboxAgentClient({ ...options, baseUrl: daemon.url, token: daemon.token });
    client.#daemon = daemon;
    return client;
  }

  /** Where its own daemon listens, if it has one. */
  get daemonUrl(): string | undefined {
    return this.#daemon?.url;
  }

  /** Disconnects, and ends its own daemon with every agent, within a second. */
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
