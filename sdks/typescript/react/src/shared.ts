import { useMemo, useSyncExternalStore } from "react";
import type { Followed } from "./followed.js";
import { type Follow, Store } from "./store.js";

/** The stores of one kind: everybody who looks at the same shares one connection. */
export class Shared<State> {
  readonly #stores = new WeakMap<object, Map<string, WeakRef<Store<State>>>>();

  /** The store of what `owner` calls `name`. */
  of(owner: object, name: string, follow: Follow<State>): Store<State> {
    const stores = this.#stores.get(owner) ?? new Map<string, WeakRef<Store<State>>>();
    this.#stores.set(owner, stores);
    const known = stores.get(name)?.deref();
    if (known !== undefined) return known;
    const store = new Store(follow);
    // It lives as long as it runs or a component holds it, and is not kept for the sake of its name.
    for (const [other, ref] of stores) if (ref.deref() === undefined) stores.delete(other);
    stores.set(name, new WeakRef(store));
    return store;
  }
}

/** A followed thing in a component, and how to try again. */
export function useFollowed<State>(
  shared: Shared<State>,
  owner: object,
  name: string,
  follow: Follow<State>,
): Followed<State> & { readonly retry: () => void } {
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is followed is told by its owner and its name.
  const store = useMemo(() => shared.of(owner, name, follow), [owner, name]);
  const followed = useSyncExternalStore(store.subscribe, store.current, store.current);
  return useMemo(() => ({ ...followed, retry: store.retry }), [followed, store]);
}
