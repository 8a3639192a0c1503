import { setTimeout as sleep } from "node:timers/promises";

/** How long a fact may take to become true. */
const PATIENCE_MS = 30_000;

/** Waits until something is so. */
export async function until(isSo: () => boolean | Promise<boolean>, what = "it"): Promise<void> {
  const since = performance.now();
  while (!(await isSo())) {
    if (performance.now() - since > PATIENCE_MS) throw new Error(`${what} did not become so in time`);
    await sleep(5);
  }
}
