import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxAgentClient } from "@tombolo/sandbox-agent";
import { Daemon, Model } from "tombolo-testing";
import { afterAll, beforeAll } from "vitest";
import type { Home } from "./homes.js";

/** How long an agent may take to be installed, which the first to use one waits for. */
const INSTALL_MS = 240_000;

/** What the tests of an agent have to themselves: a daemon, a model, a directory to work in. */
export interface Stage {
  readonly url: string;
  /** Where the agent works. */
  readonly project: string;
}

/** A stage for all tests of an agent, which is installed before the first. */
export function stageOf(agent: string, prepare: Home): Stage {
  let stage: Stage | undefined;
  const stack = new AsyncDisposableStack();
  beforeAll(async () => {
    const agents = process.env.TOMBOLO_AGENTS;
    if (agents === undefined) throw new Error("TOMBOLO_AGENTS must name where agents are installed");
    const model = stack.use(await Model.start());
    const home = await mkdtemp(join(tmpdir(), "tombolo-"));
    const env = await prepare(home, model.url);
    const daemon = stack.use(await Daemon.start({ home, env, agents }));
    const project = join(home, "project");
    await mkdir(project);
    await new SandboxAgentClient({ baseUrl: daemon.url }).agents.install(agent);
    stage = { url: daemon.url, project };
  }, INSTALL_MS);
  afterAll(() => stack.disposeAsync());
  const ready = (): Stage => {
    if (stage === undefined) throw new Error("it is not ready yet");
    return stage;
  };
  return {
    get url() {
      return ready().url;
    },
    get project() {
      return ready().project;
    },
  };
}
