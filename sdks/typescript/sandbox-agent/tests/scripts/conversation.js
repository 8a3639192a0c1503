/** A conversation on any platform, with the built package. Its argument is the URL of the daemon. */
import { SandboxAgentClient } from "@tombolo/sandbox-agent";

const client = new SandboxAgentClient({ baseUrl: process.argv[2], agent: "mock" });
const { sessionId } = await client.newSession({ directory: "/" });
const { stopReason } = await client.prompt(sessionId, "hello");
await client.disconnect();
const { bun, deno } = process.versions;
const platform = bun ? "bun" : deno ? "deno" : "node";
const id = `on-${platform}-${process.version}`;
await client.sessions.create(id, { agent: "mock" });
await client.sessions.send(id, "hello");
for await (const { event } of client.sessions.events(id)) if ("turnEnded" in event) break;
await client.sessions.delete(id);
console.log(platform, process.version, stopReason);
