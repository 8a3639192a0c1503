/** The longest title, in characters. */
const TITLE_CHARS_MAX = 60;

/**
 * The title that a session gets from its first message, if the client gave it none: the beginning of the first line, in whole
 * words. The server has the same function.
 */
export function titleOfMessage(message: string): string | undefined {
  const [line = ""] = message.trimStart().split(/\r?\n/u, 1);
  const [first, ...words] = line.split(/\s+/u).filter((word) => word !== "");
  if (first === undefined) return undefined;
  if ([...first].length > TITLE_CHARS_MAX) return `${[...first].slice(0, TITLE_CHARS_MAX).join("")}…`;
  let title = first;
  for (const word of words) {
    if ([...title].length + 1 + [...word].length > TITLE_CHARS_MAX) return `${title} …`;
    title += ` ${word}`;
  }
  return title;
}
