import type { Wait, WaitEvent } from "./types.js";
import { withoutWait } from "./waits.js";

/** Applies one event of the stream of waits. The result lists the open waits of all sessions, oldest first. */
export function reduceWaits(waits: readonly Wait[], event: WaitEvent): readonly Wait[] {
  switch (event.type) {
    case "snapshot":
      return event.waits;
    case "opened":
      return [...withoutWait(waits, event.wait.id), event.wait];
    case "settled":
      return withoutWait(waits, event.wait.id);
    case "unknown":
      return waits;
    default:
      event satisfies never;
      return waits; // A newer server may send other types.
  }
}
