import { ObservationError } from "../errors.js";
import type { ObservationFrame } from "../generated/aliases.js";
import { type DecodedEvent, parseData } from "../http/follow-events.js";
import { followSocket } from "../http/follow-socket.js";
import { fillPath, stringValues } from "../http/route.js";
import type { RouteClient } from "../http/route-client.js";
import type { SocketFrame } from "../http/socket.js";
import type { CallOptions } from "../options.js";

const NOT_FOUND = "runtime.worker_not_found";

/** Kinds of problems that end a stream. */
const FINAL_PROBLEMS = ["worker_not_found", "observation_only", "denied"];

/** Kinds of problems with a cursor. The stream continues with a new snapshot. */
const CURSOR_PROBLEMS = ["cursor_malformed", "cursor_unknown", "cursor_expired"];

/** Options for watching a session. */
export interface ObserveOptions extends CallOptions {
  /** Cursor of the last event that was received. Default: only new events. */
  readonly cursor?: string | undefined;
}

/**
 * Watches a session across lost connections. Each connection starts with a snapshot, and each event comes once. Events
 * that the snapshot already contains are marked `replay`. If the cursor is no longer valid, there is a diagnostic, and
 * the stream continues with a new snapshot.
 */
export function observe(
  http: RouteClient,
  runtimeId: string,
  workerId: string,
  { cursor: first, signal }: ObserveOptions,
): AsyncGenerator<ObservationFrame, undefined, undefined> {
  let cursor = first;
  const path = "/api/runtimes/{runtime_id}/workers/{worker_id}/events/ws";
  const names = { runtime_id: runtimeId, worker_id: workerId };
  const decode = (wire: SocketFrame): DecodedEvent<ObservationFrame> => {
    if (typeof wire !== "string") return undefined;
    const frame = parseData<ObservationFrame>({ data: wire });
    if (frame.kind === "event") {
      // A snapshot precedes the replayed events that it contains. If its cursor were used, a connection that is lost
      // between them would skip these events.
      if (!("snapshot" in frame.envelope.payload) || cursor === undefined) cursor = frame.envelope.cursor;
    }
    if (frame.kind === "diagnostic") {
      const kind = frame.diagnostic.code.split(".")[1] ?? "";
      if (FINAL_PROBLEMS.includes(kind)) throw new ObservationError(frame.diagnostic);
      if (CURSOR_PROBLEMS.includes(kind)) cursor = undefined;
    }
    return { item: frame };
  };
  return followSocket<ObservationFrame>(http, {
    address: () => ({ path: fillPath(path, names), query: stringValues({ cursor }) }),
    check: async (stop) => {
      const workers = await http.json("get", "/api/runtimes/{runtime_id}/workers", { names, signal: stop });
      const exists = workers.items.some(({ id }) => id === workerId);
      if (!exists)
        throw new ObservationError({ code: NOT_FOUND, message: `the worker \`${workerId}\` does not exist` });
    },
    decode,
    idleTimeoutMs: http.policy.idleTimeoutMs,
    signal,
  });
}
