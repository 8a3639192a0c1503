import { expect, test } from "vitest";
import { Cursor } from "../src/cursor.js";

type Frame = { readonly id?: string; readonly event?: string; readonly data: string };

/** A stream as a server keeps it: everything has a place, but only messages tell theirs. */
function frameOf(seq: number, isMessage: boolean): Frame {
  const data = JSON.stringify(
    isMessage ? { jsonrpc: "2.0", method: String(seq) } : { text: `line ${seq % 2}` },
  );
  return isMessage ? { event: "message", id: String(seq), data } : { event: "unparsed", data };
}

test("each event is new once, in order, wherever connections are cut", () => {
  for (let round = 0; round < 200; round += 1) {
    const frames = Array.from({ length: 40 }, (_, at) => frameOf(at + 1, Math.random() < 0.5));
    const cursor = new Cursor(0);
    const news: string[] = [];
    for (let cuts = 0; cuts < 50; cuts += 1) {
      cursor.connected();
      const rest = frames.slice(cursor.position);
      const end = cuts === 49 ? rest.length : Math.floor(Math.random() * Math.min(rest.length, 8));
      for (const frame of rest.slice(0, end)) {
        const found = cursor.read({ event: frame.event, id: frame.id, data: frame.data });
        if (found?.type === "message") news.push(found.data);
        if (found?.type === "control" && found.event.type === "unparsed") news.push(found.event.text);
      }
    }
    const all = frames.map((frame) => (frame.id === undefined ? JSON.parse(frame.data).text : frame.data));
    expect(news).toEqual(all);
  }
});

test("a gap moves it to where the stream goes on, forth or back", () => {
  const gap = (oldest: number, newest: number): Frame => ({
    event: "gap",
    data: JSON.stringify({ oldest, newest }),
  });
  const cursor = new Cursor(10);
  expect(cursor.read({ id: undefined, ...gap(51, 60) } as never)).toMatchObject({ another: false });
  expect(cursor.position).toBe(50);
  expect(cursor.read({ id: undefined, ...gap(1, 4) } as never)).toMatchObject({ another: true });
  expect(cursor.position).toBe(0);
  expect(cursor.read({ id: "1", event: undefined, data: "{}" })).toMatchObject({ eventId: 1 });
  expect(cursor.read({ id: "1", event: undefined, data: "{}" })).toBeUndefined();
});

test("the end of an agent is the last that was said until something follows", () => {
  const cursor = new Cursor(0);
  const exited = { id: undefined, event: "exited", data: '{"code":1,"signal":null,"stderrTail":""}' };
  expect(cursor.read(exited)).toMatchObject({ event: { type: "exited", code: 1 } });
  expect(cursor.exit).toMatchObject({ code: 1 });
  cursor.connected();
  expect(cursor.read(exited)).toBeUndefined();
  expect(cursor.exit).toMatchObject({ code: 1 });
  // The same words of another life of it are new.
  expect(cursor.read(exited)).toMatchObject({ event: { type: "exited" } });
  cursor.read({ id: "5", event: undefined, data: "{}" });
  expect(cursor.exit).toBeUndefined();
});

test("an id that is none is not of this protocol", () => {
  for (const id of [undefined, "x", "1.5", "99999999999999999999"]) {
    expect(() => new Cursor(0).read({ id, event: undefined, data: "{}" })).toThrow("which is none");
  }
});
