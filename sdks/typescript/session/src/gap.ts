/** An event came too early: there are others between it and what is known. Take a snapshot, and go on from there. */
export class GapError extends Error {
  override readonly name = "GapError";
  /** The event that comes next. */
  readonly expected: number;
  /** The event that came. */
  readonly seq: number;

  constructor(expected: number, seq: number) {
    super(`event ${expected} comes next, and not ${seq}`);
    this.expected = expected;
    this.seq = seq;
  }
}
