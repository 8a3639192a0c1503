/**
 * State that a hook keeps up to date. The last known state stays available when it can no longer be updated.
 *
 * - `loading`: there is no state yet.
 * - `live`: the state is current.
 * - `gap`: events were missed; the state is being read again.
 * - `ended`: there will be no more changes.
 * - `broken`: following failed with `error`; call `retry` to try again.
 */
export type LiveState<State> =
  | { readonly status: "loading"; readonly state: undefined; readonly error: undefined }
  | { readonly status: "live" | "gap"; readonly state: State; readonly error: undefined }
  | { readonly status: "ended"; readonly state: State | undefined; readonly error: undefined }
  | { readonly status: "broken"; readonly state: State | undefined; readonly error: unknown };

export const LOADING: LiveState<never> = { status: "loading", state: undefined, error: undefined };
