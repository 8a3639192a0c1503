import "./page.js";
import { createElement, type ReactNode, StrictMode, useEffect } from "react";
import { createRoot } from "react-dom/client";
import { until } from "tombolo-testing";

/** A rendered component that uses a hook. */
export interface RenderedHook<T> extends Disposable {
  /** The last result of the hook. */
  now(): T;
  /** Number of renders. */
  renderCount(): number;
  /** Waits until the result matches. */
  until(matches: (value: T) => boolean, description?: string): Promise<T>;
}

/** Renders an element, by default in strict mode, which mounts everything twice. */
export function renderElement(
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
export function renderHook<T>(hook: () => T): RenderedHook<T> {
  const seen: T[] = [];
  function HookUser(): null {
    const value = hook();
    useEffect(() => {
      seen.push(value);
    });
    return null;
  }
  const shown = renderElement(createElement(HookUser));
  const last = (): T => {
    if (seen.length === 0) throw new Error("the component was not rendered yet");
    return seen.at(-1) as T;
  };
  return {
    now: last,
    renderCount: () => seen.length,
    async until(matches, description) {
      await until(() => seen.length > 0 && matches(last()), description);
      return last();
    },
    [Symbol.dispose]: () => shown[Symbol.dispose](),
  };
}
