/** Runs the benchmarks named by the arguments, or all, and fails if a result misses its limit. */
import { closing } from "./closing.ts";
import { delivery } from "./delivery.ts";
import { throughput } from "./throughput.ts";

const BENCHMARKS: Readonly<Record<string, () => Promise<readonly string[]>>> = {
  delivery,
  throughput,
  closing,
};

const selected = process.argv.slice(2);
for (const [name, benchmark] of Object.entries(BENCHMARKS)) {
  if (selected.length > 0 && !selected.includes(name)) continue;
  for (const missed of await benchmark()) {
    console.error(`missed the limit: ${missed}`);
    process.exitCode = 1;
  }
}
