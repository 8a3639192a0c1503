import type { UIMessageChunk } from "ai";

/** What kinds of text there are. */
type Kind = "text" | "reasoning";

/** Says texts as chunks: one after the other, as the AI SDK has no other order. */
export class Texts {
  /** What was said of each. */
  readonly #said = new Map<string, string>();
  #open: { readonly key: string; readonly id: string; readonly kind: Kind } | undefined;
  #count = 0;

  /** A text as it is now: only what is new of it is said. */
  *say(key: string, kind: Kind, text: string): Generator<UIMessageChunk> {
    const said = this.#said.get(key) ?? "";
    // What was said cannot be taken back: a text that has become another is said anew.
    const more = text.startsWith(said) ? text.slice(said.length) : said.startsWith(text) ? "" : text;
    if (more === "") return;
    this.#said.set(key, text);
    if (this.#open?.key !== key) yield* this.#begin(key, kind);
    const id = this.#open?.id ?? key;
    yield kind === "text"
      ? { type: "text-delta", id, delta: more }
      : { type: "reasoning-delta", id, delta: more };
  }

  /** Ends the text that is being said, if there is one. */
  *end(): Generator<UIMessageChunk> {
    if (this.#open === undefined) return;
    const { id, kind } = this.#open;
    this.#open = undefined;
    yield kind === "text" ? { type: "text-end", id } : { type: "reasoning-end", id };
  }

  *#begin(key: string, kind: Kind): Generator<UIMessageChunk> {
    yield* this.end();
    this.#count += 1;
    const id = `${key}:${this.#count}`;
    this.#open = { key, id, kind };
    yield kind === "text" ? { type: "text-start", id } : { type: "reasoning-start", id };
  }
}
