import { afterAll, beforeAll } from "vitest";
import { Daemon, type DaemonOptions } from "./daemon.js";

/** Starts a daemon before the tests of a file and stops it after them. */
export function daemonOf(options: DaemonOptions = {}): { readonly url: string; readonly port: number } {
  let daemon: Daemon | undefined;
  beforeAll(async () => {
    daemon = await Daemon.start(options);
  });
  afterAll(async () => {
    await daemon?.[Symbol.asyncDispose]();
  });
  const running = (): Daemon => {
    if (daemon === undefined) throw new Error("the daemon is not started yet");
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
