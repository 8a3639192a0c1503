import type { Wait, WaitEvent } from "./types/wait.js";
import { without } from "./waits.js";

/** What waits for a person, in all sessions, the oldest first, after one more event of the stream of waits. */
export function reduceWaits(waits: readonly Wait[], event: WaitEvent): readonly Wait[] {
  switch (event.type) {
    case "snapshot":
      return event.waits;
    case "opened":
      return [...without(waits, event.wait.id), event.wait];
    case "settled":
      return without(waits, event.wait.id);
    case "unknown":
      return waits;
    default:
      event satisfies never;
      return waits; // A newer peer says more than we know.
  }
}
