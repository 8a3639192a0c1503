import type { AgentError } from "@tombolo/session";

/** What went wrong, for people. */
export function explain(error: AgentError | null): string {
  if (error === null) return "the turn failed";
  if ("processExited" in error) return `the agent has ended: ${error.processExited.stderr}`;
  const [said] = Object.values(error);
  return typeof said?.message === "string" ? said.message : "the turn failed";
}
