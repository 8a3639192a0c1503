import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  GapError,
  type McpServer,
  ProblemError,
  SandboxAgentClient,
  type Skill,
} from "@tombolo/sandbox-agent";
import { until } from "tombolo-testing";
import { daemonOf } from "tombolo-testing/vitest";
import { afterAll, expect, test } from "vitest";
import { Reading } from "./talking.js";

const daemon = daemonOf();
const clientOf = (options = {}): SandboxAgentClient =>
  new SandboxAgentClient({ baseUrl: daemon.url, ...options });
const home = await mkdtemp(join(tmpdir(), "sandbox-agent-"));
afterAll(() => rm(home, { recursive: true, force: true }));

test("waits are listed and answered once, and name the author", async () => {
  const client = clientOf();
  const stop = new AbortController();
  const reading = new Reading(client.waits.events({ signal: stop.signal }));
  // A wait that was opened before the stream started is part of the snapshot.
  await reading.until((event) => event.type === "snapshot");
  await client.sessions.create("waits", { agent: "mock" });
  await client.sessions.send("waits", "/permission");
  const opened = await reading.until((event) => event.type === "opened");
  if (opened.type !== "opened") throw new Error("it is not opened");
  const { id } = opened.wait;
  expect(reading.items[0]).toEqual({ type: "snapshot", waits: [] });
  expect(await client.waits.list()).toMatchObject([{ id, sessionId: "waits" }]);
  const answered = await client.waits.answer(id, { permission: "once" }, { author: "ana" });
  expect(answered.settlement).toMatchObject({ author: "ana" });
  const late = await client.waits.answer(id, "reject", { author: "bob" }).catch((error: unknown) => error);
  expect(late).toBeInstanceOf(ProblemError);
  const settled = await reading.until((event) => event.type === "settled");
  expect(settled).toMatchObject({ wait: { id, settlement: { author: "ana" } } });
  expect(await client.waits.list()).toEqual([]);
  stop.abort();
});

test("agents are listed, with their models and modes", async () => {
  const client = clientOf();
  const mock = (await client.agents.list()).find(({ id }) => id === "mock");
  expect(mock).toMatchObject({ installed: true });
  expect(await client.agents.models("mock")).toMatchObject([{ id: "mock" }]);
  expect((await client.agents.modes("mock")).map(({ id }) => id)).toContain("build");
});

test("an agent is installed with and without progress", async () => {
  const client = clientOf();
  expect(await client.agents.install("mock")).toMatchObject({ agent: "mock", alreadyInstalled: true });
  const reading = new Reading(client.agents.installWithProgress("mock"));
  await reading.done;
  expect(reading.items.at(-1)).toMatchObject({ type: "done", installed: { agent: "mock" } });
  await expect(client.agents.install("nobody")).rejects.toMatchObject({ status: 404 });
  await expect(new Reading(client.agents.installWithProgress("nobody")).done).rejects.toBeInstanceOf(
    ProblemError,
  );
});

test("files can be written, read, listed, moved and deleted", async () => {
  const { files } = clientOf();
  const path = join(home, "deep/er/file.txt");
  const written = await files.write(path, "hello, file", { parents: true });
  expect(written).toMatchObject({ bytes: 11 });
  expect(await files.readText(path)).toBe("hello, file");
  expect(new TextDecoder().decode(await files.read(path, { start: 7 }))).toBe("file");
  expect(await files.readText(path, { start: 1, end: 2 })).toBe("el");
  const { etag, size } = await files.stat(path);
  expect((await files.open(path)).etag).toBe(etag);
  expect(written.etag).toBe(etag);
  expect(size).toBe(11);
  const refused = await files.write(path, "lost", { ifMatch: "another" }).catch((error: unknown) => error);
  expect(refused).toMatchObject({ status: 412 });
  await expect(files.write(path, "lost", { ifAbsent: true })).rejects.toMatchObject({ status: 412 });
  await files.write(path, "changed", { ifMatch: etag ?? "" });
  expect(await readFile(path, "utf8")).toBe("changed");
  await files.makeDirectory(join(home, "deep/other"));
  await files.move(path, join(home, "deep/other/moved.txt"));
  const names: string[] = [];
  for await (const { name } of files.entries(join(home, "deep"))) names.push(name);
  expect(names).toEqual(["er", "other"]);
  await expect(files.delete(join(home, "deep"))).rejects.toBeInstanceOf(ProblemError);
  await files.delete(join(home, "deep"), { recursive: true });
  await expect(files.stat(join(home, "deep"))).rejects.toMatchObject({ status: 404 });
});

