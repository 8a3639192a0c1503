import { reduceWaits, type Wait, type WaitEvent } from "@tombolo/session";
import { expect, test } from "vitest";
import { cases } from "./cases.js";

const [some] = cases.flatMap(([, { states }]) => states.flatMap(({ snapshot }) => snapshot.waits));
const wait = (id: string): Wait => ({ ...(some ?? expect.fail()), id });
const ids = (events: readonly WaitEvent[]) => events.reduce(reduceWaits, []).map(({ id }) => id);

/** DESIGN, "a wait": it is delivered again with the same id, and everybody is told when it is settled. */
test("what waits is what was opened and not settled", () => {
  const [a, b, c] = [wait("a"), wait("b"), wait("c")];
  const events: WaitEvent[] = [
    { type: "snapshot", waits: [a, b] },
    { type: "opened", wait: c },
    { type: "opened", wait: c },
    { type: "settled", wait: a },
    { type: "settled", wait: wait("nobody asked") },
  ];
  expect(ids(events)).toEqual(["b", "c"]);
  // Another snapshot takes the place of what was known.
  expect(ids([...events, { type: "snapshot", waits: [b] }])).toEqual(["b"]);
});
