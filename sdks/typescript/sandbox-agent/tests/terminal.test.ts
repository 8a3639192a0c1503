import { ProblemError, SandboxAgentClient, type TerminalEvent } from "@tombolo/sandbox-agent";
import { Network, until } from "tombolo-testing";
import { daemonOf } from "tombolo-testing/vitest";
import { expect, test } from "vitest";
import { Reading } from "./talking.js";

const token = "a-token-for-tests";
const daemon = daemonOf({ token });
const clientOf = (options = {}): SandboxAgentClient =>
  new SandboxAgentClient({ baseUrl: daemon.url, token, ...options });
const start = {
  command: "sh",
  args: ["-c", "stty -echo; echo ready; exec cat"],
  terminal: { columns: 80, rows: 24 },
};

function shown(events: readonly TerminalEvent[]): string {
  const decoder = new TextDecoder();
  return events.map((event) => (event.type === "output" ? decoder.decode(event.bytes) : "")).join("");
}

test("a terminal delivers output and the exit of its process", async () => {
  const { processes } = clientOf();
  const { id } = await processes.start(start);
  const terminal = processes.terminal(id);
  const reading = new Reading(terminal);
  await until(() => shown(reading.items).includes("ready"));
  await terminal.write("hello\n");
  await until(() => shown(reading.items).includes("hello"));
  await terminal.resize({ columns: 100, rows: 30 });
  await processes.signal(id, "KILL");
  await reading.done;
  expect(reading.items.at(-1)).toEqual({ type: "exited", code: null, signal: 9 });
});

test("terminal output comes once, whenever the connection is cut", async () => {
  await using network = await Network.start(daemon.port);
  const { processes } = clientOf({ baseUrl: network.url });
  const { id } = await processes.start(start);
  const terminal = processes.terminal(id);
  const reading = new Reading(terminal);
  await until(() => shown(reading.items).includes("ready"));
  for (let cut = 1; cut <= 3; cut += 1) {
    await terminal.write(`line ${cut}\n`);
    await until(() => shown(reading.items).includes(`line ${cut}`));
    network.cut();
    await until(() => network.open > 0);
  }
  // Input goes on while the network is down.
  await terminal.write("\u0004");
  await reading.done;
  expect(shown(reading.items)).toBe("ready\r\nline 1\r\nline 2\r\nline 3\r\n");
  const pieces = reading.items.flatMap((event) => (event.type === "output" ? [event.seq] : []));
  expect(pieces).toEqual(pieces.map((_, at) => (pieces[0] ?? 0) + at));
});

test("giveUpAfterMs counts from the loss of the connection, however quiet it was before", async () => {
  await using network = await Network.start(daemon.port);
  const { processes } = clientOf({ baseUrl: network.url, reconnect: { giveUpAfterMs: 200, maxDelayMs: 20 } });
  const { id } = await processes.start(start);
  const reading = new Reading(processes.terminal(id));
  await until(() => shown(reading.items).includes("ready"));
  const since = performance.now();
  await until(() => performance.now() - since > 400);
  network.cut();
  await clientOf().processes.writeInput(id, "\u0004");
  await reading.done;
  expect(reading.items.at(-1)).toMatchObject({ type: "exited", code: 0 });
});

test("the error says why a terminal cannot be opened", async () => {
  const { processes } = clientOf();
  const none = new Reading(processes.terminal("prc_00000000000000000000000000000000"));
  await expect(none.done).rejects.toBeInstanceOf(ProblemError);
  const stranger = clientOf({ token: "another" });
  const { id } = await processes.start(start);
  const refused = new Reading(stranger.processes.terminal(id));
  await expect(refused.done).rejects.toMatchObject({ status: 401 });
  await processes.delete(id);
});

test("a terminal works with any WebSocket implementation", async () => {
  const seen: string[] = [];
  const webSocket = (url: string, headers: Headers): WebSocket => {
    seen.push(headers.get("authorization") ?? "");
    const Opened = WebSocket as new (url: string, options: unknown) => WebSocket;
    return new Opened(url, { headers: Object.fromEntries(headers) });
  };
  const { processes } = clientOf({ webSocket });
  const { id } = await processes.start({ ...start, args: ["-c", "echo ready"] });
  const reading = new Reading(processes.terminal(id));
  await reading.done;
  expect(shown(reading.items)).toBe("ready\r\n");
  expect(seen).toEqual([`Bearer ${token}`]);
});
