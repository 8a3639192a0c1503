import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { basename } from "node:path";
import { build } from "esbuild";

/** The global `sdk` of a page. */
const CONTENTS = 'export * from "@tombolo/sandbox-agent"; export * from "@tombolo/sandbox-agent/indexeddb";';

const PAGE = `<!doctype html><meta charset="utf-8">
<script type="module">import * as sdk from "/stdin.js"; Object.assign(globalThis, { sdk });</script>`;

/** A web site with its own origin, whose pages load the packages. Disposing stops it. */
export class Site implements AsyncDisposable {
  readonly origin: string;
  readonly #server: Server;

  private constructor(server: Server, origin: string) {
    this.#server = server;
    this.origin = origin;
  }

  static async start(): Promise<Site> {
    const { outputFiles } = await build({
      stdin: { contents: CONTENTS, resolveDir: import.meta.dirname },
      bundle: true,
      format: "esm",
      outdir: ".",
      platform: "browser",
      splitting: true,
      write: false,
    });
    const scripts = new Map(outputFiles.map(({ path, text }) => [`/${basename(path)}`, text]));
    const server = createServer((request, response) => {
      const script = scripts.get(request.url ?? "");
      response.setHeader("content-type", script === undefined ? "text/html" : "text/javascript");
      response.end(script ?? PAGE);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("it has no port");
    return new Site(server, `http://127.0.0.1:${address.port}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    // Browsers keep idle connections open.
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }
}
