import type { RpcOutcome } from "@tombolo/acp-http-client";
import type { AgentRequestHandlers } from "./events.js";
import { parsePermissionRequest, parseQuestionRequest } from "./updates.js";

/** JSON-RPC error code "Internal error". */
const INTERNAL_ERROR = -32603;

/** JSON-RPC error code "Method not found". */
const METHOD_NOT_FOUND = -32601;

/** The capabilities that the client announces to the agent. */
export function clientCapabilities({ onQuestion }: AgentRequestHandlers): object {
  return onQuestion === undefined ? {} : { elicitation: { form: {} } };
}

/** Passes a request of the agent to its handler. */
export async function answerAgentRequest(
  handlers: AgentRequestHandlers,
  method: string,
  params: unknown,
): Promise<RpcOutcome> {
  try {
    switch (method) {
      case "session/request_permission": {
        const optionId = await handlers.onPermission?.(parsePermissionRequest(params));
        const outcome = optionId === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId };
        return { result: { outcome } };
      }
      case "elicitation/create": {
        if (handlers.onQuestion === undefined) return methodNotFound(method);
        const content = await handlers.onQuestion(parseQuestionRequest(params));
        return { result: content === undefined ? { action: "cancel" } : { action: "accept", content } };
      }
      default:
        return methodNotFound(method);
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { error: { code: INTERNAL_ERROR, message } };
  }
}

function methodNotFound(method: string): RpcOutcome {
  return { error: { code: METHOD_NOT_FOUND, message: `the client does not support \`${method}\`` } };
}
