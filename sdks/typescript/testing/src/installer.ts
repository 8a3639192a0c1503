import { mkdir, symlink } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

/** The variables of whoever runs the tests that would lead an agent elsewhere. */
const MISLEADING: readonly string[] = [
  "HOME",
  "XDG_DATA_HOME",
  "TOMBOLO_TOKEN",
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "ANTHROPIC_BASE_URL",
  "OPENAI_API_KEY",
  "GEMINI_API_KEY",
];

/** Lets all tests install into one place, as an agent takes some hundred megabytes. */
export async function shareAgents(agents: string, data: string): Promise<void> {
  await mkdir(agents, { recursive: true });
  await mkdir(data, { recursive: true });
  await symlink(agents, join(data, "agents"));
}

/**
 * Variables that let a program with a home of its own install as whoever runs it would: with their cache, and from
 * where their npm is told to.
 */
export function usersPlaces(): Record<string, string> {
  const kept = Object.entries(process.env).flatMap(([name, value]) =>
    // What npm says to the scripts that it runs is about this workspace.
    value === undefined || MISLEADING.includes(name) || /^npm_/i.test(name) ? [] : [[name, value] as const],
  );
  const { NPM_CONFIG_USERCONFIG, npm_config_userconfig, npm_config_cache, TOMBOLO_CACHE_DIR } = process.env;
  return {
    ...Object.fromEntries(kept),
    // The model is on this machine, whatever leads to the network.
    NO_PROXY: "127.0.0.1",
    no_proxy: "127.0.0.1",
    TOMBOLO_CACHE_DIR: TOMBOLO_CACHE_DIR ?? join(homedir(), ".cache/tombolo"),
    NPM_CONFIG_USERCONFIG: NPM_CONFIG_USERCONFIG ?? npm_config_userconfig ?? join(homedir(), ".npmrc"),
    npm_config_cache: npm_config_cache ?? join(homedir(), ".npm"),
  };
}
