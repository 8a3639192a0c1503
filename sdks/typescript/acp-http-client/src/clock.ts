/** Tells what was before what, within one client. */
export class Clock {
  #time = 0;

  /** A moment that is after all before. */
  tick(): number {
    this.#time += 1;
    return this.#time;
  }
}
