import { expect, test } from "vitest";
import { StreamPosition } from "../src/stream-position.js";

type Frame = { readonly id?: string; readonly event?: string; readonly data: string };

/** A stream as a server stores it: every event has a position, but only messages carry it as their id. */
function frameOf(seq: number, isMessage: boolean): Frame {
  const data = JSON.stringify(
    isMessage ? { jsonrpc: "2.0", method: String(seq) } : { text: `line ${seq % 2}` },
  );
  return isMessage ? { event: "message", id: String(seq), data } : { event: "unparsed", data };
}

test("each event is delivered once and in order, wherever connections are cut", () => {
  for (let round = 0; round < 200; round += 1) {
    const frames = Array.from({ length: 40 }, (_, at) => frameOf(at + 1, Math.random() < 0.5));
    const position = new StreamPosition(0);
    const received: string[] = [];
    for (let cuts = 0; cuts < 50; cuts += 1) {
      position.onConnected();
      const rest = frames.slice(position.lastId);
      const end = cuts === 49 ? rest.length : Math.floor(Math.random() * Math.min(rest.length, 8));
      for (const frame of rest.slice(0, end)) {
        const found = position.advance({ event: frame.event, id: frame.id, data: frame.data });
        if (found?.type === "message") received.push(found.data);
        if (found?.type === "control" && found.event.type === "unparsed") received.push(found.event.text);
      }
    }
    const all = frames.map((frame) => (frame.id === undefined ? JSON.parse(frame.data).text : frame.data));
    expect(received).toEqual(all);
  }
});

test("a gap moves the position forwards or backwards to where the stream continues", () => {
  const gap = (oldest: number, newest: number): Frame => ({
    event: "gap",
    data: JSON.stringify({ oldest, newest }),
  });
  const position = new StreamPosition(10);
  expect(position.advance({ id: undefined, ...gap(51, 60) } as never)).toMatchObject({ foreign: false });
  expect(position.lastId).toBe(50);
  expect(position.advance({ id: undefined, ...gap(1, 4) } as never)).toMatchObject({ foreign: true });
  expect(position.lastId).toBe(0);
  expect(position.advance({ id: "1", event: undefined, data: "{}" })).toMatchObject({ eventId: 1 });
  expect(position.advance({ id: "1", event: undefined, data: "{}" })).toBeUndefined();
});

test("the exit of an agent is remembered until another event follows", () => {
  const position = new StreamPosition(0);
  const exited = { id: undefined, event: "exited", data: '{"code":1,"signal":null,"stderrTail":""}' };
  expect(position.advance(exited)).toMatchObject({ event: { type: "exited", code: 1 } });
  expect(position.exit).toMatchObject({ code: 1 });
  position.onConnected();
  expect(position.advance(exited)).toBeUndefined();
  expect(position.exit).toMatchObject({ code: 1 });
  // The same event of a restarted agent is new.
  expect(position.advance(exited)).toMatchObject({ event: { type: "exited" } });
  position.advance({ id: "5", event: undefined, data: "{}" });
  expect(position.exit).toBeUndefined();
});

test("an invalid event id violates the protocol", () => {
  for (const id of [undefined, "x", "1.5", "99999999999999999999"]) {
    expect(() => new StreamPosition(0).advance({ id, event: undefined, data: "{}" })).toThrow(
      "invalid event id",
    );
  }
});
