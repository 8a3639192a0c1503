/** An instance, as a daemon lists it. */
export interface Instance {
  readonly serverId: string;
  readonly state: "starting" | "running" | "exited";
  readonly pendingRequests: number;
  readonly subscribers: number;
  readonly events: { readonly oldest: number; readonly newest: number };
}

/** Reads the current state of an instance, if it exists. */
export async function instanceOf(url: string, id: string): Promise<Instance | undefined> {
  const response = await fetch(`${url}/v1/acp`);
  const { items } = (await response.json()) as { items: Instance[] };
  return items.find(({ serverId }) => serverId === id);
}
