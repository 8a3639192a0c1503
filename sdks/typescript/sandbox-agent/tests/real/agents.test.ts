import { access } from "node:fs/promises";
import { join } from "node:path";
import { type EventRecord, type PermissionRequest, SandboxAgentClient } from "@tombolo/sandbox-agent";
import { describe, expect, test } from "vitest";
import { Reading, said, texts } from "../talking.js";
import { claude, codex, type Home, opencode } from "./homes.js";
import { stageOf } from "./stage.js";

/** Real agents, the setup that points each to the scripted model, and the mode in which it asks for permission. */
const AGENTS: readonly [string, Home, string?][] = [
  ["claude", claude],
  // In its default mode a model decides about permissions.
  ["codex", codex, "workspace-write"],
  ["opencode", opencode],
];

describe.each(AGENTS)("typescript-10: %s", (agent, home, mode) => {
  const stage = stageOf(agent, home);

  test("a universal session, with a permission that is granted", async () => {
    const client = new SandboxAgentClient({ baseUrl: stage.url });
    const created = await client.sessions.create("a", { agent, directory: stage.project });
    expect(created).toMatchObject({ healthy: true });
    const { turnId } = await client.sessions.send("a", "say:on my way ;; tool:bash! touch permitted");
    const seen: EventRecord[] = [];
    for await (const record of client.sessions.events("a")) {
      seen.push(record);
      if ("permissionAsked" in record.event) {
        await client.sessions.answerPermission("a", record.event.permissionAsked.id, "once", {
          author: "tester",
        });
      }
      if ("turnEnded" in record.event) break;
    }
    expect(seen.at(-1)?.event).toMatchObject({ turnEnded: { turnId, reason: "completed" } });
    const resolved = seen.flatMap(({ event }) =>
      "permissionResolved" in event ? [event.permissionResolved] : [],
    );
    expect(resolved).toMatchObject([{ outcome: "once", author: "tester" }]);
    expect(await said(client, "a")).toContain("on my way");
    await access(join(stage.project, "permitted"));
    await client.sessions.delete("a");
  });

  test("a direct connection, with a permission that is granted", async () => {
    const asked: PermissionRequest[] = [];
    await using client = new SandboxAgentClient({
      baseUrl: stage.url,
      agent,
      autoConnect: false,
      onPermission: async (request) => {
        asked.push(request);
        return request.options.find(({ kind }) => kind === "allow_once")?.id;
      },
    });
    expect((await client.connect()).features).toContain("loadSession");
    const reading = new Reading(client.events());
    const { sessionId } = await client.newSession({ directory: stage.project });
    if (mode !== undefined) await client.setSessionMode(sessionId, mode);
    const { stopReason } = await client.prompt(sessionId, "say:on my way ;; tool:bash! touch allowed");
    expect(stopReason).toBe("end_turn");
    expect(texts(reading.items).join("")).toContain("on my way");
    expect(asked.map((request) => request.sessionId)).toEqual([sessionId]);
    await access(join(stage.project, "allowed"));
    expect(await client.listSessions()).toContainEqual(
      expect.objectContaining({ sessionId, agent, ended: false }),
    );
  });
});
