import {
  ClosedError,
  ExitedError,
  GoneError,
  GapError as MessageGapError,
  RpcError,
} from "@tombolo/acp-http-client";
import { AgentEndedError, AgentFailedError, GapError, NotConnectedError } from "../errors.js";

/** A failure of the connection to an agent, in our words. `ProblemError` and `ConnectionError` are ours already. */
export function failureOf(cause: unknown): unknown {
  if (cause instanceof RpcError) return new AgentFailedError(cause.message, cause.code, cause.data);
  if (cause instanceof ExitedError || cause instanceof GoneError) {
    return new AgentEndedError(cause.message, { cause });
  }
  if (cause instanceof MessageGapError) return new GapError(cause.gap);
  if (cause instanceof ClosedError) return new NotConnectedError();
  return cause;
}
