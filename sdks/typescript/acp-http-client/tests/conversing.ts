import type {
  AcpHttpClient,
  EventsOptions,
  InstanceEvent,
  RequestOptions,
  RpcMessage,
} from "@tombolo/acp-http-client";
import { until } from "tombolo-testing";

/** Collects all events of a client from now on. */
export class Reading {
  readonly events: InstanceEvent[] = [];
  /** Resolves when reading ends, and rejects when it fails. */
  readonly done: Promise<void>;
  ended = false;

  constructor(client: AcpHttpClient, options: EventsOptions = {}) {
    this.done = this.#read(client, options).finally(() => {
      this.ended = true;
    });
    // Tests that expect a failure await `done`; others must not fail because of it.
    this.done.catch(() => {});
  }

  get ids(): number[] {
    return this.events.flatMap((event) => (event.type === "message" ? [event.eventId] : []));
  }

  get messages(): RpcMessage[] {
    return this.events.flatMap((event) => (event.type === "message" ? [event.message] : []));
  }

  /** The texts of the agent. */
  get texts(): string[] {
    return this.messages.flatMap((message) => {
      const text = textOf(message);
      return text === undefined ? [] : [text];
    });
  }

  /** The events of a type. */
  of<Type extends InstanceEvent["type"]>(type: Type): Extract<InstanceEvent, { type: Type }>[] {
    return this.events.filter(
      (event): event is Extract<InstanceEvent, { type: Type }> => event.type === type,
    );
  }

  /** Waits for an event of a type. */
  async heard(type: InstanceEvent["type"], count = 1): Promise<void> {
    await until(() => this.of(type).length >= count, `an event \`${type}\``);
  }

  /** Waits until the agent has written a text. */
  async read(text: string): Promise<void> {
    await until(() => this.texts.includes(text), `the text \`${text}\``);
  }

  async #read(client: AcpHttpClient, options: EventsOptions): Promise<void> {
    for await (const event of client.events(options)) this.events.push(event);
  }
}

/** A session with the mock agent. */
export interface Session {
  readonly sessionId: string;
  prompt(text: string, options?: RequestOptions): Promise<{ stopReason: string }>;
}

/** Creates a session. */
export async function converse(client: AcpHttpClient): Promise<Session> {
  await client.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await client.request<{ sessionId: string }>("session/new", {
    cwd: "/",
    mcpServers: [],
  });
  return {
    sessionId,
    prompt: (text, options) =>
      client.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] }, options),
  };
}

/** The texts of `/chunks` with this count. */
export function chunks(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `chunk ${at + 1} `);
}

/** Whether the numbers increase. */
export function grows(numbers: readonly number[]): boolean {
  return numbers.every((number, at) => at === 0 || number > (numbers[at - 1] ?? number));
}

function textOf(message: RpcMessage): string | undefined {
  if (!("method" in message) || message.method !== "session/update") return undefined;
  const { update } = message.params as { update: { content?: { text?: string } } };
  return update.content?.text;
}
