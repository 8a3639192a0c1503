import type { Body } from "@tombolo/acp-http-client/transport";
import { follow, parsed, type Said, type ServerEvent } from "../http/follow.js";
import { askOf, type Http } from "../http/http.js";
import type { CallOptions } from "../options.js";
import type { LogEntry, LogPage, Process, Signal, StartProcess } from "../types/daemon.js";
import { Terminal, type TerminalOptions } from "./terminal.js";

/** How output is read. */
export interface LogsOptions extends CallOptions {
  /** The number of the last piece that was read; everything that is kept if left out. */
  readonly after?: number | undefined;
}

/** The processes of a sandbox. */
export class Processes {
  readonly #http: Http;

  /** @internal */
  constructor(http: Http) {
    this.#http = http;
  }

  /** All that there are, and those that have ended lately. */
  async list({ signal }: CallOptions = {}): Promise<readonly Process[]> {
    return (await this.#http.json("get", "/v1/processes", { signal })).items;
  }

  /** Starts a process, with a terminal if its size is said. */
  start(process: StartProcess, { signal }: CallOptions = {}): Promise<Process> {
    return this.#http.json("post", "/v1/processes", { json: process, signal });
  }

  /** One process. */
  read(id: string, { signal }: CallOptions = {}): Promise<Process> {
    return this.#http.json("get", "/v1/processes/{id}", { names: { id }, signal });
  }

  /** Ends a process, if it still runs, and forgets it. */
  delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("delete", "/v1/processes/{id}", { names: { id }, signal });
  }

  /** Waits for the end of a process, or for so long: its `state` tells which. */
  wait(
    id: string,
    { timeoutMs, signal }: CallOptions & { readonly timeoutMs?: number | undefined } = {},
  ): Promise<Process> {
    return this.#http.json("post", "/v1/processes/{id}/wait", {
      names: { id },
      query: { timeoutMs },
      signal,
    });
  }

  /** Writes to the input of a process, and closes it if that is wanted. */
  input(
    id: string,
    bytes: Body,
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
  signal(id: string, name: Signal, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("post", "/v1/processes/{id}/signal", {
      names: { id },
      json: { signal: name },
      signal,
    });
  }

  /** What a process writes, to its end. Fails with `GapError` where output is no longer kept. */
  logs(id: string, { after, signal }: LogsOptions = {}): AsyncGenerator<LogEntry, undefined, undefined> {
    const ask = askOf("get", "/v1/processes/{id}/logs", { names: { id }, query: { follow: true } });
    const read = (event: ServerEvent): Said<LogEntry> => {
      if (event.event === "exited") return { over: true };
      return event.event === "output" ? { item: parsed(event) } : undefined;
    };
    return follow<LogEntry>(this.#http, { ask, after, signal, read });
  }

  /** What a process has written, as a page. */
  logPage(
    id: string,
    { after, limit, signal }: LogsOptions & { readonly limit?: number | undefined } = {},
  ): Promise<LogPage> {
    const query = { after, limit };
    return this.#http.json("get", "/v1/processes/{id}/logs", { names: { id }, query, signal });
  }

  /** The terminal of a process. */
  terminal(id: string, options: TerminalOptions = {}): Terminal {
    return new Terminal(this.#http, id, options);
  }
}
