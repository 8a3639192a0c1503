import type { AgentEvent, EventRecord, SandboxAgentClient } from "@tombolo/sandbox-agent";
import { until } from "tombolo-testing";

/** Reads a stream to its end, from now on. */
export class Reading<Item> {
  readonly items: Item[] = [];
  /** Ends when the reading does, with its failure if it fails. */
  readonly done: Promise<void>;

  constructor(stream: AsyncIterable<Item>) {
    this.done = this.#read(stream);
    // Whoever wants to know looks.
    this.done.catch(() => {});
  }

  /** Waits until something was read, and gives it. */
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

/** What an agent wrote, in pieces. */
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

/** All text of a session that the agent wrote, from whole messages and pieces. */
export async function said(client: SandboxAgentClient, id: string): Promise<string> {
  const { items } = await client.sessions.messages(id);
  return items
    .filter(({ role }) => role === "assistant")
    .flatMap(({ parts }) => parts.flatMap((part) => (part.type === "text" ? [part.text] : [])))
    .join("");
}

/** The names of the agents' processes that a daemon has. */
export async function processes(url: string): Promise<readonly string[]> {
  const response = await fetch(`${url}/v1/acp`);
  const { items } = (await response.json()) as { items: { serverId: string }[] };
  return items.map(({ serverId }) => serverId);
}
