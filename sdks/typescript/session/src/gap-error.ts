/** Events are missing between the state and this event. Read a new snapshot and continue from there. */
export class GapError extends Error {
  override readonly name = "GapError";
  /** The sequence number that had to follow. */
  readonly expected: number;
  /** The sequence number of the event. */
  readonly seq: number;

  constructor(expected: number, seq: number) {
    super(`expected event ${expected} but received event ${seq}: read a new snapshot`);
    this.expected = expected;
    this.seq = seq;
  }
}
