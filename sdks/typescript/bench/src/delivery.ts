import { setTimeout as sleep } from "node:timers/promises";
import { Daemon, Network } from "tombolo-testing";
import { acp } from "./clients/acp.ts";
import { publishedAcp } from "./clients/published-acp.ts";
import { publishedSandbox } from "./clients/published-sandbox.ts";
import { sandbox } from "./clients/sandbox.ts";
import type { StartConversation } from "./conversation.ts";
import { startCutting } from "./cuts.ts";
import { PeerServer } from "./peer.ts";
import { print } from "./table.ts";
import { type DeliveryTally, UpdateCounter } from "./tally.ts";

/** Minimum number of turns, updates per turn, and number of connections to cut. */
interface DeliveryPlan {
  readonly turns: number;
  readonly updates: number;
  readonly cuts: number;
}

/** No turn has more updates than the server keeps for disconnected clients. */
const CUT: DeliveryPlan = { turns: 50, updates: 2_000, cuts: 50 };
const SHORT: DeliveryPlan = { ...CUT, cuts: 0 };
const LONG: DeliveryPlan = { turns: 11, updates: 50_000, cuts: 0 };

/** After the end of a turn, how long to wait for another late update. */
const LATE_MS = 300;

/**
 * Counts lost and duplicated updates of an agent that sends as fast as it can: with our packages while connections are
 * cut, and with the packages of another vendor on a stable network. Returns the failures of our packages.
 */
export async function delivery(): Promise<readonly string[]> {
  await using daemon = await Daemon.start();
  await using peer = await PeerServer.start();
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
  return ours.filter(hasFailures).map(([name]) => `delivery with ${name}`);
}

type Row = readonly [client: string, plan: DeliveryPlan, tally: DeliveryTally];

async function deliver(
  startConversation: StartConversation,
  server: { readonly url: string; readonly port: number },
  { turns, updates, cuts }: DeliveryPlan,
): Promise<DeliveryTally> {
  await using network = cuts > 0 ? await Network.start(server.port) : undefined;
  const counter = new UpdateCounter(updates);
  await using conversation = await startConversation(network?.url ?? server.url, (text) =>
    counter.update(text),
  );
  let longest = 50;
  let total = 0;
  while (counter.turns < turns || (network !== undefined && network.cuts < cuts)) {
    const stop = network && startCutting(network, (cuts * (counter.turns + 1)) / turns, longest);
    const began = performance.now();
    await conversation.prompt(`/chunks ${updates}`);
    counter.onTurnEnd();
    longest = performance.now() - began;
    total += longest;
    stop?.();
    await waitForLateUpdates(counter);
    counter.nextTurn();
  }
  return counter.tally(network?.cuts ?? 0, total / 1000);
}

/** Resolves once all updates of the turn have arrived, or no more arrive. */
async function waitForLateUpdates(counter: UpdateCounter): Promise<void> {
  for (let seen = -1; !counter.complete && counter.seen > seen; ) {
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

function hasFailures([, , { lost, doubled, misplaced, early }]: Row): boolean {
  return lost + doubled + misplaced + early > 0;
}
