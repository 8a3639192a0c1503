import type { Usage } from "./types/event.js";

/** What all turns took; what the conversation holds now takes the place of what it held. */
export function addUsage(all: Usage, turn: Usage): Usage {
  return {
    inputTokens: sum(all.inputTokens, turn.inputTokens),
    outputTokens: sum(all.outputTokens, turn.outputTokens),
    cachedTokens: sum(all.cachedTokens, turn.cachedTokens),
    reasoningTokens: sum(all.reasoningTokens, turn.reasoningTokens),
    // Whether it costs nothing or nobody says what it costs is not the same.
    costUsd: all.costUsd == null && turn.costUsd == null ? null : sum(all.costUsd, turn.costUsd),
    contextTokens: turn.contextTokens ?? all.contextTokens ?? null,
    contextWindow: turn.contextWindow ?? all.contextWindow ?? null,
  };
}

function sum(all: number | null | undefined, turn: number | null | undefined): number {
  return (all ?? 0) + (turn ?? 0);
}
