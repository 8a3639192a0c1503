/** What became of the updates of many turns. */
export interface Tally {
  readonly turns: number;
  readonly updates: number;
  readonly lost: number;
  readonly doubled: number;
  readonly misplaced: number;
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
  #lost = 0;
  #doubled = 0;
  #misplaced = 0;
  #seen: number[] = [];

  constructor(perTurn: number) {
    this.#perTurn = perTurn;
  }

  /** How many updates of this turn are there. */
  get seen(): number {
    return this.#seen.length;
  }

  /** An update is there. */
  update(text: string): void {
    this.#seen.push(Number(/^chunk (\d+) $/.exec(text)?.[1]));
  }

  /** The turn is said to be over. */
  over(): void {
    if (this.#seen.length < this.#perTurn) this.#early += 1;
  }

  /** The next turn begins. */
  next(): void {
    const different = new Set(this.#seen);
    this.#turns += 1;
    this.#lost += this.#perTurn - different.size;
    this.#doubled += this.#seen.length - different.size;
    this.#misplaced += this.#seen.filter((number, at) => at > 0 && number < (this.#seen[at - 1] ?? 0)).length;
    this.#seen = [];
  }

  tally(cuts: number, seconds: number): Tally {
    return {
      turns: this.#turns,
      updates: this.#turns * this.#perTurn,
      lost: this.#lost,
      doubled: this.#doubled,
      misplaced: this.#misplaced,
      early: this.#early,
      cuts,
      seconds,
    };
  }
}
