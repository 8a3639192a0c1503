import {
  ClosedError,
  ExitedError,
  GoneError,
  RpcError,
  GapError as TransportGapError,
} from "@tombolo/acp-http-client";
import { AgentEndedError, AgentFailedError, GapError, NotConnectedError } from "../errors.js";

/** Replaces an ACP error by one of this package. `ProblemError` and `ConnectionError` belong to both. */
export function translateError(cause: unknown): unknown {
  if (cause instanceof RpcError) return new AgentFailedError(cause.message, cause.code, cause.data);
  if (cause instanceof ExitedError || cause instanceof GoneError) {
    return new AgentEndedError(cause.message, { cause });
  }
  if (cause instanceof TransportGapError) return new GapError(cause.gap);
  if (cause instanceof ClosedError) return new NotConnectedError();
  return cause;
}
