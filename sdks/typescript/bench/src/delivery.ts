import { setTimeout as sleep } from "node:timers/promises";
import { Daemon, Network } from "tombolo-testing";
import { acp } from "./clients/acp.ts";
import { publishedAcp } from "./clients/published-acp.ts";
import { publishedSandbox } from "./clients/published-sandbox.ts";
import { sandbox } from "./clients/sandbox.ts";
import type { Converse } from "./conversation.ts";
import { cutting } from "./cuts.ts";
import { Peer } from "./peer.ts";
import { print } from "./table.ts";
import { Counter, type Tally } from "./tally.ts";

/** How many turns there are at least, with how many updates each, and how often the network is cut meanwhile. */
interface Plan {
  readonly turns: number;
  readonly updates: number;
  readonly cuts: number;
}

/** Each turn is no longer than what the server keeps for those who are cut off. */
const CUT: Plan = { turns: 50, updates: 2_000, cuts: 50 };
const SHORT: Plan = { ...CUT, cuts: 0 };
const LONG: Plan = { turns: 11, updates: 50_000, cuts: 0 };

/** How long the updates of a turn that is over may be silent until no more are waited for. */
const LATE_MS = 300;

/**
 * What becomes of updates that an agent sends as fast as it can: with these packages, while the network is cut again
 * and again, and with the published ones, on a network that is never cut. What these miss is told.
 */
export async function delivery(): Promise<readonly string[]> {
  await using daemon = await Daemon.start();
  await using peer = await Peer.start();
  const ours: readonly Row[] = [
    ["acp-http-client", CUT, await deliver(acp, daemon, CUT)],
    ["sandbox-agent", CUT, await deliver(sandbox, daemon, CUT)],
    ["sandbox-agent", LONG, await deliver(sandbox, daemon, LONG)],
  ];
  const theirs: readonly Row[] = [
    ["acp-http-client@0.4.2, our server", SHORT, await deliver(publishedAcp, daemon, SHORT)],
    ["sandbox-agent@0.4.2, its own server", LONG, await deliver(publishedSandbox, peer, LONG)],
  ];
  print(
    ["client", "updates", "cuts", "lost", "doubled", "misplaced", "turns with loss", "turns over early", "s"],
    [...ours, ...theirs].map(fieldsOf),
  );
  return ours.filter(missesBar).map(([name]) => `delivery with ${name}`);
}

type Row = readonly [client: string, plan: Plan, tally: Tally];

async function deliver(
  converse: Converse,
  server: { readonly url: string; readonly port: number },
  { turns, updates, cuts }: Plan,
): Promise<Tally> {
  await using network = cuts > 0 ? await Network.start(server.port) : undefined;
  const counter = new Counter(updates);
  await using conversation = await converse(network?.url ?? server.url, (text) => counter.update(text));
  let [longest, total] = [50, 0];
  while (counter.turns < turns || (network !== undefined && network.cuts < cuts)) {
    const stop = network && cutting(network, (cuts * (counter.turns + 1)) / turns, longest);
    const began = performance.now();
    await conversation.prompt(`/chunks ${updates}`);
    counter.over();
    longest = performance.now() - began;
    total += longest;
    stop?.();
    await quiet(counter);
    counter.next();
  }
  return counter.tally(network?.cuts ?? 0, total / 1000);
}

/** Resolves once all updates of the turn are there, or no more come. */
async function quiet(counter: Counter): Promise<void> {
  for (let seen = -1; !counter.whole && counter.seen > seen; ) {
    seen = counter.seen;
    await sleep(LATE_MS);
  }
}

function fieldsOf([client, { updates }, tally]: Row): readonly (string | number)[] {
  const { turns, cuts, lost, doubled, misplaced, lossy, early, seconds } = tally;
  const of = (count: number): string => `${count} of ${turns}`;
  return [
    client,
    `${turns} × ${updates}`,
    cuts,
    lost,
    doubled,
    misplaced,
    of(lossy),
    of(early),
    seconds.toFixed(1),
  ];
}

function missesBar([, , { lost, doubled, misplaced, early }]: Row): boolean {
  return lost + doubled + misplaced + early > 0;
}
