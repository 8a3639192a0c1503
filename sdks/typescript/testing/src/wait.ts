import { setTimeout as sleep } from "node:timers/promises";

/** How long a condition may take to become true. */
const TIMEOUT_MS = 30_000;

/** Waits until a condition is true. `description` names it in the error message. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  description = "the condition",
): Promise<void> {
  const since = performance.now();
  while (!(await condition())) {
    if (performance.now() - since > TIMEOUT_MS) throw new Error(`timed out waiting for ${description}`);
    await sleep(5);
  }
}
