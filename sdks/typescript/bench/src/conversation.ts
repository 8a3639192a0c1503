/** A session with the mock agent of a server, by whatever client. */
export interface Conversation extends AsyncDisposable {
  /** Says something; resolves when the client says that the turn is over. */
  prompt(text: string): Promise<unknown>;
}

/** Begins a conversation; each piece of text is told as the client hands it over. */
export type Converse = (baseUrl: string, onText: (text: string) => void) => Promise<Conversation>;

/** The text of an update, as the agent sends it. */
export function textOf(params: unknown): string {
  const { update } = params as { update: { content?: { text?: string } } };
  return update.content?.text ?? "";
}
