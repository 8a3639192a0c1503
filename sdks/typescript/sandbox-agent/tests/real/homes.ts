import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The API key of the scripted model. */
const KEY = "sk-scripted-0123456789";

/** Configures a home directory so that an agent uses the model at a URL. Returns environment variables for the agent. */
export type Home = (home: string, model: string) => Promise<Readonly<Record<string, string>>>;

/** Claude is configured by environment variables only. */
export const claude: Home = async (_, model) => ({
  ANTHROPIC_BASE_URL: model,
  ANTHROPIC_API_KEY: KEY,
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  CLAUDE_CODE_MAX_RETRIES: "1",
  DISABLE_AUTOUPDATER: "1",
});

/** Codex has plain tools for this model. Plugins are off, as they need the network. */
export const codex: Home = async (home, model) => {
  const [place, temporary] = [join(home, ".codex"), join(home, "temporary")];
  await mkdir(place);
  // Its helper programs refuse a home directory below the directory for temporary files.
  await mkdir(temporary);
  const config = `model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false

[analytics]
enabled = false

[features]
plugins = false

[model_providers.scripted]
name = "scripted"
base_url = "${model}/v1"
wire_api = "responses"
env_key = "SCRIPTED_API_KEY"
request_max_retries = 1
stream_max_retries = 1
`;
  await writeFile(join(place, "config.toml"), config);
  return { CODEX_HOME: place, TMPDIR: temporary, SCRIPTED_API_KEY: KEY };
};

/** Without the `permission` block OpenCode never asks for permission. */
export const opencode: Home = async (home, model) => {
  const limit = { context: 200_000, output: 8192 };
  const config = {
    model: "scripted/scripted-1",
    small_model: "scripted/scripted-1",
    autoupdate: false,
    share: "disabled",
    provider: {
      scripted: {
        npm: "@ai-sdk/openai-compatible",
        name: "Scripted",
        options: { baseURL: `${model}/v1`, apiKey: "{env:SCRIPTED_API_KEY}" },
        models: { "scripted-1": { name: "Scripted One", tool_call: true, reasoning: true, limit } },
      },
    },
    permission: { bash: "ask", edit: "ask", webfetch: "ask" },
  };
  await writeFile(join(home, "opencode.json"), JSON.stringify(config));
  return {
    OPENCODE_CONFIG: join(home, "opencode.json"),
    SCRIPTED_API_KEY: KEY,
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
  };
};
