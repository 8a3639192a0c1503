/** Measures what these packages promise, and fails if they do not hold it. Arguments choose measures; without, all are done. */
import { closing } from "./closing.ts";
import { delivery } from "./delivery.ts";
import { throughput } from "./throughput.ts";

const MEASURES: Readonly<Record<string, () => Promise<readonly string[]>>> = {
  delivery,
  throughput,
  closing,
};

const chosen = process.argv.slice(2);
for (const [name, measure] of Object.entries(MEASURES)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  for (const missed of await measure()) {
    console.error(`the bar is missed: ${missed}`);
    process.exitCode = 1;
  }
}
