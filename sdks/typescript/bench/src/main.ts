import { Daemon } from "tombolo-testing";
import { ours, published } from "./delivery.ts";
import type { Tally } from "./tally.ts";
import { throughput } from "./throughput.ts";

/** How much longer than with nothing but `fetch` it may take to read a stream. */
const COST_MAX = 2;

await using daemon = await Daemon.start();
const rows: [string, Tally][] = [
  ["this client, network cut", await ours(daemon)],
  ["acp-http-client@0.4.2, no cut", await published(daemon)],
];
console.log("| client | updates | cuts | lost | doubled | misplaced | turns over early | s |");
console.log("|---|--:|--:|--:|--:|--:|--:|--:|");
for (const [name, { updates, cuts, lost, doubled, misplaced, early, turns, seconds }] of rows) {
  const fields = [name, updates, cuts, lost, doubled, misplaced, `${early} of ${turns}`, seconds.toFixed(1)];
  console.log(`| ${fields.join(" | ")} |`);
}
const large = ["--events-max", "300000", "--events-bytes-max", String(1 << 30)];
await using keeper = await Daemon.start({ args: large });
const { updates, megabytes, bare, client } = await throughput(keeper);
const rate = (ms: number): string => `${Math.round(updates / ms)} 000 updates/s`;
console.log(
  `\n${updates} updates, ${megabytes.toFixed(0)} MB: bare fetch ${rate(bare)}, this client ${rate(client)}`,
);
const cost = client / bare;
console.log(`cost: ${cost.toFixed(2)} of ${COST_MAX}`);

const [[, tally]] = rows as [[string, Tally]];
const perfect = tally.lost + tally.doubled + tally.misplaced + tally.early === 0 && tally.cuts >= 50;
if (!perfect || cost > COST_MAX) {
  console.error("the bar is missed");
  process.exitCode = 1;
}
