import type { InboxEvent, InboxWait, Wait, WaitAnswer, WaitInbox } from "../generated/aliases.js";
import { followEvents, parseData } from "../http/follow-events.js";
import { type RouteClient, routeRequest } from "../http/route-client.js";
import type { CallOptions } from "../options.js";

/** The open waits of all runtimes and devices that the user may see. */
export class HubWaits {
  readonly #http: RouteClient;

  /** @internal */
  constructor(http: RouteClient) {
    this.#http = http;
  }

  /** Lists the open waits, and the runtimes that could not be reached. */
  list({ signal }: CallOptions = {}): Promise<WaitInbox> {
    return this.#http.json("get", "/api/waits", { signal });
  }

  /**
   * Reads changes: first a `snapshot` of all open waits, then each wait that is opened or settled, and each runtime that
   * becomes unreachable or reachable. After a lost connection there is another `snapshot`.
   */
  events({ signal }: CallOptions = {}): AsyncGenerator<InboxEvent, undefined, undefined> {
    const request = routeRequest("get", "/api/waits/events", {});
    return followEvents<InboxEvent>(this.#http, {
      request,
      signal,
      decode: (event) => ({ item: parseData(event) }),
    });
  }

  /** Reads one wait of any runtime: an open one, or one that was settled, with the author of the answer. */
  get(waitId: string, { signal }: CallOptions = {}): Promise<InboxWait> {
    return this.#http.json("get", "/api/waits/{wait_id}", { names: { wait_id: waitId }, signal });
  }

  /** Answers a wait. The first answer wins; the returned wait names its author. */
  answer(runtimeId: string, waitId: string, answer: WaitAnswer, { signal }: CallOptions = {}): Promise<Wait> {
    const names = { runtime_id: runtimeId, wait_id: waitId };
    return this.#http.json("post", "/api/waits/{runtime_id}/{wait_id}", { names, json: { answer }, signal });
  }
}
