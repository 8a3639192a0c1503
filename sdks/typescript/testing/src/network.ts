import { once } from "node:events";
import { createServer, connect as dial, type Server, type Socket } from "node:net";

/** The client and server sockets of a proxied connection. */
type SocketPair = readonly [Socket, Socket];

/** A TCP proxy between client and server that simulates network failures. */
export class Network implements AsyncDisposable {
  readonly #server: Server;
  readonly #pairs = new Set<SocketPair>();
  #target: number;
  #refusing = false;
  #swallowing = false;
  /** Number of connections so far. */
  connections = 0;
  /** Number of bytes from the server so far. */
  received = 0;
  /** Number of connections that were cut. */
  cuts = 0;

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((socket) => this.#onConnection(socket));
  }

  /** Starts a proxy to this port. */
  static async start(target: number): Promise<Network> {
    const network = new Network(target);
    network.#server.listen(0, "127.0.0.1");
    await once(network.#server, "listening");
    return network;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the proxy is not listening");
    return `http://127.0.0.1:${address.port}`;
  }

  /** Number of open connections. */
  get open(): number {
    return this.#pairs.size;
  }

  /** Connects to another port from now on. */
  redirect(target: number): void {
    this.#target = target;
  }

  /** Resets every connection. */
  cut(): void {
    for (const pair of this.#pairs) this.#reset(pair);
  }

  /** Resets a random connection, if there is one. */
  cutAny(): void {
    const pairs = [...this.#pairs];
    const pair = pairs[Math.floor(Math.random() * pairs.length)];
    if (pair !== undefined) this.#reset(pair);
  }

  /** Whether to refuse new connections. */
  refuse(refusing: boolean): void {
    this.#refusing = refusing;
  }

  /** Stops forwarding on the open connections without closing them. */
  freeze(): void {
    for (const [near, far] of this.#pairs) {
      // Keep reading, or the end of the connection would not be noticed.
      near.unpipe(far).resume();
      far.unpipe(near).resume();
    }
  }

  /** Whether to forward nothing on new connections. */
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
    const pair: SocketPair = [near, far];
    this.#pairs.add(pair);
    if (this.#swallowing) near.resume();
    else near.pipe(far).pipe(near);
    far.on("data", (bytes) => {
      this.received += bytes.length;
    });
    for (const socket of pair) {
      socket.setNoDelay(true);
      // The `close` handler resets the other side.
      socket.on("error", () => {});
      socket.on("close", () => this.#end(pair));
    }
  }

  #reset(pair: SocketPair): void {
    this.cuts += 1;
    this.#end(pair);
  }

  #end(pair: SocketPair): void {
    if (!this.#pairs.delete(pair)) return;
    for (const socket of pair) socket.resetAndDestroy();
  }
}
