import { GapError, reduceSession, type SessionSnapshot, type TimedEvent, toSnapshot } from "@tombolo/session";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cases, frozen } from "./cases.js";

const fold = (start: SessionSnapshot, events: readonly TimedEvent[]) => events.reduce(reduceSession, start);

test("there are test cases", () => {
  expect(cases.length).toBeGreaterThanOrEqual(17);
});

describe.each(cases)("%s", (_, { start, events, states }) => {
  const end = states.at(-1)?.snapshot;

  /** sessions-12: client and server compute the same state. */
  test("reduces to the snapshots of the Rust implementation", () => {
    for (const { after, snapshot } of states) {
      expect(toSnapshot(fold(start, events.slice(0, after))), `after ${after}`).toStrictEqual(snapshot);
    }
  });

  /** sessions-12: it does not matter at which event a client takes its snapshot. */
  test("reaches the same state from a snapshot at any event", () => {
    for (let cut = 0; cut <= events.length; cut += 1) {
      const before = toSnapshot(fold(start, events.slice(0, cut)));
      expect(toSnapshot(fold(before, events.slice(cut))), `cut after ${cut}`).toStrictEqual(end);
    }
  });

  test("does not mutate its arguments", () => {
    expect(toSnapshot(fold(frozen(structuredClone(start)), frozen(structuredClone(events))))).toStrictEqual(
      end,
    );
  });
});

const numbered = cases.filter(([, { events }]) => events.every(({ seq }) => seq !== undefined));

/** sessions-12: a reader that reconnects may receive some events twice. */
test("repeated events change nothing", () => {
  const anyCase = fc.constantFrom(...numbered.map(([, found]) => found));
  fc.assert(
    fc.property(anyCase, fc.array(fc.nat()), fc.nat(20), ({ start, events, states }, cuts, back) => {
      // The connection is cut at random events, and each time a few events are sent again.
      const places = cuts.map((cut) => cut % events.length).sort((a, b) => a - b);
      const sent: TimedEvent[] = [];
      let from = 0;
      for (const to of [...places, events.length]) {
        sent.push(...events.slice(Math.max(0, from - back), to));
        from = to;
      }
      expect(toSnapshot(fold(start, sent))).toStrictEqual(states.at(-1)?.snapshot);
    }),
  );
});

test("a repeated event returns the same state object", () => {
  const [, { start, events }] = numbered[0] ?? expect.fail();
  const state = fold(start, events.slice(0, 5));
  expect(reduceSession(state, events[4] ?? expect.fail())).toBe(state);
});

test("a missing event throws a GapError", () => {
  const [, { start, events }] = numbered[0] ?? expect.fail();
  const early = () => fold(start, events.toSpliced(2, 1));
  expect(early).toThrow(GapError);
  expect(early).toThrow(expect.objectContaining({ expected: 3, seq: 4 }));
});

/** A view that compares messages by identity then re-renders only the message that changed. */
test("unaffected objects keep their identity", () => {
  for (const [, { start, events }] of cases) {
    events.reduce((state, told) => {
      const next = reduceSession(state, told);
      if ("snapshot" in told.event) return next;
      const changed = next.messages.filter((message) => !state.messages.includes(message));
      expect(changed.length).toBeLessThanOrEqual(1);
      if (!("plan" in told.event)) expect(next.plan).toBe(state.plan);
      return next;
    }, start);
  }
});
