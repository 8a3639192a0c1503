import type { TokenUsage } from "./types.js";

/** Adds the usage of a turn to that of all turns before it. */
export function addUsage(total: TokenUsage, turn: TokenUsage): TokenUsage {
  return {
    inputTokens: total.inputTokens + turn.inputTokens,
    outputTokens: total.outputTokens + turn.outputTokens,
    cachedTokens: total.cachedTokens + turn.cachedTokens,
    reasoningTokens: total.reasoningTokens + turn.reasoningTokens,
    // `null` means that the agent does not report costs, which differs from a cost of 0.
    costUsd: total.costUsd == null ? turn.costUsd : total.costUsd + (turn.costUsd ?? 0),
    // These describe the conversation as it is now, so the newest value replaces the older one.
    contextTokens: turn.contextTokens ?? total.contextTokens,
    contextWindow: turn.contextWindow ?? total.contextWindow,
  };
}
