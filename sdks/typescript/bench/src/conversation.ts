/** A session with the mock agent, through any client. */
export interface Conversation extends AsyncDisposable {
  /** Sends a prompt. Resolves when the client reports the end of the turn. */
  prompt(text: string): Promise<unknown>;
}

/** Starts a conversation. Calls `onText` with each piece of text that the client delivers. */
export type StartConversation = (baseUrl: string, onText: (text: string) => void) => Promise<Conversation>;

/** The text of a `session/update`. */
export function textOf(params: unknown): string {
  const { update } = params as { update: { content?: { text?: string } } };
  return update.content?.text ?? "";
}
