import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";

/** Metadata of a package, as npm requests it from a registry. */
interface Packument {
  readonly name: string;
  readonly "dist-tags": { readonly latest: string };
  readonly versions: Readonly<Record<string, object>>;
}

/** An npm registry that serves packed files. Disposing stops it. */
export class Registry implements AsyncDisposable {
  readonly #server: Server;
  readonly #directory: string;
  readonly #packages = new Map<string, Packument>();

  private constructor(directory: string) {
    this.#directory = directory;
    this.#server = createServer(async (request, response) => {
      const name = decodeURIComponent(request.url ?? "").slice(1);
      const known = this.#packages.get(name);
      if (known !== undefined) response.end(JSON.stringify(known));
      else if (/^[\w.-]+\.tgz$/.test(name)) response.end(await readFile(join(this.#directory, name)));
      else response.writeHead(404).end("{}");
    });
  }

  /** Starts a registry with all packages in an output directory of `cargo xtask dist`. */
  static async start(directory: string): Promise<Registry> {
    const registry = new Registry(directory);
    registry.#server.listen(0, "127.0.0.1");
    await once(registry.#server, "listening");
    const files = (await readdir(directory)).filter((file) => file.endsWith(".tgz"));
    await Promise.all(files.map((file) => registry.#add(file)));
    return registry;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async #add(file: string): Promise<void> {
    const path = join(this.#directory, file);
    const { stdout } = await promisify(execFile)("tar", ["-xOzf", path, "package/package.json"]);
    const manifest = JSON.parse(stdout) as { readonly name: string; readonly version: string };
    const integrity = `sha512-${createHash("sha512")
      .update(await readFile(path))
      .digest("base64")}`;
    const { name, version } = manifest;
    this.#packages.set(name, {
      name,
      "dist-tags": { latest: version },
      versions: { [version]: { ...manifest, dist: { tarball: `${this.url}${file}`, integrity } } },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }
}
