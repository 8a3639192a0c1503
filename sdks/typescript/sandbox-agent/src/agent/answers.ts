import type { Outcome } from "@tombolo/acp-http-client";
import type { Handlers } from "./events.js";
import { permissionOf, questionOf } from "./updates.js";

/** What the agent is told that can be asked here. */
export function capabilitiesOf({ onQuestion }: Handlers): object {
  return onQuestion === undefined ? {} : { elicitation: { form: {} } };
}

/** The answer to what the agent asks. */
export async function answerOf(handlers: Handlers, method: string, params: unknown): Promise<Outcome> {
  try {
    switch (method) {
      case "session/request_permission": {
        const optionId = await handlers.onPermission?.(permissionOf(params));
        const outcome = optionId === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId };
        return { result: { outcome } };
      }
      case "elicitation/create": {
        if (handlers.onQuestion === undefined) return unknown(method);
        const content = await handlers.onQuestion(questionOf(params));
        return { result: content === undefined ? { action: "cancel" } : { action: "accept", content } };
      }
      default:
        return unknown(method);
    }
  } catch (error) {
    return { error: { code: -32603, message: error instanceof Error ? error.message : String(error) } };
  }
}

function unknown(method: string): Outcome {
  return { error: { code: -32601, message: `there is no \`${method}\` here` } };
}
