/** What became of the updates of many turns. */
export interface Tally {
  readonly turns: number;
  readonly lost: number;
  readonly doubled: number;
  readonly misplaced: number;
  /** Turns of which updates were lost. */
  readonly lossy: number;
  /** Turns that were told to be over before their last update was there. */
  readonly early: number;
  readonly cuts: number;
  readonly seconds: number;
}

/** Counts the updates of one turn after the other. Each says `chunk 1 ` to `chunk N `. */
export class Counter {
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

  /** How many turns there were. */
  get turns(): number {
    return this.#turns;
  }

  /** How many updates of this turn are there. */
  get seen(): number {
    return this.#seen.length;
  }

  /** Whether there are as many as there should be. */
  get whole(): boolean {
    return this.seen >= this.#perTurn;
  }

  /** An update is there. */
  update(text: string): void {
    this.#seen.push(Number(/^chunk (\d+) $/.exec(text)?.[1]));
  }

  /** The turn is said to be over. */
  over(): void {
    if (!this.whole) this.#early += 1;
  }

  /** The next turn begins. */
  next(): void {
    const different = new Set(this.#seen);
    const lost = this.#perTurn - different.size;
    this.#turns += 1;
    this.#lost += lost;
    if (lost > 0) this.#lossy += 1;
    this.#doubled += this.#seen.length - different.size;
    this.#misplaced += this.#seen.filter((number, at) => at > 0 && number < (this.#seen[at - 1] ?? 0)).length;
    this.#seen = [];
  }

  tally(cuts: number, seconds: number): Tally {
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
