import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { NotConnectedError } from "@tombolo/sandbox-agent";
import { SandboxAgentClient } from "@tombolo/sandbox-agent/node";
import { until } from "tombolo-testing";
import { afterAll, expect, test } from "vitest";

const home = await mkdtemp(join(tmpdir(), "sandbox-agent-"));
afterAll(() => rm(home, { recursive: true, force: true }));
const args = ["--data-dir", home, "--no-install"];
const reachable = (url: string): Promise<boolean> =>
  fetch(`${url}/v1/health`).then(
    () => true,
    () => false,
  );

test("typescript-11: start() starts a daemon, and stop() ends it", async () => {
  const client = await SandboxAgentClient.start({ agent: "mock", daemon: { args } });
  const url = client.daemonUrl ?? "";
  const { sessionId } = await client.newSession({ directory: "/" });
  expect(await client.prompt(sessionId, "hello")).toEqual({ stopReason: "end_turn" });
  expect((await fetch(`${url}/v1/sessions`)).status).toBe(401);
  await client.stop();
  expect(await reachable(url)).toBe(false);
  await client.stop();
});

test("typescript-11: each daemon has its own port and ends with its client", async () => {
  const urls: string[] = [];
  {
    await using one = await SandboxAgentClient.start({ daemon: { args: ["--data-dir", join(home, "one")] } });
    await using other = await SandboxAgentClient.start({
      daemon: { args: ["--data-dir", join(home, "other")] },
    });
    urls.push(one.daemonUrl ?? "", other.daemonUrl ?? "");
    expect(await Promise.all(urls.map(reachable))).toEqual([true, true]);
    expect(urls[0]).not.toBe(urls[1]);
  }
  expect(await Promise.all(urls.map(reachable))).toEqual([false, false]);
});

/** `disconnect()` and disposal must return within 1 s and leave nothing running. */
test("stop() takes less than a second even if agents ignore signals", async () => {
  const pids = join(home, "pids");
  const config = join(home, "agents.toml");
  const script = `trap '' TERM; echo $$ >> ${pids}; while true; do sleep 0.1; done`;
  await writeFile(
    config,
    `[agents.stubborn]\ncommand = ["bash", "-c", ${JSON.stringify(script)}]\nprotocol = "acp"\n`,
  );
  const client = await SandboxAgentClient.start({
    agent: "mock",
    daemon: { args: ["--data-dir", join(home, "stubborn"), "--config", config] },
  });
  const { sessionId } = await client.newSession({ directory: "/" });
  const turn = client.prompt(sessionId, "/hang").catch((error: unknown) => error);
  const creating = client.sessions.create("stubborn", { agent: "stubborn" }).catch((error: unknown) => error);
  const started = (): Promise<string> => readFile(pids, "utf8").catch(() => "");
  await until(async () => (await started()) !== "", "the agent");

  const since = performance.now();
  await client.stop();
  expect(performance.now() - since).toBeLessThan(1_000);
  expect(await turn).toBeInstanceOf(NotConnectedError);
  await creating;
  for (const pid of (await started()).trim().split("\n")) {
    expect(() => process.kill(Number(pid), 0)).toThrow("ESRCH");
  }
});

test("a daemon ends with the process that started it", async () => {
  const script = `
    import { SandboxAgentClient } from "@tombolo/sandbox-agent/node";
    const client = await SandboxAgentClient.start({ daemon: { args: ${JSON.stringify(args)} } });
    console.log(client.daemonUrl);
    process.exit();
  `;
  const run = ["--input-type=module", "--eval", script];
  const { stdout } = await promisify(execFile)(process.execPath, run, { cwd: import.meta.dirname });
  const url = stdout.trim();
  expect(url).toMatch(/^http:/);
  await until(async () => !(await reachable(url)), "the end of the daemon");
});

test("the error says why a daemon does not start", async () => {
  const none = SandboxAgentClient.start({ daemon: { program: "no-such-program" } });
  await expect(none).rejects.toThrow("could not start the daemon");
  const wrong = SandboxAgentClient.start({ daemon: { args: ["--no-such-option"] } });
  await expect(wrong).rejects.toThrow("--no-such-option");
});
