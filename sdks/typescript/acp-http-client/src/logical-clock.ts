/** Orders what happens within one client: each tick is greater than all before it. */
export class LogicalClock {
  #time = 0;

  tick(): number {
    this.#time += 1;
    return this.#time;
  }
}
