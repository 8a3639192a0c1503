import { GapError, reduceSession, type SessionSnapshot, snapshotOf, type Told } from "@tombolo/session";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cases, frozen } from "./cases.js";

const fold = (start: SessionSnapshot, events: readonly Told[]) => events.reduce(reduceSession, start);

test("there are examples", () => {
  expect(cases.length).toBeGreaterThanOrEqual(17);
});

describe.each(cases)("%s", (_, { start, events, states }) => {
  const end = states.at(-1)?.snapshot;

  /** sessions-12: the fold is the one of the server. */
  test("comes to what the Rust fold says", () => {
    for (const { after, snapshot } of states) {
      expect(snapshotOf(fold(start, events.slice(0, after))), `after ${after}`).toStrictEqual(snapshot);
    }
  });

  /** sessions-12: a snapshot at any event and the rest are the whole. */
  test("whoever begins with a snapshot knows the same in the end", () => {
    for (let cut = 0; cut <= events.length; cut += 1) {
      const before = snapshotOf(fold(start, events.slice(0, cut)));
      expect(snapshotOf(fold(before, events.slice(cut))), `cut after ${cut}`).toStrictEqual(end);
    }
  });

  test("changes nothing in place", () => {
    expect(snapshotOf(fold(frozen(structuredClone(start)), frozen(structuredClone(events))))).toStrictEqual(
      end,
    );
  });
});

const numbered = cases.filter(([, { events }]) => events.every(({ seq }) => seq !== undefined));

/** sessions-12: a reader that comes back gets some events again, and notices if it missed some. */
test("events that come again change nothing", () => {
  const anyCase = fc.constantFrom(...numbered.map(([, found]) => found));
  fc.assert(
    fc.property(anyCase, fc.array(fc.nat()), fc.nat(20), ({ start, events, states }, cuts, back) => {
      // The connection is cut here and there, and each time a few events are sent again.
      const places = cuts.map((cut) => cut % events.length).sort((a, b) => a - b);
      const sent: Told[] = [];
      let from = 0;
      for (const to of [...places, events.length]) {
        sent.push(...events.slice(Math.max(0, from - back), to));
        from = to;
      }
      expect(snapshotOf(fold(start, sent))).toStrictEqual(states.at(-1)?.snapshot);
    }),
  );
});

test("an event that comes again is not even a new state", () => {
  const [, { start, events }] = numbered[0] ?? expect.fail();
  const state = fold(start, events.slice(0, 5));
  expect(reduceSession(state, events[4] ?? expect.fail())).toBe(state);
});

test("an event that comes too early is a gap", () => {
  const [, { start, events }] = numbered[0] ?? expect.fail();
  const early = () => fold(start, events.toSpliced(2, 1));
  expect(early).toThrow(GapError);
  expect(early).toThrow(expect.objectContaining({ expected: 3, seq: 4 }));
});

/** Whoever draws a message only if it is another object draws nothing twice. */
test("what an event leaves alone is the same object as before", () => {
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
