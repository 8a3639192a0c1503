import type { Wait, WaitAnswer, WaitEvent } from "../generated/aliases.js";
import { followEvents, parseData } from "../http/follow-events.js";
import { type RouteClient, routeRequest } from "../http/route-client.js";
import type { CallOptions } from "../options.js";
import type { AnswerOptions } from "./sessions.js";

/** The open waits of all sessions. */
export class Waits {
  readonly #http: RouteClient;

  /** @internal */
  constructor(http: RouteClient) {
    this.#http = http;
  }

  /** Lists the open waits, oldest first. */
  async list({ signal }: CallOptions = {}): Promise<readonly Wait[]> {
    return (await this.#http.json("get", "/v1/waits", { signal })).items;
  }

  /**
   * Reads changes: first a `snapshot` of all open waits, then each wait that is opened or settled. After a lost connection
   * there is another `snapshot`.
   */
  events({ signal }: CallOptions = {}): AsyncGenerator<WaitEvent, undefined, undefined> {
    const request = routeRequest("get", "/v1/waits/events", {});
    return followEvents<WaitEvent>(this.#http, {
      request,
      signal,
      decode: (event) => ({ item: parseData(event) }),
    });
  }

  /** Reads one wait: an open one, or one that was settled, with the author of the answer. */
  get(waitId: string, { signal }: CallOptions = {}): Promise<Wait> {
    return this.#http.json("get", "/v1/waits/{wait_id}", { names: { wait_id: waitId }, signal });
  }

  /** Answers a wait. The first answer wins; the returned wait names its author. */
  answer(waitId: string, answer: WaitAnswer, { author, signal }: AnswerOptions = {}): Promise<Wait> {
    const json = author === undefined ? { answer } : { answer, author };
    return this.#http.json("post", "/v1/waits/{wait_id}", { names: { wait_id: waitId }, json, signal });
  }
}
