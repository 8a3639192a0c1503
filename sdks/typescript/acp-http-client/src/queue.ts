/** How many places at the front may be empty before they are given back. */
const SPARE_MAX = 1024;

/** First in, first out, in constant time. */
export class Queue<T> {
  #items: T[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  get empty(): boolean {
    return this.size === 0;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    // Giving back all places would cost more than the rest, where each item is taken as it comes.
    if (this.#items.length === 1) return this.#items.pop();
    if (this.empty) return undefined;
    const item = this.#items[this.#head];
    // What was taken shall not be held on to.
    this.#items[this.#head] = undefined as T;
    this.#head += 1;
    if (this.empty) this.clear();
    else if (this.#head >= SPARE_MAX) this.#compact();
    return item;
  }

  forEach(act: (item: T, at: number) => void): void {
    this.#compact();
    this.#items.forEach(act);
  }

  /** Drops all but some. */
  retain(keep: (item: T) => boolean): void {
    this.#compact();
    this.#items = this.#items.filter(keep);
  }

  clear(): void {
    this.#items.length = 0;
    this.#head = 0;
  }

  #compact(): void {
    this.#items = this.#items.slice(this.#head);
    this.#head = 0;
  }
}
