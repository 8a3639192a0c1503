import type { SessionEvent } from "./event.js";

/** What is said on the stream of a worker. A newer server may say more. */
export type ObservationFrame =
  | { readonly kind: "event"; readonly envelope: ObservationEnvelope }
  | { readonly kind: "diagnostic"; readonly diagnostic: ObservationDiagnostic }
  | { readonly kind: "control"; readonly control: ObservationControl };

/** An event and its place in the stream of a worker. */
export interface ObservationEnvelope {
  readonly cursor: string;
  readonly time?: string;
  /** It is in the snapshot that was sent before. */
  readonly replay?: boolean;
  readonly payload: SessionEvent;
}

/** Something is wrong with a stream. */
export interface ObservationDiagnostic {
  /** What, for programs: a leg and a trouble, such as `runtime.cursor_expired`. */
  readonly code: string;
  /** What, for people. */
  readonly message: string;
  readonly details?: unknown;
}

/** Something about a stream itself. */
export type ObservationControl =
  | { readonly type: "resumed"; readonly resume: "ok" | "gap" | "reset" }
  | { readonly type: "live" }
  | { readonly type: "heartbeat" }
  | ({ readonly type: "presence" } & Presence)
  | { readonly type: "relay" }
  | { readonly type: "unknown" };

/** Who is there for a worker. */
export interface Presence {
  /** Who watches it, since when, and in how many windows. */
  readonly watchers: readonly {
    readonly user: string;
    readonly sinceAt: string;
    readonly sockets: number;
  }[];
  /** Who told it something lately, and when last. */
  readonly drivers: readonly { readonly user: string; readonly lastAt: string }[];
}
