import { reduceWaits, type Wait, type WaitEvent } from "@tombolo/session";
import { expect, test } from "vitest";
import { cases } from "./cases.js";

const [some] = cases.flatMap(([, { states }]) => states.flatMap(({ snapshot }) => snapshot.waits));
const wait = (id: string): Wait => ({ ...(some ?? expect.fail()), id });
const ids = (events: readonly WaitEvent[]) => events.reduce(reduceWaits, []).map(({ id }) => id);

/** A wait may be delivered again with the same id; every client receives an event when it is settled. */
test("the list has the waits that were opened and not settled", () => {
  const [a, b, c] = [wait("a"), wait("b"), wait("c")];
  const events: WaitEvent[] = [
    { type: "snapshot", waits: [a, b] },
    { type: "opened", wait: c },
    { type: "opened", wait: c },
    { type: "settled", wait: a },
    { type: "settled", wait: wait("unknown") },
  ];
  expect(ids(events)).toEqual(["b", "c"]);
  // Another snapshot replaces the list.
  expect(ids([...events, { type: "snapshot", waits: [b] }])).toEqual(["b"]);
});
