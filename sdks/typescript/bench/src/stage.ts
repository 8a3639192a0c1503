import { SandboxAgentClient } from "@tombolo/sandbox-agent";
import { type Daemon, Network, until } from "tombolo-testing";

/** A client that is connected to an agent over a network of its own, and reads what that says. */
export class Stage implements AsyncDisposable {
  readonly client: SandboxAgentClient;
  readonly network: Network;
  readonly #daemon: Daemon;
  readonly #instanceId: string;
  /** What goes on until the client is closed. */
  readonly #open: Promise<unknown>[] = [];
  #seen = 0;

  private constructor(daemon: Daemon, agent: string, network: Network) {
    this.#daemon = daemon;
    this.#instanceId = crypto.randomUUID();
    this.network = network;
    this.client = new SandboxAgentClient({
      baseUrl: network.url,
      agent,
      instanceId: this.#instanceId,
    });
    this.leave(this.#read());
  }

  static async start(daemon: Daemon, agent: string): Promise<Stage> {
    return new Stage(daemon, agent, await Network.start(daemon.port));
  }

  /** Begins a turn in a session of its own. */
  async begin(text: string): Promise<void> {
    const { sessionId } = await this.client.newSession({ directory: "/" });
    this.leave(this.client.prompt(sessionId, text));
  }

  /** Leaves something open until the client is closed; it may fail then. */
  leave(work: Promise<unknown>): void {
    this.#open.push(work.catch(() => {}));
  }

  /** Waits until so much was read. */
  async seen(count: number): Promise<void> {
    await until(() => this.#seen >= count, `what is read: ${this.#seen}`);
  }

  /** Waits until so many requests wait for the agent. */
  async pending(count: number): Promise<void> {
    await until(async () => (await this.#instance())?.pendingRequests === count, "the requests");
  }

  /** Resolves once everything that went on here has ended. */
  async over(): Promise<void> {
    await Promise.all(this.#open);
  }

  /** Whether the server still has the agent. */
  async hasAgent(): Promise<boolean> {
    return (await this.#instance()) !== undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await fetch(`${this.#daemon.url}/v1/acp/${this.#instanceId}`, { method: "DELETE" });
    await this.network[Symbol.asyncDispose]();
  }

  async #read(): Promise<void> {
    for await (const _ of this.client.events()) this.#seen += 1;
  }

  async #instance(): Promise<{ readonly pendingRequests: number } | undefined> {
    const response = await fetch(`${this.#daemon.url}/v1/acp`);
    const { items } = (await response.json()) as { items: { serverId: string; pendingRequests: number }[] };
    return items.find(({ serverId }) => serverId === this.#instanceId);
  }
}
