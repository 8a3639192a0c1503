import { mkdir, symlink } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

/** Environment variables of the developer that would change the behaviour of an agent under test. */
const EXCLUDED_VARIABLES: readonly string[] = [
  "HOME",
  "XDG_DATA_HOME",
  "TOMBOLO_TOKEN",
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "ANTHROPIC_BASE_URL",
  "OPENAI_API_KEY",
  "GEMINI_API_KEY",
];

/** Makes all tests share one directory for installed agents, as an agent takes some hundred megabytes. */
export async function shareAgents(agents: string, data: string): Promise<void> {
  await mkdir(agents, { recursive: true });
  await mkdir(data, { recursive: true });
  await symlink(agents, join(data, "agents"));
}

/**
 * Environment variables for a program with its own home directory that still uses the caches and the npm registry of the
 * developer.
 */
export function installerEnvironment(): Record<string, string> {
  const inherited = Object.entries(process.env).flatMap(([name, value]) =>
    // npm sets these variables for its scripts, and they describe this workspace.
    value === undefined || EXCLUDED_VARIABLES.includes(name) || /^npm_/i.test(name)
      ? []
      : [[name, value] as const],
  );
  const { NPM_CONFIG_USERCONFIG, npm_config_userconfig, npm_config_cache, TOMBOLO_CACHE_DIR } = process.env;
  return {
    ...Object.fromEntries(inherited),
    // The scripted model runs on this machine and must not be reached through a proxy.
    NO_PROXY: "127.0.0.1",
    no_proxy: "127.0.0.1",
    TOMBOLO_CACHE_DIR: TOMBOLO_CACHE_DIR ?? join(homedir(), ".cache/tombolo"),
    NPM_CONFIG_USERCONFIG: NPM_CONFIG_USERCONFIG ?? npm_config_userconfig ?? join(homedir(), ".npmrc"),
    npm_config_cache: npm_config_cache ?? join(homedir(), ".npm"),
  };
}
