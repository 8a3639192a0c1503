import { readFile } from "node:fs/promises";

/** The code blocks of a Markdown file in this language. */
export async function codeBlocks(file: string, language: string): Promise<readonly string[]> {
  const text = await readFile(file, "utf8");
  const blocks = text.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "gs"));
  return [...blocks].map(([, code]) => code ?? "");
}
