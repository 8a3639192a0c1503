import { daemonOf } from "tombolo-testing/vitest";
import { afterAll, expect, test } from "vitest";
import { Browser } from "./browser.js";
import "./sdk.js";

const browser = await Browser.start();
afterAll(() => browser[Symbol.asyncDispose]());
const token = "of-the-page";
const daemon = daemonOf({ token, args: ["--cors-allow-origin", browser.origin] });
const closed = daemonOf({ token });

test("typescript-8: a page talks to an agent, and keeps its sessions across a reload", async () => {
  const spoken = await browser.page.evaluate(
    async ([baseUrl, token]) => {
      const store = new sdk.IndexedDbStore();
      const client = new sdk.SandboxAgentClient({ baseUrl, token, agent: "mock", store });
      const texts: string[] = [];
      const reading = (async () => {
        for await (const event of client.events()) {
          if (event.type !== "sessionUpdate" || event.update.type !== "agentMessage") continue;
          if (event.update.content.type === "text") texts.push(event.update.content.text);
        }
      })();
      const { sessionId } = await client.newSession({ directory: "/", title: "Kept" });
      const { stopReason } = await client.prompt(sessionId, "/chunks 3");
      await client.disconnect();
      await reading;
      return { sessionId, stopReason, texts };
    },
    [daemon.url, token] as const,
  );
  expect(spoken).toMatchObject({ stopReason: "end_turn", texts: ["chunk 1 ", "chunk 2 ", "chunk 3 "] });
  await browser.page.reload();
  const kept = await browser.page.evaluate(
    (sessionId) => new sdk.IndexedDbStore().get(sessionId),
    spoken.sessionId,
  );
  expect(kept).toMatchObject({ metadata: { title: "Kept" }, eventCount: 3 });
});

test("typescript-8: a page follows a session to the end of its turn", async () => {
  const said = await browser.page.evaluate(
    async ([baseUrl, token]) => {
      const { sessions } = new sdk.SandboxAgentClient({ baseUrl, token });
      await sessions.create("page", { agent: "mock" });
      await sessions.send("page", "hello");
      const texts: string[] = [];
      for await (const { event } of sessions.events("page")) {
        if ("messageDelta" in event) texts.push(event.messageDelta.text);
        if ("turnEnded" in event) break;
      }
      await sessions.delete("page");
      return texts;
    },
    [daemon.url, token] as const,
  );
  expect(said).toEqual(["hello"]);
});

test("typescript-8: a page opens a terminal with a token and without headers", async () => {
  const shown = await browser.page.evaluate(
    async ([baseUrl, token]) => {
      const { processes } = new sdk.SandboxAgentClient({ baseUrl, token });
      const { id } = await processes.start({ command: "sh", terminal: { columns: 80, rows: 24 } });
      const terminal = processes.terminal(id);
      await terminal.write("echo to$((40 + 2))gether; exit\n");
      let shown = "";
      for await (const event of terminal) {
        if (event.type === "output") shown += new TextDecoder().decode(event.bytes);
      }
      return shown;
    },
    [daemon.url, token] as const,
  );
  expect(shown).toContain("to42gether");
});

test("a page of an origin that is not allowed gets a ConnectionError", async () => {
  const failure = await browser.page.evaluate(
    async ([baseUrl, token]) => {
      const client = new sdk.SandboxAgentClient({ baseUrl, token });
      return client.health().catch((error: unknown) => error instanceof sdk.ConnectionError);
    },
    [closed.url, token] as const,
  );
  expect(failure).toBe(true);
});

/** The scripts that the page has loaded on demand. */
const more = () =>
  browser.page.evaluate(() =>
    performance.getEntriesByType("resource").flatMap(({ name }) => name.match(/\/open-link-\w+\.js$/) ?? []),
  );

test("a page loads the ACP code with its first connection", async () => {
  await browser.page.reload();
  await browser.page.evaluate(
    async ([baseUrl, token]) => {
      const client = new sdk.SandboxAgentClient({ baseUrl, token, agent: "mock", autoConnect: false });
      await client.sessions.list();
    },
    [daemon.url, token] as const,
  );
  expect(await more()).toEqual([]);
  await browser.page.evaluate(
    async ([baseUrl, token]) => {
      const client = new sdk.SandboxAgentClient({ baseUrl, token, agent: "mock" });
      await client.newSession({ directory: "/" });
      await client.disconnect();
    },
    [daemon.url, token] as const,
  );
  expect(await more()).toHaveLength(1);
});

test("a page that cannot load the ACP code gets an error, and so do its readers", async () => {
  await browser.page.route(/\/open-link-\w+\.js$/, (route) => route.abort());
  await browser.page.reload();
  const failures = await browser.page.evaluate(
    async ([baseUrl, token]) => {
      const client = new sdk.SandboxAgentClient({ baseUrl, token, agent: "mock" });
      const reading = client.events().next();
      const failed = (error: unknown) => (error instanceof Error ? error.name : String(error));
      const first = [client.newSession({ directory: "/" }), reading];
      const names = await Promise.all(first.map((each) => each.then(() => "none", failed)));
      return [...names, await client.listSessions().then(() => "none", failed)];
    },
    [daemon.url, token] as const,
  );
  await browser.page.unroute(/\/open-link-\w+\.js$/);
  expect(failures).toEqual(["TypeError", "TypeError", "NotConnectedError"]);
});
