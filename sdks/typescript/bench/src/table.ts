/** Prints a Markdown table. The first column is text; the others are numbers. */
export function print(head: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  const line = (fields: readonly (string | number)[]): void => console.log(`| ${fields.join(" | ")} |`);
  line(head);
  line(head.map((_, at) => (at === 0 ? "---" : "--:")));
  rows.forEach(line);
  console.log();
}
