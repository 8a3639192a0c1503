import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Program } from "./program.js";

/** The real hub on its own port. Disposing stops it. */
export class Hub extends Program {
  static async start(args: readonly string[] = []): Promise<Hub> {
    const home = await mkdtemp(join(tmpdir(), "tombolo-"));
    const hub = new Hub(home, ["hub", "--port", "0", "--data-dir", join(home, "data"), ...args]);
    await hub.waitForOutput(/^admin token, shown once: (\S+)$/);
    return hub;
  }

  get url(): string {
    return this.findOutput(/^listening on (\S+)$/) ?? "";
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** Token of the first admin. */
  get token(): string {
    return this.findOutput(/^admin token, shown once: (\S+)$/) ?? "";
  }
}

/** A real device that lends a directory `main` with these files. Disposing stops it. */
export class Device extends Program {
  static async connect(
    hub: Hub,
    { clientId, token, files }: { clientId: string; token: string; files: Readonly<Record<string, string>> },
  ): Promise<Device> {
    const home = await mkdtemp(join(tmpdir(), "tombolo-"));
    const root = join(home, "main");
    await mkdir(root);
    for (const [name, content] of Object.entries(files)) await writeFile(join(root, name), content);
    const args = ["device", "connect", hub.url, "--client-id", clientId, "--root", `main=${root}:rw`];
    return new Device(home, [...args, "--data-dir", join(home, "data")], { TOMBOLO_DEVICE_TOKEN: token });
  }

  /** The directory that the device lends. */
  get root(): string {
    return join(this.home, "main");
  }
}
