import { once } from "node:events";
import { chmod, mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Program, programFrom, until } from "tombolo-testing";
import { published } from "./published.ts";

/** Path of its mock agent, relative to its home directory. */
const AGENT = ".local/share/sandbox-agent/bin/agent_processes/mock-acp";

/** The server of the npm package `sandbox-agent`, with our mock agent. Disposing stops it. */
export class PeerServer extends Program {
  #port = 0;

  static async start(): Promise<PeerServer> {
    const program = await published(
      `@sandbox-agent/cli-${process.platform}-${process.arch}/bin/sandbox-agent`,
    );
    // The package does not mark it as executable; its own client does this too.
    await chmod(program, 0o755);
    const home = await mkdtemp(join(tmpdir(), "sandbox-agent-"));
    await mkdir(dirname(join(home, AGENT)), { recursive: true });
    const agent = `#!/bin/sh\nexec '${programFrom("TOMBOLO_BIN")}' mock-agent\n`;
    await writeFile(join(home, AGENT), agent, { mode: 0o755 });
    const port = await freePort();
    const args = ["server", "--no-token", "--no-telemetry", "--host", "127.0.0.1", "--port", String(port)];
    const peer = new PeerServer(home, args, {}, program);
    peer.#port = port;
    await until(() => peer.#isListening(), "the server of the published `sandbox-agent`");
    return peer;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async #isListening(): Promise<boolean> {
    return fetch(`${this.url}/v1/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  }
}

/** A free port. The server does not print its port, so it cannot choose one itself. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
