import { expect, test } from "vitest";
import { onAbort, unlessAborted } from "../src/abort.js";
import { Backoff } from "../src/backoff.js";
import { Queue } from "../src/queue.js";
import { sleep, Watchdog } from "../src/time.js";

test("delays are random, and their upper bound doubles up to the maximum", () => {
  const longest = Array.from({ length: 12 }, () => 0);
  for (let round = 0; round < 2000; round += 1) {
    const backoff = new Backoff(50, 5000);
    longest.forEach((so, at) => {
      longest[at] = Math.max(so, backoff.next());
    });
    backoff.reset();
    expect(backoff.next()).toBeLessThan(50);
    expect(backoff.next(7000)).toBe(7000);
  }
  longest.forEach((so, at) => {
    const limit = Math.min(5000, 50 * 2 ** at);
    expect(so).toBeLessThanOrEqual(limit);
    expect(so).toBeGreaterThan(limit * 0.9);
  });
});

test("a queue returns its items in order", () => {
  const queue = new Queue<number>();
  const model: number[] = [];
  for (let step = 0; step < 50_000; step += 1) {
    if (Math.random() < (step % 10_000 < 5000 ? 0.7 : 0.3)) {
      queue.push(step);
      model.push(step);
    } else {
      expect(queue.shift()).toBe(model.shift());
    }
    expect(queue.size).toBe(model.length);
  }
  queue.retain((number) => number % 2 === 0);
  const kept: number[] = [];
  queue.forEach((number) => {
    kept.push(number);
  });
  expect(kept).toEqual(model.filter((number) => number % 2 === 0));
});

test("listeners are removed from signals", async () => {
  const added: string[] = [];
  const abort = new AbortController();
  const { signal } = abort;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    added.push("add");
    return add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    added.pop();
    return remove(...args);
  };
  onAbort([signal, undefined], () => {})();
  expect(await unlessAborted(Promise.resolve(1), [signal])).toBe(1);
  await sleep(1, signal);
  await new Promise((resolve) => setTimeout(resolve));
  expect(added).toEqual([]);
  const never = unlessAborted(new Promise(() => {}), [signal]);
  abort.abort("enough");
  await expect(never).rejects.toBe("enough");
  await sleep(60_000, signal);
});

test("a watchdog times out without activity, but not while it is suspended", async () => {
  let acted = 0;
  const watchdog = new Watchdog(300, () => {
    acted += 1;
  });
  for (let times = 0; times < 10; times += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    watchdog.activity();
  }
  await watchdog.suspendDuring(new Promise((resolve) => setTimeout(resolve, 500)));
  expect(acted).toBe(0);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(acted).toBe(1);
  watchdog.stop();
});
