import { useMemo, useSyncExternalStore } from "react";
import type { LiveState } from "./live-state.js";
import { type Follow, Store } from "./store.js";

/** The stores of one kind. Components that follow the same thing with the same client share a store. */
export class StoreRegistry<State> {
  readonly #stores = new WeakMap<object, Map<string, WeakRef<Store<State>>>>();

  /** The store for `name` of `client`. Creates it if there is none. */
  get(client: object, name: string, follow: Follow<State>): Store<State> {
    const stores = this.#stores.get(client) ?? new Map<string, WeakRef<Store<State>>>();
    this.#stores.set(client, stores);
    const known = stores.get(name)?.deref();
    if (known !== undefined) return known;
    const store = new Store(follow);
    // Weak references: a store must not live longer than the components that hold it, just because it has a name.
    for (const [other, ref] of stores) if (ref.deref() === undefined) stores.delete(other);
    stores.set(name, new WeakRef(store));
    return store;
  }
}

/** Subscribes a component to a shared store. */
export function useLiveState<State>(
  registry: StoreRegistry<State>,
  client: object,
  name: string,
  follow: Follow<State>,
): LiveState<State> & { readonly retry: () => void } {
  // biome-ignore lint/correctness/useExhaustiveDependencies: client and name determine what `follow` does.
  const store = useMemo(() => registry.get(client, name, follow), [client, name]);
  const current = useSyncExternalStore(store.subscribe, store.current, store.current);
  return useMemo(() => ({ ...current, retry: store.retry }), [current, store]);
}
