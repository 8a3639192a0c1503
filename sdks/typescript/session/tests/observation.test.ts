import {
  type Observation,
  type ObservationFrame,
  reduceObservation,
  type SessionEvent,
  type SessionSnapshot,
  snapshotOf,
  UNOBSERVED,
} from "@tombolo/session";
import { describe, expect, test } from "vitest";
import { type Case, cases } from "./cases.js";

const event = (payload: SessionEvent, time?: string, replay = false): ObservationFrame => ({
  kind: "event",
  envelope: { cursor: "c", payload, ...(time === undefined ? {} : { time }), replay },
});
const snapshot = (snapshot: SessionSnapshot) => event({ snapshot });
const live: ObservationFrame = { kind: "control", control: { type: "live" } };
const observe = (frames: readonly ObservationFrame[], from: Observation = UNOBSERVED) =>
  frames.reduce(reduceObservation, from);
const told = ({ events }: Case, from: number, to: number, replay = false) =>
  events.slice(from, to).map((each) => event(each.event, each.time, replay));

describe.each(cases)("%s", (_, found) => {
  /** observation: a connection that is cut is made anew with a cursor, and begins with a snapshot. */
  test("is observed across a cut connection as it is", () => {
    const { start, events, states } = found;
    const [all, half] = [events.length, Math.floor(events.length / 2)];
    const before = observe([snapshot(start), live, ...told(found, 0, half)]);
    const middle = snapshotOf(before.session ?? expect.fail());
    // What came after the cursor is told again, although the snapshot has it.
    const again = told(found, Math.max(0, half - 5), half, true);
    const after = observe([snapshot(middle), ...again, live, ...told(found, half, all)], before);
    expect(snapshotOf(after.session ?? expect.fail())).toStrictEqual(states.at(-1)?.snapshot);
  });
});

const [, some] = cases[0] ?? expect.fail();

test("nothing is known before the first snapshot", () => {
  expect(observe(told(some, 0, 3))).toBe(UNOBSERVED);
  expect(observe([snapshot(some.start)])).toMatchObject({ session: some.start, live: false });
  expect(observe([snapshot(some.start), live]).live).toBe(true);
});

/** observation-64: a trouble is told until the stream goes on. */
test("a trouble is over when the stream goes on", () => {
  const diagnostic = { code: "backend.runtime_unavailable", message: "it is away" };
  const away = observe([snapshot(some.start), live, { kind: "diagnostic", diagnostic }]);
  expect(away).toMatchObject({ diagnostic, live: true });
  const resumed: ObservationFrame = { kind: "control", control: { type: "resumed", resume: "ok" } };
  for (const next of [resumed, snapshot(some.start), live, ...told(some, 0, 1)]) {
    expect(reduceObservation(away, next).diagnostic, next.kind).toBeUndefined();
  }
  const heartbeat: ObservationFrame = { kind: "control", control: { type: "heartbeat" } };
  expect(reduceObservation(away, heartbeat)).toBe(away);
});

test("who is there is told in between", () => {
  const watchers = [{ user: "ada", sinceAt: "2026-01-01T00:00:00Z", sockets: 1 }];
  const control = { type: "presence", watchers, drivers: [] } as const;
  expect(observe([{ kind: "control", control }]).presence).toStrictEqual({ watchers, drivers: [] });
});
