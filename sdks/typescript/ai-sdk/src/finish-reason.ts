import type { TurnEnded } from "@tombolo/session";
import type { FinishReason } from "ai";

/** The finish reason of the AI SDK for the end of a turn. */
export function finishReason(reason: TurnEnded["reason"]): FinishReason {
  switch (reason) {
    case "completed":
      return "stop";
    case "maxTokens":
      return "length";
    case "refused":
      return "content-filter";
    case "failed":
      return "error";
    case "interrupted":
    case "other":
      return reason;
    default:
      reason satisfies never;
      return "other";
  }
}
