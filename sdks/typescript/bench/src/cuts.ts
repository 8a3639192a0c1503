import type { Network } from "tombolo-testing";

/** Cuts some connection at random moments, until there were so many cuts or it is told to stop. */
export function cutting(network: Network, until: number, withinMs: number): () => void {
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
