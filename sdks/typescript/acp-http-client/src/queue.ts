/** How many free slots at the front of the array are allowed before it is compacted. */
const FREE_SLOTS_MAX = 1024;

/** A first-in, first-out queue with `push` and `shift` in constant time. */
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
    // The common case: the reader takes each item as it arrives. `pop` is cheaper than moving the head and resetting.
    if (this.#items.length === 1) return this.#items.pop();
    if (this.empty) return undefined;
    const item = this.#items[this.#head];
    // Lets the garbage collector free the item before the array is compacted.
    this.#items[this.#head] = undefined as T;
    this.#head += 1;
    if (this.empty) this.clear();
    else if (this.#head >= FREE_SLOTS_MAX) this.#compact();
    return item;
  }

  forEach(act: (item: T, index: number) => void): void {
    this.#compact();
    this.#items.forEach(act);
  }

  /** Drops the items that `keep` rejects. */
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
