import { ConnectionError } from "./errors.js";
import { ProblemError } from "./problem.js";

/** Statuses of servers and gateways that are overloaded or not reachable at the moment. */
const TRANSIENT_STATUSES: readonly number[] = [408, 429, 502, 503, 504];

/** Whether reading again may succeed: the connection failed, or the server has no capacity at the moment. */
export function isTransient(failure: unknown): boolean {
  if (failure instanceof ConnectionError) return true;
  return failure instanceof ProblemError && TRANSIENT_STATUSES.includes(failure.status);
}