test("files are transferred as streams", async () => {
  const { files } = clientOf();
  const path = join(home, "large");
  const pieces = 64;
  let made = 0;
  const source = new ReadableStream<Uint8Array>({
    pull(controller) {
      made += 1;
      controller.enqueue(new Uint8Array(64 << 10).fill(made));
      if (made === pieces) controller.close();
    },
  });
  expect(await files.write(path, source)).toMatchObject({ bytes: pieces << 16 });
  const file = await files.open(path);
  expect(file.size).toBe(pieces << 16);
  let read = 0;
  for await (const piece of file.body) {
    expect(piece[0]).toBe(1 + (read >> 16));
    read += piece.length;
  }
  expect(read).toBe(pieces << 16);
  const stop = new AbortController();
  const cut = await files.open(path, { signal: stop.signal });
  stop.abort(new Error("enough"));
  await expect(new Response(cut.body).arrayBuffer()).rejects.toThrow("enough");
});

test("a large directory is listed completely", async () => {
  const { files } = clientOf();
  const all = Array.from({ length: 1100 }, (_, at) => String(at).padStart(4, "0"));
  await Promise.all(all.map((name) => files.write(join(home, "many", name), "", { parents: true })));
  const names: string[] = [];
  for await (const { name } of files.entries(join(home, "many"))) names.push(name);
  expect(names).toEqual(all);
});

test("MCP servers and skills of a directory are stored", async () => {
  const { config } = clientOf();
  const server: McpServer = { type: "local", command: ["tool", "--serve"] };
  await config.mcp.set(home, "tool", server);
  expect(await config.mcp.get(home, "tool")).toMatchObject(server);
  expect(Object.keys(await config.mcp.list(home))).toEqual(["tool"]);
  await config.mcp.delete(home, "tool");
  expect(await config.mcp.list(home)).toEqual({});
  const skill: Skill = { sources: [{ type: "local", source: home }] };
  await config.skills.set(home, "review", skill);
  expect(await config.skills.get(home, "review")).toMatchObject(skill);
  expect(Object.keys(await config.skills.list(home))).toEqual(["review"]);
  await config.skills.delete(home, "review");
  await expect(config.skills.get(home, "review")).rejects.toMatchObject({ status: 404 });
});

test("a process can be started, followed, written to and signalled", async () => {
  const { processes } = clientOf();
  const echo = await processes.start({
    command: "sh",
    args: ["-c", "echo one; read line; echo $line; exit 3"],
  });
  const logs = new Reading(processes.logs(echo.id));
  await logs.until(({ text }) => text.includes("one"));
  await processes.writeInput(echo.id, "two\n", { close: true });
  await logs.done;
  expect(logs.items.map(({ text }) => text).join("")).toBe("one\ntwo\n");
  expect(await processes.wait(echo.id)).toMatchObject({ state: "exited", exit: { code: 3 } });
  expect((await processes.logPage(echo.id, { after: 1 })).items.map(({ text }) => text).join("")).toBe(
    "two\n",
  );
  const sleep = await processes.start({ command: "sleep", args: ["1000"] });
  expect(await processes.wait(sleep.id, { timeoutMs: 10 })).toMatchObject({ state: "running" });
  await processes.signal(sleep.id, "TERM");
  expect(await processes.wait(sleep.id)).toMatchObject({ exit: { signal: 15 } });
  await processes.delete(sleep.id);
  await expect(processes.get(sleep.id)).rejects.toMatchObject({ status: 404 });
  expect((await processes.list()).map(({ id }) => id)).toEqual([echo.id]);
});

test("typescript-8: evicted output is a GapError", async () => {
  const { processes } = clientOf();
  const { id } = await processes.start({ command: "sh", args: ["-c", "seq 1 2000000"] });
  await until(async () => (await processes.wait(id)).state === "exited");
  const failure = await new Reading(processes.logs(id, { after: 1 })).done.catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(GapError);
  const { oldest } = failure as GapError;
  const kept = new Reading(processes.logs(id, { after: oldest - 1 }));
  await kept.done;
  expect(kept.items[0]?.seq).toBe(oldest);
  expect(kept.items.at(-1)?.text).toMatch(/2000000\n$/);
});
