import { ObservationError } from "../errors.js";
import { parsed, type Said } from "../http/follow.js";
import type { Http } from "../http/http.js";
import { filled, written } from "../http/route.js";
import type { Frame } from "../http/socket.js";
import { watch } from "../http/watch.js";
import type { CallOptions } from "../options.js";
import type { ObservationFrame } from "../types/observation.js";

const NOT_FOUND = "runtime.worker_not_found";

/** Troubles that end a stream for good. */
const FINAL = ["worker_not_found", "observation_only", "denied"];

/** Troubles of a cursor: the stream goes on from a new snapshot. */
const LOST = ["cursor_malformed", "cursor_unknown", "cursor_expired"];

/** How a worker is watched. */
export interface ObserveOptions extends CallOptions {
  /** The cursor of the last event that was received; only what happens from now on if left out. */
  readonly cursor?: string | undefined;
}

/**
 * Watches a worker, across cut connections: each event comes once, after the snapshot that each connection begins
 * with. What a snapshot covers is marked `replay`. A cursor that holds no more is told as a diagnostic, and what
 * follows begins with a new snapshot.
 */
export function observe(
  http: Http,
  runtimeId: string,
  workerId: string,
  { cursor: first, signal }: ObserveOptions,
): AsyncGenerator<ObservationFrame, undefined, undefined> {
  let cursor = first;
  const path = "/api/runtimes/{runtime_id}/workers/{worker_id}/events/ws";
  const names = { runtime_id: runtimeId, worker_id: workerId };
  const read = (wire: Frame): Said<ObservationFrame> => {
    if (typeof wire !== "string") return undefined;
    const frame = parsed<ObservationFrame>({ data: wire });
    if (frame.kind === "event") {
      // A snapshot comes before what it covers: who was cut in between would miss that.
      if (!("snapshot" in frame.envelope.payload) || cursor === undefined) cursor = frame.envelope.cursor;
    }
    if (frame.kind === "diagnostic") {
      const trouble = frame.diagnostic.code.split(".")[1] ?? "";
      if (FINAL.includes(trouble)) throw new ObservationError(frame.diagnostic);
      if (LOST.includes(trouble)) cursor = undefined;
    }
    return { item: frame };
  };
  return watch<ObservationFrame>(http, {
    address: () => ({ path: filled(path, names), query: written({ cursor }) }),
    check: async (stop) => {
      const workers = await http.json("get", "/api/runtimes/{runtime_id}/workers", { names, signal: stop });
      const isThere = workers.items.some(({ id }) => id === workerId);
      if (!isThere)
        throw new ObservationError({ code: NOT_FOUND, message: `there is no worker \`${workerId}\`` });
    },
    read,
    silenceMs: http.patience.silenceMs,
    signal,
  });
}
