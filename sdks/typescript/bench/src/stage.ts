import { SandboxAgentClient } from "@tombolo/sandbox-agent";
import { type Daemon, Network, until } from "tombolo-testing";

/** A client that is connected to an agent through its own network proxy, and reads its events. */
export class Stage implements AsyncDisposable {
  readonly client: SandboxAgentClient;
  readonly network: Network;
  readonly #daemon: Daemon;
  readonly #instanceId: string;
  /** Work that ends when the client is closed. */
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
    this.keepOpen(this.#read());
  }

  static async start(daemon: Daemon, agent: string): Promise<Stage> {
    return new Stage(daemon, agent, await Network.start(daemon.port));
  }

  /** Starts a turn in a new session. */
  async startTurn(text: string): Promise<void> {
    const { sessionId } = await this.client.newSession({ directory: "/" });
    this.keepOpen(this.client.prompt(sessionId, text));
  }

  /** Does not wait for this until the client is closed, when it may fail. */
  keepOpen(work: Promise<unknown>): void {
    this.#open.push(work.catch(() => {}));
  }

  /** Waits until this many events were read. */
  async waitForEvents(count: number): Promise<void> {
    await until(() => this.#seen >= count, `${count} events`);
  }

  /** Waits until this many requests are open. */
  async waitForRequests(count: number): Promise<void> {
    await until(async () => (await this.#instance())?.pendingRequests === count, `${count} open requests`);
  }

  /** Resolves once all work has ended. */
  async settled(): Promise<void> {
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
