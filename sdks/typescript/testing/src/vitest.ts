import { afterAll, beforeAll } from "vitest";
import { Daemon, type DaemonOptions } from "./daemon.js";

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
