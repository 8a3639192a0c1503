import type { Book } from "./book.js";
import { Connection, type ConnectionOptions } from "./connection.js";
import type { ConnectedAgent } from "./features.js";
import { AgentSessions } from "./sessions.js";

/** An agent that is connected. */
export interface Linked {
  readonly connection: Connection;
  readonly sessions: AgentSessions;
  readonly agent: ConnectedAgent;
}

/** Connects to an agent. */
export async function linkTo(options: ConnectionOptions, book: Book): Promise<Linked> {
  const { connection, agent } = await Connection.open(options);
  return { connection, agent, sessions: new AgentSessions(connection, agent, options.agent, book) };
}
