import { follow, parsed } from "../http/follow.js";
import { askOf, type Http } from "../http/http.js";
import type { CallOptions } from "../options.js";
import type { Inbox, InboxEvent } from "../types/hub.js";
import type { Wait, WaitAnswer } from "../types/session.js";

/** What waits for a person, in all runtimes and devices that one may see. */
export class HubWaits {
  readonly #http: Http;

  /** @internal */
  constructor(http: Http) {
    this.#http = http;
  }

  /** What waits now, and which runtimes could not be asked. */
  list({ signal }: CallOptions = {}): Promise<Inbox> {
    return this.#http.json("get", "/api/waits", { signal });
  }

  /**
   * What becomes of them: first all that wait, then each that is opened or settled, and which runtimes go and come.
   * After a lost connection another `snapshot` takes the place of what was known.
   */
  events({ signal }: CallOptions = {}): AsyncGenerator<InboxEvent, undefined, undefined> {
    const ask = askOf("get", "/api/waits/events", {});
    return follow<InboxEvent>(this.#http, { ask, signal, read: (event) => ({ item: parsed(event) }) });
  }

  /** Answers, whatever was asked. The first answer holds: the wait says whose it was. */
  answer(runtimeId: string, waitId: string, answer: WaitAnswer, { signal }: CallOptions = {}): Promise<Wait> {
    const names = { runtime_id: runtimeId, wait_id: waitId };
    return this.#http.json("post", "/api/waits/{runtime_id}/{wait_id}", { names, json: { answer }, signal });
  }
}
