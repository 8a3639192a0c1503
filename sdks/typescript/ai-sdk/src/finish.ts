import type { TurnEnded } from "@tombolo/session";
import type { FinishReason } from "ai";

/** Why a turn has ended, in the words of the AI SDK. */
export function finishOf(reason: TurnEnded["reason"]): FinishReason {
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
