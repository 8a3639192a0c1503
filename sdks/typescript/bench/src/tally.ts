/** Delivery of the updates of many turns. */
export interface DeliveryTally {
  readonly turns: number;
  readonly lost: number;
  readonly doubled: number;
  readonly misplaced: number;
  /** Turns with lost updates. */
  readonly lossy: number;
  /** Turns whose end was reported before their last update. */
  readonly early: number;
  readonly cuts: number;
  readonly seconds: number;
}

/** Counts the updates of consecutive turns. Each turn has the texts `chunk 1 ` to `chunk N `. */
export class UpdateCounter {
  readonly #perTurn: number;
  #turns = 0;
  #early = 0;
  #lossy = 0;
  #lost = 0;
  #doubled = 0;
  #misplaced = 0;
  #seen: number[] = [];

  constructor(perTurn: number) {
    this.#perTurn = perTurn;
  }

  get turns(): number {
    return this.#turns;
  }

  /** Number of updates of this turn so far. */
  get seen(): number {
    return this.#seen.length;
  }

  /** Whether all updates of this turn have arrived. */
  get complete(): boolean {
    return this.seen >= this.#perTurn;
  }

  update(text: string): void {
    this.#seen.push(Number(/^chunk (\d+) $/.exec(text)?.[1]));
  }

  /** The client has reported the end of the turn. */
  onTurnEnd(): void {
    if (!this.complete) this.#early += 1;
  }

  /** Evaluates the turn and starts the next. */
  nextTurn(): void {
    const different = new Set(this.#seen);
    const lost = this.#perTurn - different.size;
    this.#turns += 1;
    this.#lost += lost;
    if (lost > 0) this.#lossy += 1;
    this.#doubled += this.#seen.length - different.size;
    this.#misplaced += this.#seen.filter((number, at) => at > 0 && number < (this.#seen[at - 1] ?? 0)).length;
    this.#seen = [];
  }

  tally(cuts: number, seconds: number): DeliveryTally {
    return {
      turns: this.#turns,
      lost: this.#lost,
      doubled: this.#doubled,
      misplaced: this.#misplaced,
      lossy: this.#lossy,
      early: this.#early,
      cuts,
      seconds,
    };
  }
}
