import { SandboxAgentClient } from "@tombolo/sandbox-agent";
import type { SessionSnapshot } from "@tombolo/session";
import { Daemon } from "tombolo-testing";
import { afterAll, beforeAll } from "vitest";

/** Starts a daemon and a client for all tests of a file. */
export function sandbox(): { readonly client: SandboxAgentClient; readonly url: string } {
  let running: { readonly daemon: Daemon; readonly client: SandboxAgentClient } | undefined;
  beforeAll(async () => {
    const daemon = await Daemon.start();
    running = { daemon, client: new SandboxAgentClient({ baseUrl: daemon.url }) };
  });
  afterAll(() => running?.daemon[Symbol.asyncDispose]());
  const started = () => {
    if (running === undefined) throw new Error("the daemon is not started yet");
    return running;
  };
  return {
    get client() {
      return started().client;
    },
    get url() {
      return started().daemon.url;
    },
  };
}

/** The texts of all messages. */
export const textOf = (state: SessionSnapshot | undefined) =>
  state?.messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "text" ? part.text : [])));
