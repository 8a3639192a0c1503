import { AgentConnection, type AgentConnectionOptions } from "./connection.js";
import type { ConnectedAgent } from "./features.js";
import type { SessionTracker } from "./session-tracker.js";
import { AgentSessions } from "./sessions.js";

/** An open connection to an agent. */
export interface OpenLink {
  readonly connection: AgentConnection;
  readonly sessions: AgentSessions;
  readonly agent: ConnectedAgent;
}

/** Connects to an agent. */
export async function openLink(options: AgentConnectionOptions, tracker: SessionTracker): Promise<OpenLink> {
  const { connection, agent } = await AgentConnection.open(options);
  return { connection, agent, sessions: new AgentSessions(connection, agent, options.agent, tracker) };
}
