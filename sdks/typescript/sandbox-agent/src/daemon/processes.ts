import type { RequestBody } from "@tombolo/acp-http-client/transport";
import type {
  ProcessLogEntry,
  ProcessLogPage,
  ProcessSignal,
  RunProcessRequest,
  RunProcessResult,
  StartProcessRequest,
  UserProcess,
} from "../generated/aliases.js";
import { type DecodedEvent, followEvents, parseData, type ServerEvent } from "../http/follow-events.js";
import { type RouteClient, routeRequest } from "../http/route-client.js";
import type { CallOptions } from "../options.js";
import { Terminal, type TerminalOptions } from "./terminal.js";

/** Options for reading output. */
export interface LogsOptions extends CallOptions {
  /** `seq` of the last entry that was read. Default: all output that the server has. */
  readonly after?: number | undefined;
}

/** Options for ending a process. */
export interface EndProcessOptions extends CallOptions {
  /** How long to wait for the exit. Default: not at all. */
  readonly waitMs?: number | undefined;
}

/** The processes of a sandbox. */
export class Processes {
  readonly #http: RouteClient;

  /** @internal */
  constructor(http: RouteClient) {
    this.#http = http;
  }

  /** Lists the running processes, and those that exited recently. */
  async list({ signal }: CallOptions = {}): Promise<readonly UserProcess[]> {
    return (await this.#http.json("get", "/v1/processes", { signal })).items;
  }

  /** Starts a process; with a terminal, if the request has its size. */
  start(process: StartProcessRequest, { signal }: CallOptions = {}): Promise<UserProcess> {
    return this.#http.json("post", "/v1/processes", { json: process, signal });
  }

  /** Runs a process without input until it exits, and returns its output. After `timeoutMs` it is killed. */
  run(process: RunProcessRequest, { signal }: CallOptions = {}): Promise<RunProcessResult> {
    return this.#http.json("post", "/v1/processes/run", { json: process, signal });
  }

  get(id: string, { signal }: CallOptions = {}): Promise<UserProcess> {
    return this.#http.json("get", "/v1/processes/{id}", { names: { id }, signal });
  }

  /** Kills a process if it is running, and removes it from the list. */
  delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("delete", "/v1/processes/{id}", { names: { id }, signal });
  }

  /** Asks a process and its group to terminate. With `waitMs`, waits that long for the exit; see its `state`. */
  stop(id: string, { waitMs, signal }: EndProcessOptions = {}): Promise<UserProcess> {
    return this.#http.json("post", "/v1/processes/{id}/stop", { names: { id }, query: { waitMs }, signal });
  }

  /** Kills a process and its group. With `waitMs`, waits that long for the exit; see its `state`. */
  kill(id: string, { waitMs, signal }: EndProcessOptions = {}): Promise<UserProcess> {
    return this.#http.json("post", "/v1/processes/{id}/kill", { names: { id }, query: { waitMs }, signal });
  }

  /** Waits until a process exits or the time is over; see its `state`. */
  wait(
    id: string,
    { timeoutMs, signal }: CallOptions & { readonly timeoutMs?: number | undefined } = {},
  ): Promise<UserProcess> {
    return this.#http.json("post", "/v1/processes/{id}/wait", {
      names: { id },
      query: { timeoutMs },
      signal,
    });
  }

  /** Writes to the standard input of a process. With `close`, closes it afterwards. */
  writeInput(
    id: string,
    bytes: RequestBody,
    { close, signal }: CallOptions & { readonly close?: boolean | undefined } = {},
  ): Promise<void> {
    return this.#http.done("post", "/v1/processes/{id}/input", {
      names: { id },
      query: { close },
      body: bytes,
      signal,
    });
  }

  /** Sends a signal to a process and its group. */
  signal(id: string, name: ProcessSignal, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("post", "/v1/processes/{id}/signal", {
      names: { id },
      json: { signal: name },
      signal,
    });
  }

  /** Reads the output of a process until it exits. Throws `GapError` if the server has evicted unread output. */
  logs(
    id: string,
    { after, signal }: LogsOptions = {},
  ): AsyncGenerator<ProcessLogEntry, undefined, undefined> {
    const request = routeRequest("get", "/v1/processes/{id}/logs", {
      names: { id },
      query: { follow: true },
    });
    const decode = (event: ServerEvent): DecodedEvent<ProcessLogEntry> => {
      if (event.event === "exited") return { over: true };
      return event.event === "output" ? { item: parseData(event) } : undefined;
    };
    return followEvents<ProcessLogEntry>(this.#http, { request, after, signal, decode });
  }

  /** Reads a page of the output of a process. */
  logPage(
    id: string,
    { after, limit, signal }: LogsOptions & { readonly limit?: number | undefined } = {},
  ): Promise<ProcessLogPage> {
    const query = { cursor: after?.toString(), limit };
    return this.#http.json("get", "/v1/processes/{id}/logs", { names: { id }, query, signal });
  }

  /** Attaches to the terminal of a process. */
  terminal(id: string, options: TerminalOptions = {}): Terminal {
    return new Terminal(this.#http, id, options);
  }
}
