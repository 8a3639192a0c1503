import {
  INITIAL_OBSERVATION,
  type Observation,
  type ObservationFrame,
  reduceObservation,
  type SessionEvent,
  type SessionSnapshot,
  toSnapshot,
} from "@tombolo/session";
import { describe, expect, test } from "vitest";
import { type Case, cases } from "./cases.js";

const event = (payload: SessionEvent, time?: string, replay = false): ObservationFrame => ({
  kind: "event",
  envelope: {
    cursor: "c",
    event_id: "e",
    worker_id: "w",
    payload,
    ...(time === undefined ? {} : { time }),
    replay,
  },
});
const snapshot = (snapshot: SessionSnapshot) => event({ snapshot });
const live: ObservationFrame = { kind: "control", control: { type: "live" } };
const observe = (frames: readonly ObservationFrame[], from: Observation = INITIAL_OBSERVATION) =>
  frames.reduce(reduceObservation, from);
const told = ({ events }: Case, from: number, to: number, replay = false) =>
  events.slice(from, to).map((each) => event(each.event, each.time, replay));

describe.each(cases)("%s", (_, found) => {
  /** A new connection resumes from a cursor and starts with a snapshot. */
  test("is observed correctly across a reconnect", () => {
    const { start, events, states } = found;
    const [all, half] = [events.length, Math.floor(events.length / 2)];
    const before = observe([snapshot(start), live, ...told(found, 0, half)]);
    const middle = toSnapshot(before.session ?? expect.fail());
    // Events after the cursor are replayed, although the snapshot already contains them.
    const again = told(found, Math.max(0, half - 5), half, true);
    const after = observe([snapshot(middle), ...again, live, ...told(found, half, all)], before);
    expect(toSnapshot(after.session ?? expect.fail())).toStrictEqual(states.at(-1)?.snapshot);
  });
});

const [, some] = cases[0] ?? expect.fail();

test("events before the first snapshot are ignored", () => {
  expect(observe(told(some, 0, 3))).toBe(INITIAL_OBSERVATION);
  expect(observe([snapshot(some.start)])).toMatchObject({ session: some.start, live: false });
  expect(observe([snapshot(some.start), live]).live).toBe(true);
});

/** observation-64 */
test("a diagnostic is cleared when the stream continues", () => {
  const diagnostic = { code: "backend.runtime_unavailable", message: "the runtime is unreachable" };
  const away = observe([snapshot(some.start), live, { kind: "diagnostic", diagnostic }]);
  expect(away).toMatchObject({ diagnostic, live: true });
  const resumed: ObservationFrame = { kind: "control", control: { type: "resumed", resume: "ok" } };
  for (const next of [resumed, snapshot(some.start), live, ...told(some, 0, 1)]) {
    expect(reduceObservation(away, next).diagnostic, next.kind).toBeUndefined();
  }
  const heartbeat: ObservationFrame = { kind: "control", control: { type: "heartbeat" } };
  expect(reduceObservation(away, heartbeat)).toBe(away);
});

test("presence is part of the observation", () => {
  const watchers = [{ user: "ada", connectedAt: "2026-01-01T00:00:00Z", sockets: 1 }];
  const control = { type: "presence", watchers, drivers: [] } as const;
  expect(observe([{ kind: "control", control }]).presence).toStrictEqual({ watchers, drivers: [] });
});
