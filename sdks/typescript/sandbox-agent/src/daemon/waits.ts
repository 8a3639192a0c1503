import { follow, parsed } from "../http/follow.js";
import { askOf, type Http } from "../http/http.js";
import type { CallOptions } from "../options.js";
import type { Wait, WaitAnswer, WaitEvent } from "../types/session.js";
import type { AnswerOptions } from "./sessions.js";

/** What waits for a person, in all sessions. */
export class Waits {
  readonly #http: Http;

  /** @internal */
  constructor(http: Http) {
    this.#http = http;
  }

  /** What waits now, the oldest first. */
  async list({ signal }: CallOptions = {}): Promise<readonly Wait[]> {
    return (await this.#http.json("get", "/v1/waits", { signal })).items;
  }

  /**
   * What becomes of them: first all that wait, then each that is opened or settled. After a lost connection
   * another `snapshot` takes the place of what was known.
   */
  events({ signal }: CallOptions = {}): AsyncGenerator<WaitEvent, undefined, undefined> {
    const ask = askOf("get", "/v1/waits/events", {});
    return follow<WaitEvent>(this.#http, { ask, signal, read: (event) => ({ item: parsed(event) }) });
  }

  /** Answers, whatever was asked. The first answer holds: the wait says whose it was. */
  answer(waitId: string, answer: WaitAnswer, { author, signal }: AnswerOptions = {}): Promise<Wait> {
    const json = author === undefined ? { answer } : { answer, author };
    return this.#http.json("post", "/v1/waits/{wait_id}", { names: { wait_id: waitId }, json, signal });
  }
}
