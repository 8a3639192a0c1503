import type { Network } from "tombolo-testing";

/** Cuts a random connection at random times, until there were `until` cuts. Returns a function that stops it. */
export function startCutting(network: Network, until: number, withinMs: number): () => void {
  let timer: NodeJS.Timeout | undefined;
  const plan = (): void => {
    if (network.cuts < until) timer = setTimeout(cut, Math.random() * withinMs);
  };
  const cut = (): void => {
    network.cutAny();
    plan();
  };
  plan();
  return () => clearTimeout(timer);
}
