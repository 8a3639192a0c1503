import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxAgentClient } from "@tombolo/sandbox-agent";
import { Daemon, Model } from "tombolo-testing";
import { afterAll, beforeAll } from "vitest";
import type { Home } from "./homes.js";

/** Time limit for the installation of an agent, for which the first test waits. */
const INSTALL_MS = 240_000;

/** The environment of the tests of one agent: a daemon, a model and a working directory. */
export interface Stage {
  readonly url: string;
  /** Working directory of the agent. */
  readonly project: string;
}

/** Creates the environment and installs the agent before the first test. */
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
