import { once } from "node:events";
import { chmod, mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Program, programFrom, until } from "tombolo-testing";
import { published } from "./published.ts";

/** Where it looks for its mock agent, below its home. */
const AGENT = ".local/share/sandbox-agent/bin/agent_processes/mock-acp";

/** The server of the published `sandbox-agent`, with our mock agent behind it, until it is disposed of. */
export class Peer extends Program {
  #port = 0;

  static async start(): Promise<Peer> {
    const program = await published(
      `@sandbox-agent/cli-${process.platform}-${process.arch}/bin/sandbox-agent`,
    );
    // It is packed so that it cannot be run; the published client does this too.
    await chmod(program, 0o755);
    const home = await mkdtemp(join(tmpdir(), "sandbox-agent-"));
    await mkdir(dirname(join(home, AGENT)), { recursive: true });
    const agent = `#!/bin/sh\nexec '${programFrom("TOMBOLO_BIN")}' mock-agent\n`;
    await writeFile(join(home, AGENT), agent, { mode: 0o755 });
    const port = await freePort();
    const args = ["server", "--no-token", "--no-telemetry", "--host", "127.0.0.1", "--port", String(port)];
    const peer = new Peer(home, args, {}, program);
    peer.#port = port;
    await until(() => peer.#listens(), "the server of the published `sandbox-agent`");
    return peer;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async #listens(): Promise<boolean> {
    return fetch(`${this.url}/v1/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  }
}

/** It does not say which port it has taken. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
