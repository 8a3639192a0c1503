import type { AgentEvent, EventRecord, SandboxAgentClient } from "@tombolo/sandbox-agent";
import { until } from "tombolo-testing";

/** Collects all items of a stream. */
export class Reading<Item> {
  readonly items: Item[] = [];
  /** Resolves when reading ends, and rejects when it fails. */
  readonly done: Promise<void>;

  constructor(stream: AsyncIterable<Item>) {
    this.done = this.#read(stream);
    // Tests that expect a failure await `done`; others must not fail because of it.
    this.done.catch(() => {});
  }

  /** Waits for an item that matches, and returns it. */
  async until<Found extends Item>(wanted: (item: Item) => item is Found): Promise<Found>;
  async until(wanted: (item: Item) => boolean): Promise<Item>;
  async until(wanted: (item: Item) => boolean): Promise<Item> {
    let found: Item | undefined;
    await until(() => {
      found = this.items.find(wanted);
      return found !== undefined;
    });
    return found as Item;
  }

  async #read(stream: AsyncIterable<Item>): Promise<void> {
    for await (const item of stream) this.items.push(item);
  }
}

/** The text pieces of an agent. */
export function texts(events: readonly AgentEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.type !== "sessionUpdate" || event.update.type !== "agentMessage") return [];
    return event.update.content.type === "text" ? [event.update.content.text] : [];
  });
}

/** Whether a turn is over. */
export function turnEnded({ event }: EventRecord): boolean {
  return "turnEnded" in event;
}

/** The texts of `/chunks` with this count. */
export function chunks(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `chunk ${at + 1} `);
}

/** The whole text of the agent in a session, from messages and deltas. */
export async function said(client: SandboxAgentClient, id: string): Promise<string> {
  const { items } = await client.sessions.messages(id);
  return items
    .filter(({ role }) => role === "assistant")
    .flatMap(({ parts }) => parts.flatMap((part) => (part.type === "text" ? [part.text] : [])))
    .join("");
}

/** The ids of the agent processes of a daemon. */
export async function processes(url: string): Promise<readonly string[]> {
  const response = await fetch(`${url}/v1/acp`);
  const { items } = (await response.json()) as { items: { serverId: string }[] };
  return items.map(({ serverId }) => serverId);
}
