import "./page.js";
import { createElement, type ReactNode, StrictMode, useEffect } from "react";
import { createRoot } from "react-dom/client";
import { until } from "tombolo-testing";

/** A rendered component that uses a hook. */
export interface Look<T> extends Disposable {
  /** The last result of the hook. */
  now(): T;
  /** Number of renders. */
  drawn(): number;
  /** Waits until the result matches. */
  until(isSo: (value: T) => boolean, what?: string): Promise<T>;
}

/** Renders an element, by default in strict mode, which mounts everything twice. */
export function page(
  shown: ReactNode,
  { strict = true }: { readonly strict?: boolean } = {},
): Disposable & { readonly element: HTMLElement } {
  const element = document.createElement("div");
  document.body.append(element);
  const root = createRoot(element);
  root.render(strict ? createElement(StrictMode, null, shown) : shown);
  return {
    element,
    [Symbol.dispose]: () => {
      root.unmount();
      element.remove();
    },
  };
}

/** Renders a component that uses the hook. */
export function look<T>(hook: () => T): Look<T> {
  const seen: T[] = [];
  function Looking(): null {
    const value = hook();
    useEffect(() => {
      seen.push(value);
    });
    return null;
  }
  const shown = page(createElement(Looking));
  const last = (): T => {
    if (seen.length === 0) throw new Error("it was not drawn yet");
    return seen.at(-1) as T;
  };
  return {
    now: last,
    drawn: () => seen.length,
    async until(isSo, what) {
      await until(() => seen.length > 0 && isSo(last()), what);
      return last();
    },
    [Symbol.dispose]: () => shown[Symbol.dispose](),
  };
}
