/**
 * Something that is followed, as far as it is known. What is known stays when it can no longer be followed.
 *
 * - `loading`: nothing is known yet.
 * - `live`: it is as it is now.
 * - `gap`: some of it was missed; it is read anew.
 * - `ended`: it is over.
 * - `broken`: it cannot be followed; `error` says why, and `retry` tries again.
 */
export type Followed<State> =
  | { readonly status: "loading"; readonly state: undefined; readonly error: undefined }
  | { readonly status: "live" | "gap"; readonly state: State; readonly error: undefined }
  | { readonly status: "ended"; readonly state: State | undefined; readonly error: undefined }
  | { readonly status: "broken"; readonly state: State | undefined; readonly error: unknown };

/** Nothing is known yet. */
export const LOADING: Followed<never> = { status: "loading", state: undefined, error: undefined };
