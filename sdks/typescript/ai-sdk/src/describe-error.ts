import type { AgentError } from "@tombolo/session";

/** A message for people about an error of an agent. */
export function describeError(error: AgentError | null | undefined): string {
  if (error == null) return "the turn failed";
  if ("processExited" in error) return `the agent exited: ${error.processExited.stderr}`;
  const [details] = Object.values(error);
  return typeof details?.message === "string" ? details.message : "the turn failed";
}
