import type { Usage } from "./types/event.js";

/** What all turns took; what the conversation holds now takes the place of what it held. */
export function addUsage(all: Usage, turn: Usage): Usage {
  return {
    inputTokens: all.inputTokens + turn.inputTokens,
    outputTokens: all.outputTokens + turn.outputTokens,
    cachedTokens: all.cachedTokens + turn.cachedTokens,
    reasoningTokens: all.reasoningTokens + turn.reasoningTokens,
    // Whether it costs nothing or nobody says what it costs is not the same.
    costUsd: all.costUsd === null ? turn.costUsd : all.costUsd + (turn.costUsd ?? 0),
    contextTokens: turn.contextTokens ?? all.contextTokens,
    contextWindow: turn.contextWindow ?? all.contextWindow,
  };
}
