import { once } from "node:events";
import { createServer, connect as dial, type Server, type Socket } from "node:net";

/** A connection, both its ends. */
type Pair = readonly [Socket, Socket];

/** Stands between a client and a server, and does to their connections what networks do. */
export class Network implements AsyncDisposable {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #target: number;
  #refusing = false;
  #swallowing = false;
  /** How many connections there were. */
  connections = 0;
  /** How many bytes came from the server. */
  received = 0;
  /** How many connections were cut. */
  cuts = 0;

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((socket) => this.#onConnection(socket));
  }

  /** A network in which this port can be reached. */
  static async start(target: number): Promise<Network> {
    const network = new Network(target);
    network.#server.listen(0, "127.0.0.1");
    await once(network.#server, "listening");
    return network;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("it does not listen");
    return `http://127.0.0.1:${address.port}`;
  }

  /** How many connections there are. */
  get open(): number {
    return this.#pairs.size;
  }

  /** Leads to another port from now on. */
  lead(target: number): void {
    this.#target = target;
  }

  /** Cuts every connection. */
  cut(): void {
    for (const pair of this.#pairs) this.#reset(pair);
  }

  /** Cuts some connection, if there is one. */
  cutAny(): void {
    const pairs = [...this.#pairs];
    const pair = pairs[Math.floor(Math.random() * pairs.length)];
    if (pair !== undefined) this.#reset(pair);
  }

  /** Refuses new connections, or no longer. */
  refuse(refusing: boolean): void {
    this.#refusing = refusing;
  }

  /** Lets nothing through from now on, on the connections that there are, without ending them. */
  freeze(): void {
    for (const [near, far] of this.#pairs) {
      // What is not read does not tell its end.
      near.unpipe(far).resume();
      far.unpipe(near).resume();
    }
  }

  /** Lets nothing through on new connections, or no longer. */
  swallow(swallowing: boolean): void {
    this.#swallowing = swallowing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, "close");
  }

  #onConnection(near: Socket): void {
    this.connections += 1;
    if (this.#refusing) {
      near.resetAndDestroy();
      return;
    }
    const far = dial(this.#target, "127.0.0.1");
    const pair: Pair = [near, far];
    this.#pairs.add(pair);
    if (this.#swallowing) near.resume();
    else near.pipe(far).pipe(near);
    far.on("data", (bytes) => {
      this.received += bytes.length;
    });
    for (const socket of pair) {
      socket.setNoDelay(true);
      // Who is cut hears of it by the end of the other side.
      socket.on("error", () => {});
      socket.on("close", () => this.#end(pair));
    }
  }

  #reset(pair: Pair): void {
    this.cuts += 1;
    this.#end(pair);
  }

  #end(pair: Pair): void {
    if (!this.#pairs.delete(pair)) return;
    for (const socket of pair) socket.resetAndDestroy();
  }
}
