import { Daemon, type DaemonOptions } from "tombolo-testing";
import { afterAll, beforeAll } from "vitest";

/** What a daemon tells of an instance. */
export interface Instance {
  readonly serverId: string;
  readonly state: "starting" | "running" | "exited";
  readonly pendingRequests: number;
  readonly subscribers: number;
  readonly events: { readonly oldest: number; readonly newest: number };
}

/** An instance as it is now, if there is one. */
export async function instanceOf(url: string, id: string): Promise<Instance | undefined> {
  const response = await fetch(`${url}/v1/acp`);
  const { items } = (await response.json()) as { items: Instance[] };
  return items.find(({ serverId }) => serverId === id);
}

/** A daemon for all tests of a file. */
export function daemonOf(options: DaemonOptions = {}): { readonly url: string; readonly port: number } {
  let daemon: Daemon | undefined;
  beforeAll(async () => {
    daemon = await Daemon.start(options);
  });
  afterAll(async () => {
    await daemon?.[Symbol.asyncDispose]();
  });
  const running = (): Daemon => {
    if (daemon === undefined) throw new Error("it is not started yet");
    return daemon;
  };
  return {
    get url() {
      return running().url;
    },
    get port() {
      return running().port;
    },
  };
}
